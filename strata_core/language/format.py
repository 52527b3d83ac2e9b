"""`strata fmt`: one canonical layout for every program. `forms.py` has a row for each rule of the grammar.

The style: lines of 100, two spaces further in a level. A declaration's braces hold a line a member, without
separators; lists are on one line if they fit, else an item a line with a comma after each. Parentheses, the order of
members and the spelling of literals stay as written; `where` becomes `filter`, `null` `none`, `array<T>` `array(T)`.
Comments stay with the token that they follow on its line, or else with the one that they precede.
"""

from __future__ import annotations

from ..diagnostics import Diagnostic, has_errors
from ..frozen import dataclass
from .concrete import Tree, concrete
from .forms import blank, doc, leading, one_line
from .layout import Doc, Line, laid_out
from .parser import parse_bytes, parse_module


@dataclass(frozen=True, slots=True)
class Formatted:
    """The canonical text; None where the text does not parse, and `diagnostics` say why."""

    text: str | None
    diagnostics: tuple[Diagnostic, ...]


def format_text(text: str, file: str) -> Formatted:
    """`text` in its canonical form. Diagnostics name `file` and are those of the parser (E001, E003, E023)."""
    parsed = parse_module(text, file)
    if has_errors(parsed.diagnostics):
        return Formatted(None, parsed.diagnostics)
    module = concrete(text)
    shown: list[Doc] = []
    before: Tree | None = None
    for declaration in module.declarations:
        if before is not None:
            together = one_line(before) and before.rule == declaration.rule
            shown.append(Line(hard=True, blank=not together or blank(declaration)))
        shown.append(doc(declaration))
        before = declaration
    shown.append(Line(hard=True))
    shown += leading(module.end)
    return Formatted(laid_out(tuple(shown)), parsed.diagnostics)


def format_bytes(data: bytes, file: str) -> Formatted:
    """The content of a file in its canonical form, as `format_text`; E002 too where it is not UTF-8."""
    try:
        return format_text(data.decode("utf-8-sig"), file)
    except UnicodeDecodeError:
        return Formatted(None, parse_bytes(data, file).diagnostics)
