"""How an output column is computed, spelled for people: close to the language, short, and no promise to parse."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from ..types import widens
from .expressions import (
    AggregateCall,
    Call,
    Cast,
    Chain,
    ColumnRef,
    Expr,
    ExternCall,
    Literal,
    SortKey,
    WindowCall,
    uncoerced,
    written_operands,
)
from .form import flat
from .nodes import (
    Aggregate,
    AsofJoin,
    Expand,
    Extend,
    Filter,
    Join,
    Limit,
    Project,
    Relation,
    Scan,
    SetOperation,
    Sort,
    Window,
)

MOST, CONTEXT = 160, 30
"""As many characters of a spelling are shown, and of what both sides share before they differ."""
_INFIX: Mapping[str, str] = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "modulo": "%",
    "concat_op": "||",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and": "and",
    "or": "or",
    "like": "like",
    "rlike": "rlike",
}


_TIGHT = frozenset({"multiply", "divide", "modulo"})


def contrasted(before: str | None, after: str | None) -> tuple[str | None, str | None]:
    """Two spellings, cut where they are long, so that what differs stands in both.

    >>> contrasted("a" * 500 + "b", "a" * 500 + "c")[0] == "…" + "a" * 30 + "b"
    True
    """
    if before is None or after is None:
        return before and _cut(before, 0), after and _cut(after, 0)
    pairs = zip(before, after, strict=False)
    same = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))
    start = same - CONTEXT if same > CONTEXT and max(len(before), len(after)) > MOST else 0
    return _cut(before, start), _cut(after, start)


def _cut(text: str, start: int) -> str:
    return f"{'…' if start else ''}{text[start : start + MOST]}{'…' if len(text) > start + MOST else ''}"


def spelled_expression(expr: Expr) -> str:
    """An expression; casts that lose nothing are left out, since nobody wrote them.

    >>> from .expressions import call, literal
    >>> spelled_expression(call("add", literal(1), call("multiply", literal(2), literal(2.5))))
    '1.0 + (2.0 * 2.5)'
    """
    match expr:
        case ColumnRef():
            return expr.name
        case Literal():
            return _literal(expr.value)
        case Cast():
            operand = spelled_expression(expr.operand)
            if widens(expr.operand.inferred.type, expr.inferred.type):
                return operand
            return f'{"try_cast" if expr.safe else "cast"}({operand}, "{expr.inferred.type}")'
        case ExternCall(function=extern):
            return f"extern {extern.name}({_listed(expr.args)})"
        case Call(function="and" | "or" | "concat_op" as function):
            return f" {_INFIX[function]} ".join(map(_operand, flat(expr, function)))
        case Call(function=function, args=(_, _)) if function in _INFIX:
            left, right = uncoerced(function, expr.args)
            return f"{_operand(left)} {_INFIX[function]} {_operand(right)}"
        case Call(function="not" | "negate" as function, args=(operand,)):
            return f"{'not ' if function == 'not' else '-'}{_operand(operand)}"
        case Call(function="is_null" | "is_not_null" as function, args=(operand,)):
            return f"{_operand(operand)} is {'' if function == 'is_null' else 'not '}none"
        case Call(function="in", args=(operand, *items)):
            return f"{_operand(operand)} in [{_listed(items)}]"
        case Chain():
            return _chain(expr)
        case Call():
            return f"{expr.function}({_listed(uncoerced(expr.function, expr.args))})"


def _chain(chain: Chain) -> str:
    """A chain without the brackets that its order makes needless."""
    parts = [_operand(chain.first)]
    binds_tighter = True
    for function, operand in written_operands(chain):
        tight = function in _TIGHT
        if tight and not binds_tighter:
            parts = ["(", *parts, ")"]
        binds_tighter = tight
        parts.append(f" {_INFIX[function]} {_operand(operand)}")
    return "".join(parts)


def spelled_output(relation: Relation, name: str) -> str:
    """The expression of the output `name`; of a column that passes through, the column upstream."""
    while True:
        match relation:
            case Extend() if all(item.name != name for item in relation.items):
                relation = relation.input
            case Project() | Extend():
                expr = next(i.expr for i in relation.items if i.name == name)
                if not isinstance(expr, ColumnRef):
                    return spelled_expression(expr)
                relation, name = relation.input, expr.name
            case Aggregate():
                for key in relation.keys:
                    if key.name == name:
                        return spelled_expression(key.expr)
                return _aggregate(next(a.call for a in relation.aggregates if a.name == name))
            case Window():
                for item in relation.items:
                    if item.name == name:
                        return _window(item.call)
                relation = relation.input
            case Expand():
                if relation.item.name == name:
                    return f"an element of {spelled_expression(relation.item.expr)}"
                relation = relation.input
            case Filter() | Sort() | Limit():
                relation = relation.input
            case Join() | AsofJoin():
                relation = relation.left if name in relation.left.schema else relation.right
            case SetOperation():
                return f"{spelled_output(relation.left, name)} {relation.kind} {spelled_output(relation.right, name)}"
            case Scan():
                return f"{relation.table}.{name}"


def _aggregate(call: AggregateCall) -> str:
    args = f"{'distinct ' if call.distinct else ''}{_listed(uncoerced(call.function, call.args))}"
    return f"{call.function}({args}{f', sort: [{spelled_order(call.order)}]' if call.order else ''})"


def _window(call: WindowCall) -> str:
    parts = [f"partition_by: [{_listed(call.partition)}]"] if call.partition else []
    parts += [f"sort: [{spelled_order(call.order)}]"] if call.order else []
    if call.frame is not None:
        bounds = ("" if bound is None else str(bound) for bound in (call.frame.start, call.frame.end))
        parts.append(f"rows: {'..'.join(bounds)}")
    return f"{call.function}({_listed(uncoerced(call.function, call.args))}) over ({', '.join(parts)})"


def spelled_order(keys: Iterable[SortKey]) -> str:
    """The keys of an order, a descending one with a minus."""
    return ", ".join(f"{'-' if k.descending else ''}{_operand(k.expr)}" for k in keys)


def _operand(expr: Expr) -> str:
    inner = expr
    while isinstance(inner, Cast) and widens(inner.operand.inferred.type, inner.inferred.type):
        inner = inner.operand
    text = spelled_expression(inner)
    return f"({text})" if isinstance(inner, Chain) or (isinstance(inner, Call) and inner.function in _INFIX) else text


def _listed(exprs: Iterable[Expr]) -> str:
    return ", ".join(map(spelled_expression, exprs))


def _literal(value: object) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return str(value)
