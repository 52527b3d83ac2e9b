"""Collects what the modules declare, by name: one namespace for tables (sources and models), one each for
contracts, domains and pipelines. The first of two equal names counts; the second is E023. The namespace is the
project's: an `import` says which module a file relies on, and is checked, but makes no name known that was not.

Declarations that did not parse are kept by name, so that references to them raise no second error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..diagnostics import Diagnostic, Report
from ..frozen import dataclass
from ..language import ast
from ..language.names import spelled
from .names import duplicate, unknown


@dataclass(frozen=True, slots=True)
class Declarations:
    """What is declared, in the order of the modules; `broken_…` are the names whose declarations did not parse."""

    sources: Mapping[str, ast.Source]
    models: Mapping[str, ast.Model]
    contracts: Mapping[str, ast.Contract]
    domains: Mapping[str, ast.Domain]
    pipelines: Mapping[str, ast.Pipeline]
    tests: tuple[ast.Test, ...]
    externs: tuple[ast.Extern, ...]
    broken_models: frozenset[str]
    broken_sources: frozenset[str]
    broken_contracts: frozenset[str]
    broken_domains: frozenset[str]

    def no_model(self, name: ast.Name) -> Diagnostic:
        """E027 for `name`, which models are asked for."""
        if name.text in self.sources:
            fix = f"make a model of it: `model checked_{name} {{ from {spelled(name.text)} }}`"
            return Diagnostic("E027", f"`{name}` is a source, and this asks for a model", name.span, fix=fix)
        return unknown("E027", f"no model `{name}`", name, self.models.keys())


NAMESPACES = {
    ast.Source: "table",
    ast.Model: "table",
    ast.Contract: "contract",
    ast.Domain: "domain",
    ast.Pipeline: "pipeline",
}
WORDS = {"source": ast.Source, "model": ast.Model, "contract": ast.Contract, "domain": ast.Domain}


def collect(modules: Sequence[ast.Module], report: Report) -> Declarations:
    """The declarations of `modules`. E023 for a second declaration of a name, E070 for an import of no module."""
    first: dict[tuple[str, str], ast.Name] = {}
    sources: dict[str, ast.Source] = {}
    models: dict[str, ast.Model] = {}
    contracts: dict[str, ast.Contract] = {}
    domains: dict[str, ast.Domain] = {}
    pipelines: dict[str, ast.Pipeline] = {}
    broken: dict[type[object], set[str]] = {kind: set() for kind in NAMESPACES}
    tests: list[ast.Test] = []
    externs: list[ast.Extern] = []

    def is_first(namespace: str, name: ast.Name) -> bool:
        known = first.setdefault((namespace, name.text), name)
        if known is not name:
            report(duplicate(f"the {namespace}", name, known.span, "rename one of the two"))
        return known is name

    for module in modules:
        for declaration in module.declarations:
            match declaration:
                case ast.Model() if is_first("table", declaration.name):
                    models[declaration.name.text] = declaration
                case ast.Contract() if is_first("contract", declaration.name):
                    contracts[declaration.name.text] = declaration
                case ast.Source() if is_first("table", declaration.name):
                    sources[declaration.name.text] = declaration
                case ast.Domain() if is_first("domain", declaration.name):
                    domains[declaration.name.text] = declaration
                case ast.Pipeline() if is_first("pipeline", declaration.name):
                    pipelines[declaration.name.text] = declaration
                case ast.Test():
                    tests.append(declaration)
                case ast.Extern():
                    externs.append(declaration)
                case ast.Broken():
                    kind = WORDS.get(declaration.word)
                    if kind is not None:
                        broken[kind].add(declaration.name.text)
                        first.setdefault((NAMESPACES[kind], declaration.name.text), declaration.name)
                case _:
                    pass  # a second one; or seen before this pass (`imports`, `fn`)
    return Declarations(
        sources,
        models,
        contracts,
        domains,
        pipelines,
        tests=tuple(tests),
        externs=tuple(externs),
        broken_models=frozenset(broken[ast.Model]),
        broken_sources=frozenset(broken[ast.Source]),
        broken_contracts=frozenset(broken[ast.Contract]),
        broken_domains=frozenset(broken[ast.Domain]),
    )
