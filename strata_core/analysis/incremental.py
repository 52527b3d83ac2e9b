"""`incremental { strategy: upsert, key: [a], cursor: c }`: what has to hold so that later rows can be added to those
that are live (`language.md`, "Statements").

Each row of an incremental model comes from one row of the table that it begins with, and its cursor from a column of
that table, unchanged. Then the rows beyond the greatest cursor so far are those of the table's rows beyond it, and
all others stay as they were while nothing else changes. An upsert keeps of each key the row with the greatest
cursor, whether it is computed in full or not. Codes: E021, E051, E071.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnostics import Diagnostic, Report
from ..language import ast
from ..language.names import spelled
from ..relation.build import filter_rows, project, ref, window_rows
from ..relation.expressions import SortKey, call, literal, window
from ..relation.nodes import Item, Project, Relation, Scan, WindowItem, walk_relation
from ..relation.schema import Origin, Transform
from ..types import Date, Decimal, Int64, String, Timestamp
from .compiled import Incremental
from .names import unknown
from .scope import fresh
from .walk import expressions_of, windows_in
from .windows import UNORDERED

CURSORS = Int64 | Decimal | Date | Timestamp | String
"""The types of a cursor: values in a total order, without a NaN."""
SHORT = "an incremental model makes each of its rows from one row of the table that it begins with"


def incremental_of(
    written: Sequence[ast.Incremental], model: ast.Model, output: Project, report: Report
) -> Incremental | None:
    """How `model`, whose outputs are `output`, can be added to, as the statements `written` ask; None where what they
    ask for cannot be, which is reported."""
    statement, found = written[0], list[Diagnostic]()
    if len(written) > 1:
        fix = "keep one of the two"
        found.append(Diagnostic("E071", "a model is incremental in one way", written[1].span, fix=fix))
    if statement.strategy == "replace":
        _report(found, report)
        return None
    _check_rows(model, found.append)
    _check_keys(statement, output, found.append)
    origin = _origin(statement, model, output, found.append) if not found else None
    _report(found, report)
    if found or origin is None or statement.cursor is None:
        return None
    if sum(isinstance(n, Scan) and n.table == origin.node for n in walk_relation(output)) > 1:
        message = f"{SHORT}, and this one reads `{origin.node}` twice"
        fix = "compute what it needs of its own table in another model, or leave out `incremental`"
        report(Diagnostic("E071", message, statement.span, fix=fix))
        return None
    keys = tuple(k.text for k in statement.keys)
    return Incremental(statement.strategy, keys, statement.cursor.text, origin.node, origin.column, output)


def latest(rows: Relation, keys: tuple[str, ...], cursor: str) -> Project:
    """Of the rows that agree on `keys` the one with the greatest cursor; the keys are a key of the result."""
    number = fresh("latest", rows.schema.names)
    order = (SortKey(ref(rows, cursor), descending=True),)
    call_ = window("row_number", partition=tuple(ref(rows, k) for k in keys), order=order)
    numbered = window_rows(rows, [WindowItem(number, call_)])
    first = filter_rows(numbered, call("eq", ref(numbered, number), literal(1)))
    return project(first, [Item(n, ref(first, n)) for n in rows.schema.names])


def _report(found: list[Diagnostic], report: Report) -> None:
    for diagnostic in found:
        report(diagnostic)


def _check_keys(statement: ast.Incremental, output: Project, report: Report) -> None:
    named = output.schema.by_name
    if statement.strategy == "upsert" and not statement.keys:
        fix = "name them: `key: [order_id]`"
        report(
            Diagnostic("E071", "an `upsert` replaces rows by their keys, and there are none", statement.span, fix=fix)
        )
    if statement.strategy == "append" and statement.keys:
        fix = "write `strategy: upsert`, or leave the key out"
        report(
            Diagnostic("E071", "an `append` replaces no rows, so that it has no key", statement.keys[0].span, fix=fix)
        )
    for key in statement.keys:
        if key.text not in named:
            report(unknown("E021", f"the output has no column `{key}`", key, named.keys()))
        elif isinstance(named[key.text].inferred.type, UNORDERED):
            message = f"{named[key.text].inferred.type} can be neither ordered nor grouped"
            report(Diagnostic("E051", message, key.span, fix="name a column of simple values"))
        elif named[key.text].inferred.nullable:
            message = f"`{key}` may be null, and a null is no key"
            fix = f"leave such rows out: `filter {spelled(key.text)} is not none`"
            report(Diagnostic("E071", message, key.span, fix=fix))


def _origin(statement: ast.Incremental, model: ast.Model, output: Project, report: Report) -> Origin | None:
    """The column of the first table that the cursor is."""
    cursor, named = statement.cursor, output.schema.by_name
    begins = next((s.table.text for s in model.statements if isinstance(s, ast.From)), None)
    if cursor is None:
        fix = "name a column that grows from row to row: `cursor: placed`"
        report(Diagnostic("E071", f"`{statement.strategy}` needs a cursor", statement.span, fix=fix))
        return None
    if cursor.text not in named:
        report(unknown("E021", f"the output has no column `{cursor}`", cursor, named.keys()))
        return None
    column = named[cursor.text]
    if not isinstance(column.inferred.type, CURSORS):
        message = f"a cursor is compared, and `{cursor}` is {column.inferred.type}"
        fix = "name a column of int64, decimal, date, timestamp or string"
        report(Diagnostic("E071", message, cursor.span, fix=fix))
        return None
    read = _passed_on(output, cursor.text)
    if read is None or read.node != begins or read.joined:
        message = f"the cursor `{cursor}` is not a column of `{begins}` as it stands there"
        fix = f"pass a column of `{begins}` on, and name it here"
        report(Diagnostic("E071", message, cursor.span, fix=fix))
        return None
    return read


def _passed_on(output: Project, name: str) -> Origin | None:
    """The origin of a column that no step but a renaming has touched."""
    origins = output.schema[name].origins
    if len(origins) != 1 or origins[0].transform not in (Transform.PASSTHROUGH, Transform.RENAMED):
        return None
    return origins[0]


def _check_rows(model: ast.Model, report: Report) -> None:
    """E071 for the statements by which a row depends on others."""
    for statement in model.statements:
        word: str | None = None
        match statement:
            case ast.Group() | ast.Aggregate() | ast.Dedup() | ast.Take():
                word = f"`{type(statement).__name__.lower()}`"
            case ast.SetOperation():
                word = f"`{statement.operator}`"
            case ast.Join(kind="full"):
                word = "`join_full`"
            case ast.Derive() | ast.Select():
                windows = windows_in(expressions_of(statement.items))
                word = "a window" if next(windows, None) is not None else None
            case _:
                pass
        if word is not None:
            fix = "move it into a model that reads this one, or leave out `incremental`"
            report(Diagnostic("E071", f"{SHORT}, and {word} looks at several", statement.span, fix=fix))
            return
