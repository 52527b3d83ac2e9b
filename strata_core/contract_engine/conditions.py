"""A condition over the rows of an asset, in the Strata language: what validation compiles is what the rows are asked.

It is the one expectation of a `test` block over a table of the asset's columns, any of which may be null: what a
contract promises of nulls is not taken for granted where rows are asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic, StrataError

if TYPE_CHECKING:  # contracts without conditions do without the compiler
    from ..analysis.compiled import Expectation

TABLE = "asset"
"""The table that a compiled condition reads."""
_ROWS = "rows_of_asset"


def compiled_condition(expression: str, columns: Mapping[str, str]) -> Expectation:
    """The condition over `columns`, names with their Strata types. Raises `StrataError` where it is none; the places
    of its findings are in the program that is made of it."""
    from ..analysis import compile_project  # the compiler, which contracts without conditions do without
    from ..language.names import can_be_written, spelled
    from ..language.parser import parse_module
    from ..relation.nodes import tables

    # A column whose name cannot be written cannot be meant either.
    fields = "".join(f"    {spelled(n)}: {kind},\n" for n, kind in columns.items() if can_be_written(n))
    text = (
        f'source {_ROWS}(csv: "rows.csv") {{\n  columns: {{\n{fields}  }}\n}}\n'
        f"model {TABLE} {{\n  from {_ROWS}\n}}\n"
        # One line, so that nothing in the expression can begin a statement of its own.
        f"test {TABLE} {{\n  expect {' '.join(expression.split())}\n}}\n"
    )
    parsed = parse_module(text, "expression")
    _refuse(parsed.diagnostics)
    compiled = compile_project([parsed.module])
    if len(parsed.module.declarations) == 3 and not compiled.unit_tests:
        _refuse(compiled.diagnostics)
        if len(compiled.expectations) == 1:
            (found,) = compiled.expectations
            if set(tables(found.broken)) == {TABLE}:
                return found
            raise StrataError(Diagnostic("E142", "a condition reads its asset alone", fix="name its columns only"))
    raise StrataError(Diagnostic("E142", "this is no single condition", fix="write one condition over the columns"))


def _refuse(found: tuple[Diagnostic, ...]) -> None:
    blocking = [d for d in found if d.blocks]
    if blocking:
        raise StrataError(*blocking)
