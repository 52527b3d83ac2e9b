"""Faults of files and engines are told at the declaration whose file or computation it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ..analysis.compiled import Source
from ..diagnostics import Diagnostic, Span, StrataError


def located(diagnostic: Diagnostic, what: str, span: Span) -> Diagnostic:
    """`diagnostic` at `span`, naming `what` it is about; unchanged where it has a place."""
    if diagnostic.span is not None:
        return diagnostic
    return replace(diagnostic, message=f"{what}: {diagnostic.message}", span=span)


@contextmanager
def told_at(source: Source) -> Iterator[None]:
    """A `StrataError` of the block without a place is told at the declaration of `source`."""
    try:
        yield
    except StrataError as error:
        found = (located(d, f"source `{source.name}`", source.span) for d in error.diagnostics)
        raise StrataError(*found) from None
