"""The relation, interpreted: one function from a node to its rows. This is the semantics that engines share.

Rows are lists of cells in the order of the node's schema. Joins hash on their equality conjuncts, so that everything
but windows with moving frames is linear, or a sort. Errors: E090.

Two readings agree wherever nothing fails: the lazy one computes only what an output, condition, key, order or
aggregate needs, and nothing of a side that cannot matter (beside an empty one, under a condition that no row can
meet); the eager one every cell of every node. An engine may choose its place between them.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, assert_never

from ...diagnostics import StrataError
from ...relation.expressions import AggregateCall, Call, Expr, Literal, SortKey, columns_read, conjuncts
from ...relation.nodes import (
    Aggregate,
    AsofJoin,
    Expand,
    Filter,
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
)
from ...relation.schema import Schema
from .aggregates import aggregate
from .evaluate import Cell, Compute, Later, Row, compile_expr, force
from .values import Key, MisfitError, Value, failure, fit, group_key, sort_key
from .windows import compute

T = TypeVar("T")
Rows = list[Row]
Tables = Mapping[tuple[str, tuple[str, ...]], Sequence[Sequence[Value]]]


@dataclass(frozen=True, slots=True)
class Reading:
    """The rows of the tables that are read, and whether cells are computed that nothing needs."""

    tables: Tables
    eager: bool = False


def rows_of(relation: Relation, reading: Reading) -> list[list[Value]]:
    """The rows of `relation`, every value computed."""
    return [[force(cell) for cell in row] for row in _rows(relation, reading)]


def _rows(node: Relation, reading: Reading) -> Rows:
    match node:
        case Scan():
            return [list(row) for row in reading.tables[node.table, node.schema.names]]
        case Filter():
            return _filtered(node, reading)
        case Project():
            return _projected(node, reading)
        case Join():
            return _joined(node, reading)
        case AsofJoin():
            return _asof_joined(node, reading)
        case Aggregate():
            return _aggregated(node, reading)
        case Window():
            return _windowed(node, reading)
        case SetOperation():
            return _combined(node, reading)
        case Expand():
            return _expanded(node, reading)
        case Sort():
            return _sorted(_rows(node.input, reading), node.keys, node.input.schema, reading)
        case Limit(count=0) if not reading.eager:
            return []
        case Limit():
            rows = _sorted(_rows(node.input, reading), node.keys, node.input.schema, reading)
            return rows[node.offset : node.offset + node.count]
        case _:
            assert_never(node)


def _compiled(exprs: Iterable[Expr], schema: Schema, reading: Reading) -> list[Compute]:
    positions = {name: i for i, name in enumerate(schema.names)}
    return [compile_expr(e, positions, eager=reading.eager) for e in exprs]


def _filtered(node: Filter, reading: Reading) -> Rows:
    """Filters that stand on one another are one conjunction: none of them runs before another."""
    predicates: list[Expr] = []
    source: Relation = node
    while isinstance(source, Filter):
        predicates.insert(0, source.predicate)
        source = source.input
    if not reading.eager and any(map(_never, predicates)):
        return []
    if reading.eager:
        rows = _rows(source, reading)
        for (test,) in ([c] for c in _compiled(predicates, source.schema, reading)):
            rows = [row for row in rows if test(row) is True]
        return rows
    tests = _compiled([part for p in predicates for part in conjuncts(p)], source.schema, reading)
    return [row for row in _rows(source, reading) if _meets(tests, row)]


def _meets(tests: Sequence[Compute], row: Row) -> bool:
    """Whether all conditions are true: one that is not, or is null, hides the failures of the others."""
    failed: StrataError | None = None
    for test in tests:
        try:
            if test(row) is not True:
                return False
        except StrataError as error:
            failed = failed or error
    if failed is not None:
        raise failed
    return True


def _never(condition: Expr) -> bool:
    """Whether no row can meet `condition`, because a part of it is a constant other than true."""
    for part in conjuncts(condition):
        if not columns_read(part):
            try:
                if compile_expr(part, {}, eager=False)([]) is not True:
                    return True
            except StrataError:  # it fails on the rows, if there are any
                continue
    return False


def _projected(node: Project, reading: Reading) -> Rows:
    computes = _compiled([i.expr for i in node.items], node.input.schema, reading)
    if reading.eager:
        return [[c(row) for c in computes] for row in _rows(node.input, reading)]
    return [[Later(c, row) for c in computes] for row in _rows(node.input, reading)]


def _joined(node: Join, reading: Reading) -> Rows:
    left, right = _sides(node, reading)
    left_keys, right_keys, rest = _equalities(node, reading)
    by_key: dict[Key, list[int]] = {}
    for i, row in enumerate(right):
        key = _join_key(right_keys, row)
        if key is not None:
            by_key.setdefault(key, []).append(i)
    matched: set[int] = set()
    pairs: Rows = []
    alone: Rows = []
    for row in left:
        key = _join_key(left_keys, row)
        candidates = by_key.get(key, []) if key is not None else []
        partners = [i for i in candidates if all(test(row + right[i]) is True for test in rest)]
        matched.update(partners)
        match node.kind:
            case JoinKind.SEMI:
                pairs.extend([row] if partners else [])
            case JoinKind.ANTI:
                pairs.extend([] if partners else [row])
            case _:
                pairs.extend(row + right[i] for i in partners)
                alone.extend([] if partners else [row])
    if node.kind in (JoinKind.LEFT, JoinKind.FULL):
        nothing: Row = [None] * len(node.right.schema.columns)
        pairs.extend(row + nothing for row in alone)
    if node.kind is JoinKind.FULL:
        before: Row = [None] * len(node.left.schema.columns)
        pairs.extend(before + row for i, row in enumerate(right) if i not in matched)
    return pairs


def _sides(node: Join, reading: Reading) -> tuple[Rows, Rows]:
    """The rows of both sides; read lazily, a side that cannot matter is not computed and has none."""
    if reading.eager or node.kind is JoinKind.FULL:
        return _rows(node.left, reading), _rows(node.right, reading)
    hopeless = node.on is not None and _never(node.on)
    if node.kind in (JoinKind.LEFT, JoinKind.ANTI):
        left = _rows(node.left, reading)
        return left, [] if hopeless or not left else _rows(node.right, reading)
    return ([], []) if hopeless else _both(node.left, node.right, reading)


def _both(left: Relation, right: Relation, reading: Reading) -> tuple[Rows, Rows]:
    """The rows of two sides that need each other: where one is empty, the other may fail."""
    try:
        first = _rows(left, reading)
    except StrataError:
        if _rows(right, reading):
            raise
        return [], []
    return (first, _rows(right, reading)) if first else ([], [])


def _equalities(node: Join, reading: Reading) -> tuple[list[Compute], list[Compute], list[Compute]]:
    """The condition split into keys of the left side, the keys of the right side they equal, and the rest."""
    left_exprs: list[Expr] = []
    right_exprs: list[Expr] = []
    rest: list[Expr] = []
    left, right = frozenset(node.left.schema.names), frozenset(node.right.schema.names)
    for part in conjuncts(node.on) if node.on is not None else ():
        match part:
            case Call(function="eq", args=(a, b)) if columns_read(a) and columns_read(b):
                if columns_read(a) <= left and columns_read(b) <= right:
                    left_exprs.append(a)
                    right_exprs.append(b)
                    continue
                if columns_read(b) <= left and columns_read(a) <= right:
                    left_exprs.append(b)
                    right_exprs.append(a)
                    continue
                rest.append(part)
            case _:
                rest.append(part)
    both = Schema((*node.left.schema.columns, *node.right.schema.columns))
    return (
        _compiled(left_exprs, node.left.schema, reading),
        _compiled(right_exprs, node.right.schema, reading),
        _compiled(rest, both, reading),
    )


def _join_key(keys: list[Compute], row: Row) -> Key | None:
    """The row's join key, or `None` where a part of it is null and so equals nothing."""
    values = [k(row) for k in keys]
    return None if any(v is None for v in values) else group_key(values)


def _asof_joined(node: AsofJoin, reading: Reading) -> Rows:
    if reading.eager:
        left, right = _rows(node.left, reading), _rows(node.right, reading)
    elif node.kind is JoinKind.LEFT:
        left = _rows(node.left, reading)
        right = _rows(node.right, reading) if left and not any(map(_never, node.conditions)) else []
    elif any(map(_never, node.conditions)):
        return []
    else:
        left, right = _both(node.left, node.right, reading)
    rows: Rows = []
    nothing: Row = [None] * len(node.right.schema.columns)
    held = _held(node, right, reading)
    for row in left:
        found = held(row) if right or reading.eager else None
        if found is not None:
            rows.append(row + found)
        elif node.kind is JoinKind.LEFT:
            rows.append(row + nothing)
    return rows


def _held(node: AsofJoin, right: Rows, reading: Reading) -> Callable[[Row], Row | None]:
    """The row of `right` that held at the instant of a left row, as far as it was known then."""
    our_keys = _compiled([a for a, _ in node.keys], node.left.schema, reading)
    their_keys = _compiled([b for _, b in node.keys], node.right.schema, reading)
    ours = _compiled([m.left for m in node.moments], node.left.schema, reading)
    theirs = _compiled([m.right for m in node.moments], node.right.schema, reading)
    ends = _compiled([node.until] if node.until is not None else [], node.right.schema, reading)
    ties = _compiled([k.expr for k in node.ties], node.right.schema, reading)
    by_key: dict[Key, Rows] = {}
    for row in right:
        if reading.eager:
            _ = [compute(row) for compute in (*theirs, *ends, *ties)]
        if (key := _join_key(their_keys, row)) is not None:
            by_key.setdefault(key, []).append(row)

    def near(one: Row, at: Sequence[Value]) -> bool:
        pairs = ((_instant(of(one)), _instant(by)) for of, by in zip(theirs, at, strict=True))
        if not all(of is not None and by is not None and of <= by for of, by in pairs):
            return False
        return node.within is None or _seconds_between(theirs[0](one), at[0]) <= node.within

    def open_(one: Row, at: Sequence[Value]) -> bool:
        until = [_instant(end(one)) for end in ends]
        now = _instant(at[0])
        return all(end is None or (now is not None and end > now) for end in until)

    def held(row: Row) -> Row | None:
        key = _join_key(our_keys, row)
        candidates = by_key.get(key, []) if key is not None else []
        if not candidates and not reading.eager:
            return None
        at: list[Value] = [of(row) for of in ours]
        candidates = [one for one in candidates if near(one, at)]
        for moment in sorted({sort_key(theirs[0](one)) for one in candidates}, reverse=True):
            line = [one for one in candidates if sort_key(theirs[0](one)) == moment]
            if node.available is None:
                line = [one for one in line if open_(one, at)]
            else:
                latest = max(sort_key(theirs[1](one)) for one in line)
                line = [one for one in line if sort_key(theirs[1](one)) == latest]
            for first in _ordered(line, lambda one: one, node.ties, ties)[:1]:
                if open_(first, at):
                    return first
        return None

    return held


def _instant(value: Value) -> datetime.date | None:
    assert value is None or isinstance(value, datetime.date)
    return value


def _seconds_between(earlier: Value, later: Value) -> float:
    first, second = _instant(earlier), _instant(later)
    assert first is not None
    assert second is not None
    return (second - first).total_seconds()


def _aggregated(node: Aggregate, reading: Reading) -> Rows:
    schema = node.input.schema
    keys = _compiled([k.expr for k in node.keys], schema, reading)
    groups: dict[Key, tuple[list[Value], Rows]] = {} if keys else {(): ([], [])}
    for row in _rows(node.input, reading):
        values = [k(row) for k in keys]
        groups.setdefault(group_key(values), (values, []))[1].append(row)
    computes = [_aggregate(a.call, schema, reading) for a in node.aggregates]
    return [[*values, *_cells(computes, rows, reading)] for values, rows in groups.values()]


def _cells(computes: list[Callable[[Rows], Value]], rows: Rows, reading: Reading) -> list[Cell]:
    if reading.eager:
        return [c(rows) for c in computes]
    return [_later(c, rows) for c in computes]


def _later(compute: Callable[[Rows], Value], rows: Rows) -> Later:
    return Later(lambda _: compute(rows), [])


def _aggregate(call: AggregateCall, schema: Schema, reading: Reading) -> Callable[[Rows], Value]:
    arguments = _compiled(call.args, schema, reading)

    def over(rows: Rows) -> Value:
        ordered = _sorted(rows, call.order, schema, reading) if call.order else rows
        values: list[Value] = [arguments[0](row) for row in ordered] if arguments else [None] * len(ordered)
        if call.distinct:
            values = list({sort_key(v): v for v in reversed(values)}.values())[::-1]
        try:
            options = [a.value for a in call.args[1:] if isinstance(a, Literal)]
            result = aggregate(call.function, values, call.inferred.type, whole_rows=not arguments, options=options)
            return fit(result, call.inferred.type)
        except MisfitError as error:
            raise failure(call.function, str(error), values[:3]) from None

    return over


def _windowed(node: Window, reading: Reading) -> Rows:
    schema = node.input.schema
    rows = _rows(node.input, reading)
    added: list[list[Value]] = []
    for item in node.items:
        call = item.call
        partition = _compiled(call.partition, schema, reading)
        arguments = _compiled(call.args, schema, reading)
        order = _compiled([k.expr for k in call.order], schema, reading)
        groups: dict[Key, list[int]] = {}
        for i, row in enumerate(rows):
            groups.setdefault(group_key([p(row) for p in partition]), []).append(i)
        column: list[Value] = [None] * len(rows)
        for members in groups.values():
            ordered = _ordered(members, lambda i: rows[i], call.order, order)
            results = compute(
                call,
                [[a(rows[i]) for a in arguments] for i in ordered],
                [group_key([o(rows[i]) for o in order]) for i in ordered],
            )
            for i, value in zip(ordered, results, strict=True):
                column[i] = value
        added.append(column)
    return [row + [column[i] for column in added] for i, row in enumerate(rows)]


def _combined(node: SetOperation, reading: Reading) -> Rows:
    if node.kind is SetKind.UNION_ALL or reading.eager:
        left, right = _rows(node.left, reading), _rows(node.right, reading)
    elif node.kind is SetKind.INTERSECT:
        left, right = _both(node.left, node.right, reading)
    else:
        left = _rows(node.left, reading)
        right = _rows(node.right, reading) if left else []
    if node.kind is SetKind.UNION_ALL:
        return left + right
    known = {group_key([force(cell) for cell in row]) for row in right}
    found: dict[Key, Row] = {}
    for row in left:
        key = group_key([force(cell) for cell in row])
        if (key in known) is (node.kind is SetKind.INTERSECT):
            found.setdefault(key, row)
    return [*found.values()]


def _expanded(node: Expand, reading: Reading) -> Rows:
    (array,) = _compiled([node.item.expr], node.input.schema, reading)
    return [[*row, element] for row in _rows(node.input, reading) for element in _elements(array(row))]


def _elements(array: Value) -> list[Value]:
    assert array is None or isinstance(array, list)
    return array or []


def _sorted(rows: Rows, keys: Sequence[SortKey], schema: Schema, reading: Reading) -> Rows:
    return _ordered(rows, lambda row: row, keys, _compiled([k.expr for k in keys], schema, reading))


def _ordered(items: Sequence[T], row: Callable[[T], Row], keys: Sequence[SortKey], computes: list[Compute]) -> list[T]:
    """`items` in the order of `keys`, nulls last in both directions; items that no key tells apart keep theirs."""
    ordered = list(items)
    for key, of in reversed(list(zip(keys, computes, strict=True))):
        present = [(sort_key(of(row(item))), item) for item in ordered]
        values = [pair for pair in present if pair[0] != (1,)]
        values.sort(key=lambda pair: pair[0], reverse=key.descending)
        ordered = [item for _, item in values] + [item for k, item in present if k == (1,)]
    return ordered
