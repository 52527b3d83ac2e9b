"""What stands between two statements of a model, and what surrounds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ..contract.model import TableContract
from ..diagnostics import Span
from ..language import ast
from ..relation.build import project, ref
from ..relation.expressions import Expr, SortKey, columns_read
from ..relation.nodes import Item, Relation
from .compiled import JoinExpectation
from .expressions import Context
from .names import Report
from .scope import Scope, Table, resolve
from .types import Domains


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a model is compiled against: the tables it can read, domains, its contract, and where to report."""

    tables: Mapping[str, Table]
    domains: Domains
    contract: TableContract | None
    report: Report
    broken_names: frozenset[str] = frozenset()


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

    return Context(column, around.domains, around.report, place, computed or {})


def with_columns(rows: Rows, scope: Scope, added: Iterable[Item]) -> Rows:
    """`rows` with the columns `added`, all columns that neither `scope` nor the order needs left behind."""
    new = tuple(added)
    names = {item.name for item in new}
    needed = scope.columns | ordering(rows.order)
    kept = [Item(n, ref(rows.relation, n)) for n in rows.relation.schema.names if n in needed and n not in names]
    return replace(rows, relation=project(rows.relation, (*kept, *new)), scope=scope)


def ordering(order: Iterable[SortKey]) -> frozenset[str]:
    """The columns that an order reads."""
    return frozenset(name for key in order for name in columns_read(key.expr))
