"""Windows: `f(…) over (partition_by: […], sort: […])` inside outputs becomes a column of a `Window` node.

A window may stand anywhere in an output's expression, but not in another window. Codes: E051 (values
without an order), E060 (arguments), E063 (not a window function, or nested), E064 (an order is needed).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..diagnostics import Diagnostic
from ..frozen import replace
from ..language import ast
from ..relation.build import ref, window_rows
from ..relation.expressions import Expr, Frame, SortKey, WindowCall, window
from ..relation.nodes import Relation, Window, WindowItem
from ..types import Array, Json, Map, Struct, Unknown
from ..types.functions import Function, Kind
from .expressions import Context, arguments, expression, find_function, report_distinct, resolved
from .row_order import complete_order
from .scope import fresh
from .state import Rows
from .walk import windows_in

UNORDERED = Array | Map | Struct | Json | Unknown
"""The types whose values can be neither ordered nor grouped."""


def compute_windows(nodes: Iterable[ast.Expr], rows: Rows, context: Context) -> tuple[Relation, dict[int, Expr | None]]:
    """`rows` with a column for each window inside `nodes`, and the columns by the identity of their node."""
    found = list(windows_in(nodes))
    relation = rows.relation
    if not found:
        return relation, {}
    inner = replace(context, place="a window")
    items: list[WindowItem] = []
    names: dict[int, str | None] = {}
    taken = set(relation.schema.names)
    for node in found:
        call = _window(node, inner)
        names[id(node)] = None
        if call is not None:
            name = fresh("window", taken)
            taken.add(name)
            names[id(node)] = name
            items.append(WindowItem(name, call))
    widened = window_columns(items, rows) if items else relation
    return widened, {node: None if name is None else ref(widened, name) for node, name in names.items()}


def window_columns(items: Sequence[WindowItem], rows: Rows) -> Window:
    """The windows over `rows`. Where peers must be told apart, they are by the columns that people see."""
    node = window_rows(rows.relation, items)
    completed = tuple(
        given if built.call.order == given.call.order else replace(given, call=_completed(given.call, rows))
        for given, built in zip(items, node.items, strict=True)
    )
    return replace(node, items=completed)


def _completed(call: WindowCall, rows: Rows) -> WindowCall:
    return replace(call, order=complete_order(call.order, rows))


def _window(node: ast.Over, context: Context) -> WindowCall | None:
    function = find_function(node.call, context)
    given = arguments(node.call, function, context) if function is not None else None
    partition = [grouping(expression(e, context), e, context) for e in node.partition_by]
    order = sort_keys(node.sort, context)
    if function is None or given is None or order is None or not _fits(node, function, context):
        return None
    keys = tuple(p for p in partition if p is not None)
    if len(keys) < len(partition):
        return None
    frame = Frame(node.frame.first, node.frame.last) if node.frame else None
    return resolved(
        lambda: window(function.name, *given.values, partition=keys, order=order, frame=frame),
        node.span,
        given.nodes,
        context,
    )


def _fits(node: ast.Over, function: Function, context: Context) -> bool:
    if function.kind is Kind.SCALAR:
        message = f"`{function.name}` is computed row by row and takes no window"
        context.report(Diagnostic("E063", message, node.span, fix=f"write `{function.name}(…)` alone"))
        return False
    if node.call.distinct or (node.call.star and function.name != "count"):
        report_distinct(node.call, context)
        return False
    if (function.ordered or node.frame is not None) and not node.sort:
        what = f"`{function.name}`" if function.ordered else "a frame of `rows`"
        message = f"{what} depends on an order, and the window gives none"
        context.report(Diagnostic("E064", message, node.span, fix="add `sort: […]` to the window"))
        return False
    return True


def sort_keys(keys: Iterable[ast.SortKey], context: Context) -> tuple[SortKey, ...] | None:
    """Typed keys of an order, or `None` where one is in error."""
    written = [*keys]
    values = [grouping(expression(k.expr, context), k.expr, context) for k in written]
    typed = [SortKey(v, k.descending) for k, v in zip(written, values, strict=True) if v is not None]
    return tuple(typed) if len(typed) == len(written) else None


def grouping(value: Expr | None, node: ast.Expr, context: Context) -> Expr | None:
    """`value`, whose values are to be told apart and ordered; E051 where its type does not allow that."""
    if value is None or not isinstance(value.inferred.type, UNORDERED):
        return value
    message = f"{value.inferred.type} can be neither ordered nor grouped"
    context.report(Diagnostic("E051", message, node.span, fix="take a part of it that is a simple value"))
    return None
