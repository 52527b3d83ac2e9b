"""Constructors of relation nodes: each computes what is known of its output and checks its invariants.

Shapes: a constructor takes finished inputs and typed expressions over their columns and returns a node whose
`schema` holds columns, keys, origins and row-shaping edges (Seed 0 §4). Misuse by the program is a
`ValueError`; mistakes in a model are found before, by `analysis`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ..frozen import replace
from ..types import Array, Bool, Inferred
from ..types.functions import CATALOG, Kind
from ..types.inferred import union_of_values
from .expressions import (
    Call,
    ColumnRef,
    Expr,
    Literal,
    SortKey,
    WindowCall,
    columns_read,
    conjuncts,
)
from .nodes import (
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
    Moments,
    Project,
    Relation,
    Scan,
    SetKind,
    SetOperation,
    Sort,
    Window,
    WindowItem,
)
from .origins import call_origins, conditional_edges, edges_of, marked, origins_of, union_of_origins
from .refine import refine
from .schema import Column, Key, Origin, Role, RowEdge, Schema, Transform, minimal_keys


def scan(table: str, columns: Iterable[Column], keys: Iterable[Key] = ()) -> Scan:
    """All rows of `table`; its columns originate in themselves."""
    own = tuple(Column(c.name, c.inferred, (Origin(table, c.name),)) for c in columns)
    return Scan(table, Schema(own, minimal_keys(set(keys))))


def ref(relation: Relation, name: str) -> ColumnRef:
    """A reference to a column of `relation`."""
    return ColumnRef(name, relation.schema[name].inferred)


def filter_rows(input: Relation, predicate: Expr) -> Filter:
    """The rows for which `predicate` is true; narrows what is known of the columns it tests."""
    _require_bool(predicate)
    schema = input.schema
    edges = schema.edges | edges_of([predicate], schema, Role.FILTER)
    # A column that has one value everywhere tells no rows apart.
    keys = {key - _constants(predicate) for key in schema.keys}
    return Filter(input, predicate, Schema(refine(schema.by_name, predicate), minimal_keys(keys), edges))


def _constants(predicate: Expr) -> frozenset[str]:
    """The columns that a condition demands to equal a literal."""
    found: set[str] = set()
    for part in conjuncts(predicate):
        match part:
            case Call(function="eq", args=(ColumnRef(name=name), Literal()) | (Literal(), ColumnRef(name=name))):
                found.add(name)
            case _:
                pass
    return frozenset(found)


def project(input: Relation, items: Iterable[Item], *, renamed: frozenset[str] = frozenset()) -> Project:
    """Exactly `items`. `renamed` names bare columns of which lineage says that they bear a new name."""
    items = tuple(items)
    schema = input.schema
    columns = tuple(_item_column(i, schema, renamed) for i in items)
    aliases: dict[str, str] = {}
    for item in items:
        if isinstance(item.expr, ColumnRef):
            aliases.setdefault(item.expr.name, item.name)
    keys = {frozenset(aliases[c] for c in key) for key in schema.keys if key <= aliases.keys()}
    edges = schema.edges | conditional_edges([i.expr for i in items if not isinstance(i.expr, ColumnRef)], schema)
    return Project(input, items, Schema(columns, minimal_keys(keys), edges))


def extend(input: Relation, items: Iterable[Item], *, renamed: frozenset[str] = frozenset()) -> Extend:
    """The input's columns and `items`; one named as a column takes its place. `renamed` as for `project`."""
    items = tuple(items)
    schema = input.schema
    columns = dict(schema.by_name)
    replaced = frozenset(item.name for item in items if columns.pop(item.name, None) is not None)
    columns |= {item.name: _item_column(item, schema, renamed) for item in items}
    aliases: dict[str, str] = {}
    for item in items:
        if isinstance(item.expr, ColumnRef):
            aliases.setdefault(item.expr.name, item.name)
    keys = {
        frozenset(aliases[c] if c in replaced else c for c in key)
        for key in schema.keys
        if key & replaced <= aliases.keys()
    }
    edges = schema.edges | conditional_edges([i.expr for i in items], schema)
    return Extend(input, items, Schema(tuple(columns.values()), minimal_keys(keys), edges))


def join(kind: JoinKind, left: Relation, right: Relation, on: Expr | None, *, right_unique: bool = False) -> Join:
    """Pairs of rows for which `on` is true.

    `right_unique` states that an `expect many_to_one` or `one_to_one` (checked at run time) holds, as if the
    right side's join columns were a key of it.
    """
    if (on is None) != (kind is JoinKind.CROSS):
        raise ValueError("every join but a cross join has a condition")
    if on is not None:
        _require_bool(on)
    left_optional = kind is JoinKind.FULL
    right_optional = kind in (JoinKind.LEFT, JoinKind.FULL)
    keeps_right = kind not in (JoinKind.SEMI, JoinKind.ANTI)
    pairs = equal_pairs(on, left.schema, right.schema)
    edges = left.schema.edges | right.schema.edges
    if on is not None:
        both = Schema((*left.schema.columns, *right.schema.columns))
        edges |= edges_of([on], both, Role.JOIN)
    left_columns, right_columns = left.schema.columns, right.schema.columns
    if on is not None and kind in (JoinKind.INNER, JoinKind.SEMI):
        refined = refine({**left.schema.by_name, **right.schema.by_name}, on)
        left_columns, right_columns = refined[: len(left_columns)], refined[len(left_columns) :]
    columns = tuple(_optional(c) if left_optional else c for c in left_columns)
    if not keeps_right:
        return Join(kind, left, right, on, Schema(columns, left.schema.keys, edges))
    columns += tuple(_joined(_optional(c) if right_optional else c) for c in right_columns)
    at_most_one_right = right_unique or right.schema.is_unique(frozenset(r for _, r in pairs))
    at_most_one_left = left.schema.is_unique(frozenset(l_ for l_, _ in pairs))
    keys: set[Key] = set()
    if kind is not JoinKind.FULL:
        if at_most_one_right:
            keys |= left.schema.keys
        if at_most_one_left and kind is not JoinKind.LEFT:
            keys |= right.schema.keys
        if not keys:
            keys = {a | b for a in left.schema.keys for b in right.schema.keys}
    return Join(kind, left, right, on, Schema(columns, minimal_keys(keys), edges))


def asof_join(
    kind: JoinKind,
    left: Relation,
    right: Relation,
    keys: Iterable[tuple[Expr, Expr]],
    at: Moments,
    *,
    available: Moments | None = None,
    until: Expr | None = None,
    within: int | None = None,
) -> AsofJoin:
    """Each left row with the right row that held at its instant: `AsofJoin` says which.

    It never repeats a left row, so that every key of the left side stays one.
    """
    if kind not in (JoinKind.INNER, JoinKind.LEFT):
        raise ValueError("a row without a match stays or goes")
    if not all(columns_read(m.right) for m in (at, available) if m is not None):
        raise ValueError("an instant of the right rows is one of their columns, or is computed from some")
    keys = tuple(keys)
    decisive = [at.right, *((available.right,) if available is not None else ()), *(b for _, b in keys)]
    given = tuple(SortKey(e) for e in decisive)
    ties = total_order(given, right.schema)[len(given) :]
    node = AsofJoin(kind, left, right, keys, at, available, until, within, ties, left.schema)
    both = Schema((*left.schema.columns, *right.schema.columns))
    for condition in node.conditions:
        _require_bool(condition)
    shaping = [*node.conditions, *([until] if until is not None else [])]
    edges = left.schema.edges | right.schema.edges | edges_of(shaping, both, Role.JOIN)
    columns = both.columns
    if kind is JoinKind.INNER:
        for condition in node.conditions:
            columns = refine({c.name: c for c in columns}, condition)
    count = len(left.schema.columns)
    others = (_joined(_optional(c) if kind is JoinKind.LEFT else c) for c in columns[count:])
    return replace(node, schema=Schema((*columns[:count], *others), left.schema.keys, edges))


def aggregate_rows(input: Relation, keys: Iterable[Item], aggregates: Iterable[AggregateItem]) -> Aggregate:
    """One row per distinct `keys`, which become a key of the output; exactly one row where there are none.

    There is a key or an aggregate: a relation without columns has no rows to count.
    """
    keys, aggregates = tuple(keys), tuple(aggregates)
    if not keys and not aggregates:
        raise ValueError("an aggregation has at least one key or aggregate")
    schema = input.schema
    columns = tuple(Column(k.name, k.expr.inferred, marked(k.expr, schema, Transform.GROUPED)) for k in keys)
    columns += tuple(Column(a.name, a.call.inferred, call_origins(a.call, schema)) for a in aggregates)
    edges = schema.edges | edges_of([k.expr for k in keys], schema, Role.GROUP)
    edges |= edges_of([s.expr for a in aggregates for s in a.call.order], schema, Role.SORT)
    key = frozenset(k.name for k in keys)
    renamed = {k.expr.name: k.name for k in keys if isinstance(k.expr, ColumnRef)}
    finer = {frozenset(renamed[c] for c in known) for known in schema.keys if known <= renamed.keys()}
    return Aggregate(input, keys, aggregates, Schema(columns, minimal_keys({key, *finer}), edges))


def window_rows(input: Relation, items: Iterable[WindowItem]) -> Window:
    """The input's columns and one more per item.

    The order of a call whose result depends on rows that it does not tell apart is completed to a total one.
    """
    items = tuple(items)
    schema = input.schema
    edges = schema.edges
    for item in items:
        shaping = [*item.call.partition, *(k.expr for k in item.call.order)]
        edges |= edges_of(shaping, schema, Role.WINDOW)
    items = tuple(replace(i, call=_with_total_order(i.call, schema)) for i in items)
    columns = tuple(
        Column(i.name, i.call.inferred, union_of_origins(marked(a, schema, Transform.DERIVED) for a in i.call.args))
        for i in items
    )
    keys = set(schema.keys)
    for item in items:
        if item.call.function == "row_number":
            partition = [e.name for e in item.call.partition if isinstance(e, ColumnRef)]
            if len(partition) == len(item.call.partition):
                keys.add(frozenset({*partition, item.name}))
    return Window(input, items, Schema((*schema.columns, *columns), minimal_keys(keys), edges))


def rename_windows(node: Window, names: Mapping[str, str]) -> Window:
    """`node` with other names, by the old ones, for columns that it adds."""
    items = tuple(replace(i, name=names.get(i.name, i.name)) for i in node.items)
    schema, count = node.schema, len(items)
    added = (replace(c, name=i.name) for c, i in zip(schema.columns[-count:], items, strict=True))
    keys = frozenset(frozenset(names.get(c, c) for c in key) for key in schema.keys)
    return Window(node.input, items, Schema((*schema.columns[:-count], *added), keys, schema.edges))


PEERS_ALIKE = frozenset({"rank", "dense_rank", "percent_rank", "cume_dist"})
"""Window functions that give rows which the order does not tell apart the same result."""


def _with_total_order(call: WindowCall, schema: Schema) -> WindowCall:
    function = CATALOG[call.function]
    sees_all_peers = function.kind is Kind.AGGREGATE and not function.ordered and call.frame is None
    if call.function in PEERS_ALIKE or sees_all_peers:
        return call
    return replace(call, order=total_order(call.order, schema))


def expand_rows(input: Relation, item: Item) -> Expand:
    """The input's columns and `item.name`, an element of the array `item.expr`. What was unique may repeat."""
    array = item.expr.inferred.type
    if not isinstance(array, Array):
        raise ValueError(f"an array is expanded, not {array}")
    schema = input.schema
    element = Inferred(array.element, array.element_nullable)
    column = Column(item.name, element, marked(item.expr, schema, Transform.DERIVED))
    edges = schema.edges | edges_of([item.expr], schema, Role.EXPAND)
    return Expand(input, item, Schema((*schema.columns, column), edges=edges))


def sort_rows(input: Relation, keys: Iterable[SortKey]) -> Sort:
    """The input in the order of `keys`."""
    keys = tuple(keys)
    schema = input.schema
    return Sort(input, keys, _with_edges(schema, edges_of([k.expr for k in keys], schema, Role.SORT)))


def limit_rows(input: Relation, keys: Iterable[SortKey], offset: int, count: int) -> Limit:
    """Rows `offset` to `offset + count` in the order of `keys`, completed here to a total order."""
    if offset < 0 or count < 0:
        raise ValueError("offset and count are not negative")
    schema = input.schema
    order = total_order(tuple(keys), schema)
    limited = _with_edges(schema, edges_of([k.expr for k in keys], schema, Role.SORT))
    if count <= 1:
        limited = Schema(limited.columns, frozenset({frozenset()}), limited.edges)
    return Limit(input, order, offset, count, limited)


def combine(kind: SetKind, left: Relation, right: Relation) -> SetOperation:
    """The rows of two relations with the same columns combined; origins merge where values of both sides stay."""
    if [(c.name, c.inferred.type) for c in left.schema.columns] != [
        (c.name, c.inferred.type) for c in right.schema.columns
    ]:
        raise ValueError("both sides have the same columns, in one order and of the same types")
    if not left.schema.columns:
        raise ValueError("rows without columns cannot be told apart")
    pairs = zip(left.schema.columns, right.schema.columns, strict=True)
    columns = tuple(Column(a.name, COMBINED[kind](a.inferred, b.inferred), _merged(kind, a, b)) for a, b in pairs)
    edges = left.schema.edges | right.schema.edges
    if kind is SetKind.UNION_ALL:
        return SetOperation(kind, left, right, Schema(columns, edges=edges))
    for schema in (left.schema, right.schema):
        edges |= edges_of([ColumnRef(c.name, c.inferred) for c in schema.columns], schema, Role.JOIN)
    keys = left.schema.keys | {frozenset(left.schema.names)}
    if kind is SetKind.INTERSECT:
        keys |= right.schema.keys
    return SetOperation(kind, left, right, Schema(columns, minimal_keys(set(keys)), edges))


def _in_either(a: Inferred, b: Inferred) -> Inferred:
    values = union_of_values((a.values, b.values))
    return Inferred(a.type, a.nullable or b.nullable, values, a.nonzero and b.nonzero)


def _in_both(a: Inferred, b: Inferred) -> Inferred:
    values = a.values if b.values is None else b.values if a.values is None else a.values & b.values
    return Inferred(a.type, a.nullable and b.nullable, values, a.nonzero or b.nonzero)


COMBINED: Mapping[SetKind, Callable[[Inferred, Inferred], Inferred]] = {
    SetKind.UNION_ALL: _in_either,
    SetKind.INTERSECT: _in_both,
    SetKind.EXCEPT: lambda a, b: a,
}
"""What is known of a column of both sides combined."""


def _merged(kind: SetKind, a: Column, b: Column) -> tuple[Origin, ...]:
    return a.origins if kind is SetKind.EXCEPT else union_of_origins((a.origins, b.origins))


def distinct_rows(input: Relation) -> Aggregate:
    """Each row of `input` once, nulls equal to nulls: a group by all columns, which pass through."""
    schema = input.schema
    node = aggregate_rows(input, (Item(c.name, ColumnRef(c.name, c.inferred)) for c in schema.columns), ())
    return replace(node, schema=Schema(schema.columns, node.schema.keys, node.schema.edges))


def total_order(keys: tuple[SortKey, ...], schema: Schema) -> tuple[SortKey, ...]:
    """`keys` completed with a key of the relation, else with all its columns by name: the canonical row order."""
    given = frozenset(k.expr.name for k in keys if isinstance(k.expr, ColumnRef))
    if schema.is_unique(given):
        return keys
    candidates = sorted(schema.keys, key=lambda k: (len(k), sorted(k)))
    rest = sorted(candidates[0] if candidates else schema.names)
    return keys + tuple(SortKey(ColumnRef(n, schema[n].inferred)) for n in rest if n not in given)


def _with_edges(schema: Schema, more: frozenset[RowEdge]) -> Schema:
    """`schema` with further row-shaping edges."""
    return Schema(schema.columns, schema.keys, schema.edges | more)


def equal_pairs(on: Expr | None, left: Schema, right: Schema) -> tuple[tuple[str, str], ...]:
    """The column pairs (left, right) that a join condition demands to be equal."""
    pairs = []
    for part in conjuncts(on) if on is not None else ():
        match part:
            case Call(function="eq", args=(ColumnRef(name=a), ColumnRef(name=b))):
                if a in left and b in right:
                    pairs.append((a, b))
                elif b in left and a in right:
                    pairs.append((b, a))
            case _:
                pass
    return tuple(pairs)


def _item_column(item: Item, schema: Schema, renamed: frozenset[str]) -> Column:
    """The output column of a projection's item: of a column that only passes through, the column itself."""
    expr = item.expr
    if isinstance(expr, ColumnRef) and expr.name == item.name:
        own = schema[expr.name]
        if own.inferred is expr.inferred:
            return own
    renames = Transform.RENAMED if item.name in renamed else Transform.PASSTHROUGH
    return Column(item.name, expr.inferred, origins_of(item.name, expr, schema, renames))


def _optional(column: Column) -> Column:
    if column.inferred.nullable:
        return column
    return Column(column.name, column.inferred.as_nullable(), column.origins)


def _joined(column: Column) -> Column:
    return Column(
        column.name, column.inferred, tuple(Origin(o.node, o.column, o.transform, True) for o in column.origins)
    )


def _require_bool(predicate: Expr) -> None:
    if not isinstance(predicate.inferred.type, Bool):
        raise ValueError(f"a predicate is bool, not {predicate.inferred.type}")
