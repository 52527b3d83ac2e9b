"""The rows that a model computes over literal tables, on the reference and on DuckDB, also in canonical form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import EngineSettings
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.relation.build import sort_rows
from strata_core.relation.canonical import canonical

from ..engines.conformance import check_conformance, table_of
from .programs import model, project

DUCKDB = DuckDBEngine(EngineSettings(memory_limit="256MiB", threads=1))
Data = Mapping[str, Sequence[Sequence[object]]]


def computed_rows(body: str, sources: str, data: Data) -> list[list[object]]:
    """The rows of the model in its order."""
    compiled = model(body, sources=sources)
    columns = {name: source.columns for name, source in project("", sources=sources).sources.items()}
    tables = {name: table_of(columns[name], [list(row) for row in rows]) for name, rows in data.items()}
    relation = sort_rows(compiled.relation, compiled.order) if compiled.order else compiled.relation
    check_conformance(DUCKDB, relation, tables)
    check_conformance(DUCKDB, canonical(relation), tables)
    return [list(r.values()) for r in ReferenceEngine().execute(relation, tables).read_all().to_pylist()]
