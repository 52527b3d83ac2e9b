"""The canonical form: smaller, and with the rows that the relation itself has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strata_core.contract.assertions import Assertion, Assessment
from strata_core.engines.protocol import TableInput
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.relation.build import (
    aggregate_rows,
    extend,
    filter_rows,
    join,
    limit_rows,
    project,
    ref,
    scan,
    sort_rows,
    window_rows,
)
from strata_core.relation.canonical import canonical
from strata_core.relation.derivation import StepKind, derivation
from strata_core.relation.expressions import (
    Call,
    Expr,
    SortKey,
    aggregate,
    call,
    conjuncts,
    literal,
    walk,
    window,
)
from strata_core.relation.form import fingerprint_form
from strata_core.relation.nodes import (
    Aggregate,
    AggregateItem,
    Filter,
    Item,
    JoinKind,
    Project,
    Relation,
    Scan,
    Sort,
    WindowItem,
    walk_relation,
)
from strata_core.relation.schema import Column
from strata_core.relation.substitution import MAX_DEPTH, MAX_SIZE
from strata_core.types import INT64, STRING, Decimal, Inferred, ValueType

from ..engines.conformance import check_conformance
from ..engines.strategies import databases, relations

T = scan(
    "t",
    [
        Column("id", Inferred(INT64, nullable=False)),
        Column("a", Inferred(INT64, nullable=True)),
        Column("b", Inferred(INT64, nullable=True)),
        Column("s", Inferred(STRING, nullable=True)),
    ],
    [frozenset({"id"})],
)


def kinds(relation: Relation) -> list[str]:
    return [type(node).__name__ for node in walk_relation(relation)]


def items(relation: Relation, **exprs: Expr) -> list[Item]:
    return [Item(name, expr) for name, expr in exprs.items()]


def add(left: Expr, right: int) -> Call:
    return call("add", left, literal(right))


def above(left: Expr, right: int) -> Call:
    return call("gt", left, literal(right))


class Rewriting:
    """The reference engine, running the canonical form of what it is given."""

    name = "canonical"

    def __init__(self) -> None:
        self._engine = ReferenceEngine()

    def execute(self, relation: Relation, tables: Mapping[str, TableInput]) -> pa.RecordBatchReader:
        return self._engine.execute(canonical(relation), tables)

    def explain(self, relation: Relation, tables: Mapping[str, TableInput]) -> str:
        return self._engine.explain(canonical(relation), tables)

    def physical_schema(self, table: TableInput) -> pa.Schema:
        return self._engine.physical_schema(table)

    def assess(self, table: TableInput, assertions: Sequence[Assertion], key: Sequence[str] = ()) -> Assessment:
        return self._engine.assess(table, assertions, key)


BOUNDED = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@BOUNDED
@given(st.data())
def test_the_canonical_relation_has_the_same_rows_schema_and_order(data: st.DataObject) -> None:
    database = data.draw(databases())
    check_conformance(Rewriting(), data.draw(relations(database)), database.tables)


@BOUNDED
@given(st.data())
def test_canonical_is_idempotent_and_keeps_the_form(data: st.DataObject) -> None:
    relation = data.draw(relations(data.draw(databases())))
    once = canonical(relation)
    assert once.schema == relation.schema
    assert canonical(once) == once
    assert fingerprint_form(once) == fingerprint_form(relation)


def test_adjacent_projections_become_one() -> None:
    inner = project(T, items(T, x=add(ref(T, "a"), 1), y=ref(T, "b")))
    outer = project(inner, items(inner, z=add(ref(inner, "x"), 2), y=ref(inner, "y")))
    small = canonical(outer)
    assert kinds(small) == ["Project", "Scan"]
    assert isinstance(small, Project)
    assert small.items[0].expr == add(add(ref(T, "a"), 1), 2)


def test_steps_that_add_columns_become_one_projection_of_what_is_read() -> None:
    first = extend(T, items(T, x=add(ref(T, "a"), 1), unread=add(ref(T, "b"), 1)))
    asked = filter_rows(first, above(ref(first, "x"), 5))
    second = extend(asked, items(asked, a=add(ref(asked, "x"), 2)))
    small = canonical(project(second, items(second, a=ref(second, "a"), id=ref(second, "id"))))
    assert kinds(small) == ["Project", "Filter", "Scan"]
    assert isinstance(small, Project)
    assert isinstance(small.input, Filter)
    assert small.input.schema.names == ("id", "a")
    assert small.input.predicate == above(add(ref(T, "a"), 1), 5)
    kept = ref(small.input, "a")
    assert not kept.inferred.nullable
    assert [(i.name, i.expr) for i in small.items] == [("a", add(add(kept, 1), 2)), ("id", ref(T, "id"))]


def test_a_step_of_which_no_column_is_read_goes() -> None:
    added = extend(T, items(T, x=add(ref(T, "a"), 1)))
    counted = aggregate_rows(added, [], [AggregateItem("n", aggregate("count", grouped=False))])
    assert kinds(canonical(counted)) == ["Aggregate", "Scan"]


def test_a_projection_that_changes_nothing_goes_and_one_that_drops_columns_prunes_the_scan() -> None:
    same = project(T, [Item(n, ref(T, n)) for n in T.schema.names])
    assert canonical(same) == T
    fewer = project(T, items(T, a=ref(T, "a")))
    small = canonical(fewer)
    assert kinds(small) == ["Scan"]
    assert small.schema.names == ("a",)


def test_adjacent_filters_become_one_with_each_conjunct_once_below_the_projection() -> None:
    first = filter_rows(T, above(ref(T, "a"), 1))
    named = project(first, items(first, x=ref(first, "a"), id=ref(first, "id")))
    second = filter_rows(named, call("and", above(ref(named, "x"), 1), above(ref(named, "id"), 5)))
    small = canonical(second)
    assert kinds(small) == ["Project", "Filter", "Scan"]
    assert isinstance(small, Project)
    assert isinstance(small.input, Filter)
    assert [c.args[0].name for c in conjuncts(small.input.predicate)] == ["a", "id"]


def test_what_an_earlier_filter_proves_does_not_hold_while_both_are_asked_at_once() -> None:
    present = filter_rows(T, call("ne", ref(T, "a"), literal(0)))
    divided = filter_rows(present, above(call("divide", literal(10), ref(present, "a")), 1))
    (merged,) = [n for n in walk_relation(canonical(divided)) if isinstance(n, Filter)]
    (division,) = [e for e in walk(merged.predicate) if isinstance(e, Call) and e.function == "divide"]
    assert division.inferred.nullable


def test_orders_that_nothing_observes_go_and_the_outermost_stays() -> None:
    by_a = sort_rows(T, [SortKey(ref(T, "a"))])
    counted = aggregate_rows(by_a, [], [AggregateItem("n", aggregate("count", grouped=False))])
    assert not any(isinstance(n, Sort) for n in walk_relation(canonical(counted)))
    kept = project(by_a, items(by_a, b=ref(by_a, "b")))
    assert kinds(canonical(kept)) == ["Project", "Sort", "Scan"]
    twice = sort_rows(kept, [SortKey(ref(kept, "b"))])
    assert kinds(canonical(twice)) == ["Sort", "Scan"]


def test_unused_aggregates_and_windows_go() -> None:
    key = [Item("s", ref(T, "s"))]
    calls = [
        AggregateItem("n", aggregate("count", grouped=True)),
        AggregateItem("m", aggregate("max", ref(T, "b"), grouped=True)),
    ]
    grouped = aggregate_rows(T, key, calls)
    used = project(grouped, items(grouped, s=ref(grouped, "s"), n=ref(grouped, "n")))
    small = canonical(used)
    assert isinstance(small, Aggregate)
    assert [a.name for a in small.aggregates] == ["n"]
    assert small.input.schema.names == ("s",)
    numbered = window_rows(T, [WindowItem("r", window("row_number", order=(SortKey(ref(T, "a")),)))])
    dropped = project(numbered, items(numbered, a=ref(numbered, "a")))
    assert kinds(canonical(dropped)) == ["Scan"]


def test_an_aggregate_of_which_nothing_is_read_is_still_one_row() -> None:
    counted = aggregate_rows(T, (), [AggregateItem("m", aggregate("max", ref(T, "b"), grouped=False))])
    small = canonical(project(counted, items(counted, x=literal(1))))
    assert isinstance(small, Project)
    assert isinstance(small.input, Aggregate)
    assert [(a.name, a.call.function) for a in small.input.aggregates] == [("m", "count")]


def test_names_given_to_an_aggregation_go_into_it() -> None:
    grouped = aggregate_rows(T, [Item("k", ref(T, "s"))], [AggregateItem("x", aggregate("count", grouped=True))])
    named = project(grouped, items(grouped, s=ref(grouped, "k"), rows=ref(grouped, "x")))
    small = canonical(named)
    assert isinstance(small, Aggregate)
    assert small.schema == named.schema


def test_a_count_of_rows_still_reads_one_column() -> None:
    counted = aggregate_rows(T, [], [AggregateItem("n", aggregate("count", grouped=False))])
    (read,) = [n for n in walk_relation(canonical(counted)) if isinstance(n, Scan)]
    assert read.schema.names == ("id",)


def test_fusing_never_multiplies_work_without_bound() -> None:
    relation: Relation = project(T, items(T, x=ref(T, "a")))
    for step in range(40):
        x = ref(relation, "x")
        relation = (extend if step % 2 else project)(relation, items(relation, x=call("add", x, x)))
    small = canonical(relation)
    sizes = [sum(1 for i in n.items for _ in walk(i.expr)) for n in walk_relation(small) if isinstance(n, Project)]
    assert max(sizes) <= MAX_SIZE
    assert sum(sizes) < 40 * 16


def test_long_chains_take_no_recursion_and_nest_no_deeper_than_the_bound() -> None:
    relation: Relation = project(T, items(T, x=ref(T, "a")))
    for step in range(3000):
        one = project if step % 2 else extend
        relation = one(relation, items(relation, x=add(ref(relation, "x"), step)))
        if step % 3 == 0:
            relation = filter_rows(relation, above(ref(relation, "x"), step))
    small = canonical(relation)
    assert len(fingerprint_form(relation)) < 1000
    depths = [d for n in walk_relation(small) if isinstance(n, Project) for d in [_depth(i.expr) for i in n.items]]
    assert max(depths) <= MAX_DEPTH


def _depth(expr: Expr) -> int:
    return 1 + max((_depth(a) for a in expr.args), default=0) if isinstance(expr, Call) else 1


# --- the form --------------------------------------------------------------------------------------------


def test_the_form_ignores_internal_names_steps_output_order_and_conjunct_order() -> None:
    one = project(T, items(T, x=add(ref(T, "a"), 1), id=ref(T, "id")))
    one = project(one, items(one, p=call("multiply", ref(one, "x"), ref(one, "x")), id=ref(one, "id")))
    plus = add(ref(T, "a"), 1)
    other = project(T, items(T, id=ref(T, "id"), p=call("multiply", plus, plus)))
    assert fingerprint_form(one) == fingerprint_form(other)

    both = filter_rows(T, call("and", above(ref(T, "a"), 1), above(ref(T, "b"), 2)))
    apart = filter_rows(filter_rows(T, above(ref(T, "b"), 2)), call("lt", literal(1), ref(T, "a")))
    assert fingerprint_form(both) == fingerprint_form(apart)


def test_the_form_ignores_the_name_a_joined_table_is_read_under() -> None:
    def joined(alias: str) -> Relation:
        right = project(T, [Item(f"{alias}.{n}", ref(T, n)) for n in T.schema.names])
        on = call("eq", ref(T, "a"), ref(right, f"{alias}.id"))
        both = join(JoinKind.LEFT, T, right, on)
        return project(both, items(both, id=ref(both, "id"), up=ref(both, f"{alias}.b")))

    assert fingerprint_form(joined("x")) == fingerprint_form(joined("parent"))


def test_the_form_tells_other_meanings_apart() -> None:
    a, b = ref(T, "a"), ref(T, "b")
    sorted_ = sort_rows(T, [SortKey(a)])
    top = limit_rows(T, [SortKey(a)], 0, 3)
    grouped = aggregate_rows(T, [Item("a", a)], [])
    right = project(T, [Item(f"r.{n}", ref(T, n)) for n in T.schema.names])
    on = call("eq", a, ref(right, "r.id"))
    inner, left = (project(j, items(j, a=ref(j, "a"))) for j in (join(k, T, right, on) for k in JOINS))
    ranked = window_rows(T, [WindowItem("w", window("rank", order=(SortKey(a),)))])
    after = filter_rows(ranked, above(ref(ranked, "b"), 1))
    some = filter_rows(T, above(b, 1))
    before = window_rows(some, [WindowItem("w", window("rank", order=(SortKey(ref(some, "a")),)))])
    different = [
        T,
        project(T, items(T, a=a)),
        project(T, items(T, a=b)),
        project(T, items(T, x=a)),
        project(T, items(T, a=call("subtract", a, b))),
        project(T, items(T, a=call("subtract", b, a))),
        project(T, items(T, a=literal(1))),
        project(T, items(T, a=literal("1"))),
        project(T, items(T, a=literal(1.0))),
        filter_rows(T, above(a, 1)),
        filter_rows(T, call("lt", a, literal(1))),
        filter_rows(T, above(b, 1)),
        sorted_,
        sort_rows(T, [SortKey(a, descending=True)]),
        top,
        limit_rows(T, [SortKey(a)], 1, 3),
        limit_rows(T, [SortKey(a)], 0, 4),
        filter_rows(top, above(ref(top, "a"), 1)),
        grouped,
        scan("u", T.schema.columns),
        inner,
        left,
        after,
        before,
    ]
    forms = [fingerprint_form(r) for r in different]
    assert len(set(forms)) == len(forms)


JOINS = (JoinKind.INNER, JoinKind.LEFT)


def test_a_filter_before_a_take_is_another_meaning_than_one_after_it() -> None:
    top = limit_rows(T, [SortKey(ref(T, "a"))], 0, 3)
    after = filter_rows(top, above(ref(top, "b"), 1))
    some = filter_rows(T, above(ref(T, "b"), 1))
    before = limit_rows(some, [SortKey(ref(some, "a"))], 0, 3)
    assert fingerprint_form(after) != fingerprint_form(before)
    assert isinstance(canonical(after), Filter)


def test_the_type_of_a_stored_column_is_part_of_the_meaning() -> None:
    """`"1.0"` and `"1"` are two texts and one number."""

    def distinct(type_: ValueType) -> Relation:
        table = scan("t", [Column("v", Inferred(type_, nullable=True))])
        counted = aggregate("count", ref(table, "v"), grouped=False, distinct=True)
        return aggregate_rows(table, (), [AggregateItem("n", counted)])

    forms = {fingerprint_form(distinct(type_)) for type_ in (STRING, INT64, Decimal(5, 2), Decimal(6, 2))}
    assert len(forms) == 4


def test_the_text_of_strings_is_not_commutative() -> None:
    s = ref(T, "s")
    ab = project(T, items(T, x=call("add", s, literal("b"))))
    ba = project(T, items(T, x=call("add", literal("b"), s)))
    assert fingerprint_form(ab) != fingerprint_form(ba)


def test_a_condition_that_is_true_is_none_also_under_a_name() -> None:
    named = project(T, items(T, a=ref(T, "a"), yes=literal(True)))
    asked = filter_rows(named, ref(named, "yes"))
    small = project(asked, items(asked, a=ref(asked, "a")))
    assert kinds(canonical(small)) == ["Scan"]
    assert fingerprint_form(small) == fingerprint_form(project(T, items(T, a=ref(T, "a"))))
    assert [s.kind for s in derivation(small).steps] == [StepKind.READ]
