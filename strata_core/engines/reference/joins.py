"""The rows of joins: on conditions, and as of an instant of each left row. Joins hash on their equality conjuncts."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence

from ...relation.expressions import Call, Expr, columns_read, conjuncts
from ...relation.nodes import AsofJoin, Join, JoinKind
from ...relation.schema import Schema
from .evaluate import Compute, Row
from .rows import Reading, Rows, compiled, ordered
from .values import Key, Value, group_key, sort_key


def joined(node: Join, left: Rows, right: Rows, reading: Reading) -> Rows:
    """The rows of a join of these sides."""
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
        compiled(left_exprs, node.left.schema, reading),
        compiled(right_exprs, node.right.schema, reading),
        compiled(rest, both, reading),
    )


def _join_key(keys: list[Compute], row: Row) -> Key | None:
    """The row's join key, or `None` where a part of it is null and so equals nothing."""
    values = [k(row) for k in keys]
    return None if any(v is None for v in values) else group_key(values)


def asof_joined(node: AsofJoin, left: Rows, right: Rows, reading: Reading) -> Rows:
    """The left rows, each with the right row that held at its instant."""
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
    our_keys = compiled([a for a, _ in node.keys], node.left.schema, reading)
    their_keys = compiled([b for _, b in node.keys], node.right.schema, reading)
    ours = compiled([m.left for m in node.moments], node.left.schema, reading)
    theirs = compiled([m.right for m in node.moments], node.right.schema, reading)
    ends = compiled([node.until] if node.until is not None else [], node.right.schema, reading)
    ties = compiled([k.expr for k in node.ties], node.right.schema, reading)
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
            for first in ordered(line, lambda one: one, node.ties, ties)[:1]:
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
