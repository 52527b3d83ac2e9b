"""Calls of the catalog's functions inside one another, over columns of every type: the engines agree.

What may stand where is read from the catalog's examples: a new function is called here as soon as it has one.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.relation.build import project, scan
from strata_core.relation.expressions import Call, ColumnRef, Expr, call, cast, literal
from strata_core.relation.nodes import Item
from strata_core.relation.schema import Column
from strata_core.types import STRING, Array, Decimal, Inferred, Unknown, ValueType
from strata_core.types.functions import SignatureError
from strata_core.types.lattice import castable

from .conformance import check_conformance, table_of
from .test_functions_of_columns import ENGINE, LAST_BIT, SCALARS, calls, values_by_type, with_columns

NARROW = (Decimal(3, 3), Decimal(1, 0), Decimal(38, 38), Array(Decimal(9, 2)), Array(STRING))
"""Types that no function gives, and casts do."""
OPEN = frozenset({"is_null", "is_not_null"})
"""Of what is never null DuckDB knows the answer without computing it, so that nothing fails."""


@cache
def productions() -> dict[ValueType, list[Call]]:
    """By the type of their results, calls whose columns may be any expression of their type."""
    found: dict[ValueType, list[Call]] = defaultdict(list)
    for function in SCALARS:
        if function not in LAST_BIT | OPEN:
            for one in calls(function):
                of_columns, _ = with_columns(one)
                if not isinstance(of_columns.inferred.type, Unknown):
                    found[of_columns.inferred.type].append(of_columns)
    return found


@cache
def columns() -> tuple[Column, ...]:
    """One for each type that an argument of an example has."""
    types = [t for t in values_by_type() if not isinstance(t, Unknown)]
    return tuple(Column(f"c{n}", Inferred(t, nullable=True)) for n, t in enumerate(types))


@st.composite
def expressions(draw: st.DrawFn, type_: ValueType, depth: int) -> Expr:
    """A column of `type_` where there is one, or a call or cast that gives it."""
    column = next((ColumnRef(c.name, c.inferred) for c in columns() if c.inferred.type == type_), None)
    plain = column or cast(literal(None), type_)
    sources = [c.inferred.type for c in columns() if castable(c.inferred.type, type_)]
    possible: list[Call | None] = [*productions().get(type_, ()), *([None] if sources else [])]
    if depth == 0 or not possible:
        return plain
    chosen = draw(st.sampled_from(possible))
    if chosen is None:
        return cast(draw(expressions(draw(st.sampled_from(sources)), depth - 1)), type_, safe=draw(st.booleans()))
    args = [draw(expressions(a.inferred.type, depth - 1)) if isinstance(a, ColumnRef) else a for a in chosen.args]
    try:
        return call(chosen.function, *args)
    except SignatureError:  # of a decimal that became too wide, say
        return plain


@settings(max_examples=100)
@given(st.data())
def test_the_engines_agree_on_functions_of_functions(data: st.DataObject) -> None:
    types = st.sampled_from([*productions(), *NARROW])
    made = [
        data.draw(expressions(data.draw(types), data.draw(st.integers(1, 3))))
        for _ in range(data.draw(st.integers(1, 4)))
    ]
    cells = [st.sampled_from(values_by_type()[c.inferred.type]) for c in columns()]
    rows = data.draw(st.lists(st.tuples(*cells).map(list), min_size=1, max_size=4))
    relation = project(scan("t", columns()), [Item(f"y{n}", e) for n, e in enumerate(made)])
    check_conformance(ENGINE, relation, {"t": table_of(columns(), rows)})
