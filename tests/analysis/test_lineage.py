"""Where output columns come from (Seed 0 §4), through every statement."""

from __future__ import annotations

from strata_core.relation.schema import Origin, RowEdge

from .programs import model


def origins(body: str) -> dict[str, list[str]]:
    """Each output's origins, spelled `node.column kind`, with `joined` where it came through a join."""
    columns = model(body).relation.schema.columns
    return {c.name: [spelled(o) for o in c.origins] for c in columns}


def spelled(origin: Origin) -> str:
    return f"{origin.node}.{origin.column} {origin.transform}{' joined' if origin.joined else ''}"


def edges(body: str) -> set[str]:
    return {f"{e.node}.{e.column} {e.role}" for e in model(body).relation.schema.edges if isinstance(e, RowEdge)}


def test_seed0_s4_rule1_select_of_a_column_is_passthrough_also_under_another_name() -> None:
    assert origins("from customers select { email, x = customer_id }") == {
        "email": ["customers.email passthrough"],
        "x": ["customers.customer_id passthrough"],
    }


def test_seed0_s4_rule2_derive_is_derived_and_of_a_bare_column_renamed() -> None:
    found = origins("from customers derive { x = email || country, y = since } select { x, y, since }")
    assert found == {
        "x": ["customers.country derived", "customers.email derived"],
        "y": ["customers.since renamed"],
        "since": ["customers.since passthrough"],
    }


def test_seed0_s4_rule3_aggregates_and_keys() -> None:
    assert origins("from orders group { country } ( aggregate { s = sum(amount), n = count(), g = country } )") == {
        "country": ["orders.country grouped"],
        "s": ["orders.amount aggregated"],
        "n": [],
        "g": ["orders.country grouped"],
    }


def test_seed0_s4_rule4_joins_mark_the_right_side_and_leave_edges_of_both() -> None:
    body = "from visits join_left customers as c on visits.customer_id == c.customer_id select { page, c.email }"
    assert origins(body) == {"page": ["visits.page passthrough"], "email": ["customers.email passthrough joined"]}
    assert edges(body) == {"visits.customer_id join", "customers.customer_id join"}


def test_seed0_s4_rule5_filters_change_no_origin_and_leave_edges() -> None:
    body = "from customers filter since is not none select { email }"
    assert origins(body) == {"email": ["customers.email passthrough"]}
    assert edges(body) == {"customers.since filter"}


def test_seed0_s4_rule6_stars_are_expanded_at_compile_time() -> None:
    assert list(origins("from visits select { * except { page } }")) == ["customer_id", "country"]


def test_lets_leave_no_trace_of_their_own() -> None:
    with_let = origins("from customers let x = email select { a = x, b = upper(x) }")
    assert with_let == origins("from customers select { a = email, b = upper(email) }")


def test_a_group_a_window_and_a_take_leave_their_edges() -> None:
    assert edges("from orders group { country } ()") == {"orders.country group"}
    assert edges("from orders sort { placed } take 3 select { order_id }") == {"orders.placed sort"}
    body = "from orders select { x = rank() over (partition_by: [country], sort: [amount]) }"
    assert edges(body) == {"orders.country window", "orders.amount window"}


def test_the_condition_of_a_case_is_an_edge() -> None:
    assert edges("from orders select { x = if(paid, 1, 2) }") == {"orders.paid conditional"}
