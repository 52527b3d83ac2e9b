"""CSV read with Python: headers, and the place of a fault. What every engine says of a CSV file.

Errors: E030 (no file), E033 (header, ragged line, not text), E080 (a value that is not of its type), E084.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

import pyarrow as pa

from ..diagnostics import Diagnostic, StrataError
from ..relation.schema import Column
from .inputs import require_file
from .protocol import CsvTable
from .reference.casts import cast
from .reference.values import MisfitError

Record = tuple[int, list[str]]


def records(table: CsvTable) -> Iterator[Record]:
    """Records with the line on which each ends."""
    require_file(table.path)
    try:
        with table.path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            for record in reader:
                yield reader.line_num, record
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        raise StrataError(
            Diagnostic("E033", f"`{table.path}` cannot be read: {error}", fix="the format is CSV in UTF-8 with commas")
        ) from None


def read_header(table: CsvTable) -> tuple[str, ...]:
    """The column names of the first line. Errors: E084 where a declared one is missing, E033 where one stands twice."""
    _, header = next(records(table), (0, []))
    expected = ", ".join(f"`{c.name}`" for c in table.columns)
    names = frozenset(header)
    missing = [c.name for c in table.columns if c.name not in names]
    # A first line with no name that is known is no header: its values are not for messages.
    known = len(missing) < len(table.columns)
    found = ", ".join(f"`{n}`" for n in header) if known else "none of them"
    if missing:
        raise StrataError(
            Diagnostic(
                "E084",
                f"the header of `{table.path}` lacks {', '.join(f'`{n}`' for n in missing)}",
                fix=f"expected are {expected}; found are {found}",
                field_path=missing[0],
            )
        )
    if len(names) < len(header):
        raise StrataError(
            Diagnostic(
                "E033",
                f"the header of `{table.path}` names a column twice",
                fix=f"found are {found}; expected {expected}",
            )
        )
    return tuple(header)


def first_fault(table: CsvTable) -> Diagnostic | None:
    """What is wrong with the file first, with its line; `None` where nothing is."""
    try:
        header = read_header(table)
        columns = [(header.index(c.name), c) for c in table.columns]
        lines = records(table)
        next(lines, None)
        start = 2
        for end, record in lines:
            fault = ragged(table, header, start, record) or misfit(table, columns, start, record)
            if fault is not None:
                return fault
            start = end + 1
    except StrataError as error:
        return error.diagnostics[0]
    return None


def ragged(table: CsvTable, header: tuple[str, ...], line: int, record: list[str]) -> Diagnostic | None:
    """E033 where the record that begins on `line` has not the header's number of fields."""
    if len(record) == len(header):
        return None
    return Diagnostic(
        "E033",
        f"line {line} of `{table.path}` has {len(record)} fields, its header {len(header)}",
        fix="give every line the same fields; text with commas or line breaks stands in double quotes",
    )


def misfit(table: CsvTable, columns: list[tuple[int, Column]], line: int, record: list[str]) -> Diagnostic | None:
    """E080 for the first of `columns`, each with its position, whose text does not spell its type."""
    for position, column in columns:
        text = record[position]
        if text == "" or text == table.null:
            continue
        try:
            cast(text, column.inferred.type)
        except MisfitError as error:
            return Diagnostic(
                "E080",
                f"line {line} of `{table.path}`, column `{column.name}`: `{text[:60]}` is no {column.inferred.type}",
                fix=f"{error}; or declare the column as `string` and convert it with `try_cast`",
                field_path=column.name,
            )
    return None


def csv_schema(table: CsvTable) -> pa.Schema:
    """The columns that the file has, all text. Errors: E030, E033."""
    _, header = next(records(table), (0, []))
    return pa.schema([pa.field(name, pa.string()) for name in header])
