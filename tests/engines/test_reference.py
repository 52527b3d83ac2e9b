from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.engines.reference.engine import ReferenceEngine

from .conformance import check_conformance, check_facts, outcome_of
from .strategies import databases, relations


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_proven_facts_hold_and_the_lazy_reading_agrees_with_the_eager_one(data: st.DataObject) -> None:
    database = data.draw(databases())
    relation = data.draw(relations(database))
    check_conformance(ReferenceEngine(), relation, database.tables)
    check_facts(relation, outcome_of(ReferenceEngine(), relation, database.tables))
