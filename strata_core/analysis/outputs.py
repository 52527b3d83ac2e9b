"""The items of `select`, `derive` and `aggregate`: stars expanded, names found, expressions typed.

A star is expanded here, against the columns that are visible, and never later (Seed 0 §4 rule 6).
Codes: E021 (`except` of no column), E023 (two outputs of one name), E055.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from ..contract.model import TableContract
from ..diagnostics import Report
from ..frozen import dataclass
from ..language import ast
from ..relation.build import ref
from ..relation.expressions import Expr, Literal, coerce
from ..relation.nodes import Relation
from ..types import Decimal, Unknown, widens
from ..types.functions.operands import decimal_of
from .expressions import Context, expression, unresolved
from .names import duplicate, unknown
from .scope import Scope, fresh, table_columns
from .state import Rows, Surroundings, context
from .windows import compute_windows


@dataclass(frozen=True, slots=True)
class Choice:
    """One output as chosen: an expression, or a column (`None`: in error) that a star gave."""

    name: ast.Name
    node: ast.Expr | None
    column: str | None = None
    bare: bool = True


@dataclass(frozen=True, slots=True)
class Output:
    """One output as computed; `expr` is `None` where it is in error. `bare` items are written without `name =`."""

    name: ast.Name
    expr: Expr | None
    bare: bool


def choices(items: Sequence[ast.Item], scope: Scope, report: Report) -> list[Choice]:
    """What `items` choose, in order; E023 for the second of two outputs with one name."""
    chosen: dict[str, Choice] = {}
    for item in items:
        match item:
            case ast.Star():
                found = _star(item, scope, report)
            case ast.ColumnRef():
                found = [Choice(ast.Name(item.name.text, item.span), item)]
            case ast.Assign():
                found = [Choice(item.name, item.expr, bare=False)]
        for one in found:
            first = chosen.setdefault(one.name.text, one)
            if first is not one:
                fix = "rename one of the two"
                if isinstance(item, ast.Star) or first.node is None:
                    star = f"{item.qualifier}.*" if isinstance(item, ast.Star) and item.qualifier else "*"
                    fix += f", or leave it out of the star: `{star} except {{ {one.name} }}`"
                report(duplicate("the output", one.name, first.name.span, fix))
    return list(chosen.values())


def _star(star: ast.Star, scope: Scope, report: Report) -> list[Choice]:
    columns = scope.outputs if star.qualifier is None else table_columns(scope, star.qualifier, report)
    if columns is None:
        return []
    open_ended = not scope.complete if star.qualifier is None else star.qualifier.text in scope.incomplete
    excluded = {name.text for name in star.excluded}
    for name in star.excluded:
        if name.text not in columns and not open_ended:
            report(unknown("E021", f"`{name}` is no column of the star", name, columns))
    return [Choice(ast.Name(n, star.span), None, c) for n, c in columns.items() if n not in excluded]


def complete(items: Sequence[ast.Item], scope: Scope) -> bool:
    """Whether `items` name all their columns: a star over an incomplete table does not."""
    stars = [i for i in items if isinstance(i, ast.Star)]
    return all(scope.complete if s.qualifier is None else s.qualifier.text not in scope.incomplete for s in stars)


def compute(chosen: Sequence[Choice], rows: Rows, around: Surroundings, place: str) -> tuple[Relation, list[Output]]:
    """The outputs, over `rows` with the columns of the windows in them."""
    nodes = [c.node for c in chosen if c.node is not None]
    relation, windows = compute_windows(nodes, rows, context(rows, around, place))
    reader = context(rows, around, place, windows)
    return relation, [Output(c.name, _value(c, relation, reader, around.contract), c.bare) for c in chosen]


def _value(choice: Choice, relation: Relation, reader: Context, contract: TableContract | None) -> Expr | None:
    if choice.node is None:
        return None if choice.column is None else ref(relation, choice.column)
    value = expression(choice.node, reader)
    if isinstance(value, Literal) and contract is not None and choice.name.text in contract:
        value = _promised(value, contract, choice.name.text)
    if value is not None and isinstance(value.inferred.type, Unknown):
        reader.report(unresolved(choice.node.span))
        return None
    return value


def _promised(value: Literal, contract: TableContract, name: str) -> Expr:
    """A literal takes the type that the contract promises, where nothing is lost (`language.md`, "Widening")."""
    type_ = contract[name].type
    match value.value:
        case None:
            return coerce(value, type_)
        case bool():
            return value
        case int() | float() as number if isinstance(type_, Decimal):
            exact = decimal_of(number)
            return coerce(value, type_) if exact is not None and widens(exact, type_) else value
        case _:
            return value


def internal_names(outputs: Sequence[Output], taken: Set[str]) -> Mapping[str, str]:
    """A column name for each output that is not in error: its own, unless a column that is kept bears it."""
    names: dict[str, str] = {}
    used = set(taken)
    for output in outputs:
        if output.expr is not None:
            names[output.name.text] = fresh(output.name.text, used)
            used.add(names[output.name.text])
    return names
