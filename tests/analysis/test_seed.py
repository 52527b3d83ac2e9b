"""Clauses of the seed that only a whole model shows."""

from __future__ import annotations

import pytest

from strata_core.relation.nodes import walk_relation
from strata_core.types import Unknown

from .programs import findings, model, outputs, project, text_of


@pytest.mark.parametrize("expression", ["total + usd", "total - usd", "total / usd", "if(paid, total, usd)"])
def test_seed0_s1_mixed_currency_is_a_compile_error(expression: str) -> None:
    (found,) = findings(f"from orders select {{ x = {expression} }}")
    assert found.code == "E052"


def test_seed0_s1_an_unknown_type_must_resolve_and_no_finished_relation_holds_one() -> None:
    (found,) = findings("from orders select { order_id, x = none }")
    assert (found.code, found.message) == ("E055", "`none` alone gives the column no type")
    assert project(text_of("from orders select { order_id, x = none }")).models == {}
    resolved = model('from orders select { order_id, x = coalesce(none, note, "") }').relation
    types = [c.inferred.type for node in walk_relation(resolved) for c in node.schema.columns]
    assert not [t for t in types if isinstance(t, Unknown)]


def test_seed0_s1_narrowing_takes_a_cast() -> None:
    promise = "order_id: int64 primary_key, weight: decimal(10,2)"
    (found,) = findings("from orders select { order_id, weight }", promise)
    assert (found.code, found.fix) == ("E011", '`weight = cast(weight, "decimal(10,2)")`')
    (computed,) = findings("from orders select { order_id, weight = weight * 2.0 }", promise)
    assert (computed.code, computed.fix) == ("E011", '`weight = cast(…, "decimal(10,2)")`')
    cast = 'from orders select { order_id, weight = cast(weight, "decimal(10,2)") }'
    assert outputs(cast, contract=promise) == {"order_id": "int64 nonnull", "weight": "decimal(10,2)"}


def test_seed0_s2_unknown_beside_an_operator_is_an_unresolved_column() -> None:
    (found,) = findings("from orders select { x = order_id + none }")
    assert found.code == "E055"


def test_seed0_s2_an_outer_join_makes_the_other_side_nullable() -> None:
    joined = "from orders join_left customers on orders.customer_id == customers.customer_id"
    assert outputs(f"{joined} select {{ amount, email = customers.email }}") == {
        "amount": "decimal(10,2) nonnull",
        "email": "string",
    }


def test_seed0_s5b_every_reference_resolves_to_a_known_table_and_column() -> None:
    assert [d.code for d in findings("from parcels select { weight }")] == ["E020"]
    assert [d.code for d in findings("from orders select { volume }")] == ["E021"]
