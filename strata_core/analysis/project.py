"""The whole project: modules in, compiled models out. Time and memory are linear in what is declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeVar

from ..contract.authoring import lint
from ..contract.model import TableContract
from ..diagnostics import Diagnostic, Report, has_errors, in_order
from ..frozen import replace
from ..language import ast
from ..relation.build import scan
from ..relation.extern import Extern
from .compiled import CompiledModel, CompiledProject, Source
from .declarations import Declarations, collect
from .externs import resolve_externs
from .fields import table_contract
from .fn.expansion import expand
from .fn.told import misplaced, told
from .imports import check_imports
from .memory import Kept, Memory, recall
from .model import Outcome, compile_model
from .order import order, reads
from .pipelines import resolve_pipelines
from .scope import Table
from .sources import resolve_source
from .state import Surroundings
from .tables import promised_table
from .tests import Tests, resolve_tests
from .types import Domains, resolve_domains

V = TypeVar("V")
Reads = Mapping[str, ast.Name]
Contracts = Mapping[str, TableContract | None]
_Contract = tuple[TableContract, tuple[Diagnostic, ...]]
_Source = tuple[Source, Table, tuple[Diagnostic, ...]]
_Tests = tuple[Tests, tuple[Diagnostic, ...]]

UNREAD = Table(scan("", ()), complete=False)
"""Stands for a model that is not compiled yet; models are compiled after those that they read."""


def compile_project(modules: Sequence[ast.Module]) -> CompiledProject:
    """Compile everything that `modules` declare. An error breaks its own model and those that read it, no other."""
    return recompile(modules, Memory())[0]


def recompile(modules: Sequence[ast.Module], before: Memory) -> tuple[CompiledProject, Memory]:
    """As `compile_project`, with what an earlier compilation left: the result is the same, and only what differs
    since, and what that reaches, is computed. Trees that did not change are the same objects (`parse_module`)."""
    found: list[Diagnostic] = []
    check_imports(modules, found.append)
    expanded = expand(modules, before.calls, found.append)
    declared = collect(expanded.modules, found.append)
    domains = _domains(declared, before, found.append)
    contracts, kept_contracts = _contracts(declared, domains, before, found)
    read = {name: recall(before.reads.get(name), m, (), partial(reads, m)) for name, m in declared.models.items()}
    sources, tables, kept_sources = _sources(declared, domains, read, before, found)
    now = resolve_externs(declared.externs, domains, found.append)
    externs = {name: _equal_or(before.externs.get(name), extern) for name, extern in now.items()}
    models, broken, kept_models = _models(declared, domains, externs, contracts, read, sources, tables, before, found)
    found += told({name: kept.result.diagnostics for name, kept in kept_models.items()}, expanded.origins)
    pipelines = resolve_pipelines(declared, found.append)
    tests = _tests(declared, domains, externs, models, tables, before, found)
    if expanded.functions:
        found = misplaced(found, expanded.functions)
    compiled = CompiledProject(
        models,
        sources,
        {name: contract for name, contract in contracts.items() if contract is not None},
        pipelines,
        frozenset(broken),
        in_order(found),
        tuple(expectation for kept in tests for expectation in kept.result[0].expectations),
        tuple(unit for kept in tests for unit in kept.result[0].units),
    )
    return compiled, Memory(
        domains, kept_contracts, kept_sources, read, tables, kept_models, tests, expanded.calls, externs
    )


def _domains(declared: Declarations, before: Memory, report: Report) -> Domains:
    """The type behind each domain: the same object as before where it is an equal one."""
    domains = resolve_domains(declared.domains, declared.broken_domains, report)
    return {name: _equal_or(before.domains.get(name), type_) for name, type_ in domains.items()}


def _contracts(
    declared: Declarations, domains: Domains, before: Memory, found: list[Diagnostic]
) -> tuple[dict[str, TableContract | None], dict[str, Kept[_Contract]]]:
    """The contracts by name; `None` where the declaration did not parse."""

    def resolved(declaration: ast.Contract, domains: Domains) -> _Contract:
        own: list[Diagnostic] = []
        span = declaration.span
        contract = table_contract(declaration.name.text, declaration.fields, domains, own.append, span=span)
        return contract, (*own, *lint(contract))

    contracts: dict[str, TableContract | None] = dict.fromkeys(declared.broken_contracts)
    kept: dict[str, Kept[_Contract]] = {}
    for name, declaration in declared.contracts.items():
        kept[name] = recall(before.contracts.get(name), declaration, (domains,), partial(resolved, declaration))
        contracts[name], own = kept[name].result
        found += own
    return contracts, kept


def _sources(
    declared: Declarations,
    domains: Domains,
    read: Mapping[str, Kept[Reads]],
    before: Memory,
    found: list[Diagnostic],
) -> tuple[dict[str, Source], dict[str, Table], dict[str, Kept[_Source]]]:
    """The sound sources, and all sources as models read them."""

    def resolved(declaration: ast.Source, domains: Domains, wanted: Mapping[str, bool]) -> _Source:
        own: list[Diagnostic] = []
        name = declaration.name.text
        source, table = resolve_source(declaration, domains, own.append)
        if declaration.columns is None and name in wanted:
            message = f"the source `{name}` declares no columns, so nothing can be read from it"
            fix = "declare them: `columns: { order_id: int64 nonnull primary_key, … }`"
            own.append(Diagnostic("E070", message, declaration.name.span, fix=fix))
        if has_errors(own):
            table = Table(table.relation, table.unresolved, complete=False)
        return source, table, tuple(own)

    sources: dict[str, Source] = {}
    tables = {n: _equal_or(before.tables.get(n), _unknown_table(n)) for n in sorted(declared.broken_sources)}
    wanted = {table: True for kept in read.values() for table in kept.result}
    kept: dict[str, Kept[_Source]] = {}
    for name, declaration in declared.sources.items():
        make = partial(resolved, declaration)
        kept[name] = recall(before.sources.get(name), declaration, (domains, wanted), make)
        source, tables[name], own = kept[name].result
        found += own
        if not has_errors(own):
            sources[name] = source
    return sources, tables, kept


def _models(
    declared: Declarations,
    domains: Domains,
    externs: Mapping[str, Extern],
    contracts: Mapping[str, TableContract | None],
    read: Mapping[str, Kept[Reads]],
    sources: Mapping[str, Source],
    tables: dict[str, Table],
    before: Memory,
    found: list[Diagnostic],
) -> tuple[dict[str, CompiledModel], set[str], dict[str, Kept[Outcome]]]:
    """The sound models, the names of the broken ones, and of all what came of them. Adds all of them to `tables`."""

    def compiled(
        model: ast.Model,
        contracts: Contracts,
        tables: Mapping[str, Table],
        domains: Domains,
        externs: Mapping[str, Extern],
    ) -> Outcome:
        around = Surroundings(tables, domains, None, found.append, externs=externs)
        return compile_model(model, contracts, around)

    ordered = order(declared.models, {name: kept.result for name, kept in read.items()}, found.append)
    broken: set[str] = set(declared.broken_models)
    # All names are known from the start: what is near a misspelt one does not depend on the order.
    tables |= dict.fromkeys(ordered.names, UNREAD)
    tables |= {name: _equal_or(before.tables.get(name), _unknown_table(name)) for name in sorted(broken)}
    for name in ordered.knotted:
        tables[name] = _promised(declared.models[name], contracts)
    models: dict[str, CompiledModel] = {}
    kept: dict[str, Kept[Outcome]] = {}
    for name in ordered.names:
        model = declared.models[name]
        one = kept[name] = recall(
            before.models.get(name), model, (contracts, tables, domains, externs), partial(compiled, model)
        )
        outcome = one.result
        sound = all(table in sources or table in models for table in read[name].result)
        table = outcome.table
        if outcome.compiled is not None and sound:
            models[name] = outcome.compiled
        else:
            broken.add(name)
            table = Table(table.relation, table.unresolved, complete=False)
        tables[name] = _equal_or(before.tables.get(name), table)
    return models, broken, kept


def _tests(
    declared: Declarations,
    domains: Domains,
    externs: Mapping[str, Extern],
    models: Mapping[str, CompiledModel],
    tables: Mapping[str, Table],
    before: Memory,
    found: list[Diagnostic],
) -> tuple[Kept[_Tests], ...]:
    """The sound tests of sound models, a result for each declaration."""

    def resolved(
        test: ast.Test,
        declarations: Mapping[str, ast.Model],
        broken: Mapping[str, bool],
        models: Mapping[str, CompiledModel],
        tables: Mapping[str, Table],
        domains: Domains,
        externs: Mapping[str, Extern],
    ) -> _Tests:
        own: list[Diagnostic] = []
        around = Surroundings(tables, domains, None, own.append, externs=externs)
        its_model = frozenset({test.name.text}) if test.name.text in broken else frozenset()
        alone = replace(declared, tests=(test,), models=declarations, broken_models=its_model)
        return resolve_tests(alone, models, around), tuple(own)

    known = {id(kept.declaration): kept for kept in before.tests}
    given = (declared.models, dict.fromkeys(declared.broken_models, True), models, tables, domains, externs)
    tests = tuple(recall(known.get(id(test)), test, given, partial(resolved, test)) for test in declared.tests)
    found += (diagnostic for kept in tests for diagnostic in kept.result[1])
    return tests


def _unknown_table(name: str) -> Table:
    """A table of which nothing is known but its name."""
    return Table(scan(name, ()), complete=False)


def _equal_or(before: V | None, now: V) -> V:
    """The object from before where it equals the new one, so that what was made from it need not be made again."""
    return before if before is now or (before is not None and before == now) else now


def _promised(model: ast.Model, contracts: Mapping[str, TableContract | None]) -> Table:
    """A model that cannot be compiled before those that read it: its contract says what is known of it."""
    contract = contracts.get(model.contract.text) if model.contract is not None else None
    if contract is None:
        return Table(scan(model.name.text, ()), complete=False)
    return promised_table(model.name.text, contract, complete=False)
