"""Changes of a model's text that make it keep its contract: a cast, a filter, a missing column put in.

They stand at the statement that chooses the model's columns; where its text cannot say them, nothing is suggested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..contract.model import ContractField, TableContract
from ..diagnostics import Diagnostic
from ..diagnostics.diagnostic import Edit, Suggestion, wrapping
from ..diagnostics.suggest import nearest
from ..frozen import dataclass, replace
from ..language import ast
from ..language.names import spelled
from ..types import castable
from .state import Rows, Surroundings
from .statements import Step, steps

MISSING, MISTYPED, NULLABLE = ("E010", "E013"), "E011", "E012"


def mended(
    found: Sequence[Diagnostic], model: ast.Model, contract: TableContract, around: Surroundings
) -> Iterator[Diagnostic]:
    """`found`, the findings of phase A, each with the changes that mend it."""
    choice = _choice(model, around) if any(_field(d, contract) for d in found) else None
    for finding in found:
        field = _field(finding, contract)
        if field is None or choice is None:
            yield finding
        else:
            yield replace(finding, suggestions=(*finding.suggestions, *_changes(finding.code, field, choice)))


def _field(finding: Diagnostic, contract: TableContract) -> ContractField | None:
    if finding.code not in (*MISSING, MISTYPED, NULLABLE):
        return None
    return contract.by_name.get((finding.field_path or "").removeprefix(f"contracts.{contract.name}."))


@dataclass(frozen=True, slots=True)
class _Choice:
    """The statement that chooses the model's columns, its items by name, and the rows that it is given and leaves."""

    step: Step
    items: Mapping[str, ast.Item]
    before: Rows
    last: Rows


def _choice(model: ast.Model, around: Surroundings) -> _Choice | None:
    taken = [*steps(model, replace(around, report=lambda _: None))]
    for step in reversed(taken):
        items = _outputs(step.statement)
        if items and step.before is not None:
            named = {_name(item): item for item in items if not isinstance(item, ast.Star)}
            return _Choice(step, named, step.before, taken[-1].after)
    return None


def _outputs(statement: ast.Statement) -> tuple[ast.Item, ...]:
    """What a statement chooses; nothing where it chooses no columns."""
    match statement:
        case ast.Select() | ast.Derive() | ast.Aggregate():
            return statement.items
        case ast.Group():
            return tuple(item for part in statement.body if isinstance(part, ast.Aggregate) for item in part.items)
        case _:
            return ()


def _name(item: ast.Assign | ast.ColumnRef) -> str:
    return item.name.text


def _changes(code: str, field: ContractField, choice: _Choice) -> Iterator[Suggestion]:
    item = choice.items.get(field.name)
    if code in MISSING:
        yield from _put_in(field, choice)
    elif code == MISTYPED and item is not None:
        output = choice.last.scope.outputs.get(field.name)
        found = choice.last.relation.schema[output].inferred.type if output is not None else None
        if found is not None and castable(found, field.type):
            yield _around(item, f"cast `{field.name}` to {field.type}", "cast(", f', "{field.type}")')
    elif code == NULLABLE and isinstance(item, ast.ColumnRef) and isinstance(choice.step.statement, ast.Select):
        written = ".".join(spelled(part.text) for part in (item.qualifier, item.name) if part is not None)
        text = f"filter {written} is not none\n  "
        yield Suggestion(f"keep the rows that have `{written}`", (Edit(choice.step.statement.span.start, text),))


def _around(item: ast.Item, title: str, before: str, after: str) -> Suggestion:
    """Something around the expression of an item; a bare one is given its name."""
    if isinstance(item, ast.Assign):
        return wrapping(title, item.expr.span, before, after)
    assert isinstance(item, ast.ColumnRef)
    return wrapping(title, item.span, f"{spelled(item.name.text)} = {before}", after)


def _put_in(field: ContractField, choice: _Choice) -> Iterator[Suggestion]:
    """A missing column: one that is there under a near name, one that could be chosen, or one without a value."""
    name = spelled(field.name)
    near = nearest(field.name, choice.items)
    if near is not None:
        item = choice.items[near]
        edit = Edit(item.span.start, f"{name} = ")
        if isinstance(item, ast.Assign):
            edit = Edit(item.name.span, name)
        yield Suggestion(f"name `{near}` `{field.name}`", (edit,))
    text = next(_readable(field.name, choice.before), None)
    if isinstance(choice.step.statement, ast.Select) and text is not None:
        yield _added(f"add `{text}`", text, choice)
    elif near is None and field.nullable:
        yield _added(f"add `{field.name}` without a value", f'{name} = cast(none, "{field.type}")', choice)


def _readable(name: str, rows: Rows) -> Iterator[str]:
    """How a column of that name can be read in `rows`."""
    if name in rows.scope.lets or name in rows.scope.outputs:
        yield spelled(name)
    yield from (f"{spelled(t)}.{spelled(name)}" for t, columns in rows.scope.tables.items() if name in columns)


def _added(title: str, text: str, choice: _Choice) -> Suggestion:
    last = _outputs(choice.step.statement)[-1]
    return Suggestion(title, (Edit(last.span.end, f", {text}"),))
