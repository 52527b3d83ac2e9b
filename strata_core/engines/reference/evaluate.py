"""Scalar expressions of the reference interpreter, compiled to functions from a row to a value.

A row is a list of cells; a cell is a value, or a `Later` that computes it when something first needs it, so that a
column which nothing uses raises nothing. Errors: E090, naming the function and its values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, assert_never

from ...diagnostics import StrataError
from ...relation.expressions import BEFORE, Call, Cast, Chain, ColumnRef, Expr, ExternCall, Literal
from ...types import ValueType
from .casts import cast
from .extern import extern_function
from .functions import LAZY, STRICT, apply
from .nested import TYPED
from .values import MisfitError, Value, conjunction, disjunction, failure, fit


class Later:
    """A cell that is computed when it is first needed, and once."""

    __slots__ = ("_compute", "_failure", "_row", "_value")

    def __init__(self, compute: Compute, row: Row) -> None:
        self._compute: Compute | None = compute
        self._row: Row | None = row
        self._value: Value = None
        self._failure: StrataError | None = None

    def value(self) -> Value:
        """The value; raises what its expression raises."""
        if self._compute is not None and self._row is not None:
            try:
                self._value = self._compute(self._row)
            except StrataError as error:
                self._failure = error
            self._compute = self._row = None
        if self._failure is not None:
            raise self._failure
        return self._value


Cell: TypeAlias = "Value | Later"
Row: TypeAlias = "list[Cell]"
Compute: TypeAlias = "Callable[[Row], Value]"
Positions: TypeAlias = "Mapping[str, int]"


def force(cell: Cell) -> Value:
    """The value of a cell."""
    return cell.value() if isinstance(cell, Later) else cell


def compile_expr(expr: Expr, positions: Positions, *, eager: bool) -> Compute:
    """`expr` as a function of a row whose columns stand at `positions`.

    `eager` evaluates all operands; otherwise one that decides alone hides the others' failure: false of `and`, true of
    `or`, null of a function that is null as soon as one argument is.
    """
    match expr:
        case ColumnRef(name=name):
            position = positions[name]
            return lambda row: force(row[position])
        case Literal(value=value):
            return lambda row: value
        case Cast():
            return _cast(expr, compile_expr(expr.operand, positions, eager=eager))
        case Chain():
            return _chain(expr, positions, eager=eager)
        case ExternCall():
            function = extern_function(expr.function)
            values = [compile_expr(a, positions, eager=eager) for a in expr.args]
            return lambda row: function([v(row) for v in values])
        case Call():
            args = [compile_expr(a, positions, eager=eager) for a in expr.args]
            if expr.function in LAZY:
                return _lazy(expr.function, args, eager=eager)
            if expr.function in TYPED:
                types, typed = [a.inferred.type for a in expr.args], TYPED[expr.function]
                return lambda row: typed([a(row) for a in args], types)
            if expr.function in STRICT and not eager:
                return _decided_by(None, _call_on(expr.function, expr.inferred.type), args)
            return _call(expr.function, args, expr.inferred.type)
        case _:
            assert_never(expr)


def _chain(chain: Chain, positions: Positions, *, eager: bool) -> Compute:
    """Link after link, each a call over a row whose last cell is what came before."""
    first = compile_expr(chain.first, positions, eager=eager)
    before = chain.first.inferred
    extended = {**positions, BEFORE: -1}
    links: list[Compute] = []
    for one in chain.links:
        links.append(compile_expr(one.after(ColumnRef(BEFORE, before)), extended, eager=eager))
        before = one.inferred

    def compute(row: Row) -> Value:
        own = [*row, _settled(first, row)]
        for value in links:
            own[-1] = _settled(value, own)
        return force(own[-1])

    return compute


def _settled(compute: Compute, row: Row) -> Cell:
    """The value, or the cell that fails with what computing it raised: a later operand may hide that."""
    cell = Later(compute, row)
    try:
        return cell.value()
    except StrataError:
        return cell


def _cast(expr: Cast, operand: Compute) -> Compute:
    target, safe = expr.inferred.type, expr.safe

    def compute(row: Row) -> Value:
        value = operand(row)
        try:
            return cast(value, target)
        except MisfitError as error:
            if safe:
                return None
            raise failure(f"cast to {target}", str(error), [value]) from None

    return compute


def _call(function: str, args: list[Compute], result: ValueType) -> Compute:
    on = _call_on(function, result)
    return lambda row: on([a(row) for a in args])


def _call_on(function: str, result: ValueType) -> Callable[[list[Value]], Value]:
    def on(values: list[Value]) -> Value:
        try:
            return fit(apply(function, values), result)
        except MisfitError as error:
            raise failure(function, str(error), values) from None

    return on


def _lazy(function: str, args: list[Compute], *, eager: bool) -> Compute:
    match function:
        case "and":
            return (lambda row: conjunction([a(row) for a in args])) if eager else _decided_by(False, conjunction, args)
        case "or":
            return (lambda row: disjunction([a(row) for a in args])) if eager else _decided_by(True, disjunction, args)
        case "coalesce":
            return _coalesce(args)
        case _:
            return _case(args)


def _decided_by(decisive: bool | None, combine: Callable[[list[Value]], Value], args: list[Compute]) -> Compute:
    """A function of which one `decisive` operand hides the failures of the others, wherever it stands."""

    def compute(row: Row) -> Value:
        values: list[Value] = []
        failed: StrataError | None = None
        for argument in args:
            try:
                value = argument(row)
            except StrataError as error:
                failed = failed or error
                continue
            if value is decisive:
                return decisive
            values.append(value)
        if failed is not None:
            raise failed
        return combine(values)

    return compute


def _coalesce(args: list[Compute]) -> Compute:
    def compute(row: Row) -> Value:
        for argument in args:
            value = argument(row)
            if value is not None:
                return value
        return None

    return compute


def _case(args: list[Compute]) -> Compute:
    branches = [(args[i], args[i + 1]) for i in range(0, len(args) - 1, 2)]
    otherwise = args[-1] if len(args) % 2 else None

    def compute(row: Row) -> Value:
        for condition, value in branches:
            if condition(row) is True:
                return value(row)
        return otherwise(row) if otherwise is not None else None

    return compute
