"""The DuckDB engine behind the protocol: a relation becomes one query, whose rows are streamed as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import assert_never

import duckdb
import pyarrow as pa

from ...contract.assertions import Assertion, Assessment
from ...relation.nodes import Relation
from ...types.physical import arrow_field
from ..csv_files import csv_schema
from ..inputs import parquet_schema
from ..protocol import (
    ArrowTable,
    CsvTable,
    DuckDBTable,
    EngineSettings,
    ParquetTable,
    StreamTable,
    TableInput,
)
from .arrow import conform
from .assess import assess
from .input_faults import locating_faults
from .kept_queries import Schemas, queries_over
from .session import computing, open_session

BATCH_ROWS = 122_880
"""Rows of a batch: those of DuckDB's own row groups, across whose ends no batch reaches."""


@dataclass(frozen=True, slots=True)
class DuckDBEngine:
    """Relations as DuckDB queries. Each call has a connection of its own, so that threads may share this."""

    settings: EngineSettings = field(default_factory=EngineSettings)
    name: str = "duckdb"

    def execute(self, relation: Relation, tables: Mapping[str, TableInput]) -> pa.RecordBatchReader:
        """The rows of `relation`, streamed. Closing the reader ends the computation.

        Errors, here or while the rows are read: E030, E033, E080, E084 (inputs), E090, E091.
        """
        schema = pa.schema([arrow_field(c.name, c.inferred) for c in relation.schema.columns])
        connection = self._session(*tables.values())
        try:
            with locating_faults(tables):
                query = queries_over(tables).text("rows", relation, partial(_written, relation, connection))
                with computing():
                    reader = connection.sql(query).to_arrow_reader(BATCH_ROWS)
        except BaseException:
            connection.close()
            raise
        return pa.RecordBatchReader.from_batches(schema, _batches(reader, schema, tables, connection))

    def explain(self, relation: Relation, tables: Mapping[str, TableInput]) -> str:
        """The SQL that `execute` runs. Errors: E030, E033, E080, E084."""
        connection = self._session(*tables.values())
        try:
            return _written(relation, connection, tables, {}, pretty=True)
        finally:
            connection.close()

    def physical_schema(self, table: TableInput) -> pa.Schema:
        """The schema of the data itself; every column of a CSV file is text. Errors: E030, E033."""
        match table:
            case ArrowTable():
                return table.data.schema
            case StreamTable():
                return table.schema
            case ParquetTable():
                return parquet_schema(table)
            case CsvTable():
                return csv_schema(table)
            case DuckDBTable():
                connection = self._session(table)
                try:
                    from .scans import source_of

                    return source_of(table, connection, "physical").schema
                finally:
                    connection.close()
            case _:
                assert_never(table)

    def assess(self, table: TableInput, assertions: Sequence[Assertion], key: Sequence[str] = ()) -> Assessment:
        """Answers to `assertions` in one pass over `table`. Errors: E030, E033, E080, E084, E090, E091."""
        connection = self._session(table)
        try:
            with locating_faults({"": table}):
                return assess(table, assertions, key, connection)
        finally:
            connection.close()

    def _session(self, *tables: TableInput) -> duckdb.DuckDBPyConnection:
        return open_session(self.settings, alone=any(isinstance(t, DuckDBTable) for t in tables))


def _written(
    relation: Relation,
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, TableInput],
    schemas: Schemas,
    *,
    pretty: bool = False,
) -> str:
    """The query of `relation`. What writes it is loaded here, since most queries are kept (`kept_queries`)."""
    from . import sql
    from .scans import scans_of
    from .translate import select_of, spell

    scans = scans_of(relation, tables, spell(relation), connection, schemas)
    return sql.render(select_of(relation, scans), pretty=pretty)


def _batches(
    reader: pa.RecordBatchReader,
    schema: pa.Schema,
    tables: Mapping[str, TableInput],
    connection: duckdb.DuckDBPyConnection,
) -> Iterator[pa.RecordBatch]:
    """The batches in the promised types; the connection closes with the last one, or when nobody reads on."""
    try:
        while True:
            with locating_faults(tables):
                batch = next_batch(reader)
            if batch is None:
                return
            yield conform(batch, schema)
    finally:
        reader.close()
        connection.close()


def next_batch(reader: pa.RecordBatchReader) -> pa.RecordBatch | None:
    """The next batch, or `None` at the end."""
    try:
        with computing():
            return reader.read_next_batch()
    except StopIteration:
        return None
