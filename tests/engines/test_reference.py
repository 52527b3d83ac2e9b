"""The reference interpreter against literal values, and the law that joins its two readings."""

from __future__ import annotations

import datetime
import math
import random
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.diagnostics import StrataError
from strata_core.engines.float_sum import BUCKET_BITS, LOWEST_BUCKET, bucket_of, float_sum, scale_of
from strata_core.engines.reference.aggregates import AGGREGATES, WITH_OPTIONS
from strata_core.engines.reference.casts import cast
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.engines.reference.functions import LAZY, NULL_AWARE, STRICT
from strata_core.engines.reference.interpreter import rows_of
from strata_core.engines.reference.nested import TYPED
from strata_core.engines.reference.rounding import MODES, round_decimal, round_float, round_fraction
from strata_core.engines.reference.rows import Reading
from strata_core.engines.reference.values import MisfitError, Value, conjunction, disjunction, order_key
from strata_core.engines.reference.windows import WINDOWS
from strata_core.relation.build import (
    aggregate_rows,
    combine,
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
from strata_core.relation.expressions import Expr, Frame, SortKey, aggregate, call, literal, window
from strata_core.relation.expressions import cast as cast_expr
from strata_core.relation.nodes import AggregateItem, Item, JoinKind, Relation, Scan, SetKind, WindowItem, walk_relation
from strata_core.relation.schema import Column
from strata_core.types import BOOL, FLOAT64, INT64, STRING, Inferred, Money, ValueType, parse_type
from strata_core.types.functions import CATALOG

from .conformance import check_conformance
from .strategies import SCALARS, WIDE, databases, relations, values

NAN, INF = math.nan, math.inf
T = scan("t", [Column(n, Inferred(INT64, nullable=True)) for n in ("k", "n")])
ROWS: list[list[Value]] = [[1, 10], [2, None], [1, 30], [None, 40], [None, 50]]


def rows(relation: Relation, *, eager: bool = False, **tables: list[list[Value]]) -> list[list[Value]]:
    scans = [node for node in walk_relation(relation) if isinstance(node, Scan)]
    read = {(s.table, s.schema.names): (tables or {"t": ROWS})[s.table] for s in scans}
    return rows_of(relation, Reading(read, eager))


def value(expr: Expr) -> Value:
    one = project(scan("one", ()), [Item("x", expr)])
    return rows(one, one=[[]])[0][0]


def failure(expr: Expr) -> str:
    with pytest.raises(StrataError) as error:
        value(expr)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "E090"
    return diagnostic.message


def test_every_row_of_the_catalog_has_a_meaning() -> None:
    assert {*STRICT, *NULL_AWARE, *LAZY, *TYPED, *AGGREGATES, *WITH_OPTIONS, *WINDOWS} == set(CATALOG)


# --- values ------------------------------------------------------------------------------------------------


def test_the_order_of_floats_is_total() -> None:
    shuffled: list[float] = [NAN, 5e-324, -1.5, INF, 0.0, -INF]
    assert [str(v) for v in sorted(shuffled, key=order_key)] == ["-inf", "-1.5", "0.0", "5e-324", "inf", "nan"]
    assert order_key(NAN) == order_key(-NAN)
    assert order_key(-0.0) == order_key(0.0)


THREE = (True, False, None)


@pytest.mark.parametrize("a", THREE)
@pytest.mark.parametrize("b", THREE)
def test_logic_is_three_valued(a: bool | None, b: bool | None) -> None:
    assert conjunction([a, b]) == (False if False in (a, b) else None if None in (a, b) else True)
    assert disjunction([a, b]) == (True if True in (a, b) else None if None in (a, b) else False)


# --- casts -------------------------------------------------------------------------------------------------

CASTS: list[tuple[Value, str, Value]] = [
    # .5 rules
    (Decimal("2.345"), "decimal(9,2)", Decimal("2.35")),
    (Decimal("-2.345"), "decimal(9,2)", Decimal("-2.35")),
    (2.5, "int64", 2),
    (3.5, "int64", 4),
    (-2.5, "int64", -2),
    (Decimal("2.5"), "int64", 3),
    (Decimal("-2.5"), "int64", -3),
    (1.115, "decimal(9,2)", Decimal("1.12")),
    (0.1, "decimal(38,20)", Decimal("0.10000000000000000000")),
    (1.005, "money(EUR)", Decimal("1.01")),
    # exactness
    (2**53 + 1, "float64", 9007199254740992.0),
    (Decimal("0.1"), "float64", 0.1),
    (Decimal("9007199254740993"), "float64", 9007199254740992.0),
    (3, "decimal(9,2)", Decimal("3.00")),
    (True, "int64", 1),
    (0, "bool", False),
    # from text
    ("+007", "int64", 7),
    ("1.5e3", "float64", 1500.0),
    ("-Infinity", "float64", -INF),
    ("1.005", "decimal(9,2)", Decimal("1.01")),
    (".5", "decimal(9,2)", Decimal("0.50")),
    ("TRUE", "bool", True),
    ("2024-02-29", "date", datetime.date(2024, 2, 29)),
    ("2024-02-29", "timestamp", datetime.datetime(2024, 2, 29)),
    ("2024-02-29T12:30Z", "timestamp", datetime.datetime(2024, 2, 29, 12, 30)),
    ("2024-02-29 12:30:01.5", "timestamp", datetime.datetime(2024, 2, 29, 12, 30, 1, 500000)),
    ("6F9619FF-8B86-D011-B42D-00CF4FC964FF", "uuid", "6f9619ff-8b86-d011-b42d-00cf4fc964ff"),
    ('{"a": [1, 2]}', "json", '{"a": [1, 2]}'),
    # to text
    (1e16, "string", "1e+16"),
    (-0.0, "string", "0.0"),
    (NAN, "string", "nan"),
    (Decimal("0.50"), "string", "0.50"),
    (Decimal("-0.00"), "string", "-0.00"),
    (True, "string", "true"),
    (datetime.datetime(2024, 2, 29, 1, 2, 3, 40000), "string", "2024-02-29 01:02:03.04"),
    (datetime.date(1, 1, 1), "string", "0001-01-01"),
    # the rest
    (datetime.datetime(2024, 2, 29, 23, 59), "date", datetime.date(2024, 2, 29)),
    (datetime.date(2024, 2, 29), "timestamp", datetime.datetime(2024, 2, 29)),
    ([1, None], "array(string)", ["1", None]),
    (None, "int64", None),
]


@pytest.mark.parametrize(("given_", "target", "expected"), CASTS, ids=[f"{r[0]!r}-{r[1]}" for r in CASTS])
def test_cast(given_: Value, target: str, expected: Value) -> None:
    result = cast(given_, parse_type(target))
    assert (result, type(result), str(result)) == (expected, type(expected), str(expected))


MISFITS: list[tuple[Value, str]] = [
    (" 1", "int64"),
    ("1.0", "int64"),
    ("1_000", "int64"),
    ("٣", "int64"),
    ("9223372036854775808", "int64"),
    (9.3e18, "int64"),
    (NAN, "int64"),
    (Decimal("1e20"), "int64"),
    ("1e400", "float64"),
    ("", "float64"),
    ("1e2", "decimal(9,2)"),
    (1e8, "decimal(9,2)"),
    (INF, "decimal(9,2)"),
    (Decimal("9999999.995"), "decimal(9,2)"),
    ("1", "bool"),
    ("2023-02-29", "date"),
    ("2023-1-1", "date"),
    ("2023-01-01 24:00", "timestamp"),
    ("2023-01-01 12:00+01:00", "timestamp"),
    ("6f9619ff8b86d011b42d00cf4fc964ff", "uuid"),
    ("{'a': 1}", "json"),
    ("NaN", "json"),
]


@pytest.mark.parametrize(("given_", "target"), MISFITS, ids=[f"{r[0]!r}-{r[1]}" for r in MISFITS])
def test_a_cast_that_does_not_fit_is_an_error_and_a_safe_one_null(given_: Value, target: str) -> None:
    type_ = parse_type(target)
    with pytest.raises(MisfitError):
        cast(given_, type_)
    assert isinstance(given_, str | float | int | Decimal)
    assert value(cast_expr(literal(given_), type_, safe=True)) is None


@pytest.mark.parametrize("type_", [t for t in SCALARS if t != BOOL], ids=str)
@given(data=st.data())
def test_the_text_of_a_value_reads_back_as_that_value(type_: ValueType, data: st.DataObject) -> None:
    given_ = data.draw(values(type_))
    assert order_key(cast(cast(given_, STRING), type_)) == order_key(given_)


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_a_float_becomes_the_decimal_that_its_shortest_text_spells(x: float) -> None:
    if abs(x) < 1e27 and not 0 < abs(x) < 1e-4:
        assert cast(x, WIDE) == cast(f"{Decimal(repr(x)):f}", WIDE)


# --- failures ----------------------------------------------------------------------------------------------

LARGEST, SMALLEST = literal(2**63 - 1), literal(-(2**63))
FAILURES = [
    (
        call("add", LARGEST, literal(1)),
        "`add` failed on `9223372036854775807`, `1`: 9223372036854775808 is outside int64",
    ),
    (call("multiply", LARGEST, literal(2)), "`multiply` failed on"),
    (call("negate", SMALLEST), "`negate` failed on `-9223372036854775808`"),
    (call("abs", SMALLEST), "`abs` failed on"),
    (call("add", literal(Decimal("9" * 38)), literal(Decimal("9" * 38))), "does not fit decimal(38,0)"),
    (call("multiply", literal(Decimal("9" * 20)), literal(Decimal("9" * 20))), "does not fit decimal(38,0)"),
    (cast_expr(literal("x"), INT64), "`cast to int64` failed on `'x'`: the value is no int64"),
    (call("make_date", literal(2023), literal(2), literal(29)), "the parts make no date or time"),
    (
        call("date_add", cast_expr(literal("9999-12-31"), parse_type("date")), literal(1), literal("day")),
        "years 1 to 9999",
    ),
    (call("map", literal("a"), literal(1), literal("a"), literal(2)), "a key stands twice"),
]


@pytest.mark.parametrize(("expr", "message"), FAILURES, ids=[m for _, m in FAILURES])
def test_what_overflows_is_an_error_that_names_the_function_and_its_values(expr: Expr, message: str) -> None:
    assert message in failure(expr)


def test_zero_divisors_are_null() -> None:
    zero = literal(0)
    assert value(call("divide", literal(1), zero)) is None
    assert value(call("divide", literal(1.0), literal(-0.0))) is None
    assert value(call("modulo", literal(1), zero)) is None
    assert value(call("modulo", literal(1.5), literal(0.0))) is None
    assert value(call("modulo", SMALLEST, literal(-1))) == 0
    assert value(call("modulo", literal(-7.5), literal(2.0))) == -1.5


def test_float64_follows_ieee_754() -> None:
    assert value(call("multiply", literal(1e308), literal(10.0))) == INF
    assert value(call("ln", literal(0))) == -INF
    assert value(call("power", literal(-2), literal(1025))) == -INF
    assert value(call("power", literal(0), literal(-1))) == INF
    assert value(call("exp", literal(1000))) == INF
    for undefined in (call("sqrt", literal(-1)), call("power", literal(-1), literal(0.5)), call("ln", literal(-1))):
        assert math.isnan(value(undefined))


BROKEN = cast_expr(literal("x"), INT64)


def test_branches_that_are_not_taken_raise_nothing() -> None:
    assert value(call("if", literal(True), literal(1), BROKEN)) == 1
    assert value(call("case", literal(False), BROKEN, literal(True), literal(2), BROKEN)) == 2
    assert value(call("coalesce", literal(1), BROKEN)) == 1
    assert "cast to int64" in failure(call("if", literal(False), literal(1), BROKEN))


def test_the_lazy_reading_computes_what_is_needed_and_the_eager_one_everything() -> None:
    broken = project(T, [Item("k", ref(T, "k")), Item("x", BROKEN)])
    unused = project(broken, [Item("k", ref(broken, "k"))])
    assert [row[0] for row in rows(unused)] == [1, 2, 1, None, None]
    with pytest.raises(StrataError):
        rows(unused, eager=True)
    either = filter_rows(broken, call("or", call("eq", ref(broken, "x"), literal(1)), literal(True)))
    assert len(rows(project(either, [Item("k", ref(either, "k"))]))) == 5


def test_the_eager_reading_asks_a_condition_of_one_side_of_each_of_its_rows() -> None:
    empty = filter_rows(T, call("gt", ref(T, "n"), literal(1_000)))
    right = project(T, [Item("a", ref(T, "k"))])
    paired = join(JoinKind.INNER, empty, right, call("eq", BROKEN, ref(right, "a")))
    assert rows(paired) == []
    with pytest.raises(StrataError):
        rows(paired, eager=True)


def none_of(relation: Relation) -> Relation:
    return filter_rows(relation, call("gt", ref(relation, "n"), literal(1_000)))


def test_filters_and_inner_joins_are_one_conjunction_through_projections() -> None:
    failing = filter_rows(T, call("eq", BROKEN, ref(T, "k")))
    moved = project(failing, [Item("n", ref(failing, "n"))])
    doubled = extend(failing, [Item("twice", call("add", ref(failing, "n"), ref(failing, "n")))])
    right = project(T, [Item("a", ref(T, "k"))])
    paired = join(JoinKind.INNER, T, right, call("eq", BROKEN, ref(right, "a")))
    for relation in (none_of(moved), none_of(doubled), none_of(paired)):
        assert rows(relation) == []
        with pytest.raises(StrataError):
            rows(relation, eager=True)
    with pytest.raises(StrataError):
        rows(paired)


def test_a_window_that_nothing_needs_may_fail() -> None:
    ranked = window_rows(T, [WindowItem("least", window("min", BROKEN))])
    assert [row[0] for row in rows(project(ranked, [Item("k", ref(ranked, "k"))]))] == [1, 2, 1, None, None]
    for eager, relation in ((True, project(ranked, [Item("k", ref(ranked, "k"))])), (False, ranked)):
        with pytest.raises(StrataError):
            rows(relation, eager=eager)


FAILING = filter_rows(T, call("eq", BROKEN, ref(T, "k")))
NOTHING = filter_rows(T, call("gt", ref(T, "n"), literal(1_000)))
OTHER = project(T, [Item("a", ref(T, "k")), Item("b", ref(T, "n"))])
NEVER = call("eq", cast_expr(literal(None), INT64), literal(1))


def other(relation: Relation) -> Relation:
    return project(relation, [Item("a", ref(relation, "k")), Item("b", ref(relation, "n"))])


@pytest.mark.parametrize(
    "relation",
    [
        filter_rows(FAILING, NEVER),
        join(JoinKind.INNER, FAILING, OTHER, NEVER),
        join(JoinKind.SEMI, FAILING, OTHER, NEVER),
        join(JoinKind.CROSS, FAILING, other(NOTHING), None),
        join(JoinKind.CROSS, NOTHING, other(FAILING), None),
        join(JoinKind.LEFT, NOTHING, other(FAILING), NEVER),
        join(JoinKind.ANTI, NOTHING, other(FAILING), NEVER),
        combine(SetKind.INTERSECT, FAILING, NOTHING),
        combine(SetKind.EXCEPT, NOTHING, FAILING),
    ],
    ids=lambda r: getattr(r, "kind", "filter"),
)
def test_a_side_that_cannot_matter_may_fail(relation: Relation) -> None:
    assert rows(relation) == []
    with pytest.raises(StrataError):
        rows(relation, eager=True)


def test_a_row_that_another_condition_removes_may_fail() -> None:
    fails = call("eq", BROKEN, ref(T, "k"))
    for removing in (call("eq", ref(T, "n"), cast_expr(literal(None), INT64)), call("gt", ref(T, "n"), literal(1_000))):
        assert rows(filter_rows(filter_rows(T, fails), removing)) == []
        assert rows(filter_rows(T, call("and", fails, removing))) == []
    with pytest.raises(StrataError):
        rows(filter_rows(filter_rows(T, fails), call("gt", ref(T, "n"), literal(1))))


def test_a_side_that_matters_may_not_fail() -> None:
    for relation in (
        join(JoinKind.CROSS, FAILING, OTHER, None),
        join(JoinKind.LEFT, FAILING, OTHER, NEVER),
        join(JoinKind.CROSS, T, other(FAILING), None),
        combine(SetKind.INTERSECT, FAILING, T),
        combine(SetKind.EXCEPT, T, FAILING),
    ):
        with pytest.raises(StrataError):
            rows(relation)


# --- rounding ----------------------------------------------------------------------------------------------

ROUNDED = {
    # mode: of 2.5, -2.5, 3.5, 2.4, -2.6
    "half_even": (2, -2, 4, 2, -3),
    "half_up": (3, -3, 4, 2, -3),
    "half_down": (2, -2, 3, 2, -3),
    "up": (3, -3, 4, 3, -3),
    "down": (2, -2, 3, 2, -2),
    "ceiling": (3, -2, 4, 3, -2),
    "floor": (2, -3, 3, 2, -3),
}


@pytest.mark.parametrize("mode", MODES)
def test_rounding_modes(mode: str) -> None:
    numbers = ("2.5", "-2.5", "3.5", "2.4", "-2.6")
    assert tuple(int(round_decimal(Decimal(n), 0, mode)) for n in numbers) == ROUNDED[mode]
    assert tuple(int(round_float(float(n), 0, mode)) for n in numbers) == ROUNDED[mode]
    assert tuple(int(round_fraction(Fraction(n), 0, mode)) for n in numbers) == ROUNDED[mode]


def test_rounding_a_float_is_done_in_float_arithmetic() -> None:
    assert round_float(2.345, 2, "half_even") == 2.35
    assert round_float(1e300, 5, "up") == 1e300
    assert math.isnan(round_float(NAN, 2, "half_up"))
    assert str(round_float(-0.2, 0, "half_up")) == "0.0"


def amount(text: str) -> Expr:
    return cast_expr(literal(text), Money("EUR"))


def test_money_is_scaled_exactly_and_rounded_once() -> None:
    two = literal(2)
    assert value(call("money_multiply", amount("1.05"), literal(0.5), two, literal("half_even"))) == Decimal("0.52")
    assert value(call("money_multiply", amount("-1.05"), literal(0.5), two, literal("half_up"))) == Decimal("-0.53")
    assert value(call("money_divide", amount("2.00"), literal(3), two, literal("up"))) == Decimal("0.67")
    assert value(call("money_divide", amount("2.00"), literal(3), two, literal("floor"))) == Decimal("0.66")
    assert value(call("money_divide", amount("1.00"), literal(0), two, literal("up"))) is None
    assert value(call("convert", amount("10.01"), literal(0.5), literal("USD"))) == Decimal("5.00")


# --- sums --------------------------------------------------------------------------------------------------


def test_the_float_sum_is_the_same_over_every_order() -> None:
    numbers = [random.Random(7).uniform(-1, 1) * 10.0 ** (i % 32 - 16) for i in range(3000)]
    expected = float_sum(numbers)
    for seed in range(5):
        shuffled = random.Random(seed).sample(numbers, len(numbers))
        assert float_sum(shuffled).hex() == expected.hex()
    assert abs(expected - math.fsum(numbers)) <= 4 * math.ulp(math.fsum(map(abs, numbers)))


SUMS: list[tuple[list[float], float]] = [
    ([], 0.0),
    ([-0.0, -0.0], 0.0),
    ([1e16, 1.0, -1e16], 1.0),
    ([5e-324, 5e-324], 1e-323),
    ([1e308, 1e308], INF),
    ([INF, 1.0], INF),
    ([-INF, 1e308], -INF),
    ([0.1] * 10, 1.0),
]


@pytest.mark.parametrize(("numbers", "expected"), SUMS, ids=str)
def test_float_sum(numbers: list[float], expected: float) -> None:
    assert str(float_sum(numbers)) == str(expected)


def test_nan_and_opposite_infinities_sum_to_nan() -> None:
    assert math.isnan(float_sum([1.0, NAN]))
    assert math.isnan(float_sum([INF, -INF]))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_bucket_holds_its_numbers_as_exact_integers(x: float) -> None:
    if x == 0:
        return
    bucket = bucket_of(x)
    scaled = Fraction(abs(x)) * Fraction(2) ** scale_of(bucket)
    assert scaled.denominator == 1
    assert scaled < 2 ** (BUCKET_BITS + 53)
    assert bucket == LOWEST_BUCKET or 2 ** (BUCKET_BITS * bucket) <= Fraction(abs(x)) * 1


@given(st.lists(st.floats(), max_size=8))
def test_the_float_sum_of_one_value_is_that_value(values: list[float]) -> None:
    for x in values:
        assert float_sum([x]) == x or math.isnan(x)


def summary(function: str, type_: ValueType, values: list[Value]) -> Value:
    table = scan("v", [Column("x", Inferred(type_, nullable=True))])
    item = AggregateItem("y", aggregate(function, ref(table, "x"), grouped=False))
    return rows(aggregate_rows(table, [], [item]), v=[[v] for v in values])[0][0]


EUR = Money("EUR")
AGGREGATED: list[tuple[str, ValueType, list[Value], Value]] = [
    ("sum", INT64, [2**63 - 1, 1, -1], 2**63 - 1),
    ("sum", INT64, [None], None),
    ("sum", EUR, [Decimal("0.10"), Decimal("0.20")], Decimal("0.30")),
    ("avg", INT64, [1, None, 2], 1.5),
    ("avg", EUR, [Decimal("0.01"), Decimal("0.02")], Decimal("0.02")),
    ("avg", EUR, [Decimal("0.00"), Decimal("0.01")], Decimal("0.00")),
    ("avg", parse_type("decimal(9,2)"), [Decimal("0.10"), Decimal("0.20")], 0.15),
    ("count", INT64, [], 0),
    ("min", FLOAT64, [NAN, None, 1.0], 1.0),
    ("min", STRING, ["é", "z"], "z"),
    ("median", FLOAT64, [INF, INF], INF),
    ("variance", INT64, [2**52, 2**52 + 2], 2.0),
    ("stddev", INT64, [1], None),
]


@pytest.mark.parametrize(
    ("function", "type_", "values", "expected"), AGGREGATED, ids=[f"{r[0]}-{r[2]}" for r in AGGREGATED]
)
def test_aggregate(function: str, type_: ValueType, values: list[Value], expected: Value) -> None:
    assert summary(function, type_, values) == expected


def test_max_holds_nan_for_the_largest() -> None:
    assert math.isnan(summary("max", FLOAT64, [INF, NAN, None]))


def test_a_sum_that_does_not_fit_is_an_error() -> None:
    for type_, given_ in ((INT64, [2**63 - 1, 1]), (parse_type("decimal(4,2)"), [Decimal("99.99"), Decimal("0.01")])):
        with pytest.raises(StrataError, match="E090: `sum` failed on"):
            summary("sum", type_, list(given_))


# --- nodes -------------------------------------------------------------------------------------------------


def test_a_filter_keeps_what_is_true_alone() -> None:
    assert rows(filter_rows(T, call("gt", ref(T, "n"), literal(10)))) == [[1, 30], [None, 40], [None, 50]]


def test_nulls_are_one_group_and_no_keys_are_one_row() -> None:
    items = [
        AggregateItem("s", aggregate("sum", ref(T, "n"), grouped=True)),
        AggregateItem("c", aggregate("count", grouped=True)),
    ]
    assert rows(aggregate_rows(T, [Item("k", ref(T, "k"))], items)) == [[1, 40, 2], [2, None, 1], [None, 90, 2]]
    assert rows(aggregate_rows(T, [], items), t=[]) == [[None, 0]]
    distinct = aggregate("count", ref(T, "k"), grouped=False, distinct=True)
    assert rows(aggregate_rows(T, [], [AggregateItem("d", distinct)])) == [[2]]


U = scan("u", [Column("u", Inferred(INT64, nullable=True)), Column("w", Inferred(INT64, nullable=True))])
JOINED: dict[JoinKind, list[list[Value]]] = {
    JoinKind.INNER: [[1, 10, 1, 7], [1, 30, 1, 7]],
    JoinKind.LEFT: [
        [1, 10, 1, 7],
        [1, 30, 1, 7],
        [2, None, None, None],
        [None, 40, None, None],
        [None, 50, None, None],
    ],
    JoinKind.SEMI: [[1, 10], [1, 30]],
    JoinKind.ANTI: [[2, None], [None, 40], [None, 50]],
}
JOINED[JoinKind.FULL] = [*JOINED[JoinKind.LEFT], [None, None, None, 8], [None, None, 3, 9]]


@pytest.mark.parametrize("kind", JOINED, ids=lambda k: k.value)
def test_a_null_joins_nothing(kind: JoinKind) -> None:
    joined = join(kind, T, U, call("eq", ref(U, "u"), ref(T, "k")))
    assert rows(joined, t=ROWS, u=[[1, 7], [None, 8], [3, 9]]) == JOINED[kind]


def test_joins_test_the_rest_of_their_condition() -> None:
    on = call("and", call("eq", ref(T, "k"), ref(U, "u")), call("gt", ref(T, "n"), ref(U, "w")))
    assert rows(join(JoinKind.INNER, T, U, on), t=ROWS, u=[[1, 20]]) == [[1, 30, 1, 20]]
    unequal = call("lt", ref(T, "n"), ref(U, "w"))
    assert rows(join(JoinKind.ANTI, T, U, unequal), t=ROWS, u=[[1, 45]]) == [[2, None], [None, 50]]
    assert len(rows(join(JoinKind.CROSS, T, U, None), t=ROWS, u=[[1, 1], [2, 2]])) == 10


def test_nulls_are_sorted_last_both_ways() -> None:
    ascending = (SortKey(ref(T, "k")), SortKey(ref(T, "n"), descending=True))
    assert rows(sort_rows(T, ascending)) == [[1, 30], [1, 10], [2, None], [None, 50], [None, 40]]
    descending = (SortKey(ref(T, "n"), descending=True),)
    assert rows(sort_rows(T, descending)) == [[None, 50], [None, 40], [1, 30], [1, 10], [2, None]]
    assert rows(limit_rows(T, descending, 1, 2)) == [[None, 40], [1, 30]]


def windowed(function: str, *args: Expr, frame: Frame | None = None, ordered: bool = True) -> list[Value]:
    table = scan("w", [Column("x", Inferred(INT64, nullable=True))])
    order = (SortKey(ref(table, "x")),) if ordered else ()
    made = window(function, *(args or ()), order=order, frame=frame)
    result = rows(window_rows(table, [WindowItem("y", made)]), w=[[3], [1], [None], [3]])
    return [row[1] for row in result]


def test_windows() -> None:
    x = ref(scan("w", [Column("x", Inferred(INT64, nullable=True))]), "x")
    assert windowed("rank") == [2, 1, 4, 2]
    assert windowed("dense_rank") == [2, 1, 3, 2]
    assert windowed("sum", x) == [7, 1, 7, 7]
    assert windowed("sum", x, ordered=False) == [7, 7, 7, 7]
    assert windowed("sum", x, frame=Frame(-1, 0)) == [4, 1, 3, 6]
    assert windowed("count", x, frame=Frame(1, 1)) == [1, 1, 0, 0]
    assert windowed("first_value", x, frame=Frame(1, None)) == [3, 3, None, None]
    assert windowed("ntile", literal(3)) == [1, 1, 3, 2]
    assert windowed("lead", x, literal(2), literal(0)) == [None, 3, 0, 0]


# --- law ---------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_proven_facts_hold_and_the_two_readings_agree(data: st.DataObject) -> None:
    database = data.draw(databases())
    check_conformance(ReferenceEngine(), data.draw(relations(database)), database.tables)
