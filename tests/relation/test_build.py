"""Keys, origins and row-shaping edges of each node (Seed 0 §4; design `architecture.md`, Decision 2)."""

from __future__ import annotations

import pytest

from strata_core.relation.build import (
    aggregate_rows,
    extend,
    filter_rows,
    join,
    limit_rows,
    project,
    ref,
    rename_windows,
    scan,
    sort_rows,
    total_order,
    window_rows,
)
from strata_core.relation.expressions import Frame, SortKey, aggregate, call, literal, window
from strata_core.relation.nodes import AggregateItem, Item, JoinKind, Relation, WindowItem
from strata_core.relation.schema import Column, Origin, Role, RowEdge, Schema, minimal_keys
from strata_core.types import INT64, STRING, Inferred

ORDERS = scan(
    "orders",
    [
        Column("id", Inferred(INT64, nullable=False)),
        Column("customer", Inferred(INT64, nullable=True)),
        Column("country", Inferred(STRING, nullable=False, values=frozenset({"ES", "MX", "CO"}))),
        Column("amount", Inferred(INT64, nullable=False)),
    ],
    [frozenset({"id"})],
)
CUSTOMERS = scan(
    "customers",
    [Column("customer_id", Inferred(INT64, nullable=False)), Column("email", Inferred(STRING, nullable=False))],
    [frozenset({"customer_id"})],
)
ON = call("eq", ref(ORDERS, "customer"), ref(CUSTOMERS, "customer_id"))


def keys(relation: Relation) -> set[tuple[str, ...]]:
    return {tuple(sorted(key)) for key in relation.schema.keys}


def origins(relation: Relation, name: str) -> list[tuple[str, str, str, bool]]:
    return [(o.node, o.column, o.transform.value, o.joined) for o in relation.schema[name].origins]


def nullable(relation: Relation) -> set[str]:
    return {c.name for c in relation.schema.columns if c.inferred.nullable}


def test_seed0_s4_rule1_a_selected_column_keeps_its_origin() -> None:
    same = project(ORDERS, [Item("id", ref(ORDERS, "id")), Item("x", ref(ORDERS, "amount"))])
    assert origins(same, "id") == [("orders", "id", "passthrough", False)]
    assert origins(same, "x") == [("orders", "amount", "passthrough", False)]
    renamed = project(ORDERS, [Item("x", ref(ORDERS, "amount"))], renamed=frozenset({"x"}))
    assert origins(renamed, "x") == [("orders", "amount", "renamed", False)]


def test_seed0_s4_rule2_a_derived_column_unites_the_origins_of_what_it_reads() -> None:
    sum_ = call("add", ref(ORDERS, "amount"), ref(ORDERS, "id"))
    derived = project(ORDERS, [Item("y", sum_), Item("one", literal(1))])
    assert origins(derived, "y") == [("orders", "amount", "derived", False), ("orders", "id", "derived", False)]
    assert origins(derived, "one") == []


def test_a_step_that_adds_columns_keeps_all_others_in_their_order_and_a_new_one_takes_its_place() -> None:
    sum_ = call("add", ref(ORDERS, "amount"), ref(ORDERS, "id"))
    added = extend(ORDERS, [Item("y", sum_), Item("code", ref(ORDERS, "country"))], renamed=frozenset({"code"}))
    assert added.schema.names == ("id", "customer", "country", "amount", "y", "code")
    assert added.schema["customer"] is ORDERS.schema["customer"]
    assert origins(added, "y") == [("orders", "amount", "derived", False), ("orders", "id", "derived", False)]
    assert origins(added, "code") == [("orders", "country", "renamed", False)]
    assert keys(added) == {("id",)}
    replaced = extend(ORDERS, [Item("id", ref(ORDERS, "amount")), Item("old", ref(ORDERS, "id"))])
    assert replaced.schema.names == ("customer", "country", "amount", "id", "old")
    assert origins(replaced, "id") == [("orders", "amount", "passthrough", False)]
    assert keys(replaced) == {("old",)}
    assert keys(extend(ORDERS, [Item("id", literal(1))])) == set()
    assert replaced.written_out == project(ORDERS, replaced.written_out.items)
    assert [i.name for i in replaced.written_out.items] == ["customer", "country", "amount", "id", "old"]


def test_a_window_may_be_called_otherwise() -> None:
    call_ = window("row_number", partition=(ref(ORDERS, "customer"),))
    numbered = rename_windows(window_rows(ORDERS, [WindowItem("window", call_)]), {"window": "nth"})
    assert numbered == window_rows(ORDERS, [WindowItem("nth", call_)])
    assert keys(numbered) == {("id",), ("customer", "nth")}


def test_a_column_that_equals_a_constant_is_no_part_of_a_key() -> None:
    numbered = window_rows(ORDERS, [WindowItem("nth", window("row_number", partition=(ref(ORDERS, "customer"),)))])
    assert keys(numbered) == {("id",), ("customer", "nth")}
    assert keys(filter_rows(numbered, call("eq", ref(numbered, "nth"), literal(1)))) == {("id",), ("customer",)}
    assert keys(filter_rows(numbered, call("lt", ref(numbered, "nth"), literal(1)))) == {("id",), ("customer", "nth")}
    assert keys(filter_rows(numbered, call("eq", literal(7), ref(numbered, "id")))) == {()}


def test_seed0_s4_rule3_aggregated_and_grouped() -> None:
    grouped = aggregate_rows(
        ORDERS,
        [Item("country", ref(ORDERS, "country"))],
        [AggregateItem("total", aggregate("sum", ref(ORDERS, "amount"), grouped=True))],
    )
    assert origins(grouped, "total") == [("orders", "amount", "aggregated", False)]
    assert origins(grouped, "country") == [("orders", "country", "grouped", False)]
    assert RowEdge("orders", "country", Role.GROUP) in grouped.schema.edges


def test_seed0_s4_rule4_right_columns_are_joined_and_both_sides_are_read() -> None:
    joined = join(JoinKind.INNER, ORDERS, CUSTOMERS, ON)
    assert origins(joined, "email") == [("customers", "email", "passthrough", True)]
    assert origins(joined, "amount") == [("orders", "amount", "passthrough", False)]
    assert joined.schema.edges == {
        RowEdge("orders", "customer", Role.JOIN),
        RowEdge("customers", "customer_id", Role.JOIN),
    }


def test_seed0_s4_rule5_a_filter_changes_no_origin_and_reads_its_columns() -> None:
    kept = filter_rows(ORDERS, call("gt", ref(ORDERS, "amount"), literal(0)))
    assert [c.origins for c in kept.schema.columns] == [c.origins for c in ORDERS.schema.columns]
    assert kept.schema.edges == {RowEdge("orders", "amount", Role.FILTER)}
    assert keys(kept) == {("id",)}


def test_conditions_of_a_choice_are_read_without_being_part_of_the_value() -> None:
    positive = call("gt", ref(ORDERS, "amount"), literal(0))
    chosen = project(ORDERS, [Item("x", call("if", positive, ref(ORDERS, "id"), literal(0)))])
    assert RowEdge("orders", "amount", Role.CONDITIONAL) in chosen.schema.edges


JOINS = [
    # kind, keys of the result, nullable columns
    (JoinKind.INNER, {("id",)}, set()),
    (JoinKind.LEFT, {("id",)}, {"customer", "customer_id", "email"}),
    (JoinKind.FULL, set(), {"id", "customer", "country", "amount", "customer_id", "email"}),
    (JoinKind.SEMI, {("id",)}, set()),
    (JoinKind.ANTI, {("id",)}, {"customer"}),
]


@pytest.mark.parametrize(("kind", "expected", "optional"), JOINS, ids=[j[0].value for j in JOINS])
def test_joins_keep_what_they_do_not_multiply(
    kind: JoinKind, expected: set[tuple[str, ...]], optional: set[str]
) -> None:
    joined = join(kind, ORDERS, CUSTOMERS, ON)
    assert keys(joined) == expected
    assert nullable(joined) == optional


def test_a_join_that_may_multiply_has_the_keys_of_both_sides() -> None:
    mirrored = join(JoinKind.LEFT, CUSTOMERS, ORDERS, call("eq", ref(CUSTOMERS, "customer_id"), ref(ORDERS, "amount")))
    assert keys(mirrored) == {("customer_id", "id")}
    crossed = join(JoinKind.CROSS, CUSTOMERS, ORDERS, None)
    assert keys(crossed) == {("customer_id", "id")}


def test_an_expected_cardinality_counts_as_a_key() -> None:
    loose = project(CUSTOMERS, [Item("email", ref(CUSTOMERS, "email"))])
    on = call("eq", ref(ORDERS, "country"), ref(loose, "email"))
    assert keys(join(JoinKind.LEFT, ORDERS, loose, on)) == set()
    assert keys(join(JoinKind.LEFT, ORDERS, loose, on, right_unique=True)) == {("id",)}


def test_a_projection_keeps_a_key_whose_columns_it_keeps() -> None:
    renamed = project(ORDERS, [Item("order", ref(ORDERS, "id")), Item("amount", ref(ORDERS, "amount"))])
    assert keys(renamed) == {("order",)}
    assert keys(project(ORDERS, [Item("amount", ref(ORDERS, "amount"))])) == set()


def test_group_keys_are_a_key_and_no_group_is_one_row() -> None:
    count = AggregateItem("n", aggregate("count", grouped=True))
    by_country = aggregate_rows(ORDERS, [Item("country", ref(ORDERS, "country"))], [count])
    assert keys(by_country) == {("country",)}
    whole = aggregate_rows(ORDERS, [], [AggregateItem("n", aggregate("count", grouped=False))])
    assert keys(whole) == {()}
    finer = [Item("id", ref(ORDERS, "id")), Item("country", ref(ORDERS, "country"))]
    assert keys(aggregate_rows(ORDERS, finer, [count])) == {("id",)}


def test_a_row_number_is_a_key_within_its_partition() -> None:
    number = window("row_number", partition=(ref(ORDERS, "country"),), order=(SortKey(ref(ORDERS, "amount")),))
    assert keys(window_rows(ORDERS, [WindowItem("n", number)])) == {("id",), ("country", "n")}


def test_one_row_is_a_key() -> None:
    assert keys(limit_rows(ORDERS, (), 0, 1)) == {()}
    assert keys(limit_rows(ORDERS, (), 0, 2)) == {("id",)}


def test_an_order_is_completed_to_a_total_one() -> None:
    by_amount = (SortKey(ref(ORDERS, "amount"), descending=True),)
    assert [k.expr.name for k in total_order(by_amount, ORDERS.schema)] == ["amount", "id"]
    unkeyed = Schema(ORDERS.schema.columns)
    assert [k.expr.name for k in total_order(by_amount, unkeyed)] == ["amount", "country", "customer", "id"]
    assert sort_rows(ORDERS, by_amount).keys == by_amount
    assert len(limit_rows(ORDERS, by_amount, 0, 3).keys) == 2


def test_windows_complete_the_order_where_peers_would_differ() -> None:
    by_amount = (SortKey(ref(ORDERS, "amount")),)
    calls = {
        "row_number": window("row_number", order=by_amount),
        "rank": window("rank", order=by_amount),
        "sum": window("sum", ref(ORDERS, "id"), order=by_amount),
        "moving": window("sum", ref(ORDERS, "id"), order=by_amount, frame=Frame(-1, 0)),
        "array_agg": window("array_agg", ref(ORDERS, "id"), order=by_amount),
    }
    made = window_rows(ORDERS, [WindowItem(name, c) for name, c in calls.items()])
    lengths = {item.name: len(item.call.order) for item in made.items}
    assert lengths == {"row_number": 2, "rank": 1, "sum": 1, "moving": 2, "array_agg": 2}


def test_a_frame_that_holds_the_current_row_is_never_empty() -> None:
    amount = ref(ORDERS, "amount")
    by_id = (SortKey(ref(ORDERS, "id")),)

    def is_nullable(function: str, frame: Frame | None) -> bool:
        return window(function, amount, order=by_id, frame=frame).inferred.nullable

    assert not is_nullable("sum", None)
    assert not is_nullable("first_value", Frame(-1, 0))
    assert not is_nullable("last_value", Frame(None, None))
    assert is_nullable("sum", Frame(1, 2))
    assert is_nullable("last_value", Frame(None, -1))
    assert is_nullable("lag", None)
    assert not is_nullable("count", Frame(1, 2))


def test_keys_are_kept_minimal_and_few() -> None:
    assert minimal_keys({frozenset("ab"), frozenset("a"), frozenset("bc")}) == {frozenset("a"), frozenset("bc")}
    assert len(minimal_keys({frozenset(f"k{i}") for i in range(20)} | {frozenset(str(i)) for i in range(10)})) == 8


def test_misuse_is_a_fault_of_the_program() -> None:
    with pytest.raises(ValueError, match="unique"):
        Schema((Column("a", Inferred(INT64, False)), Column("a", Inferred(INT64, False))))
    with pytest.raises(ValueError, match="does not exist"):
        Schema((), frozenset({frozenset({"a"})}))
    with pytest.raises(ValueError, match="a predicate is bool"):
        filter_rows(ORDERS, literal(1))
    with pytest.raises(ValueError, match="at least one key or aggregate"):
        aggregate_rows(ORDERS, (), ())
    with pytest.raises(ValueError, match="every join but a cross join"):
        join(JoinKind.INNER, ORDERS, CUSTOMERS, None)


def test_scans_originate_in_themselves() -> None:
    assert ORDERS.schema["id"].origins == (Origin("orders", "id"),)
