"""What stands between two statements of a model, and what surrounds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from ..contract.model import TableContract
from ..diagnostics import Report, Span
from ..frozen import dataclass, field, replace
from ..language import ast
from ..relation.build import extend, project, ref, rename_windows
from ..relation.expressions import Call, Cast, Chain, ColumnRef, Expr, ExternCall, Literal, SortKey, columns_read
from ..relation.extern import Extern
from ..relation.nodes import Item, Relation, Window
from .compiled import JoinExpectation
from .expressions import Context
from .scope import Scope, Table, resolve
from .types import Domains


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a model is compiled against: the tables it can read, domains, its contract, where to report, its name."""

    tables: Mapping[str, Table]
    domains: Domains
    contract: TableContract | None
    report: Report
    model: str | None = None
    externs: Mapping[str, Extern] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that a statement leaves to the next: a relation, the names for its columns, and their order.

    `order` is over columns of `relation`; `sorted_at` is the `sort` that no `take` has used yet. `spans` says where
    each output is written.
    """

    relation: Relation
    scope: Scope
    order: tuple[SortKey, ...] = ()
    sorted_at: Span | None = None
    spans: Mapping[str, Span] = field(default_factory=dict)
    expectations: tuple[JoinExpectation, ...] = ()


def context(rows: Rows, around: Surroundings, place: str, computed: Mapping[int, Expr | None] | None = None) -> Context:
    """How expressions over `rows` are read in `place`."""

    def column(node: ast.ColumnRef) -> Expr | None:
        name = resolve(rows.scope, node, around.report)
        return None if name is None else ref(rows.relation, name)

    return Context(column, around.domains, around.report, place, computed or {}, externs=around.externs)


def with_columns(
    rows: Rows,
    scope: Scope,
    added: Iterable[Item],
    names: Mapping[str, str] | None = None,
    renamed: frozenset[str] = frozenset(),
) -> Rows:
    """`rows` with the columns `added`, all columns that neither `scope` nor the order needs left behind.

    `names` gives columns of `rows` that live on under a new name, by the old one; the order follows them. `renamed`
    are those of `added` that name a column anew, as lineage says (Seed 0 §4).
    """
    new = tuple(added)
    fresh = {item.name for item in new}
    order = tuple(replace(k, expr=over_names(k.expr, names)) for k in rows.order) if names else rows.order
    needed = scope.columns | ordering(order)
    before = rows.relation
    present = before.schema.by_name.keys()
    relation: Relation
    if names is None and isinstance(before, Window) and (windows := _only_named(before, new, present - needed)):
        before = rename_windows(before, windows)
        new = tuple(item for item in new if item.name not in windows.values())
        present = before.schema.by_name.keys()
        fresh = {item.name for item in new}
    if names is None and present <= needed | fresh:
        relation = extend(before, new, renamed=renamed) if new else before
    else:
        kept = [Item(n, ref(before, n)) for n in present if n in needed and n not in fresh]
        relation = project(before, (*kept, *new), renamed=renamed)
    return replace(rows, relation=relation, scope=scope, order=order)


def _only_named(windows: Window, added: Iterable[Item], gone: Set[str]) -> dict[str, str]:
    """The new names of the columns of `windows`, if all that is done with them, which then are `gone`, is to give each
    one that no column before bears."""
    own = {item.name for item in windows.items}
    reading = [item for item in added if not own.isdisjoint(columns_read(item.expr))]
    named = {item.expr.name: item.name for item in reading if isinstance(item.expr, ColumnRef)}
    only = own == named.keys() and own <= gone and len(reading) == len(own)
    return named if only and windows.input.schema.by_name.keys().isdisjoint(named.values()) else {}


def over_names(expr: Expr, names: Mapping[str, str]) -> Expr:
    """`expr` over columns that bear new names, by the old ones."""
    match expr:
        case ColumnRef():
            return ColumnRef(names.get(expr.name, expr.name), expr.inferred)
        case Call():
            return replace(expr, args=tuple(over_names(a, names) for a in expr.args))
        case ExternCall():
            return replace(expr, args=tuple(over_names(a, names) for a in expr.args))
        case Chain():
            links = tuple(replace(one, operand=over_names(one.operand, names)) for one in expr.links)
            return Chain(over_names(expr.first, names), links)
        case Cast():
            return replace(expr, operand=over_names(expr.operand, names))
        case Literal():
            return expr


def ordering(order: Iterable[SortKey]) -> frozenset[str]:
    """The columns that an order reads."""
    return frozenset(name for key in order for name in columns_read(key.expr))
