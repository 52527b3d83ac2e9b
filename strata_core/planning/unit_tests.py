"""Unit tests, run: each model is computed from literal tables alone, without a source, a store or a disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from ..analysis.compiled import CompiledModel, CompiledProject, LiteralRows, UnitTest
from ..analysis.scope import fresh
from ..diagnostics import Diagnostic, StrataError
from ..engines.protocol import ArrowTable, Engine, TableInput
from ..frozen import dataclass, replace
from ..relation.build import project, ref, sort_rows, total_order
from ..relation.nodes import Item, Relation, tables
from ..relation.schema import Column, Schema
from .applying.pinning import unmet_expectations
from .literals import aligned, spelled
from .plan import unknown_model
from .testing import asked

if TYPE_CHECKING:
    from ..engines.reference.values import Key, Value

MOST_ROWS = 20
"""Rows of each kind that a failing test shows."""
WIDEST = 100
"""Characters of a cell that it shows."""


@dataclass(frozen=True, slots=True)
class UnitTested:
    """A unit test that ran, and what is wrong: E089 (other rows), E086 (an expectation), E087 (a join's), or the
    fault of the computation."""

    test: UnitTest
    violations: tuple[Diagnostic, ...]


def run_unit_tests(compiled: CompiledProject, engine: Engine, models: Collection[str] = ()) -> tuple[UnitTested, ...]:
    """Run the unit tests of `models` (all by default). Raises `StrataError` E027 for an unknown model."""
    for name in models:
        if name not in compiled.models:
            raise StrataError(unknown_model(name, compiled))
    return tuple(_ran(t, compiled, engine) for t in compiled.unit_tests if not models or t.model in models)


def _ran(test: UnitTest, compiled: CompiledProject, engine: Engine) -> UnitTested:
    try:
        return UnitTested(test, tuple(_violations(test, compiled, engine)))
    except StrataError as error:
        found = (d if d.span is not None else replace(d, span=test.span) for d in error.diagnostics)
        return UnitTested(test, tuple(found))


def _violations(test: UnitTest, compiled: CompiledProject, engine: Engine) -> Iterator[Diagnostic]:
    nothing: dict[str, frozenset[str]] = dict.fromkeys([*compiled.models, *compiled.sources], frozenset())
    inputs: dict[str, TableInput] = {name: _given(name, rows, compiled) for name, rows in test.given.items()}
    for name in test.through:
        model = compiled.models[name]
        read = {n: inputs[n] for n in model.upstream if n in inputs}
        if unmet := unmet_expectations(engine, model, read, nothing):
            yield from unmet
            return
        inputs[name] = _table(engine, model.relation, model.relation.schema, read)
    model = compiled.models[test.model]
    if test.expected is not None:
        made = _made(model, test.expected, engine, inputs)
        fault = _other_rows(test, test.expected, made) or _other_order(test, test.expected, made)
        if fault is not None:
            yield fault
    for expectation in test.expectations:
        read = {name: inputs[name] for name in tables(expectation.broken) if name in inputs}
        violation = asked(engine, expectation, read, frozenset()).violation
        if violation is not None:
            yield violation


def _given(name: str, rows: LiteralRows, compiled: CompiledProject) -> ArrowTable:
    """The rows as a table; columns that are left out are null, and those that are never null are not read."""
    source = compiled.sources.get(name)
    declared = source.columns if source is not None else compiled.models[name].relation.schema.columns
    at = {c.name: i for i, c in enumerate(rows.columns)}
    columns = tuple(c for c in declared if c.name in at or c.inferred.nullable or not rows.rows)
    return _arrow([[row[at[c.name]] if c.name in at else None for c in columns] for row in rows.rows], columns)


def _arrow(rows: Sequence[Sequence[Value]], columns: tuple[Column, ...]) -> ArrowTable:
    from ..engines.reference.engine import arrow_rows

    return ArrowTable(arrow_rows(rows, Schema(columns)), columns)


def _table(engine: Engine, relation: Relation, schema: Schema, inputs: dict[str, TableInput]) -> ArrowTable:
    with closing(engine.execute(relation, {n: inputs[n] for n in tables(relation)})) as reader:
        return ArrowTable(reader.read_all(), schema.columns)


@dataclass(frozen=True, slots=True)
class _Made:
    """The rows that the model makes, in the columns that are compared. `runs` says how many rows each follow one
    another that the model's `sort` does not tell apart; there is none where it does not sort."""

    rows: list[list[Value]]
    runs: tuple[int, ...]


def _made(model: CompiledModel, expected: LiteralRows, engine: Engine, inputs: dict[str, TableInput]) -> _Made:
    from ..engines.reference.values import group_key

    relation = model.relation
    names = list(relation.schema.names)
    keys: list[Item] = []
    for key in model.order:
        keys.append(Item(fresh("sort key", [*names, *(k.name for k in keys)]), key.expr))
    with_keys = project(relation, [*(Item(n, ref(relation, n)) for n in names), *keys])
    ordered = sort_rows(with_keys, total_order(model.order, with_keys.schema))
    data = _table(engine, ordered, ordered.schema, inputs).data
    rows = _rows(ArrowTable(data.select([c.name for c in expected.columns]), expected.columns))
    if not keys:
        return _Made(rows, ())
    runs: list[int] = []
    last: Key | None = None
    for values in _rows(ArrowTable(data.select([k.name for k in keys]), ())):
        key_of = group_key(values)
        runs = [*runs[:-1], runs[-1] + 1] if key_of == last else [*runs, 1]
        last = key_of
    return _Made(rows, tuple(runs))


def _rows(table: ArrowTable) -> list[list[Value]]:
    columns = [column.to_pylist(maps_as_pydicts="strict") for column in table.data.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def _other_rows(test: UnitTest, expected: LiteralRows, made: _Made) -> Diagnostic | None:
    """E089 where the rows differ, whatever their order, with the rows that only one side has."""
    from ..engines.reference.values import group_key

    wanted = _rows(_arrow(expected.rows, expected.columns))
    surplus = Counter(map(group_key, made.rows)) - Counter(map(group_key, wanted))
    lacking = Counter(map(group_key, wanted)) - Counter(map(group_key, made.rows))
    if not surplus and not lacking:
        return None
    shown = [("-", row) for row in _taken(wanted, lacking)] + [("+", row) for row in _taken(made.rows, surplus)]
    parts = [
        f"{count:,} {'row is' if count == 1 else 'rows are'} {what}"
        for count, what in ((lacking.total(), "missing"), (surplus.total(), "not expected"))
        if count
    ]
    lines = aligned([[c.name for c in expected.columns], *([shortened(spelled(v)) for v in row] for _, row in shown)])
    signs = [" ", *(sign for sign, _ in shown)]
    notes = [f"{sign} {line}" for sign, line in zip(signs, lines, strict=True)]
    left_out = lacking.total() + surplus.total() - len(shown)
    if left_out:
        notes.append(f"and {left_out:,} more")
    fix = "mend the model, or expect what it should make (`-` is expected and missing, `+` is made and not expected)"
    message = f"{_named(test)}: {' and '.join(parts)}"
    return Diagnostic("E089", message, expected.span, fix=fix, notes=tuple(notes))


def _taken(rows: list[list[Value]], which: Counter[Key]) -> Iterator[list[Value]]:
    """Rows of these kinds, in the order they have, not more than are shown."""
    from ..engines.reference.values import group_key

    left, shown = Counter(which), 0
    for row in rows:
        key = group_key(row)
        if left[key] > 0 and shown < MOST_ROWS:
            left[key] -= 1
            shown += 1
            yield row


def _other_order(test: UnitTest, expected: LiteralRows, made: _Made) -> Diagnostic | None:
    """E089 where the same rows stand in another order than the model's `sort` allows."""
    from ..engines.reference.values import group_key

    wanted = [group_key(row) for row in _rows(_arrow(expected.rows, expected.columns))]
    start = 0
    for run in made.runs:
        found = made.rows[start : start + run]
        left = Counter(map(group_key, found))
        for number in range(start, start + run):
            if left[wanted[number]] == 0:
                message = f"{_named(test)}: the rows are as expected, but row {number + 1} stands elsewhere"
                row = ", ".join(f"{c.name} = {spelled(v)}" for c, v in zip(expected.columns, found[0], strict=True))
                notes = (f"the model sorts, and makes here {row}",)
                fix = "expect the rows in the order that the model gives them"
                return Diagnostic("E089", message, expected.spans[number], fix=fix, notes=notes)
            left[wanted[number]] -= 1
        start += run
    return None


def shortened(text: str) -> str:
    """A cell as a report shows it."""
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def _named(test: UnitTest) -> str:
    return f"`{test.model}` fails {test.title!r}" if test.title else f"`{test.model}` fails a unit test"
