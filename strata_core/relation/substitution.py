"""Expressions with others in the place of columns, and how large they grow: what moves them to another step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ..frozen import dataclass, replace
from ..types import Inferred
from ..types.functions import CATALOG, SignatureError
from .expressions import BEFORE, Call, Cast, Chain, ColumnRef, Expr, ExternCall, Link, Literal, argument, children
from .schema import Schema

MAX_SIZE = 64
"""Expression nodes up to which steps become one although a computed column is read more than once."""
MAX_DEPTH = 64
"""How deep an expression made of several may nest, since engines and passes recurse into expressions."""


@dataclass(frozen=True, slots=True)
class Measure:
    """The number of nodes of an expression, and how deep they nest."""

    size: int
    depth: int

    @property
    def bounded(self) -> bool:
        return self.size <= MAX_SIZE and self.depth <= MAX_DEPTH


def measure(expr: Expr, values: Mapping[str, Measure] = MappingProxyType({})) -> Measure:
    """How large `expr` is with expressions of these measures in the place of columns."""
    if isinstance(expr, ColumnRef):
        return values.get(expr.name, ONE)
    size = deepest = 0
    stack: list[tuple[Expr, int]] = [(expr, 1)]
    while stack:
        node, depth = stack.pop()
        own = values.get(node.name, ONE) if isinstance(node, ColumnRef) else ONE
        size, deepest = size + own.size, max(deepest, depth + own.depth - 1)
        stack.extend((child, depth + 1) for child in children(node))
    return Measure(size, deepest)


ONE = Measure(1, 1)


def substituted(expr: Expr, values: Mapping[str, Expr], schema: Schema) -> Expr:
    """`expr` with `values` in the place of columns, and with what is known of columns from `schema`.

    Types stay as they are; nullability and facts are inferred anew, since they depend on the place.
    """
    match expr:
        case ColumnRef():
            return values[expr.name] if expr.name in values else ColumnRef(expr.name, schema[expr.name].inferred)
        case Literal():
            return expr
        case Cast():
            operand = substituted(expr.operand, values, schema)
            inner = operand.inferred
            inferred = Inferred(
                expr.inferred.type,
                inner.nullable or expr.safe,
                None if expr.inferred.values is None else inner.values,
                expr.inferred.nonzero and inner.nonzero,
            )
            return replace(expr, operand=operand, inferred=inferred)
        case ExternCall():
            args = tuple(substituted(a, values, schema) for a in expr.args)
            return replace(expr, args=args, inferred=expr.function.result(tuple(a.inferred for a in args)))
        case Call():
            args = tuple(substituted(a, values, schema) for a in expr.args)
            return replace(expr, args=args, inferred=_inferred(expr, args))
        case Chain():
            first = substituted(expr.first, values, schema)
            links: list[Link] = []
            before = first.inferred
            for one in expr.links:
                moved = replace(one, operand=substituted(one.operand, values, schema))
                call = moved.after(ColumnRef(BEFORE, before))
                before = _inferred(call, call.args)
                links.append(replace(moved, inferred=before))
            return Chain(first, tuple(links))


def _inferred(node: Call, args: Sequence[Expr]) -> Inferred:
    try:
        result = CATALOG[node.function].rule(tuple(map(argument, args))).result
    except SignatureError:
        # The arguments stand cast as the rule asked; where it does not read them so, nothing is known.
        return Inferred(node.inferred.type, nullable=True)
    return Inferred(node.inferred.type, result.nullable, result.values, result.nonzero)
