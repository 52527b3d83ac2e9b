"""The expectations of `test` blocks, asked of the published tables of an environment through the engine."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from contextlib import closing

from ..analysis.compiled import Expectation
from ..contract.assertions import MOST_SAMPLES
from ..contract.report import shown_row
from ..diagnostics import Diagnostic, StrataError
from ..engines.protocol import Engine, ParquetTable, TableInput
from ..frozen import dataclass
from ..relation.build import aggregate_rows, limit_rows
from ..relation.expressions import aggregate
from ..relation.nodes import AggregateItem, Relation, tables
from ..store.environments import EnvironmentVersion
from .environments import not_published
from .hidden import hidden_columns
from .plan import unknown_model
from .workspace import Workspace


@dataclass(frozen=True, slots=True)
class Tested:
    """One expectation on the data: how many rows break it, and E086 where some do; a few of them as they are shown,
    none of an expectation about the table as a whole."""

    expectation: Expectation
    broken: int
    violation: Diagnostic | None
    samples: tuple[str, ...] = ()


def run_tests(workspace: Workspace, engine: Engine, models: Collection[str] = ()) -> tuple[Tested, ...]:
    """Ask the expectations of `models` (all by default) of what is live in the workspace's environment.

    Raises `StrataError` E027 for an unknown model, E095 where a table is not published, or with other columns than
    it has now, E03x for a source that cannot be read, and the faults of the engine.
    """
    compiled = workspace.compiled
    for name in models:
        if name not in compiled.models:
            raise StrataError(unknown_model(name, compiled))
    hidden = hidden_columns(compiled)
    live = workspace.store.environment(workspace.environment).head()
    wanted = [e for e in compiled.expectations if not models or e.model in models]
    inputs: dict[str, TableInput] = {}
    for name in sorted({t for e in wanted for t in tables(e.broken)}):
        inputs[name] = _input(workspace, name, live)
    return tuple(asked(engine, e, inputs, hidden[e.model]) for e in wanted)


def _input(workspace: Workspace, name: str, live: EnvironmentVersion) -> TableInput:
    if name in workspace.compiled.sources:
        if name in workspace.missing:
            raise workspace.missing[name]
        return workspace.sources[name].table
    pointer = live.models.get(name)
    if pointer is None:
        raise StrataError(not_published(name, workspace.environment))
    artifact = workspace.store.artifact(name, pointer)
    columns = workspace.compiled.models[name].relation.schema.columns
    if {c.name for c in columns} != {f.name for f in artifact.manifest.schema}:
        message = f"`{name}` is published with other columns than it has now"
        raise StrataError(Diagnostic("E095", message, fix=f"run `strata apply {name}`"))
    return ParquetTable(artifact.paths, columns)


def asked(engine: Engine, one: Expectation, inputs: Mapping[str, TableInput], hidden: Set[str]) -> Tested:
    """One expectation asked of the rows in `inputs`; values of `hidden` columns are not shown."""
    read = {name: inputs[name] for name in tables(one.broken)}
    ((broken,),) = (row.values() for row in _rows(engine, _count(one.broken), read))
    assert isinstance(broken, int)
    if broken == 0:
        return Tested(one, 0, None)
    rows = "a row breaks" if broken == 1 else f"{broken:,} rows break"
    message = f"the table `{one.model}` breaks this" if one.whole else f"{rows} this expectation of `{one.model}`"
    samples = () if one.whole else _samples(engine, one, read, hidden)
    notes = (f"for instance {'; '.join(samples)}",) if samples else ()
    fix = "mend the model or its data, or expect what is meant"
    return Tested(one, broken, Diagnostic("E086", message, one.span, fix=fix, notes=notes), samples)


def _count(relation: Relation) -> Relation:
    return aggregate_rows(relation, (), [AggregateItem("rows", aggregate("count", grouped=False))])


def _samples(engine: Engine, one: Expectation, inputs: Mapping[str, TableInput], hidden: Set[str]) -> tuple[str, ...]:
    """A few of the rows, the values of hidden columns left out."""
    rows = _rows(engine, limit_rows(one.broken, (), 0, MOST_SAMPLES), inputs)
    return tuple(shown_row(row, hidden) for row in rows)


def _rows(engine: Engine, relation: Relation, inputs: Mapping[str, TableInput]) -> list[dict[str, object]]:
    with closing(engine.execute(relation, inputs)) as reader:
        rows: list[dict[str, object]] = reader.read_all().to_pylist()
    return rows
