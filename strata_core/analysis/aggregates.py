"""`group { keys } ( … )` and `aggregate { … }`: one row per group, or exactly one.

Aggregate calls anywhere in the body become columns of one `Aggregate` node; the arithmetic around them, a
HAVING, an order and a `take` follow over its rows. A key is an output by itself: by its own name, by the name it
is given, or as `g0`, `g1` … where it is an expression without one.
An aggregate that depends on an order takes that of the `sort` before the group.
Codes: E023, E053, E060, E061 (nested aggregates), E062 (a column that is neither key nor aggregated), E064.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..diagnostics import Diagnostic, Span
from ..frozen import dataclass, replace
from ..language import ast
from ..relation.build import aggregate_rows, filter_rows, ref
from ..relation.expressions import AggregateCall, ColumnRef, Expr, aggregate
from ..relation.nodes import AggregateItem, Item, Relation
from ..types.functions import CATALOG
from .expressions import (
    Context,
    arguments,
    expression,
    predicate,
    report_distinct,
    resolved,
    typed,
)
from .names import duplicate
from .outputs import Choice
from .row_order import complete_order, take_rows
from .scope import Scope, fresh, resolve
from .state import Rows, Surroundings, context, with_columns
from .walk import aggregates_in
from .windows import compute_windows, grouping, sort_keys

Body = Sequence[ast.Filter | ast.Aggregate | ast.Sort | ast.Take]


@dataclass(frozen=True, slots=True)
class Grouping:
    """The keys of a group over the rows before it: by output name, in order; `None` where a key is in error."""

    before: Rows
    keys: Mapping[str, Expr | None]
    spans: Mapping[str, Span]

    @property
    def by_column(self) -> dict[str, str]:
        """The key that holds the value of a column."""
        found: dict[str, str] = {}
        for name, expr in self.keys.items():
            if isinstance(expr, ColumnRef):
                found.setdefault(expr.name, name)
        return found

    @property
    def computed(self) -> dict[Expr, str]:
        """The keys that are more than a column, by what they compute."""
        return {e: n for n, e in self.keys.items() if e is not None and not isinstance(e, ColumnRef)}


def group_rows(keys: Sequence[ast.Assign | ast.Expr], body: Body, word: str, rows: Rows, around: Surroundings) -> Rows:
    """The rows after a `group`, or after an `aggregate` of its own (then `keys` is empty)."""
    grouping_ = _keys(keys, rows, around)
    items = [item for part in body if isinstance(part, ast.Aggregate) for item in part.items]
    chosen = _chosen(items, grouping_, around)
    nodes = [c.node for c in chosen if c.node is not None] + _conditions(body)
    relation, calls = _aggregated(nodes, chosen, grouping_, bool(keys), around)
    names: dict[str, str | None] = {n: None if e is None else n for n, e in grouping_.keys.items()}
    spans = {**grouping_.spans, **{c.name.text: c.name.span for c in chosen}}
    scope = Scope(names, _reachable(grouping_), reduced_by=word)
    after = Rows(relation, scope, spans=spans, expectations=rows.expectations)
    after = _with_items(chosen, after, grouping_, calls, around)
    for part in body:
        after = _next(part, after, grouping_, calls, around)
    return after


def _keys(keys: Sequence[ast.Assign | ast.Expr], rows: Rows, around: Surroundings) -> Grouping:
    reader = context(rows, around, "a key of a group")
    found: dict[str, Expr | None] = {}
    spans: dict[str, Span] = {}
    unnamed = 0
    for key in keys:
        match key:
            case ast.Assign():
                name, node = key.name, key.expr
            case ast.ColumnRef():
                name, node = ast.Name(key.name.text, key.span), key
            case _:
                name, node = ast.Name(f"g{unnamed}", key.span), key
                unnamed += 1
        value = grouping(typed(node, reader), node, reader)
        if name.text in found:
            around.report(duplicate("the key", name, spans[name.text], "name one of the two: `name = …`"))
            continue
        found[name.text], spans[name.text] = value, name.span
    return Grouping(rows, found, spans)


def _chosen(items: Sequence[ast.Item], keys: Grouping, around: Surroundings) -> list[Choice]:
    """The items of the `aggregate`, without bare ones that repeat a key."""
    chosen: dict[str, Choice] = {}
    for item in items:
        match item:
            case ast.Star():
                message = "`*` is not allowed in `aggregate`: a group has its keys and what is aggregated"
                around.report(Diagnostic("E062", message, item.span, fix="name the columns, as in `x = max(x)`"))
                continue
            case ast.ColumnRef():
                one = Choice(ast.Name(item.name.text, item.span), item)
                if one.name.text in keys.keys and _names_key(item, keys):
                    continue
            case ast.Assign():
                one = Choice(item.name, item.expr, bare=False)
        first = keys.spans.get(one.name.text) or chosen.setdefault(one.name.text, one).name.span
        if first is not one.name.span:
            fix = "rename it; a key of the group is an output by itself"
            around.report(duplicate("the output", one.name, first, fix))
    return list(chosen.values())


def _names_key(item: ast.ColumnRef, keys: Grouping) -> bool:
    if item.qualifier is None:
        return True
    column = resolve(keys.before.scope, item, lambda _: None)
    return column is not None and keys.by_column.get(column) == item.name.text


def _conditions(body: Body) -> list[ast.Expr]:
    nodes: list[ast.Expr] = []
    for part in body:
        match part:
            case ast.Filter():
                nodes.append(part.condition)
            case ast.Sort():
                nodes += [key.expr for key in part.keys]
            case _:
                pass
    return nodes


def _aggregated(
    nodes: Sequence[ast.Expr], chosen: Sequence[Choice], keys: Grouping, grouped: bool, around: Surroundings
) -> tuple[Relation, dict[int, str | None]]:
    """The `Aggregate` node, and its column for each aggregate call inside `nodes`, by the identity of its node.

    Equal calls share a column; one that is a whole item takes that item's name.
    """
    wanted = {id(c.node): c.name.text for c in chosen}
    typed_calls = [(node, _aggregate_call(node, keys, grouped, around)) for node in aggregates_in(nodes)]
    columns: dict[AggregateCall, str] = {}
    taken = set(keys.keys)
    for node, call in typed_calls:
        if call is not None and id(node) in wanted and call not in columns:
            columns[call] = wanted[id(node)]
            taken.add(columns[call])
    for _, call in typed_calls:
        if call is not None and call not in columns:
            columns[call] = fresh(call.function, taken)
            taken.add(columns[call])
    key_items = [Item(name, expr) for name, expr in keys.keys.items() if expr is not None]
    items = [AggregateItem(n, c) for c, n in columns.items()]
    if not items and not key_items:  # nothing is aggregated, as in `aggregate { x = 1 }`: still there is one row
        items = [AggregateItem(fresh("count", taken), aggregate("count", grouped=False))]
    relation = aggregate_rows(keys.before.relation, key_items, items)
    return relation, {id(node): None if call is None else columns[call] for node, call in typed_calls}


def _aggregate_call(node: ast.Call, keys: Grouping, grouped: bool, around: Surroundings) -> AggregateCall | None:
    reader = context(keys.before, around, "the argument of an aggregate")

    def column(ref_: ast.ColumnRef) -> Expr | None:
        """A column of the rows before the group, else a key by its name."""
        named = ref_.qualifier is None and keys.keys.get(ref_.name.text)
        scope = keys.before.scope
        if named and not (ref_.name.text in scope.outputs or ref_.name.text in scope.lets):
            return named
        return reader.resolve(ref_)

    inner = replace(reader, resolve=column)
    function = CATALOG[node.function.text]
    if (node.star or node.distinct) and function.name != "count":
        report_distinct(node, inner)
        return None
    given = arguments(node, function, inner)
    if given is None:
        return None
    if function.ordered and not keys.before.order:
        message = f"`{function.name}` depends on the order of rows, and they have none"
        around.report(Diagnostic("E064", message, node.span, fix="put a `sort { … }` before the group"))
        return None
    order = complete_order(keys.before.order, keys.before) if function.ordered else ()
    if node.distinct and grouping(given.values[0], given.nodes[0], inner) is None:
        return None
    return resolved(
        lambda: aggregate(function.name, *given.values, grouped=grouped, distinct=node.distinct, order=order),
        node.span,
        given.nodes,
        inner,
    )


def _reachable(keys: Grouping) -> dict[str, dict[str, str | None]]:
    """The keys that can still be reached as `t.c`."""
    tables = keys.before.scope.tables
    by_column = keys.by_column
    return {
        table: {name: by_column[c] for name, c in columns.items() if c is not None and c in by_column}
        for table, columns in tables.items()
    }


def _reader(after: Rows, keys: Grouping, calls: Mapping[int, str | None], around: Surroundings, place: str) -> Context:
    """How expressions over the rows of groups are read: outputs and keys by name, aggregates by their column."""
    by_column, computed = keys.by_column, keys.computed
    before = context(keys.before, replace(around, report=lambda _: None), place)

    def column(node: ast.ColumnRef) -> Expr | None:
        name = node.name.text
        if node.qualifier is None and name in after.scope.outputs:
            own = after.scope.outputs[name]
            return None if own is None else ref(after.relation, own)
        source = resolve(keys.before.scope, node, around.report)
        if source is None:
            return None
        if source in by_column:
            return ref(after.relation, by_column[source])
        spelled = f"{node.qualifier}.{name}" if node.qualifier else name
        message = f"`{spelled}` is neither a key of the group nor aggregated"
        fix = f"aggregate it, as in `max({spelled})`, or add it to the keys of the group"
        around.report(Diagnostic("E062", message, node.span, fix=fix))
        return None

    def match(node: ast.Expr) -> Expr | None:
        value = expression(node, before)
        return ref(after.relation, computed[value]) if value is not None and value in computed else None

    values = {n: None if c is None else ref(after.relation, c) for n, c in calls.items()}
    return Context(column, around.domains, around.report, place, values, match if computed else None, around.externs)


def _with_items(
    chosen: Sequence[Choice], after: Rows, keys: Grouping, calls: Mapping[int, str | None], around: Surroundings
) -> Rows:
    """The rows of groups with a column for each item of the `aggregate`."""
    reader = _reader(after, keys, calls, around, "an `aggregate`")
    relation, windows = compute_windows([c.node for c in chosen if c.node is not None], after, reader)
    reader = replace(reader, computed={**reader.computed, **windows})
    outputs = dict(after.scope.outputs)
    added: list[Item] = []
    taken = set(relation.schema.names)
    for choice in chosen:
        assert choice.node is not None
        value = typed(choice.node, reader)
        name = choice.name.text
        if value is None:
            outputs[name] = None
        elif isinstance(value, ColumnRef):
            outputs[name] = value.name
        else:
            outputs[name] = fresh(name, taken)
            taken.add(outputs[name] or name)
            added.append(Item(outputs[name] or name, value))
    scope = replace(after.scope, outputs=outputs)
    if not added:
        return replace(after, relation=relation, scope=scope)
    # What a HAVING or an order still needs stays beside the items.
    extended = replace(after, relation=relation)
    kept = replace(scope, lets={f"aggregate {c}": c for c in calls.values() if c is not None})
    return replace(with_columns(extended, kept, added), scope=scope)


def _next(
    part: ast.Filter | ast.Aggregate | ast.Sort | ast.Take,
    after: Rows,
    keys: Grouping,
    calls: Mapping[int, str | None],
    around: Surroundings,
) -> Rows:
    match part:
        case ast.Filter():
            condition = predicate(part.condition, _reader(after, keys, calls, around, "a filter"))
            return after if condition is None else replace(after, relation=filter_rows(after.relation, condition))
        case ast.Sort():
            order = sort_keys(part.keys, _reader(after, keys, calls, around, "a sort"))
            return after if order is None else replace(after, order=order, sorted_at=part.span)
        case ast.Take():
            return take_rows(part, after)
        case ast.Aggregate():
            return after
