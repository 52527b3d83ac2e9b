"""Faults of files and engines are told at the declaration whose file or computation it was, without hidden values."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..analysis.compiled import Source
from ..diagnostics import Diagnostic, Span, StrataError
from ..frozen import replace


def located(diagnostic: Diagnostic, what: str, span: Span) -> Diagnostic:
    """`diagnostic` at `span`, naming `what` it is about; unchanged where it has a place."""
    if diagnostic.span is not None:
        return diagnostic
    return replace(diagnostic, message=f"{what}: {diagnostic.message}", span=span)


NAMES_VALUES = frozenset({"E090"})
"""Codes whose message says which values a computation failed on."""


def withheld(diagnostic: Diagnostic, hidden: Collection[str]) -> Diagnostic:
    """`diagnostic` without the values that it may name, where a computation reads `hidden` columns.

    A message is the engine's own text, and what was computed of a hidden column is as hidden: all of it is replaced.
    """
    if not hidden or diagnostic.code not in NAMES_VALUES:
        return diagnostic
    named = ", ".join(f"`{name}`" for name in sorted(hidden))
    message = f"a value overflows or cannot be cast; it is not shown, for {named} may not be seen"
    return replace(diagnostic, message=message, notes=())


def relative(diagnostic: Diagnostic, root: Path) -> Diagnostic:
    """`diagnostic` with the files of the project named as people name them: from its `root`."""
    here = f"{root}{os.sep}"

    def shown(text: str) -> str:
        return text.replace(here, "")

    fix = shown(diagnostic.fix) if diagnostic.fix else diagnostic.fix
    return replace(diagnostic, message=shown(diagnostic.message), fix=fix, notes=tuple(map(shown, diagnostic.notes)))


@contextmanager
def told_at(source: Source) -> Iterator[None]:
    """A `StrataError` of the block without a place is told at the declaration of `source`."""
    try:
        yield
    except StrataError as error:
        shown = (withheld(d, source.contract.hidden) for d in error.diagnostics)
        found = (located(d, f"source `{source.name}`", source.span) for d in shown)
        raise StrataError(*found) from None
