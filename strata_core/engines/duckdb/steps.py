"""A query as it grows: SELECTs that can still take clauses, and the CTEs of those that cannot.

A `Step` stands for the rows of a relation. While its clauses allow, the next node adds to the same SELECT; else
`Query.close` makes it a CTE, so that deep relations stay flat and readable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from . import sql
from .sql import SqlExpr

NO_LIMIT = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Step:
    """The rows of a relation as the clauses of a SELECT.

    `names` are its output columns; `items` computes them, or is `None` while they are columns of FROM. `order` sorts
    by expressions over FROM. `failing` are columns whose expressions can abort; `narrowed` says that rows below were
    filtered or joined, so that such an expression must not move there.
    """

    source: exp.Table
    names: tuple[str, ...]
    joins: tuple[exp.Join, ...] = ()
    where: tuple[SqlExpr, ...] = ()
    items: tuple[SqlExpr, ...] | None = None
    order: tuple[exp.Ordered, ...] = ()
    failing: frozenset[str] = frozenset()
    narrowed: bool = False

    @property
    def is_table(self) -> bool:
        """Whether this is a table as it stands."""
        return not self.joins and not self.where and self.items is None


@dataclass(slots=True)
class Query:
    """The CTEs made so far, and the spelling of column names."""

    spelled: dict[str, str]
    ctes: list[exp.CTE] = field(default_factory=list)
    steps: int = 0

    def column(self, name: str) -> exp.Column:
        """A column of the relation."""
        return sql.column(self.spelled[name])

    def add(self, name: str, select: exp.Query, *, inline: bool = False, stored: bool = False) -> exp.Table:
        """`select` as a CTE; `inline` keeps DuckDB from storing the rows of one that is read twice, `stored` has them
        computed once."""
        alias = exp.TableAlias(this=sql.identifier(name))
        self.ctes.append(exp.CTE(this=select, alias=alias, materialized=stored if inline or stored else None))
        return sql.table(name)

    def next_name(self) -> str:
        """A name for the next CTE; no table is called so (`translate.py` renames those that are)."""
        self.steps += 1
        return f"{STEP}{self.steps}"

    def items_of(self, step: Step) -> list[SqlExpr]:
        """The output columns of `step`, each under its own name."""
        if step.items is None:
            return [self.column(n) for n in step.names]
        return [sql.named(e, self.spelled[n]) for n, e in zip(step.names, step.items, strict=True)]

    def select(self, step: Step, extra: Sequence[SqlExpr] = ()) -> exp.Select:
        """The SELECT of `step`, without its order."""
        # A table of no columns still has rows.
        items = [*self.items_of(step), *extra] or [sql.alias(exp.Null(), f"{sql.RESERVED}row")]
        select = exp.Select(expressions=items, from_=exp.From(this=step.source), joins=list(step.joins))
        if step.where:
            select.set("where", exp.Where(this=sql.all_of(step.where)))
        return select

    def close(self, step: Step, *, keep_order: bool = True, barrier: bool = False) -> Step:
        """`step` as a table. Its order goes along in hidden columns; a `barrier` keeps later filters above it."""
        if step.is_table and not barrier and (keep_order or not step.order):
            return step
        hidden = hidden_names(step.order) if keep_order else []
        extra = [sql.alias(o.this.copy(), h) for o, h in zip(step.order, hidden, strict=False)]
        select = self.select(step, extra)
        if barrier:
            select.set("limit", exp.Limit(expression=sql.number(NO_LIMIT)))
        order = sorted_by(hidden, step.order)
        narrowed = (step.narrowed or bool(step.where or step.joins)) and not barrier
        table = self.add(self.next_name(), select)
        return Step(table, step.names, order=order, failing=frozenset() if barrier else step.failing, narrowed=narrowed)

    def open_items(self, step: Step) -> Step:
        """`step` with room for computed columns."""
        return step if step.items is None else self.close(step)

    def finish(self, step: Step) -> exp.Select:
        """The whole query, in the order of `step`."""
        if step.order and step.items is not None:
            # An alias would hide the column of the same name from ORDER BY.
            step = self.close(step)
        select = self.select(step)
        sort(select, step.order)
        if self.ctes:
            select.set("with_", exp.With(expressions=self.ctes))
        return select


STEP = "step_"


def sort(select: exp.Select, order: Sequence[exp.Ordered]) -> None:
    """Give `select` an ORDER BY, if there is something to order by."""
    if order:
        select.set("order", exp.Order(expressions=list(order)))


def hidden_names(order: Sequence[exp.Ordered]) -> list[str]:
    """Names for columns that carry the values of sort keys."""
    return [f"{sql.RESERVED}order_{i}" for i in range(1, len(order) + 1)]


def sorted_by(hidden: Sequence[str], order: Sequence[exp.Ordered]) -> tuple[exp.Ordered, ...]:
    """The order of `order`, read from the columns `hidden`."""
    directions = [bool(o.args.get("desc")) for o in order]
    return tuple(sql.ordered(sql.column(h), descending=d) for h, d in zip(hidden, directions, strict=False))


def without_order(step: Step) -> Step:
    """`step`, its order forgotten."""
    return replace(step, order=()) if step.order else step
