"""The form of a relation that its fingerprint hashes: what it means, without how it was written.

Two relations have one form where they differ only in internal column names, in aliases and `let` names, in the
order of output columns and of conjuncts, in steps that were written apart or together, or in the sides of a
commutative operator. Tables are referenced by name. A relation of other rows or columns has another form.

How: every column has an identity, the digest of how it is computed from the identities of what it reads, so that a
projection (a `let`, a rename) leaves no trace of its own. What decides about rows is kept beside: a `Rows`.

The same identities, computed through what is upstream, are the `Meaning` of a table: what its readers depend on, column
by column.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from types import MappingProxyType

from ..digests import digest, packed
from ..frozen import dataclass
from ..types import String, ValueType
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
)
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
from .schema import Column

FORM_VERSION = b"strata-relation-1"
COMMUTATIVE = frozenset({"eq", "ne", "and", "or", "add", "multiply"})
MIRRORED = {"gt": "lt", "ge": "le"}

Identity = bytes
Names = Mapping[str, Identity]


@dataclass(frozen=True, slots=True)
class Rows:
    """Which rows there are: a base, and the conjuncts that they satisfy; and in which order, if one is kept."""

    base: Identity
    conditions: frozenset[Identity] = frozenset()
    order: tuple[bytes, ...] = ()

    @property
    def identity(self) -> Identity:
        """The rows alone, whatever their order."""
        return digest(b"rows", self.base, *sorted(self.conditions))


@dataclass(frozen=True, slots=True)
class Meaning:
    """How the rows of a table come about, and each of its columns, from what is at the ground of the project.

    `rows` covers every filter, join and grouping on the way; a column covers what its values are computed from.
    """

    rows: Identity
    columns: Mapping[str, Identity]

    def of(self, names: Iterable[str]) -> Identity:
        """What a reader of the columns `names` depends on."""
        return digest(b"reading", self.rows, *(packed(name, self.columns[name]) for name in sorted(names)))


def meaning(relation: Relation, upstream: Mapping[str, Meaning]) -> Meaning:
    """The meaning of the table that `relation` computes from tables of these meanings."""

    def scanned(node: Scan) -> tuple[Names, Rows]:
        table = upstream[node.table]
        names = {c.name: digest(table.columns[c.name], str(c.inferred.type)) for c in node.schema.columns}
        return names, Rows(digest(b"scan", table.rows))

    columns, rows = _identities(relation, scanned)
    return Meaning(rows.identity, {c.name: columns[c.name] for c in relation.schema.columns})


def fingerprint_form(relation: Relation, order: Iterable[SortKey] | None = None) -> bytes:
    """The form of `relation`, in `order` where one over its columns is given: length-prefixed, the same on every
    machine and run. It is that of its canonical form (`canonical.py`), which need not be made for it."""
    columns, rows = _identities(relation, _named)
    ordered = rows.order if order is None else _order(order, columns)
    outputs = [
        packed(c.name, columns[c.name], str(c.inferred.type))
        for c in sorted(relation.schema.columns, key=lambda c: c.name)
    ]
    return packed(FORM_VERSION, rows.identity, packed(*outputs), packed(*ordered))


Scanned = Callable[[Scan], tuple[Names, Rows]]


def _identities(relation: Relation, scanned: Scanned) -> tuple[Names, Rows]:
    """The identities of the columns and the rows of `relation`."""
    return folded(relation, lambda node, given: scanned(node) if isinstance(node, Scan) else _node(node, given))


def _named(node: Scan) -> tuple[Names, Rows]:
    """A table by its name, whatever it means."""
    return {c.name: _stored(c) for c in node.schema.columns}, Rows(digest(b"scan", node.table))


Inner = Filter | Project | Extend | Join | AsofJoin | Aggregate | Window | Sort | Limit | SetOperation | Expand


def _node(node: Inner, given: list[tuple[Names, Rows]]) -> tuple[Names, Rows]:
    match node:
        case Join():
            return _join(node, *given)
        case AsofJoin():
            return _asof_join(node, *given)
        case SetOperation():
            return _combined(node, *given)
        case Filter():
            ((names, rows),) = given
            asked = {_expression(p, names) for p in conjuncts(node.predicate)} - {TRUE}
            return names, Rows(rows.base, rows.conditions | asked, rows.order)
        case Project():
            ((names, rows),) = given
            return {i.name: _expression(i.expr, names) for i in node.items}, rows
        case Extend():
            ((names, rows),) = given
            return _beside(names, {i.name: _expression(i.expr, names) for i in node.items}), rows
        case Aggregate():
            ((names, rows),) = given
            keys = {k.name: digest(b"key", _expression(k.expr, names)) for k in node.keys}
            calls = {a.name: _aggregate(a.call, names) for a in node.aggregates}
            return keys | calls, Rows(digest(b"group", rows.identity, *sorted({*keys.values()})))
        case Window():
            ((names, rows),) = given
            calls = {i.name: digest(rows.identity, _window(i.call, names)) for i in node.items}
            return _beside(names, calls), Rows(rows.base, rows.conditions)
        case Expand():
            ((names, rows),) = given
            base = digest(b"expand", rows.base, _expression(node.item.expr, names))
            return _beside(names, {node.item.name: digest(b"element", base)}), Rows(base, rows.conditions)
        case Sort():
            ((names, rows),) = given
            return names, Rows(rows.base, rows.conditions, _order(node.keys, names))
        case Limit():
            ((names, rows),) = given
            order = _order(node.keys, names)
            bounds = (str(node.offset), str(node.count))
            return names, Rows(digest(b"limit", rows.identity, *bounds, *order), order=order)


def _stored(column: Column) -> Identity:
    """A column of a table is told by its name and its type: `"1.0"` and `"1"` differ as text, not as numbers."""
    return digest(b"column", column.name, str(column.inferred.type))


class _Sides(dict[str, Identity]):
    """The columns of two sides that are joined, by the side that each comes from; told when they are asked for."""

    def __init__(self, left: Names, right: Names, of_right: Container[str]) -> None:
        super().__init__()
        self.left, self.right, self.of_right = left, right, of_right

    def side(self, name: str) -> tuple[bytes, Names]:
        """The side of a column, and the columns of that side."""
        return (b"right", self.right) if name in self.of_right else (b"left", self.left)

    def __missing__(self, name: str) -> Identity:
        side, columns = self.side(name)
        identity = self[name] = digest(side, columns[name])
        return identity


class _Joined(dict[str, Identity]):
    """The columns of joined rows, told when they are asked for, since most columns of most joins never are: of many
    joins each would be told again at each. Of what is joined many times over nothing recurs."""

    def __init__(self, sides: _Sides, base: Identity, known: Names = MappingProxyType({})) -> None:
        super().__init__(known)
        self.sides, self.base = sides, base

    def __missing__(self, name: str) -> Identity:
        through: list[tuple[_Joined, bytes]] = []
        columns: Names = self
        while isinstance(columns, _Joined) and name not in columns:
            side, below = columns.sides.side(name)
            through.append((columns, side))
            columns = below
        identity = columns[name]
        for joined, side in reversed(through):
            identity = joined[name] = digest(joined.base, digest(side, identity))
        return identity


def _beside(names: Names, more: Mapping[str, Identity]) -> Names:
    """`names` and `more` beside them."""
    known = {**names, **more}
    return _Joined(names.sides, names.base, known) if isinstance(names, _Joined) else known


def _join(node: Join, left: tuple[Names, Rows], right: tuple[Names, Rows]) -> tuple[Names, Rows]:
    both = _Sides(left[0], right[0], node.right.schema)
    on = sorted({_expression(p, both) for p in conjuncts(node.on)}) if node.on is not None else []
    base = digest(b"join", node.kind, left[1].identity, right[1].identity, *on)
    # A column of an optional side is null where nothing matched, so it is another than before the join.
    return _Joined(both, base), Rows(base)


def _asof_join(node: AsofJoin, left: tuple[Names, Rows], right: tuple[Names, Rows]) -> tuple[Names, Rows]:
    """The rows are the left ones, or those that have a match; the right columns are those of the row that was found."""
    both = _Sides(left[0], right[0], node.right.schema)
    keys = sorted(digest(*(_expression(side, both) for side in pair)) for pair in node.keys)
    moments = [packed(_expression(m.left, both), _expression(m.right, both)) for m in node.moments]
    until = b"" if node.until is None else _expression(node.until, both)
    found = packed(packed(*keys), packed(*moments), until, str(node.within), packed(*_order(node.ties, both)))
    base = digest(b"asof", node.kind, left[1].identity, right[1].identity, found)
    return _Joined(both, base), Rows(base)


def _combined(node: SetOperation, *sides: tuple[Names, Rows]) -> tuple[Names, Rows]:
    """The sides of a union and of an intersection may change places."""
    if node.kind is not SetKind.EXCEPT:
        sides = tuple(sorted(sides, key=lambda side: side[1].identity))
    pairs = {n: digest(*(names[n] for names, _ in sides)) for n in node.schema.names}
    told_apart = () if node.kind is SetKind.UNION_ALL else sorted(pairs.values())
    base = digest(b"combine", node.kind, *(rows.identity for _, rows in sides), *told_apart)
    return {n: digest(base, pair) for n, pair in pairs.items()}, Rows(base)


def _aggregate(call: AggregateCall, names: Names) -> Identity:
    args = packed(*(_expression(a, names) for a in call.args))
    order = packed(*_order(call.order, names))
    return digest(b"aggregate", call.function, bytes([call.distinct]), args, order)


def _window(call: WindowCall, names: Names) -> Identity:
    args = packed(*(_expression(a, names) for a in call.args))
    partition = packed(*sorted({_expression(p, names) for p in call.partition}))
    order = packed(*_order(call.order, names))
    frame = f"{call.frame.start}..{call.frame.end}" if call.frame else ""
    return digest(b"window", call.function, args, partition, order, frame)


def _order(keys: Iterable[SortKey], names: Names) -> tuple[bytes, ...]:
    """The keys of an order; one that repeats an earlier key decides nothing."""
    found: dict[Identity, bool] = {}
    for key in keys:
        found.setdefault(_expression(key.expr, names), key.descending)
    return tuple(identity + bytes([descending]) for identity, descending in found.items())


def _expression(expr: Expr, names: Names) -> Identity:
    """The identity of a value: nullability and proven facts follow from it, so they are no part of it."""
    match expr:
        case ColumnRef():
            return names[expr.name]
        case Literal():
            kind = type(expr.value).__name__
            text = repr(expr.value) if isinstance(expr.value, float) else str(expr.value)
            type_ = str(expr.inferred.type)
            return digest(b"literal", kind, text, type_)
        case Cast():
            return _cast(_expression(expr.operand, names), expr.inferred.type, safe=expr.safe)
        case ExternCall(function=extern):
            args = [_expression(a, names) for a in expr.args]
            return digest(b"extern", str(extern.type), *(part for b in extern.bindings for part in b), *args)
        case Call(function="and" | "or" as word):
            parts = {_expression(a, names) for a in flat(expr, word)}
            return next(iter(parts)) if len(parts) == 1 else digest(b"call", word, *sorted(parts))
        case Call():
            args = [_expression(a, names) for a in expr.args]
            return called(expr.function, args, expr.inferred.type, str(expr.inferred.type))
        case Chain():
            value, before = _expression(expr.first, names), expr.first.inferred
            for one in expr.links:
                left = value if before.type == one.left else _cast(value, one.left, safe=False)
                args = [left, _expression(one.operand, names)]
                value = called(one.function, args, one.inferred.type, str(one.inferred.type))
                before = one.inferred
            return value


TRUE = _expression(literal(True), {})
"""The condition that leaves no row out, whatever it is called."""


def _cast(value: Identity, type_: ValueType, *, safe: bool) -> Identity:
    return digest(b"cast", bytes([safe]), str(type_), value)


def called(function: str, args: list[Identity], type_: ValueType, *told: str) -> Identity:
    """The identity of a call that gives `type_`, and of what else is `told` of it: those whose operands may change
    places, and those that are the mirror of another, have one."""
    mirrored = MIRRORED.get(function, function)
    if mirrored != function:
        args.reverse()
    elif function in COMMUTATIVE and not isinstance(type_, String):
        args.sort()
    return digest(b"call", mirrored, *told, *args)


def flat(expr: Expr, function: str) -> Iterable[Expr]:
    """The operands of nested calls of one associative function, in order."""
    if isinstance(expr, Call) and expr.function == function:
        for argument in expr.args:
            yield from flat(argument, function)
    else:
        yield expr
