"""How a relation's columns are computed and its rows are chosen, told apart: what a semantic diff compares.

A fingerprint (`form.py`) asks whether *anything* differs; a diff asks *what*. So a column's identity here leaves out
which rows there are (a filter changes the rows, not how `amount` is computed) and the types, which are compared on
their own. Like the fingerprint it leaves out internal names, `let`s, layout and order.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Iterable
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from ..digests import digest
from ..durations import spelled_duration
from ..frozen import dataclass
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
    conjuncts,
    literal,
    uncoerced,
    written_operands,
)
from .form import Identity, Names, called, flat
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
    SetKind,
    SetOperation,
    Sort,
    Window,
    folded,
)
from .spelling import spelled_order

Naming = Callable[[str, str], tuple[str, str]]
"""The name that a column of a table (both as read) is compared under: another where it was renamed upstream."""


class StepKind(StrEnum):
    """What a step does to the rows."""

    READ = "read"
    FILTER = "filter"
    JOIN = "join"
    GROUP = "group"
    EXPAND = "expand"
    TAKE = "take"
    COMBINE = "combine"


class Step(NamedTuple):
    """A step that decides about rows by the values of `exprs`; `word` says what they do not, such as a join's kind."""

    kind: StepKind
    identity: Identity
    exprs: tuple[Expr, ...]
    word: str = ""


@dataclass(frozen=True, slots=True)
class Derivation:
    """`columns`: an identity for how each is computed. `rows`: one for which rows there are; `steps` say by what."""

    columns: Names
    rows: Identity
    steps: tuple[Step, ...]


def as_read(table: str, column: str) -> tuple[str, str]:
    """Nothing was renamed."""
    return table, column


def derivation(relation: Relation, naming: Naming = as_read) -> Derivation:
    """The derivation of `relation`."""
    walk = _Walk(naming)
    whole = folded(relation, walk.part)
    return Derivation(whole.columns, whole.identity, tuple(walk.steps))


def order_identity(keys: Iterable[SortKey], columns: Names) -> Identity:
    """The identity of an order over columns whose identities are known."""
    return digest(*_order(keys, columns))


class _Part(NamedTuple):
    """What is known of a node: its columns, its rows' base, and the conditions that they satisfy."""

    columns: Names
    base: Identity
    conditions: frozenset[Identity] = frozenset()

    @property
    def identity(self) -> Identity:
        return digest(b"rows", self.base, *sorted(self.conditions))


class _Walk:
    """One walk over a relation: the steps found so far, and how often each table was read."""

    def __init__(self, naming: Naming) -> None:
        self.steps: list[Step] = []
        self._naming = naming
        self._read: Counter[str] = Counter()

    def part(self, node: Relation, given: list[_Part]) -> _Part:
        match node:
            case Scan():
                return self._scan(node)
            case Join():
                return self._join(node, *given)
            case AsofJoin():
                return self._asof_join(node, *given)
            case SetOperation():
                return self._combined(node, *given)
            case Filter():
                (below,) = given
                found = {_expression(p, below.columns): p for p in conjuncts(node.predicate)}
                found.pop(TRUE, None)
                for identity, predicate in found.items():
                    self._step(StepKind.FILTER, identity, [predicate])
                return _Part(below.columns, below.base, below.conditions | found.keys())
            case Project():
                (below,) = given
                return below._replace(columns={i.name: _expression(i.expr, below.columns) for i in node.items})
            case Extend():
                (below,) = given
                computed = {i.name: _expression(i.expr, below.columns) for i in node.items}
                return below._replace(columns={**below.columns, **computed})
            case Aggregate():
                (below,) = given
                keys = {k.name: _expression(k.expr, below.columns) for k in node.keys}
                calls = {a.name: _aggregate(a.call, below.columns) for a in node.aggregates}
                grouping = digest(b"group", *sorted({*keys.values()}))
                self._step(StepKind.GROUP, grouping, [k.expr for k in node.keys])
                return _Part(keys | calls, digest(below.identity, grouping))
            case Window():
                (below,) = given
                columns = dict(below.columns)
                columns.update((item.name, _window(item.call, below.columns)) for item in node.items)
                return below._replace(columns=columns)
            case Expand():
                (below,) = given
                identity = digest(b"expand", _expression(node.item.expr, below.columns))
                self._step(StepKind.EXPAND, identity, [node.item.expr])
                return _Part({**below.columns, node.item.name: identity}, digest(below.identity, identity))
            case Sort():
                (below,) = given
                return below
            case Limit():
                (below,) = given
                order = _order(node.keys, below.columns)
                identity = digest(b"take", str(node.offset), str(node.count), *order)
                word = f"{node.offset + 1}..{node.offset + node.count} by {spelled_order(node.keys)}"
                self._step(StepKind.TAKE, identity, [], word)
                return _Part(below.columns, digest(below.identity, identity))

    def _scan(self, node: Scan) -> _Part:
        """A table that is read a second time has columns of its own: of a self-join the sides differ."""
        time = self._read[node.table]
        self._read[node.table] += 1
        columns = {}
        for column in node.schema.columns:
            columns[column.name] = digest(b"column", str(time), *self._naming(node.table, column.name))
        table, _ = self._naming(node.table, "")
        self._step(StepKind.READ, digest(b"read", table, str(time)), [], node.table)
        return _Part(columns, digest(b"read", table))

    def _join(self, node: Join, left: _Part, right: _Part) -> _Part:
        both = {**left.columns, **right.columns}
        on = conjuncts(node.on) if node.on is not None else ()
        identity = digest(b"join", node.kind, *sorted({_expression(p, both) for p in on}), right.base)
        self._step(StepKind.JOIN, identity, on, f"{node.kind} on" if on else str(node.kind))
        names = {name: both[name] for name in node.schema.names}
        return _Part(names, digest(b"join", identity, left.identity, right.identity))

    def _asof_join(self, node: AsofJoin, left: _Part, right: _Part) -> _Part:
        both = {**left.columns, **right.columns}
        conditions = (*node.conditions, *([node.until] if node.until is not None else []))
        asked = [_expression(p, both) for p in conditions]
        until = bytes([node.until is not None])
        identity = digest(b"asof", node.kind, until, str(node.within), *asked, *_order(node.ties, both), right.base)
        within = "" if node.within is None else f" within {spelled_duration(node.within)}"
        self._step(StepKind.JOIN, identity, conditions, f"asof {node.kind}{within} on")
        names = {name: both[name] for name in node.schema.names}
        return _Part(names, digest(b"join", identity, left.identity, right.identity))

    def _combined(self, node: SetOperation, *sides: _Part) -> _Part:
        if node.kind is not SetKind.EXCEPT:
            sides = tuple(sorted(sides, key=lambda side: side.identity))
        columns = {n: digest(b"combine", node.kind, *(side.columns[n] for side in sides)) for n in node.schema.names}
        identity = digest(b"combine", node.kind, *(side.base for side in sides))
        self._step(StepKind.COMBINE, identity, [], str(node.kind))
        return _Part(columns, digest(identity, *(side.identity for side in sides)))

    def _step(self, kind: StepKind, identity: Identity, exprs: Iterable[Expr], word: str = "") -> None:
        self.steps.append(Step(kind, identity, tuple(exprs), word))


def _aggregate(call: AggregateCall, names: Names) -> Identity:
    args = digest(*(_expression(a, names) for a in uncoerced(call.function, call.args)))
    return digest(b"aggregate", call.function, bytes([call.distinct]), args, *_order(call.order, names))


def _window(call: WindowCall, names: Names) -> Identity:
    args = digest(*(_expression(a, names) for a in uncoerced(call.function, call.args)))
    partition = digest(*sorted({_expression(p, names) for p in call.partition}))
    frame = f"{call.frame.start}..{call.frame.end}" if call.frame else ""
    return digest(b"window", call.function, args, partition, frame, *_order(call.order, names))


def _order(keys: Iterable[SortKey], names: Names) -> list[bytes]:
    found: dict[Identity, bool] = {}
    for key in keys:
        found.setdefault(_expression(key.expr, names), key.descending)
    return [identity + bytes([descending]) for identity, descending in found.items()]


def _expression(expr: Expr, names: Names) -> Identity:
    """The identity of a value, whatever its type: a cast that loses nothing leaves no trace."""
    match expr:
        case ColumnRef():
            return names[expr.name]
        case Literal():
            return digest(b"literal", _literal(expr.value))
        case Cast():
            operand = _expression(expr.operand, names)
            if widens(expr.operand.inferred.type, expr.inferred.type):
                return operand
            return digest(b"cast", bytes([expr.safe]), str(expr.inferred.type), operand)
        case ExternCall(function=extern):
            args = [_expression(a, names) for a in expr.args]
            return digest(b"extern", str(extern.type), *(part for b in extern.bindings for part in b), *args)
        case Call(function="and" | "or" as word):
            parts = {_expression(a, names) for a in flat(expr, word)}
            return next(iter(parts)) if len(parts) == 1 else digest(b"call", word, *sorted(parts))
        case Call():
            args = [_expression(a, names) for a in uncoerced(expr.function, expr.args)]
            return called(expr.function, args, expr.inferred.type)
        case Chain():
            value = _expression(expr.first, names)
            for (function, written), one in zip(written_operands(expr), expr.links, strict=True):
                value = called(function, [value, _expression(written, names)], one.inferred.type)
            return value


def _literal(value: object) -> str:
    """A literal without its type: 1, 1.0 and a decimal of one are one number."""
    match value:
        case bool() | None:
            return f"word {value}"
        case int() | float() | Decimal():
            exact = Decimal(str(value))
            return f"number {exact.normalize() if exact.is_finite() else exact}"
        case datetime.date():
            return f"instant {value.isoformat()}"
        case _:
            return f"text {value}"


TRUE = _expression(literal(True), {})
"""The condition that leaves no row out."""
