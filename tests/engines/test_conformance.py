"""The DuckDB engine gives what the reference interpreter gives, on random relations over random data."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import EngineSettings

from .conformance import check_conformance
from .strategies import databases, relations

DUCKDB = DuckDBEngine(EngineSettings(memory_limit="512MiB", threads=2))


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_duckdb_agrees_with_the_reference(data: st.DataObject) -> None:
    database = data.draw(databases())
    relation = data.draw(relations(database))
    check_conformance(DUCKDB, relation, database.tables)
