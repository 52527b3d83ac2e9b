"""Unit tests: literal tables in, a literal table out (`language.md`, "Declarations").

A table is given for each source or model that the tested model reads; a model that is not given is computed from what
is given for its own sources. A column that a table leaves out is null; it must stand there where it is never null and
the model reads it. Codes: E020 (a table that is not read), E021, E023, E070 (rows that are missing or ragged), E074.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..diagnostics import Diagnostic, Related, Report
from ..language import ast
from ..relation.nodes import Scan, walk_relation
from ..relation.schema import Column, Key, Schema
from .cells import SPELLED, CellValue, cell_value
from .compiled import CompiledModel, Expectation, LiteralRows, UnitTest
from .names import duplicate, listed, no_table, unknown
from .scope import Table
from .state import Surroundings


def unit_test(
    test: ast.Test, expectations: tuple[Expectation, ...], models: Mapping[str, CompiledModel], around: Surroundings
) -> UnitTest | None:
    """The unit test that `test` declares; None where it, or its model, has an error."""
    found: list[Diagnostic] = []
    name = test.name.text
    given: dict[str, LiteralRows] = {}
    first: dict[str, ast.Name] = {}
    for one in test.given:
        table = one.table
        if table.text in first:
            found.append(duplicate("the table", table, first[table.text].span, "give its rows once"))
            continue
        first[table.text] = table
        if table.text not in around.tables:
            found.append(no_table(table, around.tables.keys()))
        elif table.text == name:
            fix = "give rows for what it reads, and write its own rows behind `expect`"
            found.append(Diagnostic("E070", f"`{name}` is what this test computes", table.span, fix=fix))
        else:
            given[table.text] = literal_rows(one.rows, table.text, around.tables[table.text], found.append)
    expected = None
    if test.expected is not None:
        expected = literal_rows(test.expected, name, around.tables[name], found.append)
    if test.expected is None and not test.expectations:
        fix = "add `expect { | column | … }`, or `expect condition`"
        found.append(Diagnostic("E070", "this test expects nothing", test.name.span, fix=fix))
    through = _through(test, given, models, found.append) if name in models else ()
    for diagnostic in found:
        around.report(diagnostic)
    if found or name not in models or not through:
        return None
    title = test.title.text if test.title is not None else ""
    return UnitTest(name, title, given, through, expected, expectations, test.span)


def _through(
    test: ast.Test, given: Mapping[str, LiteralRows], models: Mapping[str, CompiledModel], report: Report
) -> tuple[str, ...]:
    """The models to compute, in order. E070 for a table without rows, or that is not read; E074 for one that lacks a
    column that is read and never null. Nothing where there is an error."""
    name = test.name.text
    needed: dict[str, str] = {}
    read: dict[str, dict[str, Column]] = {}
    pending, entered, done = [name], set[str](), dict[str, None]()
    while pending:
        model = pending[-1]
        if model in entered:
            done.setdefault(pending.pop())
            continue
        entered.add(model)
        relations = (models[model].relation, *(e.relation for e in models[model].expectations))
        for node in (n for relation in relations for n in walk_relation(relation)):
            if isinstance(node, Scan):
                needed.setdefault(node.table, model)
                read.setdefault(node.table, {}).update(node.schema.by_name)
                if node.table not in given and node.table in models and node.table not in entered:
                    pending.append(node.table)
    sound = True
    for one in test.given:
        table = one.table.text
        if table not in needed and table in given:
            note = (f"it reads {', '.join(f'`{t}`' for t in models[name].upstream)}",)
            message = f"`{name}` does not read `{table}`"
            report(Diagnostic("E020", message, one.table.span, fix="leave the table out", notes=note))
            sound = False
        elif table in given:
            sound &= _complete(one, given[table], read[table], report)
    for table, reader in needed.items():
        if table not in given and table not in models:
            fix = f"add `given {table} {{ | … | }}`; a header alone gives no rows"
            chain = "" if reader == name else f", which `{name}` is made of"
            message = f"the test gives no rows for `{table}`, which `{reader}` reads{chain}"
            report(Diagnostic("E070", message, test.name.span, fix=fix))
            sound = False
    return tuple(done) if sound else ()


def _complete(given: ast.Given, rows: LiteralRows, read: Mapping[str, Column], report: Report) -> bool:
    there = {c.name for c in rows.columns}
    lacking = [c for c in read.values() if not c.inferred.nullable and c.name not in there]
    if lacking and rows.rows:
        names = ", ".join(f"`{c.name}`" for c in lacking)
        message = f"`{given.table}` lacks {names}: read by the model and never null"
        fix = f"add a column with {SPELLED[type(lacking[0].inferred.type)]}"
        report(Diagnostic("E074", message, given.table.span, fix=fix))
        return False
    return True


def literal_rows(written: ast.LiteralTable, name: str, table: Table, report: Report) -> LiteralRows:
    """The rows of a literal table for the table `name`, as far as they are sound."""
    columns = _header(written, name, table, report)
    rows: list[tuple[CellValue, ...]] = []
    spans = []
    for row in written.rows:
        if len(row.cells) != len(written.columns):
            count, wanted = len(row.cells), len(written.columns)
            message = f"the row has {count} {'cell' if count == 1 else 'cells'}, the header {wanted}"
            report(Diagnostic("E070", message, row.span, fix="write `none` where a value is null"))
            continue
        values = zip(row.cells, columns, strict=True)
        rows.append(tuple(_cell(cell, column, report) for cell, column in values if column is not None))
        spans.append(row.span)
    known = tuple(c for c in columns if c is not None)
    found = LiteralRows(known, tuple(rows), tuple(spans), written.span)
    if len(known) == len(columns):
        for key in sorted(_own(table).keys, key=sorted):
            _check_key(found, key, name, report)
    return found


def _own(table: Table) -> Schema:
    """What holds of the rows of a table before the `filter` of its source."""
    return [node.schema for node in walk_relation(table.relation) if isinstance(node, Scan)][-1]


def _header(written: ast.LiteralTable, name: str, table: Table, report: Report) -> list[Column | None]:
    """The column of each name in the header; None where there is none, or its type is not known."""
    schema = _own(table)
    first: dict[str, ast.Name] = {}
    columns: list[Column | None] = []
    for column in written.columns:
        if column.text in first:
            report(duplicate("the column", column, first[column.text].span, "write it once"))
        first.setdefault(column.text, column)
        if column.text not in table.columns and table.complete:
            report(unknown("E021", f"`{name}` has no column `{column}`", column, table.columns))
        known = column.text in schema and first[column.text] is column
        columns.append(schema[column.text] if known else None)
    return columns


def _cell(cell: ast.Cell, column: Column, report: Report) -> CellValue:
    """The value, which lies in what is known of the column."""
    inferred = column.inferred
    value = cell_value(cell, inferred.type, inferred.nullable, column.name, report)
    if isinstance(value, str) and inferred.values is not None and value not in inferred.values:
        message = f"`{column.name}` is never {value!r}"
        report(Diagnostic("E074", message, cell.span, fix=listed(inferred.values)))
    if inferred.nonzero and value == 0 and not isinstance(value, bool):
        fix = "write another number"
        report(Diagnostic("E074", f"`{column.name}` is never zero", cell.span, fix=fix))
    return value


def _check_key(found: LiteralRows, key: Key, name: str, report: Report) -> None:
    """E074 for a row that agrees with an earlier one on a key."""
    at = [i for i, c in enumerate(found.columns) if c.name in key]
    if len(at) < len(key):
        return
    first: dict[str, int] = {}
    for number, row in enumerate(found.rows):
        values = repr([row[i] for i in at])
        if values in first:
            names = ", ".join(f"`{found.columns[i].name}`" for i in at)
            message = f"two rows of `{name}` agree on {names}, of which it has each value once"
            related = (Related(found.spans[first[values]], "the first of them"),)
            report(Diagnostic("E074", message, found.spans[number], fix="change one of them", related=related))
        first.setdefault(values, number)
