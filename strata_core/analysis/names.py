"""What is said about names: unknown ones, with the nearest known one, and names that are given twice."""

from __future__ import annotations

from collections.abc import Collection

from ..diagnostics import Diagnostic, Related, Span
from ..diagnostics.diagnostic import replacement
from ..diagnostics.suggest import nearest
from ..language import ast
from ..language.names import spelled

MAX_LISTED = 8


def no_table(name: ast.Name, candidates: Collection[str]) -> Diagnostic:
    """E020 for `name`, which is none of the tables `candidates`."""
    return unknown("E020", f"no source or model `{name}`", name, candidates)


def unknown(code: str, message: str, name: ast.Name, candidates: Collection[str], fix: str | None = None) -> Diagnostic:
    """The diagnostic for `name`, which is none of `candidates`; without a near one it says what there is, or `fix`."""
    near = nearest(name.text, candidates)
    if near is not None:
        change = replacement(name.span, spelled(near))
        label = f"did you mean `{near}`?"
        return Diagnostic(
            code, message, name.span, label=label, fix=f"write `{near}`", suggestions=(change,), about=name.text
        )
    return Diagnostic(code, message, name.span, fix=fix or listed(candidates), about=name.text)


def listed(candidates: Collection[str]) -> str:
    """What could have been written."""
    if not candidates:
        return "declare it: there is none yet"
    some = sorted(candidates)[:MAX_LISTED]
    more = ", …" if len(candidates) > len(some) else ""
    return f"there is {', '.join(f'`{c}`' for c in some)}{more}"


def duplicate(what: str, name: ast.Name, first: Span, fix: str) -> Diagnostic:
    """E023 for the second of two equal names."""
    related = (Related(first, "first here"),)
    return Diagnostic("E023", f"{what} `{name}` is given twice", name.span, fix=fix, related=related)
