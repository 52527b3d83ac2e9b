"""Which names a statement sees, and which column of the relation each one means (`language.md`, "Statements").

A relation's columns have internal names that no one writes: a column of the left side keeps its own, one of a
joined table `t` is `t.c`, a `let` is `let x`. `None` in place of a column says that its error was reported.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from itertools import chain

from ..diagnostics import Diagnostic, Report
from ..diagnostics.diagnostic import replacement
from ..frozen import dataclass, field
from ..language import ast
from ..language.names import spelled
from ..relation.nodes import Relation
from .names import listed, unknown

Columns = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Clocks:
    """The columns by which a source tells since when a row is valid, until when, and since when it was available.

    `one_vintage` says that of a row that was restated one vintage alone is read.
    """

    valid_from: str | None = None
    valid_to: str | None = None
    available_time: str | None = None
    one_vintage: bool = False


NO_CLOCKS = Clocks()


@dataclass(frozen=True, slots=True)
class Table:
    """What can be read under a table's name: the relation, and columns of it whose own error was reported.

    Where the table is not `complete`, it may have further columns: names that are not found are no error.
    """

    relation: Relation
    unresolved: frozenset[str] = frozenset()
    complete: bool = True
    clocks: Clocks = NO_CLOCKS

    @property
    def columns(self) -> dict[str, str | None]:
        """The table's columns by name."""
        known: dict[str, str | None] = {name: name for name in self.relation.schema.names}
        return known | dict.fromkeys(sorted(self.unresolved))


@dataclass(frozen=True, slots=True)
class Scope:
    """The visible names. `outputs` are the bare ones, in order; `lets` are hidden and shadow them. Those in `loose`
    may differ where all else agrees, since columns that they were made of are gone.

    `tables` gives the columns that can be reached as `t.c`; `incomplete` names the tables of which more columns
    may exist, and `complete` says the same of the outputs. `closed` says why a table can no longer be reached.
    `reduced_by` is the last statement that left columns behind.
    """

    outputs: Columns
    tables: Mapping[str, Columns]
    lets: Columns = field(default_factory=dict)
    loose: frozenset[str] = frozenset()
    complete: bool = True
    incomplete: frozenset[str] = frozenset()
    closed: Mapping[str, str] = field(default_factory=dict)
    reduced_by: str | None = None

    @property
    def columns(self) -> frozenset[str]:
        """The columns of the relation that some name still means."""
        parts = (self.outputs, self.lets, *self.tables.values())
        return frozenset(filter(None, chain.from_iterable(part.values() for part in parts)))


def scope_of(table: Table, name: str) -> Scope:
    """What is visible after `from table as name`."""
    columns = table.columns
    incomplete = frozenset() if table.complete else frozenset({name})
    return Scope(columns, {name: columns}, complete=table.complete, incomplete=incomplete)


def resolve(scope: Scope, ref: ast.ColumnRef, report: Report) -> str | None:
    """The column that `ref` means, or `None` where that is or was reported: E020, E021 or E022."""
    name = ref.name.text
    if ref.qualifier is not None:
        columns = table_columns(scope, ref.qualifier, report)
        if columns is None:
            return None
        if name in columns:
            return columns[name]
        if ref.qualifier.text not in scope.incomplete:
            report(_unknown_in_table(scope, ref, ref.qualifier.text, columns))
        return None
    for part in (scope.lets, scope.outputs):
        if name in part:
            return part[name]
    if scope.complete:
        report(_unknown_bare(scope, ref))
    return None


def table_columns(scope: Scope, qualifier: ast.Name, report: Report) -> Columns | None:
    """The columns of the table in scope that `qualifier` names; E020 where there is none."""
    if qualifier.text in scope.tables:
        return scope.tables[qualifier.text]
    if qualifier.text in scope.closed:
        message = f"`{qualifier}` cannot be read here: {scope.closed[qualifier.text]}"
        report(Diagnostic("E020", message, qualifier.span, fix="use `join_left` or `join_inner` to read its columns"))
        return None
    if not scope.tables and scope.reduced_by is not None:
        message = f"`{qualifier}` cannot be read here: after `{scope.reduced_by}` rows belong to no table"
        report(Diagnostic("E020", message, qualifier.span, fix="write the column's name alone"))
        return None
    missing = unknown("E020", f"no table `{qualifier}` is read here", qualifier, [*scope.tables])
    if qualifier.text in scope.lets or qualifier.text in scope.outputs:
        column = spelled(qualifier.text)
        message = f"`{qualifier}` is a column, and a point stands behind a table"
        fix = f'read a part of it by a call: `struct_get({column}, "…")`, or `json_value({column}, "…")` of json'
        missing = Diagnostic("E020", message, qualifier.span, fix=fix)
    report(missing)
    return None


def _unknown_bare(scope: Scope, ref: ast.ColumnRef) -> Diagnostic:
    name = ref.name.text
    holders = [table for table, columns in scope.tables.items() if name in columns]
    if len(holders) > 1:
        either = " or ".join(f"`{h}.{name}`" for h in holders)
        changes = tuple(replacement(ref.span, f"{spelled(h)}.{spelled(name)}") for h in holders)
        message = f"`{name}` is ambiguous"
        return Diagnostic("E022", message, ref.span, label=f"{either}?", fix=f"write {either}", suggestions=changes)
    if holders:
        written = f"{holders[0]}.{name}"
        message = f"`{name}` is a column of the joined table `{holders[0]}`"
        change = replacement(ref.span, f"{spelled(holders[0])}.{spelled(name)}")
        label = f"did you mean `{written}`?"
        return Diagnostic("E021", message, ref.span, label=label, fix=f"write `{written}`", suggestions=(change,))
    if name.lower() in WORDS:
        word = name.lower()
        change = replacement(ref.span, word)
        return Diagnostic("E021", f"no column `{name}`", ref.span, fix=f"write `{word}`", suggestions=(change,))
    return unknown("E021", f"no column `{name}`{_reduced(scope)}", ref.name, [*scope.lets, *scope.outputs])


WORDS = frozenset({"true", "false", "none", "null"})
"""Constants, which other languages write with capitals."""


def _unknown_in_table(scope: Scope, ref: ast.ColumnRef, table: str, columns: Columns) -> Diagnostic:
    if scope.reduced_by is None:
        return unknown("E021", f"`{table}` has no column `{ref.name}`", ref.name, columns)
    message = f"`{table}.{ref.name}` is not among the columns{_reduced(scope)}"
    fix = f"add it to the `{scope.reduced_by}`"
    if ref.name.text in scope.outputs:
        fix = f"write `{ref.name}`"
    return Diagnostic("E021", message, ref.span, fix=fix, notes=(listed([*scope.outputs]),))


def _reduced(scope: Scope) -> str:
    return f" after `{scope.reduced_by}`" if scope.reduced_by else ""


def fresh(name: str, taken: Container[str]) -> str:
    """`name`, or the first of `name~2`, `name~3` … that is not taken."""
    candidate, count = name, 1
    while candidate in taken:
        count += 1
        candidate = f"{name}~{count}"
    return candidate
