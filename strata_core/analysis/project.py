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
from ..types import ValueType
from .compiled import CompiledModel, CompiledProject, Source, Tests
from .declarations import Declarations, collect
from .externs import resolve_externs
from .fields import table_contract
from .fn.expansion import expand
from .fn.told import misplaced, told
from .imports import check_imports
from .memory import Given, Ground, Kept, Memory, differing, recall
from .model import Outcome, compile_model
from .order import Order, order, reads
from .pipelines import resolve_pipelines
from .scope import Table
from .sources import no_columns, resolve_source
from .state import Surroundings
from .tables import promised_table
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
    given_domains = Given(domains, before.domains)
    contracts, kept_contracts = _contracts(declared, given_domains, before, found)
    ground = Ground()
    read = {name: recall(before.reads.get(name), m, ground, partial(reads, m)) for name, m in declared.models.items()}
    wanted = {table: True for kept in read.values() for table in kept.result}
    sources, tables, kept_sources = _sources(declared, given_domains, Given(wanted, before.wanted), before, found)
    now = resolve_externs(declared.externs, domains, found.append)
    externs = {name: _equal_or(before.externs.get(name), extern) for name, extern in now.items()}
    given = (Given(contracts, before.promised), given_domains, Given(externs, before.externs))
    ordered = _order(declared, read, before, found.append)
    models, broken, given_tables, kept_models = _models(
        declared, ordered, given, read, sources, tables, before, found.append
    )
    found += told({name: kept.result.diagnostics for name, kept in kept_models.items()}, expanded.origins)
    pipelines = resolve_pipelines(declared, found.append)
    unsound = dict.fromkeys(declared.broken_models, True)
    tests = _tests(declared, unsound, models, (given_tables, *given[1:]), before, found)
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
        domains=domains,
        contracts=kept_contracts,
        sources=kept_sources,
        reads=read,
        tables=tables,
        models=kept_models,
        tests=tests,
        calls=expanded.calls,
        externs=externs,
        promised=contracts,
        wanted=wanted,
        order=ordered,
        declared=declared.models,
        unsound=unsound,
        sound=models,
    )


def _domains(declared: Declarations, before: Memory, report: Report) -> Domains:
    """The type behind each domain: the same object as before where it is an equal one."""
    domains = resolve_domains(declared.domains, declared.broken_domains, report)
    return {name: _equal_or(before.domains.get(name), type_) for name, type_ in domains.items()}


def _contracts(
    declared: Declarations, domains: Given[ValueType], before: Memory, found: list[Diagnostic]
) -> tuple[dict[str, TableContract | None], dict[str, Kept[_Contract]]]:
    """The contracts by name; `None` where the declaration did not parse."""

    def resolved(declaration: ast.Contract, domains: Domains) -> _Contract:
        own: list[Diagnostic] = []
        span = declaration.span
        contract = table_contract(declaration.name.text, declaration.fields, domains, own.append, span=span)
        return contract, (*own, *lint(contract))

    contracts: dict[str, TableContract | None] = dict.fromkeys(declared.broken_contracts)
    kept: dict[str, Kept[_Contract]] = {}
    ground = Ground(domains)
    for name, declaration in declared.contracts.items():
        kept[name] = recall(before.contracts.get(name), declaration, ground, partial(resolved, declaration))
        contracts[name], own = kept[name].result
        found += own
    return contracts, kept


def _sources(
    declared: Declarations, domains: Given[ValueType], wanted: Given[bool], before: Memory, found: list[Diagnostic]
) -> tuple[dict[str, Source], dict[str, Table], dict[str, Kept[_Source]]]:
    """The sound sources, and all sources as models read them."""

    def resolved(declaration: ast.Source, domains: Domains, wanted: Mapping[str, bool]) -> _Source:
        own: list[Diagnostic] = []
        name = declaration.name.text
        source, table = resolve_source(declaration, domains, own.append)
        if declaration.columns is None and name in wanted:
            own.append(no_columns(declaration))
        if has_errors(own):
            table = Table(table.relation, table.unresolved, complete=False, clocks=table.clocks)
        return source, table, tuple(own)

    sources: dict[str, Source] = {}
    tables = {n: _equal_or(before.tables.get(n), _unknown_table(n)) for n in sorted(declared.broken_sources)}
    kept: dict[str, Kept[_Source]] = {}
    ground = Ground(domains, wanted)
    for name, declaration in declared.sources.items():
        kept[name] = recall(before.sources.get(name), declaration, ground, partial(resolved, declaration))
        source, tables[name], own = kept[name].result
        found += own
        if not has_errors(own):
            sources[name] = source
    return sources, tables, kept


def _order(declared: Declarations, read: Mapping[str, Kept[Reads]], before: Memory, report: Report) -> Order:
    """The order of the models: as it was where they read what they read before, none of them in a circle."""
    if [*read] == [*before.reads] and len(before.order.names) == len(read) and not before.order.knotted:
        others = differing(read, before.reads)
        if all(read[name].result.keys() == before.reads[name].result.keys() for name in others):
            return before.order
    return order(declared.models, {name: kept.result for name, kept in read.items()}, report)


def _models(
    declared: Declarations,
    ordered: Order,
    given: tuple[Given[TableContract | None], Given[ValueType], Given[Extern]],
    read: Mapping[str, Kept[Reads]],
    sources: Mapping[str, Source],
    tables: dict[str, Table],
    before: Memory,
    report: Report,
) -> tuple[dict[str, CompiledModel], set[str], Given[Table], dict[str, Kept[Outcome]]]:
    """The sound models, the names of the broken ones, all tables, and what came of each model. Adds all of them to
    `tables`. `given` are contracts, domains and declared functions."""

    def compiled(
        model: ast.Model,
        tables: Mapping[str, Table],
        contracts: Contracts,
        domains: Domains,
        externs: Mapping[str, Extern],
    ) -> Outcome:
        around = Surroundings(tables, domains, None, report, externs=externs)
        return compile_model(model, contracts, around)

    broken: set[str] = set(declared.broken_models)
    # All names are known from the start: what is near a misspelt one does not depend on the order.
    tables |= dict.fromkeys(ordered.names, UNREAD)
    tables |= {name: _equal_or(before.tables.get(name), _unknown_table(name)) for name in sorted(broken)}
    for name in ordered.knotted:
        tables[name] = _promised(declared.models[name], given[0].values)
    # The tables of models follow one by one, each before it is asked for; those on cycles are told as changed.
    changed = differing(tables, before.tables).difference(declared.models) | ordered.knotted | before.order.knotted
    given_tables = Given(tables, before.tables, changed)
    ground = Ground(given_tables, *given)
    models: dict[str, CompiledModel] = {}
    sound = {*sources}
    kept: dict[str, Kept[Outcome]] = {}
    for name in ordered.names:
        model = declared.models[name]
        one = kept[name] = recall(before.models.get(name), model, ground, partial(compiled, model))
        outcome = one.result
        table = outcome.table
        if outcome.compiled is not None and sound.issuperset(read[name].result):
            models[name] = outcome.compiled
            sound.add(name)
        else:
            broken.add(name)
            table = Table(table.relation, table.unresolved, complete=False, clocks=table.clocks)
        known = before.tables.get(name)
        tables[name] = table = _equal_or(known, table)
        if table is not known:
            changed.add(name)
    return models, broken, given_tables, kept


def _tests(
    declared: Declarations,
    unsound: Mapping[str, bool],
    models: Mapping[str, CompiledModel],
    given: tuple[Given[Table], Given[ValueType], Given[Extern]],
    before: Memory,
    found: list[Diagnostic],
) -> tuple[Kept[_Tests], ...]:
    """The sound tests of sound models, a result for each declaration. `given` are tables, domains and declared
    functions."""
    if not declared.tests:
        return ()
    from .tests import resolve_tests  # with unit tests and what these read, which a project without tests does not need

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
    about = (Given(declared.models, before.declared), Given(unsound, before.unsound), Given(models, before.sound))
    ground = Ground(*about, *given)
    tests = tuple(recall(known.get(id(test)), test, ground, partial(resolved, test)) for test in declared.tests)
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
