"""What a filter proves (design `language.md`, "Types"), by cases and as a law over random data."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.engines.reference.interpreter import rows_of
from strata_core.engines.reference.rows import Reading
from strata_core.engines.reference.values import Value
from strata_core.relation.build import filter_rows, ref, scan
from strata_core.relation.expressions import Expr, call, cast, literal
from strata_core.relation.schema import Column
from strata_core.types import BOOL, FLOAT64, INT64, STRING, Inferred

T = scan(
    "t",
    [
        Column("n", Inferred(INT64, nullable=True)),
        Column("m", Inferred(INT64, nullable=True)),
        Column("s", Inferred(STRING, nullable=True)),
        Column("e", Inferred(STRING, nullable=True, values=frozenset({"a", "b", "c"}))),
        Column("b", Inferred(BOOL, nullable=True)),
    ],
)
N, M, S, E, B = (ref(T, name) for name in "nmseb")


def both(*parts: Expr) -> Expr:
    return call("and", *parts)


def either(*parts: Expr) -> Expr:
    return call("or", *parts)


# predicate, column, what is known of it: nonnull, value set, nonzero
CASES: list[tuple[str, Expr, str, bool, set[str] | None, bool]] = [
    ("is_not_none", call("is_not_null", N), "n", True, None, False),
    ("not_is_none", call("not", call("is_null", N)), "n", True, None, False),
    ("is_none", call("is_null", N), "n", False, None, False),
    ("a_bool_column", B, "b", True, None, False),
    ("a_negated_bool_column", call("not", B), "b", True, None, False),
    ("a_comparison", call("gt", N, literal(0)), "n", True, None, True),
    ("a_comparison_with_a_negative", call("gt", N, literal(-1)), "n", True, None, False),
    ("a_mirrored_comparison", call("lt", literal(0), N), "n", True, None, True),
    ("not_zero", call("ne", N, literal(0)), "n", True, None, True),
    ("below_zero", call("lt", N, literal(0)), "n", True, None, True),
    ("at_most_zero", call("le", N, literal(0)), "n", True, None, False),
    ("equal_to_a_number", call("eq", N, literal(5)), "n", True, None, True),
    ("through_a_widening", call("gt", cast(N, FLOAT64), literal(0.0)), "n", True, None, True),
    ("both_sides_of_a_comparison", call("eq", N, M), "m", True, None, False),
    ("through_arithmetic", call("gt", call("add", N, M), literal(0)), "m", True, None, False),
    ("not_through_division", call("gt", call("divide", N, M), literal(0.0)), "n", False, None, False),
    ("not_through_coalesce", call("eq", call("coalesce", N, literal(0)), literal(0)), "n", False, None, False),
    ("not_through_try_cast", call("eq", cast(S, INT64, safe=True), literal(1)), "s", False, None, False),
    ("equal_to_a_string", call("eq", S, literal("x")), "s", True, {"x"}, False),
    ("narrowed", call("eq", E, literal("a")), "e", True, {"a"}, False),
    ("removed", call("ne", E, literal("a")), "e", True, {"b", "c"}, False),
    ("in_a_list", call("in", E, literal("a"), literal("z")), "e", True, {"a"}, False),
    ("equal_columns", call("eq", S, E), "s", True, {"a", "b", "c"}, False),
    ("both", both(call("ne", E, literal("a")), call("ne", E, literal("b"))), "e", True, {"c"}, False),
    ("either", either(call("eq", S, literal("x")), call("eq", S, literal("y"))), "s", True, {"x", "y"}, False),
    ("either_of_two_columns", either(call("eq", S, literal("x")), call("gt", N, literal(0))), "s", False, None, False),
    ("like", call("like", S, literal("a%")), "s", True, None, False),
]


@pytest.mark.parametrize(
    ("name", "predicate", "column", "nonnull", "values", "nonzero"), CASES, ids=[c[0] for c in CASES]
)
def test_filter_proves(
    name: str, predicate: Expr, column: str, nonnull: bool, values: set[str] | None, nonzero: bool
) -> None:
    known = filter_rows(T, predicate).schema[column].inferred
    assert (not known.nullable, known.values, known.nonzero) == (nonnull, values, nonzero)


ATOMS: list[Callable[[int, str], Expr]] = [
    lambda i, s: call("is_not_null", N),
    lambda i, s: call("is_null", E),
    lambda i, s: B,
    *(
        lambda i, s, f=f, x=x: call(f, x, literal(i))
        for f in ("eq", "ne", "lt", "le", "gt", "ge")
        for x in (N, call("add", N, M), call("coalesce", N, M))
    ),
    *(lambda i, s, f=f: call(f, literal(i), M) for f in ("eq", "ne", "lt", "le", "gt", "ge")),
    lambda i, s: call("eq", N, M),
    lambda i, s: call("ne", cast(N, FLOAT64), literal(float(i))),
    lambda i, s: call("eq", cast(E, INT64, safe=True), N),
    *(lambda i, s, f=f, x=x: call(f, x, literal(s)) for f in ("eq", "ne") for x in (S, E)),
    lambda i, s: call("eq", S, E),
    lambda i, s: call("in", E, literal(s), literal("b")),
    lambda i, s: call("in", S, E, literal(s)),
    lambda i, s: call("eq", call("concat_op", S, E), literal(s)),
]
PREDICATES = st.recursive(
    st.builds(lambda atom, i, s: atom(i, s), st.sampled_from(ATOMS), st.integers(-1, 1), st.sampled_from("abcx")),
    lambda inner: (
        st.builds(both, inner, inner) | st.builds(either, inner, inner) | st.builds(lambda p: call("not", p), inner)
    ),
    max_leaves=4,
)
ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(-2, 2),
        st.none() | st.integers(-2, 2),
        st.none() | st.sampled_from(["a", "b", "x", ""]),
        st.none() | st.sampled_from(["a", "b", "c"]),
        st.none() | st.booleans(),
    ),
    max_size=12,
)


@settings(max_examples=400, deadline=None)
@given(PREDICATES, ROWS)
def test_what_a_filter_proves_holds_in_the_rows_it_keeps(predicate: Expr, rows: list[tuple[Value, ...]]) -> None:
    kept = filter_rows(T, predicate)
    for row in rows_of(kept, Reading({("t", T.schema.names): rows})):
        for value, column in zip(row, kept.schema.columns, strict=True):
            known = column.inferred
            assert known.nullable or value is not None
            assert known.values is None or value is None or value in known.values
            assert not known.nonzero or value != 0
