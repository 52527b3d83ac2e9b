"""Making the outline of a project from its compilation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...analysis.compiled import CompiledModel, CompiledProject, Source
from ...contract.model import TableContract
from ...frozen import replace
from ...relation.schema import Column
from ..fingerprints import fingerprints
from ..partitions.pieces import within
from ..project import SUFFIX, Project, compile_
from .outline import ColumnOutline, ModelOutline, Outline, SourceOutline


def make_outline(project: Project) -> Outline:
    """The outline of `project`, compiled."""
    compiled = compile_(project)
    prints = fingerprints(compiled)
    roots = project.config.models
    units, expected = (Counter(t.model for t in of) for of in (compiled.unit_tests, compiled.expectations))
    models = {
        name: replace(
            _model(compiled.models[name], compiled, own.merkle, roots),
            unit_tests=units[name],
            expectations=expected[name],
        )
        for name, own in prints.items()
    }
    sources = {name: _source(source) for name, source in compiled.sources.items()}
    return Outline(models, sources, compiled.diagnostics, tuple(sorted(compiled.broken)))


def module_name(file: str, roots: Sequence[str]) -> str:
    """The dotted name of a module: its path below the folder of models that it lies in.

    >>> module_name("models/finance/revenue.strata", ["models"]), module_name("orders.strata", ["orders.strata"])
    ('finance.revenue', 'orders')
    """
    inside = [root for root in roots if file.startswith(f"{root.rstrip('/')}/")]
    below = file.removeprefix(f"{max(inside, key=len).rstrip('/')}/") if inside else file
    return below.removesuffix(SUFFIX).replace("/", ".")


def _source(source: Source) -> SourceOutline:
    """To those who read it, a source's column comes from itself; here it comes from nowhere."""
    where = source.resource
    columns = tuple(replace(c, origins=()) for c in _columns(source.columns, source.contract))
    return SourceOutline(source.name, where.kind, where.location, columns, source.description, source.span)


def _model(model: CompiledModel, project: CompiledProject, fingerprint: str, roots: Sequence[str]) -> ModelOutline:
    contract = model.contract
    attributes = {key: str(value) for key, value in model.attributes.items() if value is not None}
    return ModelOutline(
        model.name,
        module_name(model.span.file, roots),
        fingerprint,
        contract.name if contract else None,
        _columns(model.relation.schema.columns, contract or TableContract(model.name, ())),
        model.upstream,
        attributes,
        attributes.get("description") or (contract.description if contract else None),
        model.span,
        model.periods,
        _own_time(model, project),
    )


def _own_time(model: CompiledModel, project: CompiledProject) -> tuple[str, ...]:
    """The models with partitions of time of which a partition of `model` reads those of its time alone."""
    if model.periods is None:
        return ()
    bounded = within(model, model.periods.at(model.periods.bounds.start)).bounded
    above = {name: project.models[name].periods for name in model.upstream if name in project.models}
    return tuple(name for name, periods in above.items() if periods is not None and bounded.get(name) == periods.column)


def _columns(columns: Sequence[Column], contract: TableContract) -> tuple[ColumnOutline, ...]:
    return tuple(_column(column, contract) for column in columns)


def _column(column: Column, contract: TableContract) -> ColumnOutline:
    type_, nullable = str(column.inferred.type), column.inferred.nullable
    origins = tuple(dict.fromkeys((o.node, o.column) for o in column.origins))
    promised = contract.by_name.get(column.name)
    if promised is None:
        return ColumnOutline(column.name, type_, nullable, origins=origins)
    return ColumnOutline(
        column.name,
        type_,
        nullable and promised.nullable,
        promised.unique,
        promised.primary_key,
        promised.protected,
        promised.enum or (),
        promised.classification,
        promised.description,
        origins,
    )
