"""Tables as rows: Parquet, CSV, DuckDB and Arrow inputs, read whole. Errors: E033 (missing, ragged, of other columns
or types), E090 (a CSV field that does not spell its column's type).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from ...diagnostics import Diagnostic, StrataError
from ...relation.nodes import Relation, Scan, walk_relation
from ...relation.schema import Column
from ...types.physical import arrow_type, widens_physically
from ..protocol import ArrowTable, CsvTable, DuckDBTable, ParquetTable, TableInput
from .casts import cast
from .values import MisfitError, Value, failure


def read_tables(
    relation: Relation, tables: Mapping[str, TableInput]
) -> dict[tuple[str, tuple[str, ...]], list[list[Value]]]:
    """The rows of every table that `relation` reads, by its name and the columns of the scan: a table can be
    scanned twice, for other columns each time."""
    scans = {(node.table, node.schema.names) for node in walk_relation(relation) if isinstance(node, Scan)}
    return {(name, columns): read_rows(tables[name], columns) for name, columns in scans}


def read_rows(table: TableInput, names: tuple[str, ...]) -> list[list[Value]]:
    """The rows of `table` in the columns `names`."""
    columns = {c.name: c for c in table.columns}
    wanted = tuple(columns[n] for n in names)
    if isinstance(table, CsvTable):
        return list(_csv_rows(table, wanted))
    data = arrow_data(table)
    cells = [_values(data, column, table) for column in wanted]
    return [list(row) for row in zip(*cells, strict=True)] if cells else [[] for _ in range(data.num_rows)]


def arrow_data(table: ParquetTable | DuckDBTable | ArrowTable) -> pa.Table:
    """The data as Arrow, with the types that it has."""
    match table:
        case ArrowTable():
            return table.data
        case ParquetTable():
            files = [_parquet(path) for path in table.paths]
            try:
                return pa.concat_tables(files)
            except pa.ArrowException:
                raise unreadable(table.paths[0], "the other files of the table have other columns or types") from None
        case DuckDBTable():
            _exists(table.path)
            try:
                with duckdb.connect(str(table.path), read_only=True) as connection:
                    name = exp.to_identifier(table.table, quoted=True).sql("duckdb")
                    return connection.table(name).to_arrow_table()
            except duckdb.Error as error:
                raise unreadable(table.path, str(error).splitlines()[0]) from None


def csv_header(table: CsvTable) -> tuple[str, ...]:
    """The column names that the file gives."""
    return tuple(next(_records(table.path), ()))


def unreadable(path: Path | str, reason: str) -> StrataError:
    """E033 for an input."""
    return StrataError(
        Diagnostic("E033", f"`{path}` cannot be read: {reason}", fix="check the path, the format and the columns")
    )


def _exists(path: Path) -> None:
    if not path.is_file():
        raise unreadable(path, "there is no such file")


def _parquet(path: Path) -> pa.Table:
    _exists(path)
    try:
        return pq.read_table(path, partitioning=None)
    except (pa.ArrowException, OSError) as error:
        raise unreadable(path, str(error).splitlines()[0]) from None


def _records(path: Path) -> Iterator[list[str]]:
    _exists(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from csv.reader(file, strict=True)
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        raise unreadable(path, str(error)) from None


def _csv_rows(table: CsvTable, columns: tuple[Column, ...]) -> Iterator[list[Value]]:
    header = csv_header(table)
    missing = [c.name for c in table.columns if c.name not in header]
    if missing or len(set(header)) < len(header):
        wanted = ", ".join(c.name for c in table.columns)
        raise unreadable(table.path, f"its header is `{','.join(header)}`; each of `{wanted}` must stand there once")
    records = _records(table.path)
    next(records)
    for number, record in enumerate(records, start=2):
        if len(record) != len(header):
            raise unreadable(table.path, f"record {number} has {len(record)} fields, the header {len(header)}")
        fields = dict(zip(header, record, strict=True))
        yield [_field(fields[c.name], c, table) for c in columns]


def _field(text: str, column: Column, table: CsvTable) -> Value:
    if text == "" or text == table.null:
        return None
    try:
        return cast(text, column.inferred.type)
    except MisfitError as error:
        raise failure(f"{table.path}: {column.name} as {column.inferred.type}", str(error), [text]) from None


def _values(data: pa.Table, column: Column, table: TableInput) -> list[Value]:
    if column.name not in data.column_names:
        raise unreadable(_place(table), f"it has no column `{column.name}`")
    values = data[column.name]
    wanted = arrow_type(column.inferred.type)
    if not widens_physically(values.type, wanted):
        raise unreadable(_place(table), f"column `{column.name}` is {values.type}, declared {column.inferred.type}")
    try:
        if isinstance(values.type, pa.ExtensionType) and pa.types.is_fixed_size_binary(values.type.storage_type):
            return [None if v is None else str(v) for v in values.to_pylist()]
        cells: list[Value] = values.cast(wanted).to_pylist(maps_as_pydicts="strict")
        return cells
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise unreadable(_place(table), f"column `{column.name}`: {error}") from None


def _place(table: TableInput) -> Path | str:
    match table:
        case ParquetTable():
            return table.paths[0]
        case CsvTable() | DuckDBTable():
            return table.path
        case ArrowTable():
            return "the Arrow table"
