"""Canonical contracts and fragment files: YAML of one document each."""

from __future__ import annotations

from collections.abc import Mapping

from ...diagnostics import Diagnostic, Report, Severity, Span
from ..discover import Input
from ..documents import Document
from ..schemas import AUTHORED, FRAGMENT
from ..shapes import shaped
from ..tree import Tree
from ..yaml_text import MOST_BYTES, read_yaml
from .parsed import ContractText, FragmentText, ParsedFile


def parse_contract(one: Input, tree: Tree, report: Report) -> ParsedFile:
    """A `contract.yaml`. E100 to E107."""
    document = _document(one, tree, report, "a contract")
    if document is None:
        return ParsedFile(one.path, one.kind, one.digest)
    document, sound = shaped(document, AUTHORED, report)
    return ParsedFile(one.path, one.kind, one.digest, ContractText(document, sound))


def parse_fragment(one: Input, tree: Tree, report: Report) -> ParsedFile:
    """A `*.contract.yaml` beside an asset. E100 to E107, E110 where it names no target."""
    document = _document(one, tree, report, "a fragment")
    fragment = None if document is None else fragment_of(document, None, report)
    return ParsedFile(one.path, one.kind, one.digest, fragments=(fragment,) if fragment else ())


def fragment_of(document: Document, beside: str | None, report: Report) -> FragmentText | None:
    """The fragment in `document`, which stands at the asset `beside`; None, with findings, where it is none."""
    document, sound = shaped(document, FRAGMENT, report)
    if not sound:
        return None
    if isinstance(document.data, Mapping) and not document.data.keys() & {"product", "asset"} and beside is None:
        message = "the fragment names neither a product nor an asset: nobody knows what it is about"
        fix = "add `product: domain.product` and `asset: …`"
        report(Diagnostic("E110", message, document.span(()), fix=fix))
        return None
    return FragmentText(document, beside)


def too_large(one: Input, what: str, fix: str, severity: Severity, report: Report) -> bool:
    """Whether a file has more bytes than are read: E100."""
    if one.size <= MOST_BYTES:
        return False
    message = f"the file has {one.size:,} bytes; of {what} at most {MOST_BYTES:,} are read"
    report(Diagnostic("E100", message, Span(one.path, 1, 1, 1, 1), severity, fix=fix))
    return True


def too_large_beside(one: Input, what: str, report: Report) -> bool:
    """As `too_large`, of a file that may bear a fragment and has another purpose: that keeps nothing from promotion."""
    fix = "split it, or keep it out of the folders of `[contract_engine] scan`, with a `*.contract.yaml` for its table"
    return too_large(one, f"{what} that may bear a fragment", fix, Severity.WARNING, report)


def _document(one: Input, tree: Tree, report: Report, what: str) -> Document | None:
    if too_large(one, what, "split it; data has no place in a contract", Severity.ERROR, report):
        return None
    found: list[Diagnostic] = []

    def told(diagnostic: Diagnostic) -> None:
        found.append(diagnostic)
        report(diagnostic)

    document = read_yaml(one.path, tree.read(one.path), told)
    if document is None and not found:
        message, fix = f"the file is empty: {what} was expected", "write one, or remove the file"
        report(Diagnostic("E106", message, Span(one.path, 1, 1, 1, 1), fix=fix))
    return document
