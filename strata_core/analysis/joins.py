"""Joins: the right side's columns become `t.c`; what `expect` states is proven by keys or left to the run.

Codes: E020, E023 (two tables of one name), E053, E071 (an `expect` that cannot be checked).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..diagnostics import Diagnostic, Span
from ..frozen import dataclass, replace
from ..language import ast
from ..relation.build import filter_rows, join, project, ref
from ..relation.expressions import Call, ColumnRef, Expr, columns_read, conjuncts, literal
from ..relation.nodes import Item, JoinKind, Relation
from .compiled import JoinExpectation
from .expressions import Context, predicate
from .scope import Scope, Table, fresh, resolve
from .state import Rows, Surroundings
from .tables import find_table

ONE_RIGHT = ("many_to_one", "one_to_one")
ONE_LEFT = ("one_to_many", "one_to_one")


def join_rows(statement: ast.Join, rows: Rows, around: Surroundings) -> Rows:
    """The rows of `rows` joined with a table; their order is lost, but semi and anti joins keep it."""
    right = right_side(statement.table, statement.alias, f"join_{statement.kind}", rows, around)
    seen = seen_by(rows.scope, right)
    kind = JoinKind(statement.kind)
    if statement.on is None:
        joined = join(kind, rows.relation, right.relation, None)
        return replace(rows, relation=joined, scope=seen, order=(), sorted_at=None)
    condition = predicate(statement.on, reader(seen, rows.relation, right.relation, "a join", around))
    expectations: tuple[JoinExpectation, ...] = ()
    if condition is None:
        condition = literal(True)
    elif statement.expect is not None and not right.is_taken:
        expectations = _expectations(statement, condition, rows, right, around)
    right_unique = statement.expect in ONE_RIGHT
    joined = join(kind, rows.relation, right.relation, condition, right_unique=right_unique)
    expectations = (*rows.expectations, *expectations)
    if kind in (JoinKind.SEMI, JoinKind.ANTI):
        reason = f"`join_{statement.kind}` only looks whether a row matches"
        scope = replace(rows.scope, closed={**rows.scope.closed, right.label: reason})
        return replace(rows, relation=joined, scope=scope, expectations=expectations)
    return replace(rows, relation=joined, scope=seen, order=(), sorted_at=None, expectations=expectations)


def reader(scope: Scope, left: Relation, right: Relation, place: str, around: Surroundings) -> Context:
    """How the condition is read: over both sides as they are before the join, when nothing is null for want of a
    matching row."""

    def column(node: ast.ColumnRef) -> Expr | None:
        name = resolve(scope, node, around.report)
        return None if name is None else ref(left if name in left.schema else right, name)

    return Context(column, around.domains, around.report, place, externs=around.externs)


@dataclass(frozen=True, slots=True)
class Right:
    """The right side: its table, the name it is read under, its columns' names in the joined rows, and the rows."""

    table: Table
    label: str
    internal: dict[str, str]
    relation: Relation
    is_taken: bool = False
    """Whether E023 was reported, and `label` is not what people call the table: nothing more is said of it."""


def right_side(name: ast.Name, alias: ast.Name | None, word: str, rows: Rows, around: Surroundings) -> Right:
    """The table `name`, read as `alias` where there is one; E023 where that name is taken."""
    table = find_table(name, around)
    label = alias or name
    is_taken = label.text in rows.scope.tables or label.text in rows.scope.closed
    if is_taken:
        message = f"`{label}` is already read here"
        fix = f"give this one another name: `{word} {name} as other …`"
        around.report(Diagnostic("E023", message, label.span, fix=fix))
        label = ast.Name(fresh(label.text, {*rows.scope.tables, *rows.scope.closed}), label.span)
    return replace(_named(table, label.text, frozenset(rows.relation.schema.names)), is_taken=is_taken)


def _named(table: Table, label: str, taken: frozenset[str]) -> Right:
    internal: dict[str, str] = {}
    used = set(taken)
    for name in table.relation.schema.names:
        internal[name] = fresh(f"{label}.{name}", used)
        used.add(internal[name])
    items = [Item(i, ref(table.relation, n)) for n, i in internal.items()]
    return Right(table, label, internal, project(table.relation, items))


def seen_by(scope: Scope, right: Right) -> Scope:
    """The names of `scope`, and those of the joined table."""
    columns: dict[str, str | None] = {n: right.internal.get(n) for n in right.table.columns}
    incomplete = scope.incomplete if right.table.complete else scope.incomplete | {right.label}
    return replace(scope, tables={**scope.tables, right.label: columns}, incomplete=incomplete)


def _expectations(
    statement: ast.Join, condition: Expr, rows: Rows, right: Right, around: Surroundings
) -> tuple[JoinExpectation, ...]:
    """What must be measured because the keys do not prove it."""
    assert statement.on is not None
    found = sides_of(condition, frozenset(rows.relation.schema.names), frozenset(right.internal.values()))
    if found is None or not found.left or statement.kind not in ("inner", "left", "full"):
        message = f"`expect {statement.expect}` cannot be checked for this join"
        fix = "join with `join_inner`, `join_left` or `join_full`, on equal columns: `a.x == b.x and a.y == b.y`"
        around.report(Diagnostic("E071", message, statement.on.span, fix=fix))
        return ()
    text = f"join_{statement.kind} {statement.table} expect {statement.expect}"
    unproven: list[JoinExpectation] = []
    if statement.expect in ONE_RIGHT:
        own_names = {internal: name for name, internal in right.internal.items()}
        unproven += _unless_unique(right.relation, found.right, found.right_only, own_names, statement.span, text)
    if statement.expect in ONE_LEFT:
        unproven += _unless_unique(rows.relation, found.left, found.left_only, {}, statement.span, text)
    return tuple(unproven)


@dataclass(frozen=True, slots=True)
class Sides:
    """A join condition taken apart: the equal expressions of each side, and what is asked of one side alone."""

    left: tuple[Expr, ...]
    right: tuple[Expr, ...]
    left_only: tuple[Expr, ...]
    right_only: tuple[Expr, ...]


def sides_of(condition: Expr, left: frozenset[str], right: frozenset[str]) -> Sides | None:
    """`condition` taken apart, where it is nothing but equal expressions and what is asked of one side."""
    pairs: list[tuple[Expr, Expr]] = []
    alone: dict[bool, list[Expr]] = {False: [], True: []}
    for part in conjuncts(condition):
        read = columns_read(part)
        if read <= left or read <= right:
            alone[not read <= left].append(part)
            continue
        match part:
            case Call(function="eq", args=(a, b)) if columns_read(a) <= left and columns_read(b) <= right:
                pairs.append((a, b))
            case Call(function="eq", args=(a, b)) if columns_read(a) <= right and columns_read(b) <= left:
                pairs.append((b, a))
            case _:
                return None
    return Sides(tuple(a for a, _ in pairs), tuple(b for _, b in pairs), tuple(alone[False]), tuple(alone[True]))


def _unless_unique(
    side: Relation, keys: Sequence[Expr], alone: Sequence[Expr], names: Mapping[str, str], span: Span, text: str
) -> list[JoinExpectation]:
    """The expectation that no two rows of `side` agree on `keys`, unless its own keys say so.

    `names` gives the names that people know its columns by, where they differ.
    """
    plain = frozenset(k.name for k in keys if isinstance(k, ColumnRef))
    if side.schema.is_unique(plain):
        return []
    for part in alone:
        side = filter_rows(side, part)
    items: dict[str, Item] = {}
    for number, key in enumerate(dict.fromkeys(keys), start=1):
        wanted = names.get(key.name, key.name) if isinstance(key, ColumnRef) else f"key {number}"
        name = fresh(wanted, items)
        items[name] = Item(name, key)
    return [JoinExpectation(project(side, items.values()), tuple(items), span, text)]
