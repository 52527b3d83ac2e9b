"""One model: its statements, its contract (phase A) and what is left of it for the run.

Codes: E021, E051 and E055 to E064 of the parts, E010 to E015 of the contract, E024, E070, E071, W006; lints
(`lints.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..contract.authoring import Conformance, conform
from ..contract.model import TableContract
from ..diagnostics import Diagnostic, Severity, has_errors
from ..folder_names import NAME_RULE, names_a_folder
from ..frozen import dataclass, replace
from ..language import ast
from ..relation.build import project, ref
from ..relation.expressions import SortKey, coerce, columns_read
from ..relation.nodes import Item, Project, Relation
from ..relation.schema import Column, Schema
from ..types import UNKNOWN, Date, Float64, Inferred, Int64, Timestamp, Unknown, ValueType
from .compiled import CompiledModel, Incremental
from .fields import freshness_of
from .lints import lints
from .names import duplicate, unknown
from .order import reads
from .scope import Table
from .sources import entries
from .state import Rows, Surroundings, over_names
from .statements import last_rows, steps
from .tables import model_table, promised_table
from .windows import UNORDERED

if TYPE_CHECKING:
    from ..periods import Periods

MAX_STATEMENTS = 50
"""Statements beyond which a model is made canonical at once: values that nest too deep are not compared or pickled."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A model as its readers see it (`table`); `compiled` only where it has no error of its own."""

    table: Table
    compiled: CompiledModel | None
    diagnostics: tuple[Diagnostic, ...]


def compile_model(model: ast.Model, contracts: Mapping[str, TableContract | None], around: Surroundings) -> Outcome:
    """Compile one model against the tables in `around`; a contract that is `None` was reported."""
    found: list[Diagnostic] = []
    _check_name(model.name, found)
    contract, known = _contract(model, contracts, found)
    within = replace(around, contract=contract, report=found.append, model=model.name.text)
    walked = [*steps(model, within)]
    rows = last_rows(model, walked, within)
    freshness = next((s for s in model.statements if isinstance(s, ast.Freshness)), None)
    age = freshness_of(freshness, found.append)
    name = model.name.text
    made = _output(rows)
    output, incremental = _added_to(model, made, found) if rows.scope.complete else (made, None)
    partition = _partition(model, output, contract, found) if rows.scope.complete else ()
    if freshness is not None and freshness.column is not None and rows.scope.complete:
        _check_instant(freshness.column, output, found)
    conformance = _conformance(model, output, rows, contract) if contract is not None else None
    if conformance is not None and contract is not None:
        if conformance.diagnostics:
            from .mending import mended

            found += mended(conformance.diagnostics, model, contract, around)
        _check_cursor(model, incremental, conformance, found)
    if not rows.scope.outputs and rows.scope.complete and not has_errors(found):
        message = f"the model `{model.name}` has no columns"
        found.append(Diagnostic("E071", message, model.name.span, fix="choose some with `select { … }`"))
    if has_errors(found) or not known or not rows.scope.complete or None in rows.scope.outputs.values():
        table = promised_table(name, contract, complete=False) if contract is not None else _partial(name, output, rows)
        return Outcome(table, None, tuple(found))
    casts = conformance.casts if conformance is not None else {}
    relation: Relation = _widened(output, casts)
    if len(model.statements) > MAX_STATEMENTS:
        relation = _canonical(relation)
    if incremental is not None:
        incremental = replace(incremental, rows=_canonical(_widened(made, casts)))
    order = _order(rows, found)
    periods = _periods(model, relation, partition, incremental, found)
    if has_errors(found):
        return Outcome(model_table(name, relation, contract), None, tuple(found))
    found += lints(model, walked)
    compiled = CompiledModel(
        name,
        relation,
        order,
        contract,
        conformance.assertions if conformance is not None else (),
        conformance.proofs if conformance is not None else (),
        tuple(replace(e, relation=_canonical(e.relation)) for e in rows.expectations),
        tuple(reads(model)),
        entries(model.attributes),
        age,
        model.span,
        model.name.span,
        incremental,
        partition,
        periods,
    )
    return Outcome(model_table(name, relation, contract), compiled, tuple(found))


# What few models ask for is loaded by those that do: an edited model is checked in the time in which modules load.


def _canonical(relation: Relation) -> Relation:
    from ..relation.canonical import canonical

    return canonical(relation)


def _added_to(model: ast.Model, made: Project, found: list[Diagnostic]) -> tuple[Project, Incremental | None]:
    """The rows of the table, `made` are those that are computed; and how it can be added to, if the model asks so."""
    if not (written := [s for s in model.statements if isinstance(s, ast.Incremental)]):
        return made, None
    from .incremental import incremental_of, latest

    incremental = incremental_of(written, model, made, found.append)
    return latest(made, incremental.keys, incremental.cursor) if incremental and incremental.keys else made, incremental


def _periods(
    model: ast.Model,
    output: Relation,
    partition: tuple[str, ...],
    incremental: Incremental | None,
    found: list[Diagnostic],
) -> Periods | None:
    if not any(entry.key.text.startswith("partition_") for entry in model.attributes):
        return None
    from .partitions import periods_of

    return periods_of(model, output, partition, incremental, found.append)


def _check_name(name: ast.Name, found: list[Diagnostic]) -> None:
    """E070: a model's rows lie in a folder of its name."""
    if not names_a_folder(name.text):
        message = f"`{name}` cannot name a model, since its rows lie in a folder of that name"
        found.append(Diagnostic("E070", message, name.span, fix=f"use {NAME_RULE}"))


def _check_instant(column: ast.Name, output: Relation, found: list[Diagnostic]) -> None:
    """E021, E070: the age of a model is told by a date or timestamp among its columns."""
    named = {c.name: c.inferred.type for c in output.schema.columns}
    if column.text not in named:
        found.append(unknown("E021", f"the model has no column `{column}`", column, named.keys()))
    elif not isinstance(named[column.text], Date | Timestamp | Unknown):
        message = f"freshness is told by a date or timestamp, but `{column}` is {named[column.text]}"
        found.append(Diagnostic("E070", message, column.span, fix="name a date or timestamp column"))


def _check_cursor(
    model: ast.Model, incremental: Incremental | None, conformance: Conformance, found: list[Diagnostic]
) -> None:
    """E071: the cursor has the type of the table's column, since the two are compared."""
    if incremental is not None and (promised := conformance.casts.get(incremental.cursor)) is not None:
        message = f"the contract promises the cursor `{incremental.cursor}` as {promised}, and a cursor stays as it is"
        found.append(Diagnostic("E071", message, model.name.span, fix="promise the type that it has"))


def _contract(
    model: ast.Model, contracts: Mapping[str, TableContract | None], found: list[Diagnostic]
) -> tuple[TableContract | None, bool]:
    """The model's contract, and whether what it promises is known."""
    if model.contract is None:
        return None, True
    if model.contract.text not in contracts:
        found.append(unknown("E024", f"no contract `{model.contract}`", model.contract, contracts.keys()))
        return None, False
    contract = contracts[model.contract.text]
    return contract, contract is not None


def _partition(
    model: ast.Model, output: Project, contract: TableContract | None, found: list[Diagnostic]
) -> tuple[str, ...]:
    """The columns that the table is laid out by: those of the statement, else those that the contract marks. E021,
    E023, E051, E071."""
    statements = [s for s in model.statements if isinstance(s, ast.PartitionBy)]
    for again in statements[1:]:
        fix = "name all columns in one list"
        found.append(Diagnostic("E071", "a table is laid out in one way", again.span, fix=fix))
    named: dict[str, ast.Name] = {}
    for column in statements[0].columns if statements else ():
        match column:
            case ast.ColumnRef(name=name) if name.text in named:
                found.append(duplicate("the column", name, named[name.text].span, "write it once"))
            case ast.ColumnRef(name=name) if name.text in output.schema:
                named[name.text] = name
            case ast.ColumnRef(name=name):
                names = output.schema.names
                found.append(unknown("E021", f"the output has no column `{name}`", name, names))
            case _:
                message = "a table is laid out by its columns"
                found.append(Diagnostic("E071", message, column.span, fix="derive a column, and name it here"))
    promised = tuple(f.name for f in contract.fields if f.partition_by) if contract is not None else ()
    if statements and promised and (*named,) != promised:
        message = f"the contract lays the table out by {', '.join(f'`{p}`' for p in promised)}"
        fix = "name the same columns in the same order, or leave one of the two out"
        found.append(Diagnostic("E071", message, statements[0].span, fix=fix))
    columns = (*named,) if statements else tuple(p for p in promised if p in output.schema)
    for name_ in columns:
        type_ = output.schema[name_].inferred.type
        if isinstance(type_, UNORDERED | Float64):
            span = named[name_].span if name_ in named else model.name.span
            fix = "name a column of int64, decimal, string, bool, date or timestamp"
            found.append(Diagnostic("E051", f"{type_} tells no partitions apart", span, fix=fix))
    return columns


def _output(rows: Rows) -> Project:
    """Exactly the outputs that are not in error, under their names."""
    items = [Item(n, ref(rows.relation, c)) for n, c in rows.scope.outputs.items() if c is not None]
    return project(rows.relation, items)


def _conformance(model: ast.Model, output: Project, rows: Rows, contract: TableContract) -> Conformance:
    """Phase A. Columns in error, or behind an error upstream, take part as columns of unknown type."""
    schema = output.schema
    silent = [n for n, c in rows.scope.outputs.items() if c is None]
    if not rows.scope.complete:
        silent += [n for n in contract.names if n not in rows.scope.outputs]
    unresolved = tuple(Column(n, Inferred(UNKNOWN, nullable=True)) for n in silent)
    # Large integers run together as floats, so a key that is promised as one is left for the pin.
    rounded = {n for n in contract.names if n in schema and _rounds(schema[n], contract[n].type)}
    keys = frozenset(key for key in schema.keys if not key & rounded)
    span = model.contract.span if model.contract else model.name.span
    return conform(Schema((*schema.columns, *unresolved), keys, schema.edges), contract, span, rows.spans)


def _rounds(column: Column, promised: ValueType) -> bool:
    return isinstance(column.inferred.type, Int64) and isinstance(promised, Float64)


def _widened(output: Project, casts: Mapping[str, ValueType]) -> Project:
    """The output with the contract's types; a cast that widens changes neither lineage nor, but for floats, keys."""
    if not casts:
        return output
    items = [replace(i, expr=coerce(i.expr, casts[i.name])) if i.name in casts else i for i in output.items]
    cast = project(output.input, items)
    before = output.schema
    columns = tuple(replace(c, origins=before[c.name].origins) for c in cast.schema.columns)
    floats = {name for name, type_ in casts.items() if isinstance(type_, Float64)}
    keys = cast.schema.keys | {key for key in before.keys if not key & floats}
    return replace(cast, schema=Schema(columns, frozenset(keys), before.edges))


def _partial(name: str, output: Project, rows: Rows) -> Table:
    """What is known of a broken model without a contract."""
    known = model_table(name, output, None)
    unresolved = frozenset(n for n, c in rows.scope.outputs.items() if c is None)
    return Table(known.relation, unresolved, complete=False)


def _order(rows: Rows, found: list[Diagnostic]) -> tuple[SortKey, ...]:
    """The order in terms of the outputs, as far as they hold what it needs; W006 where a `sort` is lost."""
    names: dict[str, str] = {}
    for name, column in rows.scope.outputs.items():
        names.setdefault(column or "", name)
    kept: list[SortKey] = []
    for key in rows.order:
        if not columns_read(key.expr) <= names.keys():
            if rows.sorted_at is not None:
                message = "the order is not kept: the output lacks a column that the `sort` needs"
                fix = "sort by columns of the output, or follow the `sort` with a `take`"
                found.append(Diagnostic("W006", message, rows.sorted_at, Severity.WARNING, fix=fix))
            break
        kept.append(replace(key, expr=over_names(key.expr, names)))
    return tuple(kept)
