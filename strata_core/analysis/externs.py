"""`extern fn`: functions that engines have and the catalog has not (`language.md`, "Expressions").

A template is one scalar expression of the engine's SQL, parsed here and put together as a tree: no argument ever
becomes text. It reads nothing but its parameters. Codes: E023, E065 (not deterministic), E070, E072.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..diagnostics import Diagnostic, Report
from ..language import ast
from ..relation.extern import Extern, ExternParameter
from .expressions import CALLABLE
from .names import duplicate, unknown
from .types import Domains, resolve_type

SQL_ENGINES = ("duckdb", "spark")
PYTHON_ENGINES = ("reference", "polars")
ENTRY = r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*"


def resolve_externs(declared: Iterable[ast.Extern], domains: Domains, report: Report) -> dict[str, Extern]:
    """The declared functions by name; one with an error is known by its signature alone."""
    found: dict[str, Extern] = {}
    first: dict[str, ast.Name] = {}
    for extern in declared:
        name = extern.name.text
        if name in first:
            report(duplicate("the function", extern.name, first[name].span, "rename one of the two"))
            continue
        first[name] = extern.name
        if name in CALLABLE:
            message = f"`{name}` is a function of the language"
            report(Diagnostic("E023", message, extern.name.span, fix="give this one another name"))
            continue
        found[name] = _extern(extern, domains, report)
    return found


def _extern(declared: ast.Extern, domains: Domains, report: Report) -> Extern:
    if not declared.deterministic:
        message = f"`{declared.name}` must give equal values for equal arguments"
        fix = "write `deterministic` before the brace if it does; what does not has no place in a model"
        report(Diagnostic("E065", message, declared.name.span, fix=fix))
    parameters: dict[str, ExternParameter] = {}
    for one in declared.parameters:
        name, type_ = one.name.text, resolve_type(one.type, domains, report)
        if name in parameters:
            span = next(p.name.span for p in declared.parameters if p.name.text == name)
            report(duplicate("the parameter", one.name, span, "rename one of the two"))
        parameters[name] = ExternParameter(name, type_, one.type.nonnull)
    bindings: dict[str, str] = {}
    for entry in declared.bindings:
        text = _binding(entry, parameters, report)
        if text is not None:
            bindings[entry.key.text] = text
    if not declared.bindings:
        fix = f'add one, such as `duckdb: "{declared.name}(${next(iter(parameters), "x")})"`'
        report(Diagnostic("E070", f"`{declared.name}` has no translation", declared.name.span, fix=fix))
    type_ = resolve_type(declared.returns, domains, report)
    return Extern(
        declared.name.text, tuple(parameters.values()), type_, declared.nonnull, tuple(sorted(bindings.items()))
    )


def _binding(entry: ast.Entry, parameters: Mapping[str, ExternParameter], report: Report) -> str | None:
    engine = entry.key.text
    if engine not in (*SQL_ENGINES, *PYTHON_ENGINES):
        found = unknown("E070", f"no engine `{engine}`", entry.key, (*SQL_ENGINES, *PYTHON_ENGINES))
        report(found)
        return None
    if not isinstance(entry.value, ast.Literal) or not isinstance(entry.value.value, str):
        report(
            Diagnostic("E070", "a translation stands in double quotes", entry.value.span, fix=f'write `{engine}: "…"`')
        )
        return None
    text = entry.value.value
    if engine in PYTHON_ENGINES:
        if re.fullmatch(ENTRY, text) is None:
            fix = f'write `{engine}: "module:function"`'
            report(Diagnostic("E070", f"`{text}` names no function in Python", entry.value.span, fix=fix))
            return None
        return text
    from ..relation.templates import fault  # sqlglot takes its time, and few projects need it

    problem = fault(text, engine, frozenset(parameters))
    if problem is not None:
        code, message, fix = problem
        report(Diagnostic(code, message, entry.value.span, fix=fix))
        return None
    return text
