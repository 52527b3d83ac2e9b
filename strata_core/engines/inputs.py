"""What every engine says of an input that it cannot read: one place, so that a person reads the same from each.

Errors: E030 (no such file or table), E033 (not of its format), E080 (other types than declared), E084 (a column that is
missing).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import assert_never

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from ..diagnostics import Diagnostic, StrataError
from ..relation.schema import Column
from ..types.physical import arrow_type
from .protocol import ArrowTable, CsvTable, DuckDBTable, ParquetTable, StreamTable, TableInput


def require_file(path: Path) -> None:
    """Raises E030 where there is no file."""
    if not path.is_file():
        raise StrataError(
            Diagnostic("E030", f"there is no file `{path}`", fix="check the path in the source's declaration")
        )


def parquet_schema(table: ParquetTable) -> pa.Schema:
    """The schema that all files have. Errors: E030, E033, E080 where files differ."""
    first: pa.Schema | None = None
    for path in table.paths:
        require_file(path)
        try:
            schema = pq.read_schema(path).remove_metadata()
        except (pa.ArrowException, OSError) as error:
            raise not_parquet(path, error) from None
        if first is None:
            first = schema
        elif not schema.equals(first):
            raise StrataError(
                Diagnostic(
                    "E080",
                    f"`{path}` has other columns or types than `{table.paths[0]}`",
                    fix="write all files of a table with one schema",
                    notes=(f"there: {_spelled(first)}", f"here: {_spelled(schema)}"),
                )
            )
    if first is None:
        return pa.schema([pa.field(c.name, arrow_type(c.inferred.type)) for c in table.columns])
    return first


def _spelled(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name}: {field.type}{'' if field.nullable else ' not null'}" for field in schema)


def not_parquet(path: Path, error: Exception) -> StrataError:
    """E033: Arrow does not read the file."""
    reason = str(error).splitlines()[0]
    return StrataError(
        Diagnostic("E033", f"`{path}` is not Parquet, or is damaged: {reason}", fix="write the file anew")
    )


def place_in_database(table: DuckDBTable, connection: duckdb.DuckDBPyConnection, catalog: str) -> tuple[str, str]:
    """The schema and the name of `table` in a database that `connection` calls `catalog`. Errors: E030."""
    found = connection.execute(
        "select table_schema, table_name from information_schema.tables where table_catalog = $1"
        " order by table_schema <> 'main', table_schema, table_name",
        [catalog],
    ).fetchall()
    place = next(((s, t) for s, t in found if table.table in (t, f"{s}.{t}")), None)
    if place is None:
        there = ", ".join(t if s == "main" else f"{s}.{t}" for s, t in found) or "no tables"
        raise StrataError(
            Diagnostic("E030", f"`{table.path}` has no table `{table.table}`", fix=f"the database has {there}")
        )
    schema, name = place
    return schema, name


def not_a_database(table: DuckDBTable, error: duckdb.Error) -> StrataError:
    """E033: DuckDB does not open the file."""
    return StrataError(
        Diagnostic(
            "E033",
            f"`{table.path}` cannot be opened as a DuckDB database: {str(error).splitlines()[0]}",
            fix="check that it is one, and that no other process has it open for writing",
        )
    )


def place_of(table: TableInput) -> str:
    """Where a table lies, for messages."""
    match table:
        case ParquetTable():
            return f"`{table.paths[0]}`" if table.paths else "the table"
        case CsvTable():
            return f"`{table.path}`"
        case DuckDBTable():
            return f"`{table.path}`, table `{table.table}`,"
        case ArrowTable():
            return "the data"
        case StreamTable():
            return table.place
        case _:
            assert_never(table)


def missing_column(table: TableInput, name: str, found: Sequence[str]) -> Diagnostic:
    """E084, with the columns that are there."""
    return Diagnostic(
        "E084",
        f"{place_of(table)} has no column `{name}`",
        fix=f"its columns are {', '.join(f'`{n}`' for n in found)}",
        field_path=name,
    )


def other_type(table: TableInput, column: Column, given: pa.DataType) -> Diagnostic:
    """E080, with the type found and the type declared."""
    return Diagnostic(
        "E080",
        f"column `{column.name}` is `{given}` in {place_of(table).rstrip(',')}, declared `{column.inferred.type}`",
        fix=f"write the data as `{arrow_type(column.inferred.type)}`, or declare the type that it has and `cast` it",
        field_path=column.name,
    )
