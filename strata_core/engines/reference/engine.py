"""The reference engine: the interpreter behind the engine protocol, for tests and as the conformance oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from ...contract.assertions import Assertion, Assessment
from ...relation.nodes import Relation, inputs
from ...relation.schema import Schema
from ...types import Map
from ...types.physical import arrow_field, arrow_type
from ..csv_files import csv_schema
from ..protocol import CsvTable, StreamTable, TableInput
from .assess import assess
from .interpreter import rows_of
from .reading import arrow_data, read_tables
from .rows import Reading
from .values import Value


@dataclass(frozen=True, slots=True)
class ReferenceEngine:
    """The semantics, executed in memory. `eager` computes also what nothing needs (see `interpreter.py`)."""

    eager: bool = False
    name: str = "reference"

    def execute(self, relation: Relation, tables: Mapping[str, TableInput]) -> pa.RecordBatchReader:
        """The rows of `relation` in one batch. Errors: E090, and those of inputs."""
        rows = rows_of(relation, Reading(read_tables(relation, tables), self.eager))
        return arrow_rows(rows, relation.schema).to_reader()

    def explain(self, relation: Relation, tables: Mapping[str, TableInput]) -> str:
        """The tree of nodes, one a line."""
        return "\n".join(_lines(relation, 0))

    def physical_schema(self, table: TableInput) -> pa.Schema:
        """The schema of the data itself; every column of a CSV file is text. Errors: E030, E033, E080, E084."""
        if isinstance(table, StreamTable):
            return table.schema
        return csv_schema(table) if isinstance(table, CsvTable) else arrow_data(table).schema

    def assess(self, table: TableInput, assertions: Sequence[Assertion], key: Sequence[str] = ()) -> Assessment:
        """Answers to `assertions`, with the table read whole. Errors: E090, and those of inputs."""
        return assess(table, assertions, key)


def arrow_rows(rows: Sequence[Sequence[Value]], schema: Schema) -> pa.Table:
    """Rows of values as an Arrow table of `schema`."""
    fields = [arrow_field(c.name, c.inferred) for c in schema.columns]
    columns = []
    for i, column in enumerate(schema.columns):
        cells: list[object] = [row[i] for row in rows]
        if isinstance(column.inferred.type, Map):
            cells = [list(v.items()) if isinstance(v, dict) else v for v in cells]
        columns.append(pa.array(cells, arrow_type(column.inferred.type)))
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _lines(node: Relation, depth: int) -> list[str]:
    columns = ", ".join(f"{c.name}: {c.inferred}" for c in node.schema.columns)
    own = f"{'  ' * depth}{type(node).__name__.lower()} ({columns})"
    return [own, *(line for child in inputs(node) for line in _lines(child, depth + 1))]
