"""Tables as rows: Parquet, CSV, DuckDB and Arrow inputs, read whole. Errors: those of `inputs.py` and `csv_files.py`,
and E090 (a timestamp finer than a microsecond).
"""

from __future__ import annotations

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
from ..csv_files import misfit, ragged, read_header, records
from ..inputs import (
    missing_column,
    not_a_database,
    not_parquet,
    other_type,
    parquet_schema,
    place_in_database,
    require_file,
)
from ..protocol import ArrowTable, CsvTable, DuckDBTable, ParquetTable, StreamTable, TableInput
from .casts import cast
from .values import Value


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


def arrow_data(table: ParquetTable | DuckDBTable | ArrowTable | StreamTable) -> pa.Table:
    """The data as Arrow, with the types that it has."""
    match table:
        case ArrowTable():
            return table.data
        case StreamTable():
            return table.open().read_all()
        case ParquetTable():
            schema = parquet_schema(table)
            return pa.concat_tables([_parquet(path) for path in table.paths]) if table.paths else schema.empty_table()
        case DuckDBTable():
            require_file(table.path)
            try:
                with duckdb.connect(str(table.path), read_only=True) as connection:
                    ((catalog,),) = connection.execute("select current_database()").fetchall()
                    names = place_in_database(table, connection, catalog)
                    place = ".".join(exp.to_identifier(name, quoted=True).sql("duckdb") for name in names)
                    return connection.table(place).to_arrow_table()
            except duckdb.Error as error:
                raise not_a_database(table, error) from None


def _parquet(path: Path) -> pa.Table:
    try:
        return pq.read_table(path, partitioning=None)
    except (pa.ArrowException, OSError) as error:
        raise not_parquet(path, error) from None


def _csv_rows(table: CsvTable, columns: tuple[Column, ...]) -> Iterator[list[Value]]:
    header = read_header(table)
    wanted = [(header.index(c.name), c) for c in columns]
    lines = records(table)
    next(lines, None)
    start = 2
    for end, record in lines:
        fault = ragged(table, header, start, record) or misfit(table, wanted, start, record)
        if fault is not None:
            raise StrataError(fault)
        yield [_field(record[position], column, table) for position, column in wanted]
        start = end + 1


def _field(text: str, column: Column, table: CsvTable) -> Value:
    return None if text == "" or text == table.null else cast(text, column.inferred.type)


def _values(data: pa.Table, column: Column, table: TableInput) -> list[Value]:
    if column.name not in data.column_names:
        raise StrataError(missing_column(table, column.name, data.column_names))
    values = data[column.name]
    wanted = arrow_type(column.inferred.type)
    if not widens_physically(values.type, wanted):
        raise StrataError(other_type(table, column, values.type))
    try:
        if isinstance(values.type, pa.ExtensionType) and pa.types.is_fixed_size_binary(values.type.storage_type):
            return [None if v is None else str(v) for v in values.to_pylist()]
        cells: list[Value] = values.cast(wanted).to_pylist(maps_as_pydicts="strict")
        return cells
    except (pa.ArrowException, ValueError, OverflowError) as error:
        message = f"column `{column.name}` cannot be read as {column.inferred.type}: {error}"
        raise StrataError(Diagnostic("E090", message, fix="write the data in the declared type")) from None
