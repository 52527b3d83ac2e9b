"""Lints: what compiles and runs, and is still not what was meant (design `language.md`, "Diagnostics").

Each looks at one statement with the rows before and after it; nothing is said where what it needs to know was not found
out. W001, W005, W007 to W009, W011, W014, W015. W012 and W013 are told where expressions get their types
(`expressions.py`), W004 by the contract, W006 where the order is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ..diagnostics import Diagnostic, Related, Severity, Span
from ..frozen import dataclass
from ..language import ast
from ..relation.expressions import Call, ColumnRef, Expr, Literal, columns_read, conjuncts
from ..relation.nodes import AsofJoin, Expand, Extend, Filter, Item, Join, JoinKind, Project, Relation, Sort
from .scope import resolve
from .state import Rows
from .statements import Step
from .walk import aggregates_in, expressions_of, operands

COUNTS_TWICE = frozenset({"sum", "avg", "count", "count_if", "median", "quantile", "stddev", "variance"})
"""Aggregates that come out otherwise where a value is met more than once."""
OPTIONAL = {JoinKind.LEFT: (False, True), JoinKind.FULL: (True, True)}
"""Which sides of an outer join, left and right, are null where nothing matches."""
MULTIPLYING = (JoinKind.INNER, JoinKind.LEFT, JoinKind.FULL, JoinKind.CROSS)


def lints(model: ast.Model, walked: Sequence[Step]) -> Iterator[Diagnostic]:
    """The findings on a model that has no errors; `walked` are its steps."""
    if model.contract is None:
        message = f"the model `{model.name}` has no contract"
        yield _warning("W001", message, model.name.span, f"promise its columns: `model {model.name} -> contract …`")
    joins = {
        _right_columns(step): step.statement for step in walked if isinstance(step.statement, ast.Join | ast.AsofJoin)
    }
    known = Known(joins, {})
    for step in walked:
        if step.before is not None:
            for look in LOOKS.get(type(step.statement), ()):
                yield from look(step.statement, step.before, step.after, known)
    yield from _unused([step.statement for step in walked])


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a model as a whole: its joins, by the columns of the right side as the joined rows have them;
    and, by the identity of a relation, its columns that an outer join made optional."""

    joins: dict[frozenset[str], ast.Join | ast.AsofJoin]
    optional: dict[int, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Fan:
    """A `join` repeats the rows of one side, once for each row of the other that has the same `keys`."""

    join: ast.Join | None
    keys: tuple[str, ...]
    right_repeats: bool


def _right_columns(step: Step) -> frozenset[str]:
    node = step.after.relation
    return frozenset(node.right.schema.names) if isinstance(node, Join | AsofJoin) else frozenset()


def _warning(code: str, message: str, span: Span, fix: str, *related: Related) -> Diagnostic:
    return Diagnostic(code, message, span, Severity.WARNING, fix=fix, related=related)


def _fan_out(statement: ast.Statement, before: Rows, _after: Rows, known: Known) -> Iterator[Diagnostic]:
    """W007: an aggregate over one side of a join that the other side repeats."""
    for call in aggregates_in(_aggregated(statement)):
        if call.function.text not in COUNTS_TWICE or call.distinct:
            continue
        columns = _columns(call.arguments, before)
        fan = next(_fans(before.relation, columns, known.joins), None) if columns else None
        if fan is None:
            continue
        if fan.join is None:
            message = f"`{call.function}` meets a value once for each element that `expand` made a row of"
            yield _warning("W007", message, call.span, "aggregate before the `expand`")
            continue
        table = (fan.join.alias or fan.join.table).text
        other = "the rows before" if fan.right_repeats else f"`{table}`"
        repeated = f"a row of `{table}`" if fan.right_repeats else "a row"
        by = f" by {', '.join(f'`{k}`' for k in fan.keys)}" if fan.keys else ""
        message = f"`{call.function}` meets {repeated} once for each match: {other} may have several{by}"
        expected = "one_to_many" if fan.right_repeats else "many_to_one"
        fix = f"aggregate {other} to one row{by} first, or state `expect {expected}`"
        yield _warning("W007", message, call.span, fix, Related(fan.join.span, "this join repeats them"))


def _aggregated(statement: ast.Statement) -> Sequence[ast.Expr]:
    match statement:
        case ast.Aggregate(items=items):
            return expressions_of(items)
        case ast.Group(body=body):
            return [e for part in body for e in _aggregated(part)]
        case _:
            return []


def _columns(nodes: Sequence[ast.Expr], rows: Rows) -> frozenset[str]:
    """The columns of `rows` that expressions read."""
    found, stack = set[str](), [*nodes]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.ColumnRef):
            column = resolve(rows.scope, node, lambda _: None)
            found |= {column} if column is not None else set()
        stack.extend(operands(node))
    return frozenset(found)


def _fans(
    relation: Relation, columns: frozenset[str], joins: Mapping[frozenset[str], ast.Join | ast.AsofJoin]
) -> Iterator[Fan]:
    """What repeats the values of `columns`, which come from one place, on their way up to `relation`."""
    node = relation
    while True:
        match node:
            case Project():
                columns = _read(node.items, columns)
                node = node.input
            case Extend():
                columns = (columns - {i.name for i in node.items}) | _read(node.items, columns)
                node = node.input
            case Filter() | Sort():
                node = node.input
            case Expand() if node.item.name not in columns:
                yield Fan(None, (), False)
                node = node.input
            case Join(kind=JoinKind.SEMI | JoinKind.ANTI):
                node = node.left
            case AsofJoin() if columns <= set(node.left.schema.names):
                node = node.left  # it repeats no row before it; a row of the table may be found more than once
            case Join(kind=kind) if kind in MULTIPLYING and columns:
                join = joins.get(frozenset(node.right.schema.names))
                left = columns <= set(node.left.schema.names)
                if not left and not columns <= set(node.right.schema.names):
                    return
                mine, other = (node.left, node.right) if left else (node.right, node.left)
                keys = _matched(node.on, other)
                promised = ("many_to_one", "one_to_one") if left else ("one_to_many", "one_to_one")
                assert not isinstance(join, ast.AsofJoin)
                if not other.schema.is_unique(frozenset(keys)) and (join is None or join.expect not in promised):
                    yield Fan(join, tuple(k.split(".")[-1] for k in keys), not left)
                node = mine
            case _:
                return


def _read(items: Sequence[Item], columns: frozenset[str]) -> frozenset[str]:
    return frozenset(name for item in items if item.name in columns for name in columns_read(item.expr))


def _passing(items: Sequence[Item], columns: frozenset[str]) -> frozenset[str]:
    """The items that pass one of `columns` on as it is."""
    return frozenset(i.name for i in items if isinstance(i.expr, ColumnRef) and i.expr.name in columns)


def _matched(on: Expr | None, side: Relation) -> tuple[str, ...]:
    """The columns of `side` that the condition of a join holds equal to the other side."""
    names = set(side.schema.names)
    found = []
    for part in conjuncts(on) if on is not None else ():
        match part:
            case Call(function="eq", args=(ColumnRef(name=a), ColumnRef(name=b))) if (a in names) != (b in names):
                found.append(a if a in names else b)
            case _:
                pass
    return tuple(dict.fromkeys(found))


def _optional(relation: Relation, known: dict[int, frozenset[str]]) -> frozenset[str]:
    """The columns that are none only where an outer join found no match, seen through what keeps columns; `known` holds
    the answer for each relation that was asked about, so that each is looked at once."""
    path: list[Project | Extend | Filter | Sort | Join | AsofJoin] = []
    node = relation
    while id(node) not in known and isinstance(node, Project | Extend | Filter | Sort | Join | AsofJoin):
        path.append(node)
        node = node.left if isinstance(node, Join | AsofJoin) else node.input
    found = known.get(id(node), frozenset())
    for node in reversed(path):
        match node:
            case Project():
                found = _passing(node.items, found)
            case Extend():
                found = (found - {i.name for i in node.items}) | _passing(node.items, found)
            case Join() | AsofJoin():
                sides = zip((node.left, node.right), OPTIONAL.get(node.kind, (False, False)), strict=True)
                for side in (side for side, optional in sides if optional):
                    found |= {c.name for c in side.schema.columns if not c.inferred.nullable}
            case Filter() | Sort():
                pass
        known[id(node)] = found
    return found


def _rejected_nulls(statement: ast.Statement, before: Rows, after: Rows, known: Known) -> Iterator[Diagnostic]:
    """W008: a filter on the optional side of an outer join, which drops the rows that the join was to keep."""
    if not isinstance(statement, ast.Filter) or not known.joins:
        return  # without a join there is nothing to look for, however many filters there are
    kept = after.relation.schema
    optional = {n for n in _optional(before.relation, known.optional) if n in kept and not kept[n].inferred.nullable}
    for part in _conjuncts(statement.condition):
        if isinstance(part, ast.IsNone):
            continue
        rejected = sorted(
            _columns([part], before) & {n for n in optional if before.relation.schema[n].inferred.nullable}
        )
        if rejected:
            message = (
                f"this filter drops every row that the outer join kept without a match: `{rejected[0]}` is none there"
            )
            fix = "join with `join_inner`, or keep them with `… or x is none`"
            yield _warning("W008", message, part.span, fix)


def _conjuncts(node: ast.Expr) -> Iterator[ast.Expr]:
    stack = [node]
    while stack:
        one = stack.pop()
        if isinstance(one, ast.Binary) and one.op == "and":
            stack += [one.right, one.left]
        else:
            yield one


def _nulls_grouped(statement: ast.Statement, before: Rows, _after: Rows, known: Known) -> Iterator[Diagnostic]:
    """W009: a key of a group that is none for all rows without a match."""
    if not isinstance(statement, ast.Group):
        return
    optional = _optional(before.relation, known.optional)
    for key in statement.keys:
        node = key.expr if isinstance(key, ast.Assign) else key
        if not isinstance(node, ast.ColumnRef):
            continue
        column = resolve(before.scope, node, lambda _: None)
        if column in optional and before.relation.schema[column].inferred.nullable:
            message = (
                f"rows that the outer join kept without a match fall into one group, of which `{node.name}` is none"
            )
            fix = 'filter them out, or say what they are: `coalesce(…, "unknown")`'
            yield _warning("W009", message, node.span, fix)


def _coalesced_keys(statement: ast.Statement, _before: Rows, _after: Rows, _known: Known) -> Iterator[Diagnostic]:
    """W015: rows that lack a key match one another."""
    if not isinstance(statement, ast.Join | ast.AsofJoin) or statement.on is None:
        return
    stack = [statement.on]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Call) and node.function.text == "coalesce":
            message = "rows that lack this key match all others that lack it"
            yield _warning("W015", message, node.span, "compare the columns themselves: none matches nothing")
        stack.extend(operands(node))


def _compares_nothing(statement: ast.Statement, before: Rows, after: Rows, _known: Known) -> Iterator[Diagnostic]:
    """W018: a condition that speaks of one side alone, so that its rows meet all rows of the other."""
    node = after.relation
    if not isinstance(statement, ast.Join) or not isinstance(node, Join) or node.on is None:
        return
    if isinstance(node.on, Literal):
        return  # `on true` says so
    read, label = columns_read(node.on), (statement.alias or statement.table).text
    sides = [node.right] if node.kind not in MULTIPLYING else [node.right, node.left]
    if all(read & {*side.schema.names} for side in sides):
        return
    assert statement.on is not None
    message = f"the condition compares no column of `{label}` with one of the rows before it: all rows meet all"
    same = sorted({*before.scope.outputs} & {n.split(".")[-1] for n in node.right.schema.names})
    column = same[0] if same else "column"
    fix = f"a bare name is a column of the rows before: write `{label}.{column} == …`; to pair all rows, `join_cross`"
    yield _warning("W018", message, statement.on.span, fix)


def _taken(statement: ast.Statement, before: Rows, _after: Rows, _known: Known) -> Iterator[Diagnostic]:
    """W011: which rows a `take` keeps is decided by columns that nobody named."""
    if not isinstance(statement, ast.Take):
        return
    given = frozenset(k.expr.name for k in before.order if isinstance(k.expr, ColumnRef))
    if before.relation.schema.is_unique(given):
        return
    among = "the rows that agree on the `sort`" if before.order else "the rows, which are in no order,"
    message = f"which of {among} are taken is decided by all their columns"
    keys = sorted((sorted(key) for key in before.relation.schema.keys), key=lambda key: (len(key), key))
    fix = "sort by a key before it"
    if keys and keys[0]:
        named = ", ".join(keys[0])
        fix = f"add `{named}` to the `sort`" if before.order else f"write `sort {{ {named} }}` before it"
    yield _warning("W011", message, statement.span, fix)


def _found(statement: ast.Statement, _before: Rows, after: Rows, _known: Known) -> Iterator[Diagnostic]:
    """W011: which row an as-of join finds is decided by columns that nobody named."""
    node = after.relation
    if not isinstance(statement, ast.AsofJoin) or not isinstance(node, AsofJoin) or not node.ties:
        return
    label = (statement.alias or statement.table).text
    by = dict.fromkeys(k.split(".")[-1] for _, b in node.keys for k in sorted(columns_read(b)))
    agree = f"that agree on {', '.join(f'`{k}`' for k in by)} and the instant" if by else "of one instant"
    message = f"which of the rows of `{label}` {agree} is found is decided by all their columns"
    columns = [*by, *(c.split(".")[-1] for m in node.moments for c in sorted(columns_read(m.right)))]
    fix = (
        f"declare what tells them apart in `{statement.table}`: {', '.join(f'`{c}`' for c in columns)} as `primary_key`"
    )
    yield _warning("W011", message, statement.span, fix)


LOOKS: Mapping[type, Sequence[Callable[[ast.Statement, Rows, Rows, Known], Iterator[Diagnostic]]]] = {
    ast.Aggregate: (_fan_out,),
    ast.Group: (_fan_out, _nulls_grouped),
    ast.Filter: (_rejected_nulls,),
    ast.Join: (_coalesced_keys, _compares_nothing),
    ast.Take: (_taken,),
    ast.AsofJoin: (_found,),
}
"""Which lints look at which statements."""


def _unused(statements: Sequence[ast.Statement]) -> Iterator[Diagnostic]:
    """W005 and W014, from the last statement to the first that may be told of, so that each is looked at once."""
    first = next(
        (i for i, one in enumerate(statements) if isinstance(one, ast.Join | ast.AsofJoin | ast.Let)), len(statements)
    )
    later = Named(set(), set())
    for statement in reversed(statements[first:]):
        yield from _unused_one(statement, later)
        own = _named([statement])
        later.tables.update(own.tables)
        later.columns.update(own.columns)


def _unused_one(statement: ast.Statement, later: Named) -> Iterator[Diagnostic]:
    """A left join, which drops no row, of no column that is used; a `let` that nothing reads."""
    if isinstance(statement, ast.Join | ast.AsofJoin) and statement.kind == "left":
        label = (statement.alias or statement.table).text
        if label not in later.tables:
            message = f"no column of `{label}` is used: a left join adds columns, and drops no rows"
            matching = "join_semi" if isinstance(statement, ast.Join) else "join_asof_inner"
            fix = f"read `{label}.…`, keep matching rows with `{matching}`, or leave the join out"
            yield _warning("W005", message, statement.span, fix)
    elif isinstance(statement, ast.Let) and statement.name.text not in later.columns:
        message = f"`{statement.name}` is hidden, and nothing reads it"
        yield _warning("W014", message, statement.name.span, "read it, `derive` it, or leave it out")


@dataclass(frozen=True, slots=True)
class Named:
    """The tables whose columns are named, and the columns that are named alone."""

    tables: set[str]
    columns: set[str]


def _named(statements: Sequence[ast.Statement]) -> Named:
    """What `statements` name."""
    named = Named(set(), set())
    stack: list[ast.Expr] = []
    for statement in statements:
        for item in _items(statement):
            if isinstance(item, ast.Star):
                named.tables.add(item.qualifier.text if item.qualifier else "")
            else:
                stack.append(item.expr if isinstance(item, ast.Assign) else item)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.ColumnRef):
            if node.qualifier is not None:
                named.tables.add(node.qualifier.text)
            else:
                named.columns.add(node.name.text)
        elif not isinstance(node, ast.Literal):
            stack.extend(operands(node))
    return named


def _items(statement: ast.Statement) -> Iterator[ast.Item | ast.Expr]:
    """All that a statement reads columns in."""
    match statement:
        case ast.Filter():
            yield statement.condition
        case ast.Let():
            yield statement.expr
        case ast.Expand():
            yield statement.array
        case ast.Derive() | ast.Select() | ast.Aggregate():
            yield from statement.items
        case ast.Join():
            yield from [statement.on] if statement.on is not None else []
        case ast.AsofJoin():
            yield from (node for node in (statement.on, statement.at, statement.available) if node is not None)
        case ast.Sort():
            yield from (key.expr for key in statement.keys)
        case ast.Dedup():
            yield from statement.keys
            yield from (key.expr for key in statement.sort)
        case ast.Group():
            yield from statement.keys
            for part in statement.body:
                yield from _items(part)
        case ast.From() | ast.Take() | ast.SetOperation() | ast.Freshness() | ast.PartitionBy() | ast.Incremental():
            return
