"""CSV read with Python where an answer must name its place: headers, and the first fault of a file that DuckDB refused.

Errors: E030 (no file), E033 (header, ragged line, not text), E080 (a value that is not of its type), E084.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ...diagnostics import Diagnostic, StrataError
from ...relation.schema import Column
from ..protocol import CsvTable, TableInput
from ..reference.casts import cast
from ..reference.values import MisfitError

Record = tuple[int, list[str]]


def _records(table: CsvTable) -> Iterator[Record]:
    """Records with the line on which each ends."""
    if not table.path.is_file():
        raise StrataError(
            Diagnostic("E030", f"there is no file `{table.path}`", fix="check the path in the source's declaration")
        )
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
    _, header = next(_records(table), (0, []))
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
        records = _records(table)
        next(records, None)
        start = 2
        for end, record in records:
            fault = _ragged(table, header, start, record) or _misfit(table, columns, start, record)
            if fault is not None:
                return fault
            start = end + 1
    except StrataError as error:
        return error.diagnostics[0]
    return None


def _ragged(table: CsvTable, header: tuple[str, ...], line: int, record: list[str]) -> Diagnostic | None:
    if len(record) == len(header):
        return None
    return Diagnostic(
        "E033",
        f"line {line} of `{table.path}` has {len(record)} fields, its header {len(header)}",
        fix="give every line the same fields; text with commas or line breaks stands in double quotes",
    )


def _misfit(table: CsvTable, columns: list[tuple[int, Column]], line: int, record: list[str]) -> Diagnostic | None:
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


@contextmanager
def locating_csv_faults(tables: Mapping[str, TableInput]) -> Iterator[None]:
    """An error of a computation that read CSV is replaced by the fault of a file, with its line, if there is one."""
    try:
        yield
    except StrataError as error:
        if any(d.code in ("E033", "E090") for d in error.diagnostics):
            for table in tables.values():
                fault = first_fault(table) if isinstance(table, CsvTable) else None
                if fault is not None:
                    raise StrataError(fault) from None
        raise
