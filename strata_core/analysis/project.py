"""The whole project: modules in, compiled models out. Time and memory are linear in what is declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..contract.authoring import lint
from ..contract.model import TableContract
from ..diagnostics import Diagnostic, Report, has_errors, in_order
from ..language import ast
from ..relation.build import scan
from .compiled import CompiledModel, CompiledProject, Pipeline, Resource, Source
from .declarations import Declarations, collect
from .fields import table_contract
from .model import compile_model
from .names import unknown
from .order import order, reads
from .scope import Table
from .sources import resolve_resource, resolve_source
from .state import Surroundings
from .tables import promised_table
from .tests import resolve_tests
from .types import Domains, resolve_domains


def compile_project(modules: Sequence[ast.Module]) -> CompiledProject:
    """Compile everything that `modules` declare. An error breaks its own model and those that read it, no other."""
    found: list[Diagnostic] = []
    declared = collect(modules, found.append)
    domains = resolve_domains(declared.domains, declared.broken_domains, found.append)
    contracts = _contracts(declared, domains, found.append)
    sources, tables = _sources(declared, domains, found)
    models, broken = _models(declared, domains, contracts, sources, tables, found)
    pipelines = {n: _pipeline(p, declared, found.append) for n, p in declared.pipelines.items()}
    tests = resolve_tests(declared, models, Surroundings(tables, domains, None, found.append))
    return CompiledProject(
        models,
        sources,
        {name: contract for name, contract in contracts.items() if contract is not None},
        pipelines,
        frozenset(broken),
        in_order(found),
        tests.expectations,
        tests.units,
    )


def _contracts(declared: Declarations, domains: Domains, report: Report) -> dict[str, TableContract | None]:
    """The contracts by name; `None` where the declaration did not parse."""
    contracts: dict[str, TableContract | None] = dict.fromkeys(declared.broken_contracts)
    for name, declaration in declared.contracts.items():
        contract = table_contract(name, declaration.fields, domains, report, span=declaration.span)
        contracts[name] = contract
        for diagnostic in lint(contract):
            report(diagnostic)
    return contracts


def _sources(
    declared: Declarations, domains: Domains, found: list[Diagnostic]
) -> tuple[dict[str, Source], dict[str, Table]]:
    """The sound sources, and all sources as models read them."""
    sources: dict[str, Source] = {}
    tables = {name: Table(scan(name, ()), complete=False) for name in sorted(declared.broken_sources)}
    read = {table for model in declared.models.values() for table in reads(model)}
    for name, declaration in declared.sources.items():
        own: list[Diagnostic] = []
        source, table = resolve_source(declaration, domains, own.append)
        if declaration.columns is None and name in read:
            message = f"the source `{name}` declares no columns, so nothing can be read from it"
            fix = "declare them: `columns: { order_id: int64 nonnull primary_key, … }`"
            own.append(Diagnostic("E070", message, declaration.name.span, fix=fix))
        found += own
        if has_errors(own):
            tables[name] = Table(table.relation, table.unresolved, complete=False)
        else:
            sources[name], tables[name] = source, table
    return sources, tables


def _models(
    declared: Declarations,
    domains: Domains,
    contracts: Mapping[str, TableContract | None],
    sources: Mapping[str, Source],
    tables: dict[str, Table],
    found: list[Diagnostic],
) -> tuple[dict[str, CompiledModel], set[str]]:
    """The sound models, and the names of the broken ones."""
    ordered = order(declared.models, found.append)
    broken: set[str] = set(declared.broken_models)
    tables |= {name: Table(scan(name, ()), complete=False) for name in sorted(broken)}
    for name in ordered.names:
        if name in ordered.knotted:
            tables[name] = _promised(declared.models[name], contracts)
    around = Surroundings(tables, domains, None, found.append)
    models: dict[str, CompiledModel] = {}
    for name in ordered.names:
        model = declared.models[name]
        outcome = compile_model(model, contracts, around)
        found += outcome.diagnostics
        sound = all(table in sources or table in models for table in reads(model))
        if outcome.compiled is not None and sound:
            models[name] = outcome.compiled
            tables[name] = outcome.table
        else:
            broken.add(name)
            tables[name] = Table(outcome.table.relation, outcome.table.unresolved, complete=False)
    return models, broken


def _promised(model: ast.Model, contracts: Mapping[str, TableContract | None]) -> Table:
    """A model that cannot be compiled before those that read it: its contract says what is known of it."""
    contract = contracts.get(model.contract.text) if model.contract is not None else None
    if contract is None:
        return Table(scan(model.name.text, ()), complete=False)
    return promised_table(model.name.text, contract, complete=False)


def _pipeline(declared: ast.Pipeline, known: Declarations, report: Report) -> Pipeline:
    """E027 for a model, E020 for a source that does not exist."""
    models: dict[str, None] = {}
    for name in declared.models:
        if name.text in known.models:
            models[name.text] = None
        elif name.text not in known.broken_models:
            report(unknown("E027", f"no model `{name}`", name, known.models.keys()))
    sources: dict[str, Resource] = {}
    for override in declared.sources:
        name = override.source
        if name.text not in known.sources:
            if name.text not in known.broken_sources:
                report(unknown("E020", f"no source `{name}`", name, known.sources.keys()))
        elif override.resource:
            sources[name.text] = resolve_resource(name.text, override.resource, report)
    env = declared.env.text if declared.env else None
    return Pipeline(declared.name.text, env, tuple(models), sources, declared.span)
