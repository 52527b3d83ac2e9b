"""The relation as one sqlglot SELECT: a match over node kinds, from the leaves up.

DuckDB may move a filter below joins and beside other filters, and evaluate it on rows that those would remove. An
expression that can abort is therefore held where the relation has it: behind the filters of its own SELECT by CASE,
above everything else by a barrier (`steps.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from sqlglot import exp

from ...relation.build import aggregate_rows, extend
from ...relation.expressions import ColumnRef, Expr, SortKey, WindowCall, aggregate, conjuncts
from ...relation.nodes import (
    Aggregate,
    AggregateItem,
    AsofJoin,
    Expand,
    Extend,
    Filter,
    Item,
    Join,
    JoinKind,
    Limit,
    Project,
    Relation,
    Scan,
    SetKind,
    SetOperation,
    Sort,
    Window,
    WindowItem,
    inputs,
    walk_relation,
)
from . import sql
from .asof import asof_joined
from .expressions import can_fail, ordered, translate, translate_all
from .groups import float_groups, grouping_key, needs_float_groups, plain_groups
from .sql import SqlExpr
from .steps import STEP, Query, Step, hidden_names, sort, sorted_by, without_order
from .windows import is_whole_float_form, window

JOINS: dict[JoinKind, dict[str, str]] = {
    JoinKind.INNER: {"kind": "INNER"},
    JoinKind.LEFT: {"side": "LEFT"},
    JoinKind.FULL: {"side": "FULL"},
    JoinKind.SEMI: {"kind": "SEMI"},
    JoinKind.ANTI: {"kind": "ANTI"},
    JoinKind.CROSS: {"kind": "CROSS"},
}


ScanKey = tuple[str, tuple[str, ...]]
"""A table and the columns that are read of it."""


def select_of(relation: Relation, scans: Mapping[ScanKey, exp.Select]) -> exp.Select:
    """The query that computes `relation`. `scans` has a SELECT for each table, named as `spell` says."""
    query = Query(spell(relation))
    tables = _table_names(scans)
    for key, scan in scans.items():
        query.add(tables[key], scan, inline=True)
    done: list[Step] = []
    for node in _leaves_first(relation):
        count = len(inputs(node))
        below = done[len(done) - count :] if count else []
        del done[len(done) - count :]
        done.append(_step(node, below, query, tables))
    (step,) = done
    return query.finish(step)


def spell(relation: Relation) -> dict[str, str]:
    """How each column is called inside the query. DuckDB takes names that differ in case alone for one."""
    return distinct_spellings(n for node in walk_relation(relation) for n in node.schema.names)


def distinct_spellings(names: Iterable[str], reserved: str = sql.RESERVED) -> dict[str, str]:
    """`names`, spelled so that no two agree without case and none begins with `reserved`."""
    folded: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        folded[name.casefold()].append(name)
    spelled: dict[str, str] = {}
    taken = set(folded)
    for key, group in folded.items():
        for position, name in enumerate(group):
            spelling = name
            if position or key.startswith(reserved):
                number = 2
                while f"name_{number}_{key}" in taken:
                    number += 1
                spelling = f"name_{number}_{key}"
                taken.add(spelling)
            spelled[name] = spelling
    return spelled


def _table_names(keys: Iterable[ScanKey]) -> dict[ScanKey, str]:
    """A CTE name for each table; a table that is read in other columns too has one for each set of them."""
    seen: dict[str, int] = {}
    labels: dict[ScanKey, str] = {}
    for table, columns in keys:
        seen[table] = seen.get(table, 0) + 1
        labels[table, columns] = table if seen[table] == 1 else f"{table} {seen[table]}"
    spelled = distinct_spellings(labels.values(), STEP)
    return {key: spelled[label] for key, label in labels.items()}


def _leaves_first(relation: Relation) -> list[Relation]:
    return list(walk_relation(relation))[::-1]


def _step(node: Relation, below: list[Step], query: Query, tables: Mapping[ScanKey, str]) -> Step:
    match node:
        case Scan():
            return Step(sql.table(tables[node.table, node.schema.names]), node.schema.names)
        case Filter():
            return _filtered(node.predicate, below[0], query)
        case Project():
            return _projected(node, below[0], query)
        case Extend():
            return _projected(node.written_out, below[0], query)
        case Join():
            # Leaves first means right first.
            return _joined(node, below[1], below[0], query)
        case AsofJoin():
            return asof_joined(node, below[1], below[0], query)
        case SetOperation():
            return _combined(node, below[1], below[0], query)
        case Aggregate():
            step = query.open_items(without_order(below[0]))
            grouped = float_groups if needs_float_groups(node) else plain_groups
            return grouped(node, step, query)
        case Window():
            return _windowed(node, query.open_items(below[0]), query)
        case Expand():
            return _expanded(node, query.open_items(below[0]), query)
        case Sort():
            step = query.open_items(below[0])
            return replace(step, order=(*_order(node.keys, query), *step.order))
        case Limit():
            return _limited(node, query.open_items(below[0]), query)
        case _:
            assert_never(node)


def _filtered(predicate: Expr, step: Step, query: Query) -> Step:
    parts = conjuncts(predicate)
    fragile = [p for p in parts if can_fail(p, step.failing)]
    if fragile and (step.narrowed or step.joins or (step.items is not None and step.where)):
        step = query.close(step, barrier=True)
    step = query.open_items(step)
    sound = [translate(p, query.column) for p in parts if p not in fragile]
    where = (*step.where, *sound)
    for part in fragile:
        condition = translate(part, query.column)
        guarded = sql.when((sql.all_of(where), condition), otherwise=exp.false()) if where else condition
        where = (*where, guarded)
    return replace(step, where=where)


def _projected(node: Project, step: Step, query: Query) -> Step:
    step = query.open_items(step)
    failing = frozenset(i.name for i in node.items if can_fail(i.expr, step.failing))
    items = tuple(translate_all((i.expr for i in node.items), query.column))
    return replace(step, names=node.schema.names, items=items, failing=failing)


def _joined(node: Join, left: Step, right: Step, query: Query) -> Step:
    left, right = (query.close(without_order(s), keep_order=False) for s in (left, right))
    on = translate(node.on, query.column) if node.on is not None else None
    join = exp.Join(this=right.source, on=on, **JOINS[node.kind])
    failing = (left.failing | right.failing) & frozenset(node.schema.names)
    return Step(left.source, node.schema.names, joins=(join,), failing=failing, narrowed=True)


SET_OPERATIONS: dict[SetKind, type[exp.SetOperation]] = {
    SetKind.UNION_ALL: exp.Union,
    SetKind.INTERSECT: exp.Intersect,
    SetKind.EXCEPT: exp.Except,
}


def _combined(node: SetOperation, left: Step, right: Step, query: Query) -> Step:
    """Both sides as SELECTs. What an intersection or a difference drops, no later filter may see."""
    drops = node.kind is not SetKind.UNION_ALL
    sides = [query.select(_comparable(node, s, query) if drops else s) for s in (left, right)]
    both = SET_OPERATIONS[node.kind](this=sides[0], expression=sides[1], distinct=drops)
    narrowed = drops or any(s.narrowed or bool(s.where or s.joins) for s in (left, right))
    table = query.add(query.next_name(), both)
    return Step(table, node.schema.names, failing=left.failing | right.failing, narrowed=narrowed)


def _comparable(node: SetOperation, step: Step, query: Query) -> Step:
    """`step` with -0.0 as 0.0, which DuckDB tells apart."""
    step = query.open_items(without_order(step))
    columns = node.schema.columns
    items = tuple(grouping_key(ColumnRef(c.name, c.inferred), query) for c in columns)
    return replace(step, names=node.schema.names, items=items)


def _expanded(node: Expand, step: Step, query: Query) -> Step:
    """Rows without an element go, so what can fail must not move below."""
    items = (*(query.column(n) for n in step.names), sql.fn("unnest", translate(node.item.expr, query.column)))
    failing = step.failing | ({node.item.name} if can_fail(node.item.expr, step.failing) else frozenset())
    closed = query.close(replace(step, names=node.schema.names, items=items, failing=failing))
    return replace(closed, narrowed=True)


def _windowed(node: Window, step: Step, query: Query) -> Step:
    names = node.input.schema.names
    node, step = _with_plain_keys(node, step, query)
    found: dict[str, SqlExpr] = {}
    for position, item in enumerate(node.items):
        if is_whole_float_form(item.call):
            step = step if found else query.close(step)
            step, found[item.name] = _whole_partition(position, item.call, step, node, query)
    columns: list[SqlExpr] = [query.column(n) for n in names]
    for item in node.items:
        call = item.call
        partition = [grouping_key(e, query) for e in call.partition]
        args = translate_all(call.args, query.column)
        columns.append(found.get(item.name) or window(call, args, partition, _order(call.order, query)))
    failing = step.failing | frozenset(i.name for i in node.items)
    return replace(step, names=node.schema.names, items=tuple(columns), failing=failing)


def _with_plain_keys(node: Window, step: Step, query: Query) -> tuple[Window, Step]:
    """`node` with columns for keys that can abort: an `error` makes them volatile, and DuckDB takes no such key."""
    hidden: list[Item] = []

    def plain(key: Expr) -> Expr:
        if not can_fail(key):
            return key
        hidden.append(Item(f"{sql.RESERVED}window_key_{len(hidden) + 1}", key))
        return ColumnRef(hidden[-1].name, key.inferred)

    def with_plain_keys(item: WindowItem) -> WindowItem:
        partition = tuple(map(plain, item.call.partition))
        order = tuple(replace(k, expr=plain(k.expr)) for k in item.call.order)
        return replace(item, call=replace(item.call, partition=partition, order=order))

    items = tuple(map(with_plain_keys, node.items))
    if not hidden:
        return node, step
    query.spelled.update({i.name: i.name for i in hidden})
    below = extend(node.input, hidden)
    return replace(node, input=below, items=items), query.close(_projected(below.written_out, step, query))


def _whole_partition(position: int, call: WindowCall, step: Step, node: Window, query: Query) -> tuple[Step, SqlExpr]:
    """A float form over whole partitions: grouped and joined to the rows, where a list for each row would be square."""
    prefix = f"{sql.RESERVED}whole_{position}"
    keys = [Item(f"{prefix}_{i}", e) for i, e in enumerate(call.partition)]
    total = AggregateItem(prefix, aggregate(call.function, *call.args, grouped=bool(keys)))
    grouped = aggregate_rows(node.input, keys, [total])
    query.spelled.update({n: n for n in grouped.schema.names})
    sums = float_groups(grouped, Step(step.source.copy(), step.names), query)
    same = [exp.NullSafeEQ(this=sql.paren(grouping_key(k.expr, query)), expression=query.column(k.name)) for k in keys]
    kind: dict[str, object] = {"side": "LEFT", "on": sql.all_of(same)} if same else {"kind": "CROSS"}
    return replace(step, joins=(*step.joins, exp.Join(this=sums.source, **kind))), query.column(prefix)


def _order(keys: Iterable[SortKey], query: Query) -> list[exp.Ordered]:
    return [ordered(k, query.column) for k in keys]


def _limited(node: Limit, step: Step, query: Query) -> Step:
    order = (*_order(node.keys, query), *step.order)
    hidden = hidden_names(order)
    select = query.select(step, [sql.alias(o.this.copy(), h) for o, h in zip(order, hidden, strict=True)])
    sort(select, order)
    select.set("limit", exp.Limit(expression=sql.number(node.count)))
    if node.offset:
        select.set("offset", exp.Offset(expression=sql.number(node.offset)))
    table = query.add(query.next_name(), select)
    return Step(table, node.schema.names, order=sorted_by(hidden, order))
