"""`union [all]`, `intersect`, `except`: rows combined with those of another table, columns matched by name.

Later statements see the combined rows alone: no table by its name, no `let`, no order. All but `union all` leave no
row twice. Codes: E020, E021 (a column that one side lacks), E051 (rows that cannot be told apart), E054 (types
without a common one).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics import Diagnostic
from ..frozen import dataclass
from ..language import ast
from ..language.names import spelled
from ..relation.build import combine, distinct_rows, project, ref
from ..relation.expressions import coerce
from ..relation.nodes import Item, Relation, SetKind
from ..types import Money, ValueType, least_upper_bound
from .names import listed
from .scope import Scope, Table
from .state import Rows, Surroundings
from .tables import find_table
from .windows import UNORDERED

KINDS = {
    "union": SetKind.UNION_ALL,
    "union all": SetKind.UNION_ALL,
    "intersect": SetKind.INTERSECT,
    "except": SetKind.EXCEPT,
}


@dataclass(frozen=True, slots=True)
class _Shared:
    """A column of both sides: its column on the left and its type in the combined rows."""

    name: str
    left: str
    type: ValueType


def combine_rows(statement: ast.SetOperation, rows: Rows, around: Surroundings) -> Rows:
    """The rows after a set operation."""
    table = find_table(statement.table, around)
    for diagnostic in _unmatched(statement, rows, table):
        around.report(diagnostic)
    shared = [s for s in (_shared(name, statement, rows, table, around) for name in rows.scope.outputs) if s]
    if statement.operator != "union all" and not _distinguishable([s.type for s in shared], statement, around):
        shared = []
    found: dict[str, str | None] = {s.name: s.name for s in shared}
    scope = Scope(
        {name: found.get(name) for name in rows.scope.outputs},
        {},
        complete=rows.scope.complete and table.complete,
        reduced_by=statement.operator,
    )
    spans = {name: rows.spans.get(name, statement.span) for name in scope.outputs}
    relation = _combined(statement, shared, rows.relation, table.relation) if shared else rows.relation
    return Rows(relation, scope, spans=spans, expectations=rows.expectations)


def _combined(statement: ast.SetOperation, shared: list[_Shared], left: Relation, right: Relation) -> Relation:
    ours = project(left, [Item(s.name, coerce(ref(left, s.left), s.type)) for s in shared])
    theirs = project(right, [Item(s.name, coerce(ref(right, s.name), s.type)) for s in shared])
    combined = combine(KINDS[statement.operator], ours, theirs)
    return distinct_rows(combined) if statement.operator == "union" else combined


def _unmatched(statement: ast.SetOperation, rows: Rows, table: Table) -> Iterator[Diagnostic]:
    """E021 for the columns that only one side has."""
    ours, theirs = rows.scope.outputs, table.columns
    lacking = [n for n in ours if n not in theirs]
    surplus = [n for n in theirs if n not in ours]
    word, span = statement.operator, statement.table.span
    if lacking and table.complete:
        message = f"`{statement.table}` has no column {_all(lacking)}, and `{word}` matches columns by name"
        fix = "leave it out here with `select { … }`, or combine with a model that has it"
        yield Diagnostic("E021", message, span, fix=fix, notes=(f"in `{statement.table}` {listed(theirs)}",))
    if surplus and rows.scope.complete:
        message = f"the rows before this `{word}` have no column {_all(surplus)}, which `{statement.table}` has"
        fix = "add it with `derive { … }`, or combine with a model that does not have it"
        yield Diagnostic("E021", message, span, fix=fix)


def _all(names: list[str]) -> str:
    return ", ".join(f"`{n}`" for n in names)


def _shared(name: str, statement: ast.SetOperation, rows: Rows, table: Table, around: Surroundings) -> _Shared | None:
    """The column `name` of both sides; E054 where their types have no common one."""
    left = rows.scope.outputs[name]
    if left is None or name not in table.relation.schema:
        return None
    ours, theirs = rows.relation.schema[left].inferred.type, table.relation.schema[name].inferred.type
    common = least_upper_bound(ours, theirs)
    if common is None:
        message = f"`{name}` is {ours} here and {theirs} in `{statement.table}`"
        column = spelled(name)
        fix = f"cast it on one side: `derive {{ {column} = cast({column}, …) }}`"
        if isinstance(ours, Money) and isinstance(theirs, Money):
            fix = f"convert it on one side: `derive {{ {column} = convert({column}, rate, {theirs.currency}) }}`"
        around.report(Diagnostic("E054", message, statement.table.span, fix=fix))
        return None
    return _Shared(name, left, common)


def _distinguishable(types: list[ValueType], statement: ast.SetOperation, around: Surroundings) -> bool:
    """E051 where rows hold values that cannot be compared."""
    wrong = next((t for t in types if isinstance(t, UNORDERED)), None)
    if wrong is None:
        return True
    message = f"`{statement.operator}` tells rows apart, and {wrong} can be neither ordered nor grouped"
    fix = "leave the column out with `select { … }`"
    if statement.operator == "union":
        fix += ", or keep equal rows with `union all`"
    around.report(Diagnostic("E051", message, statement.span, fix=fix))
    return False
