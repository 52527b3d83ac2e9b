"""Collects what the modules declare, by name: one namespace for tables (sources and models), one each for
contracts, domains and pipelines. The first of two equal names counts; the second is E023. The namespace is the
project's: an `import` says which module a file relies on, and is checked, but makes no name known that was not.

Declarations that did not parse are kept by name, so that references to them raise no second error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..diagnostics import Report
from ..frozen import dataclass
from ..language import ast
from .names import duplicate


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
    kept: dict[type[object], dict[str, ast.Declaration]] = {kind: {} for kind in NAMESPACES}
    broken: dict[type[object], set[str]] = {kind: set() for kind in NAMESPACES}
    tests: list[ast.Test] = []
    externs: list[ast.Extern] = []
    for module in modules:
        for declaration in module.declarations:
            match declaration:
                case ast.Test():
                    tests.append(declaration)
                case ast.Extern():
                    externs.append(declaration)
                case ast.Broken():
                    kind = WORDS.get(declaration.word)
                    if kind is not None:
                        broken[kind].add(declaration.name.text)
                        first.setdefault((NAMESPACES[kind], declaration.name.text), declaration.name)
                case ast.Import() | ast.Fn() | ast.Generator():
                    pass  # seen before this pass (`imports`, `fn`)
                case _:
                    kind = _kind(declaration)
                    name = declaration.name
                    known = first.setdefault((NAMESPACES[kind], name.text), name)
                    if known is name:
                        kept[kind][name.text] = declaration
                    else:
                        what = f"the {NAMESPACES[kind]}" if kind is not ast.Model else "the table"
                        report(duplicate(what, name, known.span, "rename one of the two"))
    return Declarations(
        sources={n: d for n, d in kept[ast.Source].items() if isinstance(d, ast.Source)},
        models={n: d for n, d in kept[ast.Model].items() if isinstance(d, ast.Model)},
        contracts={n: d for n, d in kept[ast.Contract].items() if isinstance(d, ast.Contract)},
        domains={n: d for n, d in kept[ast.Domain].items() if isinstance(d, ast.Domain)},
        pipelines={n: d for n, d in kept[ast.Pipeline].items() if isinstance(d, ast.Pipeline)},
        tests=tuple(tests),
        externs=tuple(externs),
        broken_models=frozenset(broken[ast.Model]),
        broken_sources=frozenset(broken[ast.Source]),
        broken_contracts=frozenset(broken[ast.Contract]),
        broken_domains=frozenset(broken[ast.Domain]),
    )


def _kind(declaration: ast.Declaration) -> type[object]:
    """Which of the kinds with names it is; one that is kept as text only is of a kind below (`planning.trail`)."""
    kind = type(declaration)
    return kind if kind in NAMESPACES else next(one for one in NAMESPACES if isinstance(declaration, one))
