"""Tables as SELECTs: Parquet, CSV, DuckDB and Arrow inputs, in the types declared for them.

Data of other types than declared is refused, never cast in silence; only what loses nothing widens (an int32 file for
int64). Errors: E030 (missing file or table), E033 (not of its format), E080 (other types), E084 (missing column).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

import duckdb
import pyarrow as pa
from sqlglot import exp

from ...diagnostics import StrataError
from ...relation.nodes import Relation, Scan, walk_relation
from ...relation.schema import Column
from ...types import STRING, Json, Uuid
from ...types.physical import arrow_type, widens_physically
from ..csv_files import read_header
from ..inputs import missing_column, not_a_database, other_type, parquet_schema, place_in_database, require_file
from ..protocol import ArrowTable, CsvTable, DuckDBTable, ParquetTable, StreamTable, TableInput
from . import sql
from .casts import cast_value
from .kept_queries import differ_in_case_alone, literal_path
from .session import computing
from .sql import SqlExpr
from .streams import Stream
from .translate import ScanKey, distinct_spellings


@dataclass(frozen=True, slots=True)
class Source:
    """Rows that a query can read: a FROM item, its columns as DuckDB calls them, and the types of the data."""

    rows: SqlExpr
    columns: Mapping[str, str]
    schema: pa.Schema


def scans_of(
    relation: Relation,
    tables: Mapping[str, TableInput],
    spelled: Mapping[str, str],
    connection: duckdb.DuckDBPyConnection,
    schemas: Mapping[str, pa.Schema],
) -> dict[ScanKey, exp.Select]:
    """A SELECT for each table and column set that `relation` scans; what it reads is attached to `connection`.

    `schemas` are those of Parquet files that are known. A table that `tables` does not have yet stands by its name, for
    people to read.
    """
    sources: dict[str, Source] = {}
    scans: dict[ScanKey, exp.Select] = {}
    nodes = sorted(
        {(n.table, n.schema.names) for n in walk_relation(relation) if isinstance(n, Scan)},
        key=lambda key: (key[0], -len(key[1]), key[1]),
    )
    for name, columns in nodes:
        table = tables.get(name)
        if table is None:
            items = [sql.named(sql.column(c), spelled.get(c, c)) for c in columns]
            scans[name, columns] = exp.Select(expressions=items, from_=exp.From(this=sql.table(name)))
            continue
        if name not in sources:
            sources[name] = source_of(table, connection, f"{sql.RESERVED}source_{len(sources) + 1}", schemas.get(name))
        declared = {c.name: c for c in table.columns}
        scans[name, columns] = scan(table, sources[name], [declared[c] for c in columns], spelled)
    return scans


def scan(table: TableInput, source: Source, columns: Sequence[Column], spelled: Mapping[str, str]) -> exp.Select:
    """The SELECT of `columns`, each in its declared type. Errors: E080, E084."""
    items: list[SqlExpr] = [
        sql.named(_typed(table, source, column), spelled.get(column.name, column.name)) for column in columns
    ]
    # A table of no columns still has rows.
    items = items or [sql.alias(exp.Null(), f"{sql.RESERVED}row")]
    return exp.Select(expressions=items, from_=exp.From(this=source.rows))


def _typed(table: TableInput, source: Source, column: Column) -> SqlExpr:
    if column.name not in source.columns:
        raise StrataError(missing_column(table, column.name, source.schema.names))
    value = sql.column(source.columns[column.name])
    declared = column.inferred.type
    if isinstance(table, CsvTable):
        return cast_value(value, STRING, declared)
    given, wanted = source.schema.field(column.name).type, arrow_type(declared)
    if not widens_physically(given, wanted):
        raise StrataError(other_type(table, column, given))
    if given == wanted and not isinstance(declared, Uuid | Json):
        return value
    if pa.types.is_timestamp(given) and given.unit == "ns":
        return _whole_microseconds(value)
    return sql.cast(value, sql.sql_type(declared))


def _whole_microseconds(value: SqlExpr) -> SqlExpr:
    target = exp.DataType(this=exp.DataType.Type.TIMESTAMP)
    rest = exp.Mod(this=sql.fn("epoch_ns", value.copy()), expression=sql.number(1000))
    finer = exp.NEQ(this=rest, expression=sql.number(0))
    message = "a timestamp is finer than a microsecond"
    return sql.when((finer, sql.raise_error(message, target)), otherwise=sql.cast(value, target))


def source_of(
    table: TableInput, connection: duckdb.DuckDBPyConnection, name: str, schema: pa.Schema | None = None
) -> Source:
    """What a query reads of `table`; attached or registered under `name`. `schema` is that of Parquet files where it
    is known. Errors: E030, E033, E080."""
    match table:
        case ParquetTable():
            return _parquet(table, connection, parquet_schema(table) if schema is None else schema)
        case CsvTable():
            return _csv(table)
        case DuckDBTable():
            return _attached(table, connection, name)
        case ArrowTable():
            spelled = distinct_spellings(table.data.schema.names)
            known, schema = _known_to_duckdb(table)
            connection.register(name, known.rename_columns([spelled[n] for n in schema.names]))
            return Source(sql.table(name), spelled, schema)
        case StreamTable():
            spelled = distinct_spellings(table.schema.names)
            connection.register(name, Stream(table, tuple(spelled[n] for n in table.schema.names)))
            return Source(sql.table(name), spelled, table.schema)
        case _:
            assert_never(table)


def _known_to_duckdb(table: ArrowTable) -> tuple[pa.Table, pa.Schema]:
    """The rows with the types that DuckDB takes from Arrow, and what they are: half floats and wide decimals become
    what is declared of them; a column of which that is nothing, or would lose a value, is refused where it is read
    (E080), and has nulls until then."""
    data, schema = table.data, table.data.schema
    declared = {c.name: arrow_type(c.inferred.type) for c in table.columns}
    for at, field in enumerate(schema):
        if _unknown_to_duckdb(field.type):
            wanted = declared.get(field.name)
            fits = wanted is not None and widens_physically(field.type, wanted)
            column = data.column(at).cast(wanted) if fits else pa.nulls(data.num_rows)
            data = data.set_column(at, field.name, column)
            schema = schema.set(at, field.with_type(wanted)) if fits else schema
    return data, schema


def _unknown_to_duckdb(type_: pa.DataType) -> bool:
    if pa.types.is_dictionary(type_):
        return _unknown_to_duckdb(type_.value_type)
    inner = (type_.field(at).type for at in range(type_.num_fields))
    types = (pa.types.is_float16, pa.types.is_decimal256, pa.types.is_union)
    return any(is_one(type_) for is_one in types) or any(map(_unknown_to_duckdb, inner))


def _parquet(table: ParquetTable, connection: duckdb.DuckDBPyConnection, schema: pa.Schema) -> Source:
    if not table.paths:
        names = {c.name: c.name for c in table.columns}
        nothing = [sql.alias(sql.null(sql.sql_type(c.inferred.type)), c.name) for c in table.columns]
        empty = exp.Select(expressions=nothing, where=exp.Where(this=exp.false()))
        return Source(exp.Subquery(this=empty, alias=exp.TableAlias(this=sql.identifier("empty"))), names, schema)
    paths = exp.Array(expressions=[sql.string(literal_path(p)) for p in table.paths])
    rows = sql.fn("read_parquet", paths, sql.option("hive_partitioning", exp.false()))
    names = {n: n for n in schema.names}
    if differ_in_case_alone(schema):
        with computing():
            described = connection.sql(sql.render(exp.Select(expressions=[exp.Star()], from_=exp.From(this=rows))))
        names = dict(zip(schema.names, described.columns, strict=True))
    return Source(rows, names, schema)


def _csv(table: CsvTable) -> Source:
    header = read_header(table)
    names = {name: f"column_{i}" for i, name in enumerate(header)}
    types = {name: exp.Literal.string("VARCHAR") for name in names.values()}
    nulls = ["", *([table.null] if table.null else [])]
    rows = sql.fn(
        "read_csv",
        sql.string(literal_path(table.path)),
        sql.option("columns", sql.struct(types)),
        sql.option("auto_detect", exp.false()),
        sql.option("header", exp.true()),
        sql.option("delim", sql.string(",")),
        sql.option("quote", sql.string('"')),
        sql.option("escape", sql.string('"')),
        sql.option("nullstr", exp.Array(expressions=[sql.string(n) for n in nulls])),
        sql.option("strict_mode", exp.true()),
        sql.option("null_padding", exp.false()),
    )
    return Source(rows, names, pa.schema([pa.field(name, pa.string()) for name in header]))


def _attached(table: DuckDBTable, connection: duckdb.DuckDBPyConnection, name: str) -> Source:
    require_file(table.path)
    target = exp.Alias(this=sql.string(str(table.path)), alias=sql.identifier(name))
    attach = exp.Attach(this=target, expressions=[exp.AttachOption(this=exp.Var(this="READ_ONLY"))])
    try:
        connection.execute(sql.render(attach))
    except duckdb.Error as error:
        raise not_a_database(table, error) from None
    place = place_in_database(table, connection, name)
    rows = sql.table(name, *place)
    with computing():
        one = exp.Select(
            expressions=[exp.Star()], from_=exp.From(this=rows.copy()), limit=exp.Limit(expression=sql.number(0))
        )
        schema = connection.sql(sql.render(one)).to_arrow_table().schema
    return Source(rows, {n: n for n in schema.names}, schema)
