"""Where output columns come from (Seed 0 §4), through every statement."""

from __future__ import annotations

from strata_core.relation.schema import Origin, RowEdge

from .programs import model, project


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


def test_seed0_s4_rule1_a_column_of_a_contract_that_widens_keeps_its_origin() -> None:
    found = model("from orders select { order_id }", contract="order_id: float64")
    assert [spelled(o) for o in found.relation.schema["order_id"].origins] == ["orders.order_id passthrough"]


def test_seed0_s4_rule2_what_replaces_a_column_of_its_own_name_is_derived_from_it() -> None:
    assert origins("from orders derive { amount = amount * 2 } select { amount }") == {
        "amount": ["orders.amount derived"]
    }


def test_seed0_s4_rule3_a_group_key_that_is_computed_is_grouped_and_what_follows_derived() -> None:
    body = (
        "from orders group { m = date_trunc(placed, month) } ( aggregate { s = sum(amount), d = count(distinct "
        "customer_id) } ) derive { half = s / 2 }"
    )
    assert origins(body) == {
        "m": ["orders.placed grouped"],
        "s": ["orders.amount aggregated"],
        "d": ["orders.customer_id aggregated"],
        "half": ["orders.amount derived"],
    }
    assert edges(body) == {"orders.placed group"}


def test_seed0_s4_rule4_what_is_computed_of_the_right_side_stays_marked() -> None:
    body = (
        "from visits join_left customers as c on visits.customer_id == c.customer_id "
        "select { page, mail = upper(c.email) }"
    )
    assert origins(body) == {"page": ["visits.page passthrough"], "mail": ["customers.email derived joined"]}


def test_seed0_s4_rule4_a_semi_join_gives_no_column_and_leaves_edges_of_both_sides() -> None:
    body = "from visits join_semi customers as c on visits.customer_id == c.customer_id select { page }"
    assert origins(body) == {"page": ["visits.page passthrough"]}
    assert edges(body) == {"customers.customer_id join", "visits.customer_id join"}


def test_seed0_s4_rule4_of_a_self_join_one_side_is_marked() -> None:
    body = "from orders as a join_inner orders as b on a.order_id == b.customer_id select { x = a.note, y = b.note }"
    assert origins(body) == {"x": ["orders.note passthrough"], "y": ["orders.note passthrough joined"]}


def test_seed0_s4_rule5_the_filter_of_a_source_is_an_edge_of_its_readers() -> None:
    filtered = 'source paid(csv: "p.csv") { columns: { id: int64, done: bool nonnull } filter: done }'
    schema = model("from paid select { id }", sources=filtered).relation.schema
    assert {(e.node, e.column, e.role.value) for e in schema.edges} == {("paid", "done", "filter")}


def test_seed0_s4_rule6_a_star_after_a_join_is_expanded_too() -> None:
    body = (
        "from visits join_left customers as c on visits.customer_id == c.customer_id select { visits.page, c.* except "
        "{ customer_id } }"
    )
    assert origins(body) == {
        "page": ["visits.page passthrough"],
        "email": ["customers.email passthrough joined"],
        "country": ["customers.country passthrough joined"],
        "since": ["customers.since passthrough joined"],
    }


def test_a_window_is_derived_from_its_arguments_and_its_partition_and_order_are_edges() -> None:
    body = "from orders select { order_id, r = sum(amount) over (partition_by: [country], sort: [placed]) }"
    assert origins(body) == {"order_id": ["orders.order_id passthrough"], "r": ["orders.amount derived"]}
    assert edges(body) == {"orders.country window", "orders.placed window"}


def test_an_element_is_derived_from_its_array_which_decides_about_rows() -> None:
    body = "from orders expand tags as tag select { order_id, tag }"
    assert origins(body) == {"order_id": ["orders.order_id passthrough"], "tag": ["orders.tags derived"]}
    assert edges(body) == {"orders.tags expand"}


def test_a_dedup_changes_no_origin_and_leaves_edges() -> None:
    assert origins("from orders dedup by country sort { -placed } select { amount }") == {
        "amount": ["orders.amount passthrough"]
    }
    assert edges("from orders dedup by country sort { -placed } select { amount }") == {
        "orders.country window",
        "orders.placed window",
    }
    assert edges("from visits dedup select { page }") == {
        "visits.country group",
        "visits.customer_id group",
        "visits.page group",
    }


def test_an_intersection_and_a_difference_read_every_column_to_tell_rows_apart() -> None:
    read = {"visits.country join", "visits.customer_id join", "visits.page join"}
    assert edges("from visits intersect visits") == edges("from visits except visits") == read


def test_a_generated_model_has_the_origins_of_one_that_was_written() -> None:
    template = """
    fn in_country(names: List<Str>) -> List<Model> {
      [ model "visits_${c}" { from visits filter country == c select { page, who = customer_id } } for c in names ]
    }
    in_country(["ES"])
    """
    schema = project(template).models["visits_ES"].written.schema
    assert {c.name: [spelled(o) for o in c.origins] for c in schema.columns} == {
        "page": ["visits.page passthrough"],
        "who": ["visits.customer_id passthrough"],
    }
    assert {(e.node, e.column, e.role.value) for e in schema.edges} == {("visits", "country", "filter")}
