"""Every scalar function of columns that hold values and nulls, in each combination: the engines agree.

The examples of the catalog are calls of literals. Here each literal, or value that is cast from one, is a column that
holds it, a null, and the other values of the catalog's examples that have its type.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from functools import cache

import pytest

from strata_core.analysis import compile_project
from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import EngineSettings
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.language.parser import parse_module
from strata_core.relation.build import project, scan
from strata_core.relation.expressions import Call, Cast, ColumnRef, Expr, Literal, call
from strata_core.relation.nodes import Item, Project
from strata_core.relation.schema import Column
from strata_core.types import INT64, Inferred, Unknown, ValueType
from strata_core.types.functions import CATALOG, Kind, SignatureError

from .conformance import check_conformance, outcome_of, table_of

ENGINE = DuckDBEngine(EngineSettings(memory_limit="256MiB", threads=1))
SCALARS = [name for name, function in CATALOG.items() if function.kind is Kind.SCALAR]
LAST_BIT = {"exp", "ln", "log2", "log10", "power", "sin", "cos", "tan", "asin", "acos", "atan", "atan2"}
"""Functions whose last bit belongs to the platform."""
WORDS = frozenset[object]().union(*(words for function in CATALOG.values() for words in function.words.values()))
MOST = 200
"""Rows of a call: of three arguments six values each, of more some."""


def calls(function: str) -> list[Call]:
    """The calls of `function` in the catalog's examples, as the compiler reads them."""
    found: list[Call] = []
    for example in CATALOG[function].examples:
        text = f"source t() {{ columns: {{ x: int64 }} }}\nmodel m {{ from t select {{ y = {example.call} }} }}"
        relation = compile_project([parse_module(text, "f.strata").module]).models["m"].relation
        assert isinstance(relation, Project)
        pending: list[Expr] = [relation.items[0].expr]
        while pending:
            match pending.pop():
                case Call() as one:
                    found += [one] if one.function == function else []
                    pending.extend(one.args)
                case Cast(operand=operand):
                    pending.append(operand)
                case _:
                    pass
    return found


def value(expr: Expr) -> object:
    column = Column("n", Inferred(INT64, nullable=False))
    one = project(scan("one", (column,)), [Item("x", expr)])
    return outcome_of(ReferenceEngine(), one, {"one": table_of((column,), [[1]])}).rows[0][0]


@cache
def values_by_type() -> dict[ValueType, list[object]]:
    found: dict[ValueType, list[object]] = defaultdict(lambda: [None])
    for function in SCALARS:
        for one in calls(function):
            for argument in one.args:
                if isinstance(argument.inferred.type, Unknown):
                    continue
                seen = found[argument.inferred.type]
                if (given := value(argument)) not in seen:
                    seen.append(given)
    return found


def with_columns(one: Call) -> tuple[Call, dict[str, Expr]]:
    """`one` with a column for each argument that need not be a literal, and what stood there."""
    args, columns = list(one.args), dict[str, Expr]()
    for n, argument in enumerate(one.args):
        if isinstance(argument.inferred.type, Unknown) or (isinstance(argument, Literal) and argument.value in WORDS):
            continue
        column = ColumnRef(f"a{n}", Inferred(argument.inferred.type, nullable=True))
        try:
            call(one.function, *args[:n], column, *args[n + 1 :])
        except SignatureError:
            continue
        args[n] = column
        columns[column.name] = argument
    return call(one.function, *args), columns


@pytest.mark.parametrize("function", [f for f in SCALARS if f not in LAST_BIT])
def test_the_engines_agree_on_a_function_of_columns(function: str) -> None:
    for one in calls(function):
        of_columns, given = with_columns(one)
        if not given:
            continue
        chosen = [
            [value(e), *values_by_type()[e.inferred.type]][: max(3, int(MOST ** (1 / len(given))))]
            for e in given.values()
        ]
        columns = tuple(Column(n, Inferred(e.inferred.type, nullable=True)) for n, e in given.items())
        relation = project(scan("t", columns), [Item("y", of_columns)])
        every = [list(row) for row in itertools.islice(itertools.product(*chosen), MOST)]
        sound = [
            row for row in every if not outcome_of(ReferenceEngine(), relation, {"t": table_of(columns, [row])}).codes
        ]
        check_conformance(ENGINE, relation, {"t": table_of(columns, sound)})
        for row in [row for row in every if row not in sound][:3]:
            check_conformance(ENGINE, relation, {"t": table_of(columns, [row])})
