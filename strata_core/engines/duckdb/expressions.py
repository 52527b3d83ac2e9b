"""Typed expressions to sqlglot expressions, and which of them can fail on some value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import assert_never

from sqlglot import exp

from ...relation.expressions import Call, Cast, Chain, ColumnRef, Expr, ExternCall, Literal, SortKey, children
from ...types import Date, Decimal, Float64, Inferred, Int64, Money, String, Timestamp, ValueType
from . import sql
from .casts import cast_value
from .chains import chained
from .extern import extern
from .functions import BUILDERS, TOTAL
from .sql import SqlExpr


def translate_all(exprs: Iterable[Expr], names: Callable[[str], SqlExpr]) -> list[SqlExpr]:
    """`translate` for each of `exprs`."""
    return [translate(e, names) for e in exprs]


def translate(expr: Expr, names: Callable[[str], SqlExpr]) -> SqlExpr:
    """`expr` in SQL, its columns spelled by `names`. Works from the leaves up, so that no depth overflows."""
    done: list[SqlExpr] = []
    for node in _leaves_first(expr):
        count = len(children(node))
        arguments = done[len(done) - count :] if count else []
        del done[len(done) - count :]
        done.append(_one(node, arguments, names))
    (result,) = done
    return result


def _leaves_first(expr: Expr) -> list[Expr]:
    order: list[Expr] = []
    stack = [expr]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(children(node))
    order.reverse()
    return order


def _one(node: Expr, arguments: Sequence[SqlExpr], names: Callable[[str], SqlExpr]) -> SqlExpr:
    match node:
        case ColumnRef():
            return names(node.name)
        case Literal():
            return sql.literal(node.value, node.inferred.type)
        case Call():
            return BUILDERS[node.function](node, tuple(_bare_numbers(node, arguments)))
        case Chain():
            return chained(node, arguments)
        case ExternCall():
            return extern(node, arguments)
        case Cast():
            (operand,) = arguments
            return cast_value(operand, node.operand.inferred.type, node.inferred.type, safe=node.safe)
        case _:
            assert_never(node)


def _bare_numbers(call: Call, arguments: Sequence[SqlExpr]) -> Sequence[SqlExpr]:
    """A whole number beside a column needs no cast to be int64: the column is."""
    match call:
        case Call(
            function=function, args=(ColumnRef(), Literal(value=int() as number, inferred=Inferred(type=Int64())))
        ):
            return (arguments[0], sql.number(number)) if function in BARE else arguments
        case _:
            return arguments


BARE = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "add", "subtract", "multiply"})


def ordered(key: SortKey, names: Callable[[str], SqlExpr]) -> exp.Ordered:
    """A sort key, nulls last in both directions."""
    return sql.ordered(translate(key.expr, names), descending=key.descending)


def can_fail(expr: Expr, failing_columns: frozenset[str] = frozenset()) -> bool:
    """Whether evaluating `expr` can abort on some value.

    `failing_columns` are columns that the engine may compute late, from expressions that can fail.
    """
    stack = [expr]
    while stack:
        node = stack.pop()
        match node:
            case ColumnRef() if node.name in failing_columns:
                return True
            case ExternCall():
                return True
            case Call() if node.function not in TOTAL:
                return True
            case Chain(links=links) if any(one.function not in TOTAL for one in links):
                return True
            case Cast() if not node.safe and not _total_cast(node.operand.inferred.type, node.inferred.type):
                return True
            case _:
                stack.extend(children(node))
    return False


def _total_cast(source: ValueType, target: ValueType) -> bool:
    match source, target:
        case (_, String()) | (Int64(), Float64()) | (Decimal() | Money(), Float64()):
            return True
        case (Date(), Timestamp()) | (Timestamp(), Date()):
            return True
        case (Decimal(), Decimal()):
            return target.whole_digits >= source.whole_digits and target.scale >= source.scale
        case _:
            return source == target
