"""Texts to compiled projects, and what tests say about them."""

from __future__ import annotations

from strata_core.analysis import CompiledModel, CompiledProject, compile_project
from strata_core.diagnostics import Diagnostic, Severity
from strata_core.language.parser import parse_module

SOURCES = """
source orders(csv: "orders.csv") {
  columns: {
    order_id: int64 primary_key,
    customer_id: int64,
    country: string enum {ES, MX, CO},
    amount: decimal(10,2) nonnull,
    total: money(EUR) nonnull,
    usd: money(USD),
    placed: date,
    at: timestamp,
    paid: bool nonnull,
    note: string,
    tags: array(string),
    weight: float64,
  }
}
source customers(parquet: "customers") {
  columns: { customer_id: int64 primary_key, email: string nonnull, country: string, since: date }
}
source visits(duckdb: "visits.duckdb", table: "v") {
  columns: { customer_id: int64, page: string nonnull, country: string }
}
"""


def project(text: str, *more: str, sources: str = SOURCES) -> CompiledProject:
    """The project of `sources` and further modules; they must parse."""
    modules = []
    for number, module in enumerate((sources, text, *more)):
        parsed = parse_module(module, f"m{number}.strata")
        assert not parsed.diagnostics, parsed.diagnostics
        modules.append(parsed.module)
    return compile_project(modules)


def model(body: str, *, contract: str = "", sources: str = SOURCES) -> CompiledModel:
    """The one model `m` of that body, which must be sound."""
    compiled = project(text_of(body, contract), sources=sources)
    errors = [d for d in compiled.diagnostics if d.blocks]
    assert not errors, errors
    return compiled.models["m"]


def text_of(body: str, contract: str = "") -> str:
    promise = f"contract C {{ {contract} }}\n" if contract else ""
    return f"{promise}model m{' -> contract C' if contract else ''} {{ {body} }}"


def outputs(body: str, **rest: str) -> dict[str, str]:
    """The outputs of a model, each as its type and nullability are spelled."""
    return {c.name: str(c.inferred) for c in model(body, **rest).relation.schema.columns}


def findings(
    body: str, contract: str = "", *, severity: Severity = Severity.ERROR, sources: str = SOURCES
) -> list[Diagnostic]:
    """The diagnostics of a model `m` of that body, of one severity."""
    compiled = project(text_of(body, contract), sources=sources)
    return [d for d in compiled.diagnostics if d.severity is severity]


def marked(text: str, diagnostic: Diagnostic) -> str:
    """The stretch of a one-file text that a diagnostic marks."""
    span = diagnostic.span
    assert span is not None
    lines = text.split("\n")[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "\n".join(lines)


def finding(body: str, contract: str = "", *, severity: Severity = Severity.ERROR) -> tuple[str, str, str, str]:
    """The only diagnostic of a model: its code, the text it marks, its message and its fix."""
    (one,) = findings(body, contract, severity=severity)
    return one.code, marked(text_of(body, contract), one), one.message, one.fix or ""
