"""`meta.contract` in the YAML files of a dbt project: a fragment at a model, seed, snapshot or source table.

Only the fragments are walked; the rest of the file is dbt's business, and files without the word are not parsed.
"""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from ...diagnostics import Report
from ..discover import Input
from ..tree import Tree
from ..yaml_text import composed, decoded, document_of
from .contracts import fragment_of, too_large_beside
from .parsed import FragmentText, ParsedFile

_LISTS = ("models", "seeds", "snapshots")


def parse_dbt_yaml(one: Input, tree: Tree, report: Report) -> ParsedFile:
    """The fragments in a YAML file of dbt. E100 to E107 where it holds any."""
    nothing = ParsedFile(one.path, one.kind, one.digest)
    if too_large_beside(one, "a YAML file", report):
        return nothing
    content = tree.read(one.path)
    if b"contract" not in content or b"meta" not in content:
        return nothing
    text = decoded(one.path, content, report)
    root = None if text is None else composed(one.path, text, report)
    if root is None:
        return nothing
    fragments: list[FragmentText] = []
    for name, node in _places(root):
        document = document_of(one.path, node, report)
        fragment = None if document is None else fragment_of(document, name, report)
        if fragment is not None:
            fragments.append(fragment)
    return ParsedFile(one.path, one.kind, one.digest, fragments=tuple(fragments))


def _places(root: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
    """Each model (or seed, snapshot, table of a source) with a `meta.contract`, and its node."""
    for key in _LISTS:
        yield from _in_list(_field(root, key), "")
    for source in _items(_field(root, "sources")):
        name = _text(_field(source, "name"))
        if name is not None:
            yield from _in_list(_field(source, "tables"), f"{name}.")


def _in_list(node: yaml.Node | None, prefix: str) -> Iterator[tuple[str, yaml.Node]]:
    for item in _items(node):
        name = _text(_field(item, "name"))
        meta = _field(item, "meta") or _field(_field(item, "config"), "meta")
        fragment = _field(meta, "contract")
        if name is not None and fragment is not None:
            yield f"{prefix}{name}", fragment


def _items(node: yaml.Node | None) -> list[yaml.Node]:
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _field(node: yaml.Node | None, name: str) -> yaml.Node | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for key, value in node.value if key.value == name), None)


def _text(node: yaml.Node | None) -> str | None:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else None
