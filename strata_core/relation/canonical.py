"""A smaller relation with the same rows: what engines run, and what form.py hashes.

Rewrites, each of which keeps rows, columns, types and order:

- columns that nothing reads are dropped, down to the scans; so are orders that nothing observes;
- a filter sinks below the projections it follows and joins the filters there, each conjunct once;
- steps that add columns and filters between them are taken together, and become projections of what is read;
- adjacent projections become one, as long as that does not multiply work (`MAX_SIZE`, `MAX_DEPTH`);
- a projection that changes nothing goes, and one that only names an aggregation's columns goes into it.

The result has the schema of the relation it stands for: lineage, keys and proven facts of the outputs stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..frozen import dataclass, replace
from .build import (
    aggregate_rows,
    asof_join,
    combine,
    expand_rows,
    filter_rows,
    join,
    limit_rows,
    project,
    ref,
    scan,
    sort_rows,
    window_rows,
)
from .expressions import (
    ColumnRef,
    Expr,
    Literal,
    aggregate,
    call,
    columns_read,
    conjuncts,
    literal,
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
    Limit,
    Moments,
    Project,
    Relation,
    Scan,
    SetKind,
    SetOperation,
    Sort,
    Window,
    expressions,
)
from .runs import Run, run_below
from .schema import Schema
from .substitution import MAX_DEPTH, MAX_SIZE, Measure, measure, substituted


def canonical(relation: Relation) -> Relation:
    """A smaller relation with the rows, the schema and the order of `relation`."""
    done: list[Relation] = []
    stack = [_Visit(relation, frozenset(relation.schema.names), True, False)]
    while stack:
        visit = stack.pop()
        below = _demands(visit)
        if not visit.ready:
            stack.append(replace(visit, ready=True))
            stack.extend(reversed(below))
            continue
        given = done[len(done) - len(below) :]
        del done[len(done) - len(below) :]
        done.append(_rebuilt(visit, given))
    (rewritten,) = done
    if rewritten.schema.names != relation.schema.names:
        rewritten = project(rewritten, [Item(n, ref(rewritten, n)) for n in relation.schema.names])
    return replace(rewritten, schema=relation.schema)


def columns_scanned(relation: Relation) -> dict[str, frozenset[str]]:
    """The columns of each table that the rows of `relation` need, in whatever order: what its canonical form scans."""
    found: dict[str, frozenset[str]] = {}
    stack = [_Visit(relation, frozenset(relation.schema.names), False, False)]
    while stack:
        visit = stack.pop()
        if isinstance(visit.node, Scan):
            needed = visit.needed or frozenset(visit.node.schema.names[:1])
            found[visit.node.table] = found.get(visit.node.table, frozenset()) | needed
        stack.extend(_demands(visit))
    return found


@dataclass(frozen=True, slots=True)
class _Visit:
    """A node to rewrite, the columns that are read from it, and whether its order is observed.

    `ready` says that its inputs are done.
    """

    node: Relation
    needed: frozenset[str]
    ordered: bool
    ready: bool


def _demands(visit: _Visit) -> list[_Visit]:
    """What a node asks of its inputs."""
    needed = visit.needed

    def demand(input: Relation, names: Iterable[str], ordered: bool = False) -> _Visit:
        return _Visit(input, frozenset(names) & input.schema.by_name.keys(), ordered, False)

    match visit.node:
        case Scan():
            return []
        case Project() as node:
            return [demand(node.input, _reads(i.expr for i in _kept(node.items, needed)), visit.ordered)]
        case Extend() | Filter() as node:
            run = run_below(node, needed)
            return [demand(run.base, run.needed, visit.ordered)]
        case Join() as node:
            both = needed | (columns_read(node.on) if node.on is not None else frozenset())
            return [demand(node.left, both), demand(node.right, both)]
        case AsofJoin() as node:
            both = needed | _reads(expressions(node))
            return [demand(node.left, both), demand(node.right, both)]
        case SetOperation() as node:
            names = _combined(node, needed)
            return [demand(node.left, names), demand(node.right, names)]
        case Aggregate() as node:
            calls = [a.call for a in node.aggregates if a.name in needed]
            exprs = [k.expr for k in node.keys] + [e for c in calls for e in (*c.args, *(k.expr for k in c.order))]
            return [demand(node.input, _reads(exprs))]
        case Window() as node:
            used = [i.call for i in node.items if i.name in needed]
            exprs = [e for c in used for e in (*c.args, *c.partition, *(k.expr for k in c.order))]
            return [demand(node.input, needed | _reads(exprs))]
        case Expand() as node:
            return [demand(node.input, needed | columns_read(node.item.expr))]
        case Sort() as node:
            keys = _reads(k.expr for k in node.keys) if visit.ordered else frozenset()
            return [demand(node.input, needed | keys)]
        case Limit() as node:
            return [demand(node.input, needed | _reads(k.expr for k in node.keys))]


def _rebuilt(visit: _Visit, given: Sequence[Relation]) -> Relation:
    """The node over its rewritten inputs."""
    needed = visit.needed
    match visit.node:
        case Scan() as node:
            return _pruned(node, needed)
        case Project() as node:
            (input,) = given
            items = _kept(node.items, needed)
            return _projected(input, [Item(i.name, _retype(i.expr, input.schema)) for i in items])
        case Extend() | Filter() as node:
            (input,) = given
            return _stepwise(input, run_below(node, needed))
        case Join() as node:
            left, right = given
            both = Schema((*left.schema.columns, *right.schema.columns))
            on = None if node.on is None else _retype(node.on, both)
            return join(node.kind, left, right, on)
        case AsofJoin() as node:
            return _asof_joined(node, *given)
        case SetOperation() as node:
            names = _combined(node, needed)
            left, right = (_projected(one, [Item(n, ref(one, n)) for n in names]) for one in given)
            return combine(node.kind, left, right)
        case Aggregate() as node:
            (input,) = given
            keys = [Item(k.name, _retype(k.expr, input.schema)) for k in node.keys]
            return aggregate_rows(input, keys, _kept_calls(node, needed))
        case Window() as node:
            (input,) = given
            windows = [i for i in node.items if i.name in needed]
            # Orders were completed over all columns; they are the same over those that are left.
            return replace(window_rows(input, windows), items=tuple(windows)) if windows else input
        case Expand() as node:
            (input,) = given
            return expand_rows(input, replace(node.item, expr=_retype(node.item.expr, input.schema)))
        case Sort() as node:
            (input,) = given
            return sort_rows(input, node.keys) if visit.ordered else input
        case Limit() as node:
            (input,) = given
            # The order was total over all columns; it is the same over those that are left.
            return replace(limit_rows(input, node.keys, node.offset, node.count), keys=node.keys)


def _asof_joined(node: AsofJoin, left: Relation, right: Relation) -> AsofJoin:
    keys = [(_retype(a, left.schema), _retype(b, right.schema)) for a, b in node.keys]
    at, *available = (Moments(_retype(m.left, left.schema), _retype(m.right, right.schema)) for m in node.moments)
    until = None if node.until is None else _retype(node.until, right.schema)
    found = asof_join(
        node.kind, left, right, keys, at, available=next(iter(available), None), until=until, within=node.within
    )
    # Ties were broken by all columns; those that are left are enough.
    return replace(found, ties=node.ties)


def _combined(node: SetOperation, needed: frozenset[str]) -> list[str]:
    """The columns that a set operation needs of both sides: all where they tell rows apart, else at least one."""
    names = node.schema.names
    if node.kind is not SetKind.UNION_ALL:
        return [*names]
    return [n for n in names if n in needed] or [names[0]]


def _reads(exprs: Iterable[Expr]) -> frozenset[str]:
    return frozenset(name for e in exprs for name in columns_read(e))


def _kept(items: Sequence[Item], needed: frozenset[str]) -> list[Item]:
    """The items that are read; where none is, a constant, since a relation without columns has no rows to count."""
    return [i for i in items if i.name in needed] or [Item(i.name, literal(True)) for i in items[:1]]


def _kept_calls(node: Aggregate, needed: frozenset[str]) -> list[AggregateItem]:
    """The aggregates that are read; where there is neither one nor a key, a count, so that the one row stays."""
    calls = [a for a in node.aggregates if a.name in needed]
    if calls or node.keys:
        return calls
    return [AggregateItem(node.aggregates[0].name, aggregate("count", grouped=False))]


def _pruned(node: Scan, needed: frozenset[str]) -> Scan:
    columns = [c for c in node.schema.columns if c.name in needed] or [*node.schema.columns[:1]]
    names = {c.name for c in columns}
    return scan(node.table, columns, [key for key in node.schema.keys if key <= names])


def _filtered(input: Relation, conditions: Sequence[Expr], needed: frozenset[str]) -> Relation:
    """The rows of `input` that satisfy all `conditions`, asked as far down as they can be. Of a projection above
    them only the columns `needed` are left, not those that the conditions alone read."""
    match input:
        case Project():
            values = {i.name: i.expr for i in input.items}
            sunk = [substituted(c, values, input.input.schema) for c in conditions]
            if all(measure(c).bounded for c in sunk):
                items = _kept(input.items, needed)
                below = _filtered(input.input, sunk, _reads(i.expr for i in items))
                return _projected(below, [Item(i.name, _retype(i.expr, below.schema)) for i in items])
        case Filter():
            earlier = conjuncts(input.predicate)
            # What the earlier filter proves does not hold yet where both are asked at once.
            return _filtered(input.input, (*earlier, *_retyped(conditions, input.input.schema)), needed)
        case _:
            pass
    wanted = [c for c in dict.fromkeys(conditions) if not (isinstance(c, Literal) and c.value is True)]
    return filter_rows(input, _all(wanted)) if wanted else input


def _all(conditions: Sequence[Expr]) -> Expr:
    """The conjunction of `conditions`, in their order, as a tree no deeper than their number asks for."""
    parts = [*conditions]
    while len(parts) > 1:
        pairs = [call("and", a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + parts[len(parts) - len(parts) % 2 :]
    return parts[0]


def _projected(input: Relation, items: Sequence[Item]) -> Relation:
    """`items` over `input`, with fewer steps where that is possible."""
    match input:
        case Project():
            values = {i.name: i.expr for i in input.items}
            if _worthwhile(input.items, items):
                fused = [Item(i.name, substituted(i.expr, values, input.input.schema)) for i in items]
                return _projected(input.input, fused)
        case Aggregate() if (named := _new_names(input, items)) is not None:
            keys = [replace(k, name=named[k.name]) for k in input.keys]
            calls = [AggregateItem(named[a.name], a.call) for a in input.aggregates if a.name in named]
            # Outputs stand as keys, then aggregates; another order takes a projection.
            if [*named.values()] == [*(k.name for k in keys), *(c.name for c in calls)]:
                return aggregate_rows(input.input, keys, calls)
        case _:
            pass
    unchanged = [i.name for i in items if isinstance(i.expr, ColumnRef) and i.expr.name == i.name]
    return input if unchanged == [*input.schema.names] and len(items) == len(unchanged) else project(input, items)


def _stepwise(input: Relation, run: Run) -> Relation:
    """What the steps of `run` make of `input`, in as few of them as is worthwhile: each item and condition is looked at
    once, however many columns there are beside it."""
    values: dict[str, Expr] = {n: ref(input, n) for n in input.schema.by_name if n in run.needed}
    sizes: dict[str, Measure] = {}
    asked: list[Expr] = []
    apart = together = 0
    for step in run.steps:
        made = {i.name: measure(i.expr, sizes) for i in step.items}
        apart += sum(measure(i.expr).size for i in step.items)
        left = together - sum(sizes[n].size for n in step.last_reads if n in sizes)
        left += sum(m.size for m in made.values())
        deep = any(m.depth > MAX_DEPTH for m in made.values())
        if deep or left > max(MAX_SIZE, apart) or any(_outgrows(c, sizes) for c in step.conditions):
            input = _at_once(input, asked, values)
            values, sizes, asked = {n: ref(input, n) for n in values}, {}, []
            made = {i.name: measure(i.expr) for i in step.items}
            apart = left = sum(m.size for m in made.values())
        computed = {i.name: substituted(i.expr, values, input.schema) for i in step.items}
        asked += (substituted(c, values, input.schema) for c in step.conditions)
        for name in step.last_reads:
            del values[name]
            sizes.pop(name, None)
        values |= computed
        sizes |= made
        together = left
    return _at_once(input, asked, values)


def _outgrows(condition: Expr, sizes: Mapping[str, Measure]) -> bool:
    """Whether a condition becomes too large by what is computed of the columns that it reads."""
    sunk = measure(condition, sizes)
    return not sunk.bounded and sunk != measure(condition)


def _at_once(input: Relation, conditions: Sequence[Expr], values: Mapping[str, Expr]) -> Relation:
    """The rows of `input` that satisfy all `conditions`, with the columns `values`; where there is none, any."""
    below = _filtered(input, conditions, _reads(values.values())) if conditions else input
    if below is not input:  # what the conditions prove is known of the columns
        values = {n: _retype(e, below.schema) for n, e in values.items()}
    return _projected(below, [Item(n, e) for n, e in values.items()]) if values else below


def _new_names(input: Aggregate, items: Sequence[Item]) -> dict[str, str] | None:
    """The new name of each column of an aggregation, where `items` only name its columns and keep all keys."""
    named: dict[str, str] = {}
    for item in items:
        if not isinstance(item.expr, ColumnRef) or item.expr.name in named:
            return None
        named[item.expr.name] = item.name
    return named if all(k.name in named for k in input.keys) else None


def _worthwhile(inner: Sequence[Item], outer: Sequence[Item]) -> bool:
    """Whether a fused projection does not do much more than the two that it replaces."""
    sizes = {i.name: measure(i.expr) for i in inner}
    fused = [measure(i.expr, sizes) for i in outer]
    if any(m.depth > MAX_DEPTH for m in fused):
        return False
    apart = sum(m.size for m in sizes.values()) + sum(measure(i.expr).size for i in outer)
    return sum(m.size for m in fused) <= max(MAX_SIZE, apart)


def _retyped(exprs: Iterable[Expr], schema: Schema) -> list[Expr]:
    return [_retype(e, schema) for e in exprs]


def _retype(expr: Expr, schema: Schema) -> Expr:
    return substituted(expr, {}, schema)
