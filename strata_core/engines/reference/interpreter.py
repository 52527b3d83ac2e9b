"""The relation, interpreted: one function from a node to its rows. This is the semantics that engines share.

Rows are lists of cells in the order of the node's schema. Everything but windows with moving frames, and joins on more
than equalities, is linear, or a sort. Errors: E090.

Two readings agree wherever nothing fails: the lazy one computes only what an output, condition, key, order or
aggregate needs, and nothing of a side that cannot matter (beside an empty one, under a condition that no row can
meet); the eager one every cell of every node. An engine may choose its place between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import assert_never

from ...diagnostics import StrataError
from ...relation.expressions import AggregateCall, Expr, Literal, WindowCall, columns_read, conjuncts
from ...relation.nodes import (
    Aggregate,
    AsofJoin,
    Expand,
    Extend,
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
from .joins import asof_joined, joined
from .rows import Reading, Rows, compiled, ordered, sorted_rows
from .values import Key, MisfitError, Value, failure, fit, group_key, sort_key
from .windows import compute


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
        case Extend():
            return _projected(node.written_out, reading)
        case Join():
            conditions = () if node.on is None else (node.on,)
            return joined(node, *_sides(node, conditions, reading), reading)
        case AsofJoin():
            return asof_joined(node, *_sides(node, node.conditions, reading), reading)
        case Aggregate():
            return _aggregated(node, reading)
        case Window():
            return _windowed(node, reading)
        case SetOperation():
            return _combined(node, reading)
        case Expand():
            return _expanded(node, reading)
        case Sort():
            return sorted_rows(_rows(node.input, reading), node.keys, node.input.schema, reading)
        case Limit(count=0) if not reading.eager:
            return []
        case Limit():
            rows = sorted_rows(_rows(node.input, reading), node.keys, node.input.schema, reading)
            return rows[node.offset : node.offset + node.count]
        case _:
            assert_never(node)


def _filtered(node: Filter, reading: Reading) -> Rows:
    """Read lazily, filters are one conjunction with all filters and inner joins below them, through projections: none
    of them runs before another."""
    if reading.eager:
        (test,) = compiled([node.predicate], node.input.schema, reading)
        return [row for row in _rows(node.input, reading) if test(row) is True]
    steps: list[Filter | Project] = []
    source: Relation = node
    while isinstance(source, Filter | Project | Extend):
        steps.insert(0, source.written_out if isinstance(source, Extend) else source)
        source = source.input
    if any(_never(step.predicate) for step in steps if isinstance(step, Filter)):
        return []
    chosen = _chosen(steps, reading)
    try:
        return [made for row in _rows(source, reading) if (made := chosen(row, [])) is not None]
    except StrataError:
        if not isinstance(source, Join) or source.kind not in (JoinKind.INNER, JoinKind.CROSS):
            raise
    left, right = _sides(source, () if source.on is None else (source.on,), reading)
    on = compiled(conjuncts(source.on) if source.on is not None else (), source.schema, reading)
    pairs = ([*one, *other] for one in left for other in right)
    return [made for pair in pairs if (made := chosen(pair, [(test, pair) for test in on])) is not None]


def _chosen(
    steps: Sequence[Filter | Project], reading: Reading
) -> Callable[[Row, list[tuple[Compute, Row]]], Row | None]:
    """What `steps` make of a row of which some tests are to be met besides; None where one is not."""
    made = [
        compiled(
            conjuncts(step.predicate) if isinstance(step, Filter) else [i.expr for i in step.items],
            step.input.schema,
            reading,
        )
        for step in steps
    ]

    def row_of(row: Row, tests: list[tuple[Compute, Row]]) -> Row | None:
        for step, computes in zip(steps, made, strict=True):
            if isinstance(step, Filter):
                tests += [(test, row) for test in computes]
            else:
                row = [Later(compute, row) for compute in computes]
        return row if _meets(tests) else None

    return row_of


def _meets(tests: Iterable[tuple[Compute, Row]]) -> bool:
    """Whether all conditions are true: one that is not, or is null, hides the failures of the others."""
    failed: StrataError | None = None
    for test, row in tests:
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
    computes = compiled([i.expr for i in node.items], node.input.schema, reading)
    if reading.eager:
        return [[c(row) for c in computes] for row in _rows(node.input, reading)]
    return [[Later(c, row) for c in computes] for row in _rows(node.input, reading)]


def _sides(node: Join | AsofJoin, conditions: Iterable[Expr], reading: Reading) -> tuple[Rows, Rows]:
    """The rows of both sides; read lazily, a side that cannot matter is not computed and has none."""
    if reading.eager or node.kind is JoinKind.FULL:
        sides = _rows(node.left, reading), _rows(node.right, reading)
        if reading.eager:  # a condition on one side may be asked of it before the join
            parts = [part for condition in conditions for part in conjuncts(condition) if columns_read(part)]
            for one, rows in zip((node.left, node.right), sides, strict=True):
                own = [part for part in parts if columns_read(part) <= one.schema.by_name.keys()]
                for test in compiled(own, one.schema, reading):
                    for row in rows:
                        test(row)
        return sides
    hopeless = any(map(_never, conditions))
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


def _aggregated(node: Aggregate, reading: Reading) -> Rows:
    schema = node.input.schema
    keys = compiled([k.expr for k in node.keys], schema, reading)
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
    arguments = compiled(call.args, schema, reading)

    def over(rows: Rows) -> Value:
        in_order = sorted_rows(rows, call.order, schema, reading) if call.order else rows
        values: list[Value] = [arguments[0](row) for row in in_order] if arguments else [None] * len(in_order)
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
    rows = _rows(node.input, reading)
    if reading.eager:
        added = [_window(item.call, node.input.schema, rows, reading) for item in node.items]
        return [row + [column[i] for column in added] for i, row in enumerate(rows)]
    later = [cache(partial(_window, item.call, node.input.schema, rows, reading)) for item in node.items]
    return [row + [Later(partial(_nth, column, i), []) for column in later] for i, row in enumerate(rows)]


def _nth(column: Callable[[], list[Value]], i: int, _: Row) -> Value:
    return column()[i]


def _window(call: WindowCall, schema: Schema, rows: Rows, reading: Reading) -> list[Value]:
    """The value of a window call for each of `rows`."""
    partition = compiled(call.partition, schema, reading)
    arguments = compiled(call.args, schema, reading)
    order = compiled([k.expr for k in call.order], schema, reading)
    groups: dict[Key, list[int]] = {}
    for i, row in enumerate(rows):
        groups.setdefault(group_key([p(row) for p in partition]), []).append(i)
    column: list[Value] = [None] * len(rows)
    for members in groups.values():
        members_in_order = ordered(members, lambda i: rows[i], call.order, order)
        results = compute(
            call,
            [[a(rows[i]) for a in arguments] for i in members_in_order],
            [group_key([o(rows[i]) for o in order]) for i in members_in_order],
        )
        for i, value in zip(members_in_order, results, strict=True):
            column[i] = value
    return column


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
    (array,) = compiled([node.item.expr], node.input.schema, reading)
    return [[*row, element] for row in _rows(node.input, reading) for element in _elements(array(row))]


def _elements(array: Value) -> list[Value]:
    assert array is None or isinstance(array, list)
    return array or []
