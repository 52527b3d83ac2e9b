"""What the compiler knows of the project's models that suggestions rest on: keys, value sets, copied columns, joins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...analysis.compiled import CompiledModel
from ...diagnostics import Span, StrataError
from ...frozen import dataclass, field
from ...relation.expressions import Call, ColumnRef, Expr, conjuncts
from ...relation.nodes import Join, JoinKind, walk_relation
from ...relation.schema import Column, Schema, Transform
from ..collation.candidate import Confidence
from ..pipeline import Setting

TableColumn = tuple[str, str]
"""A table, by the name that its tool has for it, and a column of it."""

COPIES = frozenset({Transform.PASSTHROUGH, Transform.RENAMED, Transform.GROUPED})
"""What leaves the values of a column as they are."""


@dataclass(frozen=True, slots=True)
class Proven:
    """What the compiler knows of a model's rows: its smallest keys, and the value sets of columns."""

    keys: tuple[tuple[str, ...], ...] = ()
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns of `table` whose values are looked up in `key` of another table. `why` says who does it, `span` where;
    `tests` are the names of the dbt test that asks for it already."""

    table: str
    columns: tuple[str, ...]
    other: str
    key: tuple[str, ...]
    why: str
    span: Span
    confidence: Confidence
    tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proofs:
    """`models` by name; `copies` gives of a column the one whose values it has; `lookups` are those of joins."""

    models: Mapping[str, Proven] = field(default_factory=dict)
    copies: Mapping[TableColumn, TableColumn] = field(default_factory=dict)
    lookups: tuple[ForeignKey, ...] = ()


def proofs(setting: Setting) -> Proofs:
    """What is proven of the project's models; nothing where there are none, or they do not compile."""
    from ...planning.project import compile_, read_project

    try:
        compiled = compile_(setting.models or read_project(setting.root))
    except StrataError:
        return Proofs()
    models = compiled.models
    copies = {
        (name, column.name): copied
        for name, model in models.items()
        for column in model.written.schema.columns
        if (copied := _copied(column)) is not None
    }
    lookups = (found for model in models.values() for found in _lookups(model))
    return Proofs({name: _proven(model.relation.schema) for name, model in models.items()}, copies, tuple(lookups))


def _proven(schema: Schema) -> Proven:
    keys = sorted((tuple(c for c in schema.names if c in key) for key in schema.keys), key=lambda k: (len(k), k))
    values = {c.name: tuple(sorted(c.inferred.values)) for c in schema.columns if c.inferred.values}
    return Proven(tuple(keys), values)


def _copied(column: Column) -> TableColumn | None:
    """The one column upstream that has the same values."""
    if len(column.origins) != 1 or column.origins[0].transform not in COPIES:
        return None
    (origin,) = column.origins
    return origin.node, origin.column


def _lookups(model: CompiledModel) -> Iterator[ForeignKey]:
    """The joins of a model that look rows of one table up in another, by a key of it."""
    asserted = {frozenset(e.columns) for e in model.expectations}
    for node in walk_relation(model.written):
        if not isinstance(node, Join) or node.on is None or node.kind not in (JoinKind.INNER, JoinKind.LEFT):
            continue
        pairs = tuple(_equal(node.on, node.left.schema, node.right.schema))
        left = _in_one_table(node.left.schema, [a for a, _ in pairs])
        right = _in_one_table(node.right.schema, [b for _, b in pairs])
        own = frozenset(b for _, b in pairs)
        if left is None or right is None or not (node.right.schema.is_unique(own) or own in asserted):
            continue
        if left[0] != right[0]:
            how = "leaves none out that has no match" if node.kind is JoinKind.LEFT else "keeps what has a match"
            why = f"`{model.name}` joins {_spelled(*left)} to {_spelled(*right)}, a key there, and {how}"
            confidence = Confidence.LOW if node.kind is JoinKind.LEFT else Confidence.MEDIUM
            yield ForeignKey(*left, *right, why, model.span, confidence)


def _equal(on: Expr, left: Schema, right: Schema) -> Iterator[tuple[str, str]]:
    """The columns of both sides that a condition wants to be equal."""
    for part in conjuncts(on):
        match part:
            case Call(function="eq", args=(ColumnRef(name=a), ColumnRef(name=b))):
                if a in left and b in right:
                    yield a, b
                elif b in left and a in right:
                    yield b, a


def _in_one_table(schema: Schema, names: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """The one table that all of the columns are copied from, and their names there."""
    copied = [_copied(schema[name]) for name in names]
    tables = {found[0] if found else None for found in copied}
    if len(tables) != 1 or (table := tables.pop()) is None:
        return None
    return table, tuple(column for _, column in filter(None, copied))


def _spelled(table: str, columns: tuple[str, ...]) -> str:
    return ", ".join(f"`{table}.{column}`" for column in columns)
