"""Random schemas with data, and random typed relations over them, for the laws that every engine keeps.

`databases()` draws tables that hold what breaks engines: nulls, the ends of every type, NaN, infinities, -0.0, no
rows, repeated rows, text beyond ASCII. `relations(database)` draws trees of all node kinds over them, built by
`strata_core.relation.build`, with calls of the catalog and casts. Rare on purpose are values that make everything
overflow, so that most examples have rows. Left out: `exp ln log10 power`, whose last bit belongs to the platform.
"""

from __future__ import annotations

import datetime
import decimal
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from strata_core.engines.protocol import ArrowTable
from strata_core.relation.build import (
    aggregate_rows,
    asof_join,
    combine,
    distinct_rows,
    expand_rows,
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
from strata_core.relation.expressions import (
    Cast,
    Chain,
    ColumnRef,
    Expr,
    Frame,
    Link,
    SortKey,
    aggregate,
    call,
    cast,
    columns_read,
    link,
    literal,
    window,
)
from strata_core.relation.nodes import AggregateItem, Item, JoinKind, Moments, Relation, Scan, SetKind, WindowItem
from strata_core.relation.schema import Column, Schema
from strata_core.types import (
    BOOL,
    DATE,
    FLOAT64,
    INT64,
    STRING,
    TIMESTAMP,
    Array,
    Bool,
    Date,
    Decimal,
    Float64,
    Inferred,
    Int64,
    Money,
    String,
    Timestamp,
    ValueType,
)

from .conformance import table_of

DECIMAL = Decimal(9, 2)
WIDE = Decimal(38, 10)
EUR = Money("EUR")
INTS = Array(INT64)
SCALARS: tuple[ValueType, ...] = (INT64, FLOAT64, DECIMAL, STRING, BOOL, DATE, TIMESTAMP, EUR, WIDE)
TEXT = st.text("abAB019 -_%,.éÉ漢🎉", max_size=6) | st.sampled_from(["", "12", "-7.50", "true", "2024-02-29", "a,b,c"])


def rarely(usual: st.SearchStrategy[Any], extreme: Sequence[Any]) -> st.SearchStrategy[Any]:
    """Mostly `usual`, once in a while one of `extreme`."""
    return st.integers(0, 15).flatmap(lambda n: st.sampled_from(extreme) if n == 0 else usual)


def _decimals(scale: int, size: int, largest: str) -> st.SearchStrategy[Any]:
    usual = st.integers(-(10**size), 10**size).map(lambda n: decimal.Decimal(n).scaleb(-scale))
    return rarely(usual, [decimal.Decimal(largest), decimal.Decimal("-" + largest), decimal.Decimal(0)])


VALUES: dict[type, st.SearchStrategy[Any]] = {
    Int64: rarely(st.integers(-9, 9), [2**63 - 1, -(2**63), 2**53 + 1, 0]),
    Float64: rarely(
        st.floats(-100, 100, width=16) | st.sampled_from([0.5, -1.5, 2.5, 0.1, 1e16, 1e-9]),
        [float("nan"), float("inf"), float("-inf"), -0.0, 5e-324, 1.7976931348623157e308, 2.0**48],
    ),
    String: TEXT,
    Bool: st.booleans(),
    Date: rarely(
        st.dates(datetime.date(2019, 12, 20), datetime.date(2021, 3, 10)),
        [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), datetime.date(1969, 12, 31), datetime.date(2024, 2, 29)],
    ),
    Timestamp: rarely(
        st.datetimes(datetime.datetime(2019, 12, 30), datetime.datetime(2020, 3, 2)),
        [
            datetime.datetime(1, 1, 1),
            datetime.datetime(9999, 12, 31, 23, 59, 59, 999999),
            datetime.datetime(1969, 12, 31, 23, 59, 59, 500000),
        ],
    ),
    Money: _decimals(2, 4, "9" * 36 + ".99"),
}
DECIMALS = {DECIMAL: _decimals(2, 4, "9999999.99"), WIDE: _decimals(10, 12, "9" * 28 + "." + "9" * 10)}


def values(type_: ValueType) -> st.SearchStrategy[Any]:
    """Values of a type, not null."""
    if isinstance(type_, Array):
        return st.lists(st.none() | values(type_.element), max_size=3)
    return DECIMALS[type_] if isinstance(type_, Decimal) else VALUES[type(type_)]


@dataclass(frozen=True)
class Database:
    """Tables with their data, and a supply of column names."""

    scans: tuple[Scan, ...]
    tables: dict[str, ArrowTable]
    names: Iterator[str] = field(default_factory=lambda: (f"c{i}" for i in itertools.count()))


@st.composite
def databases(draw: st.DrawFn) -> Database:
    """One to three tables of up to eight rows; some have a key, a value set or nonnull columns."""
    scans, tables = [], {}
    for t in range(draw(st.integers(1, 3))):
        types = draw(st.lists(st.sampled_from((*SCALARS[:8], INT64, STRING, INTS)), min_size=1, max_size=5))
        columns = [Column(f"t{t}_{i}", draw(_known(type_))) for i, type_ in enumerate(types)]
        least = draw(st.sampled_from([0, 1, 3, 4, 6]))
        rows = draw(st.lists(st.tuples(*(_cells(c.inferred) for c in columns)), min_size=least, max_size=8))
        if draw(st.booleans()):
            rows += rows[:2]
        keys = []
        if draw(st.booleans()):
            columns.append(Column(f"t{t}_id", Inferred(INT64, nullable=False)))
            rows = [(*row, i) for i, row in enumerate(rows)]
            keys.append(frozenset({f"t{t}_id"}))
        scans.append(scan(f"t{t}", columns, keys))
        tables[f"t{t}"] = table_of(tuple(columns), [list(row) for row in rows])
    return Database(tuple(scans), tables)


@st.composite
def _known(draw: st.DrawFn, type_: ValueType) -> Inferred:
    values_ = frozenset({"a", "b", "B", ""}) if isinstance(type_, String) and draw(st.booleans()) else None
    return Inferred(type_, draw(st.integers(0, 2)) > 0, values_)


def _cells(known: Inferred) -> st.SearchStrategy[Any]:
    present = st.sampled_from(sorted(known.values)) if known.values is not None else values(known.type)
    return st.integers(0, 4).flatmap(lambda n: st.none() if n == 0 else present) if known.nullable else present


# --- expressions -------------------------------------------------------------------------------------------


def _words(*words: str) -> st.SearchStrategy[Expr]:
    return st.sampled_from(words).map(literal)


def _whole(least: int, most: int) -> st.SearchStrategy[Expr]:
    return st.integers(least, most).map(literal)


UNITS = _words("year", "quarter", "month", "week", "day")
CLOCK = _words("year", "month", "week", "day", "hour", "minute", "second")
MODES = _words("half_even", "half_up", "half_down", "up", "down", "ceiling", "floor")
PATTERNS = _words("[a-z]+", "^a", r"\d", "(a|b)c?", "é$", "[^0-9]", r"\w\b", "a.")
LIKES = _words("a%", "%b", "_", "%", "", "a_%", "%é%")
SMALL = _whole(-3, 5)

Argument = ValueType | st.SearchStrategy[Expr]
PRODUCTIONS: dict[ValueType, tuple[tuple[str, tuple[Argument, ...]], ...]] = {
    INT64: (
        ("add", (INT64, INT64)),
        ("subtract", (INT64, INT64)),
        ("multiply", (INT64, INT64)),
        ("modulo", (INT64, INT64)),
        ("negate", (INT64,)),
        ("abs", (INT64,)),
        ("sign", (FLOAT64,)),
        ("sign", (DECIMAL,)),
        ("length", (STRING,)),
        ("date_diff", (DATE, DATE, UNITS)),
        ("date_diff", (TIMESTAMP, TIMESTAMP, CLOCK)),
        ("year", (DATE,)),
        ("quarter", (DATE,)),
        ("month", (TIMESTAMP,)),
        ("week", (DATE,)),
        ("day", (DATE,)),
        ("day_of_week", (TIMESTAMP,)),
        ("day_of_year", (DATE,)),
        ("hour", (TIMESTAMP,)),
        ("minute", (TIMESTAMP,)),
        ("second", (TIMESTAMP,)),
        ("to_unix", (TIMESTAMP,)),
        ("array_length", (INTS,)),
        ("array_get", (INTS, SMALL)),
        ("bit_and", (INT64, INT64)),
        ("bit_or", (INT64, INT64)),
        ("bit_xor", (INT64, INT64)),
        ("trunc", (INT64,)),
        ("iso_year", (DATE,)),
        ("days_in_month", (TIMESTAMP,)),
        ("to_unix_ms", (TIMESTAMP,)),
        ("position", (STRING, STRING)),
        ("codepoint", (STRING,)),
        ("regexp_count", (STRING, st.sampled_from([literal("[a-z]+"), literal(".")]))),
        ("array_index_of", (INTS, INT64)),
        ("array_min", (INTS,)),
        ("array_max", (INTS,)),
        ("nullif", (INT64, INT64)),
        ("greatest", (INT64, INT64, INT64)),
        ("coalesce", (INT64, INT64)),
        ("if", (BOOL, INT64, INT64)),
        ("case", (BOOL, INT64, BOOL, INT64)),
    ),
    FLOAT64: (
        ("add", (FLOAT64, FLOAT64)),
        ("subtract", (FLOAT64, DECIMAL)),
        ("multiply", (FLOAT64, FLOAT64)),
        ("divide", (FLOAT64, FLOAT64)),
        ("divide", (INT64, INT64)),
        ("divide", (DECIMAL, WIDE)),
        ("divide", (EUR, EUR)),
        ("modulo", (FLOAT64, FLOAT64)),
        ("negate", (FLOAT64,)),
        ("abs", (FLOAT64,)),
        ("round", (FLOAT64, _whole(0, 3), MODES)),
        ("floor", (FLOAT64,)),
        ("ceil", (FLOAT64,)),
        ("sqrt", (FLOAT64,)),
        ("trunc", (FLOAT64,)),
        *((f, (FLOAT64,)) for f in ("sin", "cos", "tan", "asin", "acos", "atan", "degrees", "radians", "log2")),
        ("atan2", (FLOAT64, FLOAT64)),
        ("random", (_whole(0, 3), STRING)),
        ("random", (_whole(0, 3), TIMESTAMP)),
        ("random", (_whole(0, 3), DECIMAL)),
        ("least", (FLOAT64, FLOAT64)),
        ("nullif", (FLOAT64, FLOAT64)),
        ("coalesce", (FLOAT64, INT64)),
        ("case", (BOOL, FLOAT64, FLOAT64)),
    ),
    DECIMAL: (
        ("add", (DECIMAL, DECIMAL)),
        ("subtract", (DECIMAL, DECIMAL)),
        ("multiply", (DECIMAL, DECIMAL)),
        ("negate", (DECIMAL,)),
        ("abs", (DECIMAL,)),
        ("round", (DECIMAL, _whole(0, 2), MODES)),
        ("floor", (DECIMAL,)),
        ("trunc", (DECIMAL,)),
        ("ceil", (DECIMAL,)),
        ("greatest", (DECIMAL, DECIMAL)),
        ("coalesce", (DECIMAL, DECIMAL)),
    ),
    WIDE: (
        ("add", (WIDE, WIDE)),
        ("multiply", (DECIMAL, WIDE)),
        ("negate", (WIDE,)),
        ("round", (WIDE, _whole(0, 9), MODES)),
    ),
    EUR: (
        ("add", (EUR, EUR)),
        ("subtract", (EUR, EUR)),
        ("negate", (EUR,)),
        ("abs", (EUR,)),
        ("money_multiply", (EUR, INT64, _whole(2, 2), MODES)),
        ("money_multiply", (EUR, DECIMAL, _whole(2, 2), MODES)),
        ("money_divide", (EUR, DECIMAL, _whole(2, 2), MODES)),
        ("money_divide", (EUR, INT64, _whole(2, 2), MODES)),
        ("convert", (EUR, DECIMAL, _words("EUR"))),
        ("round", (EUR, _whole(0, 2), MODES)),
        ("coalesce", (EUR, EUR)),
        ("least", (EUR, EUR)),
    ),
    STRING: (
        ("add", (STRING, STRING)),
        ("concat_op", (STRING, STRING)),
        ("concat", (STRING, INT64, BOOL)),
        ("upper", (STRING,)),
        ("lower", (STRING,)),
        ("trim", (STRING,)),
        ("ltrim", (STRING,)),
        ("rtrim", (STRING,)),
        ("substring", (STRING, SMALL)),
        ("substring", (STRING, SMALL, SMALL)),
        ("left", (STRING, SMALL)),
        ("right", (STRING, SMALL)),
        ("replace", (STRING, STRING, STRING)),
        ("lpad", (STRING, SMALL, _words("", "x", "é-"))),
        ("rpad", (STRING, SMALL, _words("", "x", "é-"))),
        ("split_part", (STRING, _words(",", "", "a"), SMALL)),
        ("regexp_replace", (STRING, PATTERNS, _words("", "<\\0>", "\\\\"))),
        ("regexp_extract", (STRING, PATTERNS)),
        ("reverse", (STRING,)),
        ("month_name", (DATE,)),
        ("day_name", (TIMESTAMP,)),
        ("sha1", (STRING,)),
        ("md5", (STRING,)),
        ("sha256", (STRING,)),
        ("coalesce", (STRING, STRING)),
        ("case", (BOOL, STRING, STRING)),
        ("if", (BOOL, STRING, STRING)),
        ("nullif", (STRING, STRING)),
        ("greatest", (STRING, STRING)),
    ),
    BOOL: (
        *((c, (t, t)) for c in ("eq", "ne", "lt", "ge") for t in (INT64, FLOAT64, DECIMAL, STRING, DATE, EUR)),
        *((c, (TIMESTAMP, TIMESTAMP)) for c in ("gt", "le")),
        *((c, (a, b)) for c in ("eq", "lt") for a, b in ((INT64, FLOAT64), (DECIMAL, INT64), (WIDE, DECIMAL))),
        ("and", (BOOL, BOOL)),
        ("or", (BOOL, BOOL)),
        ("not", (BOOL,)),
        ("like", (STRING, LIKES)),
        ("rlike", (STRING, PATTERNS)),
        ("in", (INT64, INT64, INT64)),
        ("in", (STRING, STRING, STRING)),
        *((n, (t,)) for n in ("is_null", "is_not_null") for t in (INT64, STRING, FLOAT64)),
        ("startswith", (STRING, STRING)),
        ("endswith", (STRING, STRING)),
        ("contains", (STRING, STRING)),
        ("array_contains", (INTS, INT64)),
        ("is_nan", (FLOAT64,)),
        ("is_finite", (FLOAT64,)),
        ("coalesce", (BOOL, BOOL)),
    ),
    DATE: (
        ("date_trunc", (DATE, UNITS)),
        ("date_add", (DATE, SMALL, UNITS)),
        ("date_sub", (DATE, SMALL, UNITS)),
        ("to_date", (TIMESTAMP,)),
        ("last_day", (DATE,)),
        ("last_day", (TIMESTAMP,)),
        ("make_date", (_whole(1999, 2001), _whole(1, 12), _whole(1, 28))),
        ("coalesce", (DATE, DATE)),
        ("least", (DATE, DATE)),
    ),
    TIMESTAMP: (
        ("date_trunc", (TIMESTAMP, CLOCK)),
        ("date_add", (TIMESTAMP, SMALL, CLOCK)),
        ("date_sub", (TIMESTAMP, SMALL, CLOCK)),
        ("from_unix", (_whole(-3, 3),)),
        ("from_unix_ms", (INT64,)),
        ("make_timestamp", (_whole(1999, 2001), _whole(1, 12), _whole(1, 28), _whole(0, 23), SMALL, _whole(0, 59))),
        ("greatest", (TIMESTAMP, TIMESTAMP)),
    ),
    INTS: (
        ("list", (INT64, INT64)),
        ("array_concat", (INTS, INTS)),
        ("array_append", (INTS, INT64)),
        ("array_prepend", (INT64, INTS)),
        ("array_sort", (INTS,)),
        ("array_remove", (INTS, INT64)),
        ("array_slice", (INTS, SMALL, SMALL)),
        ("array_reverse", (INTS,)),
        ("array_distinct", (INTS,)),
    ),
}
CASTS: dict[ValueType, tuple[ValueType, ...]] = {
    INT64: (FLOAT64, DECIMAL, BOOL, STRING),
    FLOAT64: (INT64, DECIMAL, WIDE, STRING, EUR),
    DECIMAL: (INT64, FLOAT64, WIDE, STRING, EUR),
    WIDE: (DECIMAL, INT64, FLOAT64),
    STRING: (INT64, FLOAT64, DECIMAL, BOOL, DATE, TIMESTAMP, EUR),
    BOOL: (INT64, STRING),
    DATE: (TIMESTAMP, STRING),
    TIMESTAMP: (DATE, STRING),
    EUR: (DECIMAL, FLOAT64),
}


@st.composite
def expressions(draw: st.DrawFn, schema: Schema, type_: ValueType, depth: int = 2) -> Expr:
    """An expression of `type_` over the columns of `schema`."""
    columns = [c for c in schema.columns if c.inferred.type == type_]
    choice = draw(st.integers(0, 9))
    if columns and (choice < 4 or depth == 0):
        column = draw(st.sampled_from(columns))
        return ColumnRef(column.name, column.inferred)
    if depth == 0 or choice == 4:
        return draw(constants(type_))
    if choice == 5 and type_ in CASTS:
        return draw(_casts(schema, type_, depth))
    function, wanted = draw(st.sampled_from(PRODUCTIONS[type_]))
    args = [draw(a if isinstance(a, st.SearchStrategy) else expressions(schema, a, depth - 1)) for a in wanted]
    made = call(function, *args)
    if type_ in CHAINED and draw(st.integers(0, 5)) == 0:
        return exactly(draw(chains(made, schema, type_)), type_)
    return exactly(made, type_)


CHAINED: dict[ValueType, tuple[tuple[str, ValueType], ...]] = {
    INT64: tuple((f, INT64) for f in ("add", "subtract", "multiply", "modulo")),
    FLOAT64: tuple((f, t) for f in ("add", "subtract", "multiply", "divide", "modulo") for t in (FLOAT64, INT64)),
    DECIMAL: tuple((f, t) for f in ("add", "subtract") for t in (DECIMAL, WIDE)),
    EUR: (("add", EUR), ("subtract", EUR)),
    STRING: (("add", STRING), ("concat_op", STRING)),
}
"""The links that a chain may have, by the type of its first value: the function and the type of the operand."""


@st.composite
def chains(draw: st.DrawFn, first: Expr, schema: Schema, type_: ValueType) -> Chain:
    """A chain that begins with `first`, which is of `type_` and no literal."""
    links: list[Link] = []
    before = first.inferred
    for function, operand in draw(st.lists(st.sampled_from(CHAINED[type_]), min_size=1, max_size=5)):
        links.append(link(before, function, draw(expressions(schema, operand, 0))))
        before = links[-1].inferred
    return Chain(first, tuple(links))


def exactly(expr: Expr, type_: ValueType) -> Expr:
    """`expr`, cast where it is of another precision or element nullability."""
    return expr if expr.inferred.type == type_ else cast(expr, type_)


@st.composite
def _casts(draw: st.DrawFn, schema: Schema, type_: ValueType, depth: int) -> Expr:
    """A cast to `type_`; from text mostly a safe one, since most text spells nothing else."""
    source = draw(st.sampled_from(CASTS[type_]))
    operand = draw(expressions(schema, source, depth - 1))
    safe = source == STRING and draw(st.integers(0, 5)) > 0
    return cast(operand, type_, safe=safe or draw(st.integers(0, 3)) == 0)


@st.composite
def constants(draw: st.DrawFn, type_: ValueType) -> Expr:
    """A literal of `type_`, or a null cast to it."""
    if draw(st.integers(0, 9)) == 0:
        return Cast(literal(None), Inferred(type_, nullable=True))
    if isinstance(type_, Array):
        return call("list", draw(constants(type_.element)), literal(None))
    value = draw(values(type_))
    return exactly(literal(value), type_)


# --- relations ---------------------------------------------------------------------------------------------

AGGREGATES: tuple[tuple[str, tuple[ValueType, ...]], ...] = (
    ("count", ()),
    *(("count", (t,)) for t in (INT64, STRING, FLOAT64)),
    *((f, (t,)) for f in ("sum", "avg") for t in (INT64, FLOAT64, DECIMAL, EUR)),
    *((f, (t,)) for f in ("min", "max") for t in SCALARS),
    ("any", (BOOL,)),
    ("all", (BOOL,)),
    ("count_if", (BOOL,)),
    *((f, (t,)) for f in ("median", "variance", "stddev") for t in (INT64, FLOAT64, DECIMAL)),
)
ORDERED = tuple((f, (t,)) for f in ("array_agg", "first", "last") for t in (INT64, STRING, FLOAT64, DATE))
WINDOWS: tuple[tuple[str, tuple[Argument, ...]], ...] = (
    ("row_number", ()),
    ("rank", ()),
    ("dense_rank", ()),
    ("percent_rank", ()),
    ("cume_dist", ()),
    ("nth_value", (INT64, _whole(1, 3))),
    ("ntile", (_whole(1, 4),)),
    ("lag", (INT64,)),
    ("lag", (STRING, _whole(0, 3))),
    ("lead", (FLOAT64, _whole(0, 3), FLOAT64)),
    ("first_value", (STRING,)),
    ("last_value", (DECIMAL,)),
    *AGGREGATES,
    *ORDERED,
)


@st.composite
def relations(draw: st.DrawFn, database: Database, depth: int = 4) -> Relation:
    """A relation over the tables of `database`, at most `depth` nodes above them on a path."""
    relation: Relation = draw(st.sampled_from(database.scans))
    joins = 0
    for _ in range(draw(st.integers(0, depth))):
        kind = draw(st.sampled_from(STEPS if joins < 2 else STEPS[2:]))
        joins += kind in (_join, _asof_join)
        relation = draw(kind(database, relation))
    return relation


def scalar_columns(schema: Schema) -> list[Column]:
    """The columns that can be compared, grouped and ordered."""
    return [c for c in schema.columns if not isinstance(c.inferred.type, Array)]


@st.composite
def sort_keys(draw: st.DrawFn, schema: Schema, least: int = 0) -> tuple[SortKey, ...]:
    """Keys of an order over columns of `schema`."""
    columns = scalar_columns(schema)
    if not columns:
        return ()
    chosen = draw(st.lists(st.sampled_from(columns), min_size=least, max_size=2, unique_by=lambda c: c.name))
    return tuple(SortKey(ColumnRef(c.name, c.inferred), draw(st.booleans())) for c in chosen)


@st.composite
def _filter(draw: st.DrawFn, database: Database, relation: Relation) -> Relation:
    return filter_rows(relation, draw(expressions(relation.schema, BOOL)))


@st.composite
def _project(draw: st.DrawFn, database: Database, relation: Relation) -> Relation:
    kept = draw(st.lists(st.sampled_from(relation.schema.names), unique=True, max_size=4))
    types = draw(st.lists(st.sampled_from((*SCALARS, INTS)), min_size=0 if kept else 1, max_size=3))
    items = [Item(n, ref(relation, n)) for n in kept]
    items += [Item(next(database.names), draw(expressions(relation.schema, t))) for t in types]
    return project(relation, items)


@st.composite
def _extend(draw: st.DrawFn, database: Database, relation: Relation) -> Relation:
    replaced = draw(st.lists(st.sampled_from(relation.schema.names), unique=True, max_size=2))
    types = draw(st.lists(st.sampled_from((*SCALARS, INTS)), min_size=len(replaced) or 1, max_size=3))
    fresh = (next(database.names) for _ in types)
    names = [*replaced, *fresh][: len(types)]
    return extend(relation, [Item(n, draw(expressions(relation.schema, t))) for n, t in zip(names, types, strict=True)])


@st.composite
def _join(draw: st.DrawFn, database: Database, relation: Relation) -> Relation:
    source = draw(st.sampled_from(database.scans))
    right = project(source, [Item(next(database.names), ref(source, n)) for n in source.schema.names])
    kind = draw(st.sampled_from(list(JoinKind)))
    if kind is JoinKind.CROSS:
        return join(kind, relation, right, None)
    both = Schema((*relation.schema.columns, *right.schema.columns))
    pairs = [
        (a, b)
        for a in scalar_columns(relation.schema)
        for b in scalar_columns(right.schema)
        if a.inferred.type == b.inferred.type
    ]
    condition = draw(expressions(both, BOOL, 1))
    if pairs and draw(st.integers(0, 5)) > 0:
        a, b = draw(st.sampled_from(pairs))
        equal = call("eq", ColumnRef(a.name, a.inferred), ColumnRef(b.name, b.inferred))
        condition = call("and", equal, condition) if draw(st.booleans()) else equal
    return join(kind, relation, right, condition)


@st.composite
def _asof_join(draw: st.DrawFn, database: Database, relation: Relation) -> Relation:
    """The right row that held at an instant, of what was available at another one, with keys, ends and distances."""
    source = draw(st.sampled_from(database.scans))
    right = project(source, [Item(next(database.names), ref(source, n)) for n in source.schema.names])
    instants = [c for c in right.schema.columns if c.inferred.type in (DATE, TIMESTAMP)]
    if not instants:
        return relation
    type_ = draw(st.sampled_from([c.inferred.type for c in instants]))

    def moments() -> Moments:
        theirs = draw(expressions(right.schema, type_, 1))
        column = next(c for c in instants if c.inferred.type == type_)
        if not columns_read(theirs):
            theirs = ColumnRef(column.name, column.inferred)
        return Moments(draw(expressions(relation.schema, type_, 1)), theirs)

    pairs = [
        (ColumnRef(a.name, a.inferred), ColumnRef(b.name, b.inferred))
        for a in scalar_columns(relation.schema)
        for b in scalar_columns(right.schema)
        if a.inferred.type == b.inferred.type
    ]
    keys = draw(st.lists(st.sampled_from(pairs), max_size=2)) if pairs else []
    return asof_join(
        draw(st.sampled_from((JoinKind.LEFT, JoinKind.INNER))),
        relation,
        right,
        keys,
        moments(),
        available=moments() if draw(st.booleans()) else None,
        until=draw(expressions(right.schema, type_, 1)) if draw(st.integers(0, 2)) == 0 else None,
        within=draw(st.sampled_from((86_400, 40 * 86_400, 2_000 * 86_400))) if draw(st.integers(0, 2)) == 0 else None,
    )


@st.composite
def _aggregate(draw: st.DrawFn, database: Database, relation: Relation) -> Relation:
    schema = relation.schema
    columns = scalar_columns(schema)
    chosen = draw(st.lists(st.sampled_from(columns), unique_by=lambda c: c.name, max_size=2)) if columns else []
    keys = [Item(c.name, ColumnRef(c.name, c.inferred)) for c in chosen]
    if draw(st.integers(0, 4)) == 0:
        keys.append(Item(next(database.names), draw(expressions(schema, draw(st.sampled_from(SCALARS)), 1))))
    items = []
    for function, types in draw(
        st.lists(st.sampled_from((*AGGREGATES, *ORDERED)), min_size=0 if keys else 1, max_size=3)
    ):
        args = [draw(expressions(schema, t, 1)) for t in types]
        ordered = (function, types) in ORDERED
        made = aggregate(
            function,
            *args,
            grouped=bool(keys),
            distinct=function in ("count", "sum", "avg") and bool(args) and draw(st.integers(0, 3)) == 0,
            order=draw(sort_keys(schema)) if ordered else (),
        )
        items.append(AggregateItem(next(database.names), made))
    return aggregate_rows(relation, keys, items)


@st.composite
def _window(draw: st.DrawFn, database: Database, relation: Relation) -> Relation:
    schema = relation.schema
    columns = scalar_columns(schema)
    function, wanted = draw(st.sampled_from(WINDOWS))
    args = [draw(a if isinstance(a, st.SearchStrategy) else expressions(schema, a, 1)) for a in wanted]
    partition = draw(st.lists(st.sampled_from(columns), unique_by=lambda c: c.name, max_size=2)) if columns else []
    order = draw(sort_keys(schema))
    frame = draw(st.none() | frames()) if order else None
    made = window(
        function,
        *args,
        partition=tuple(ColumnRef(c.name, c.inferred) for c in partition),
        order=order,
        frame=frame if function in FRAMED else None,
    )
    return window_rows(relation, [WindowItem(next(database.names), made)])


FRAMED = frozenset({"first_value", "last_value", *(name for name, _ in (*AGGREGATES, *ORDERED))})


@st.composite
def frames(draw: st.DrawFn) -> Frame:
    """A frame of rows around the current one, before it or after it."""
    bounds = sorted(draw(st.tuples(st.integers(-3, 3), st.integers(-3, 3))))
    return Frame(draw(st.sampled_from([None, bounds[0]])), draw(st.sampled_from([None, bounds[1]])))


@st.composite
def _sort(draw: st.DrawFn, database: Database, relation: Relation) -> Relation:
    return sort_rows(relation, draw(sort_keys(relation.schema)))


@st.composite
def _limit(draw: st.DrawFn, database: Database, relation: Relation) -> Relation:
    return limit_rows(relation, draw(sort_keys(relation.schema)), draw(st.integers(0, 3)), draw(st.integers(0, 6)))


@st.composite
def _combine(draw: st.DrawFn, database: Database, relation: Relation) -> Relation:
    """`relation` combined with a table, or a part of itself, in columns of the same types."""
    kind = draw(st.sampled_from(list(SetKind)))
    distinct = draw(st.booleans())
    every = kind is SetKind.UNION_ALL and not distinct
    drawn = (*SCALARS, INTS) if every else SCALARS
    all_columns = [c for c in relation.schema.columns if c.inferred.type in drawn]
    if not all_columns:
        return relation
    columns = draw(st.lists(st.sampled_from(all_columns), min_size=1, max_size=3, unique_by=lambda c: c.name))
    source = draw(st.sampled_from([*database.scans, relation]))
    names = [next(database.names) for _ in columns]
    other = filter_rows(source, draw(expressions(source.schema, BOOL, 1))) if draw(st.booleans()) else source
    items = [Item(n, draw(expressions(other.schema, c.inferred.type, 0))) for n, c in zip(names, columns, strict=True)]
    left = project(relation, [Item(n, ref(relation, c.name)) for n, c in zip(names, columns, strict=True)])
    combined = combine(kind, left, project(other, items))
    return distinct_rows(combined) if distinct else combined


@st.composite
def _expand(draw: st.DrawFn, database: Database, relation: Relation) -> Relation:
    return expand_rows(relation, Item(next(database.names), draw(expressions(relation.schema, INTS, 1))))


STEPS: tuple[Callable[[Database, Relation], st.SearchStrategy[Relation]], ...] = (
    _join,
    _asof_join,
    _filter,
    _filter,
    _project,
    _project,
    _extend,
    _extend,
    _aggregate,
    _window,
    _combine,
    _expand,
    _sort,
    _limit,
)
