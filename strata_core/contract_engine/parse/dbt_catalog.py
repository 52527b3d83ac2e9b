"""dbt's `catalog.json` (what the warehouse has) and `run_results.json` (what happened last)."""

from __future__ import annotations

from typing import Any

from ...diagnostics import Diagnostic, Report, Span
from ..discover import Input
from ..tree import Tree
from .json_stream import JsonError, members
from .parsed import GeneratedAsset, GeneratedColumn, ParsedFile, ToolResult
from .sql_types import strata_type


def parse_catalog(one: Input, tree: Tree, report: Report) -> ParsedFile:
    """The tables of a catalog, with all columns that they have; E108 where it is none."""
    assets: list[GeneratedAsset] = []
    for section, key, value in _members(one, tree, report, "catalog", "run `dbt docs generate` to write it again"):
        if section in ("nodes", "sources") and key is not None and isinstance(value, dict):
            parts = key.split(".")
            name = ".".join(parts[-2:]) if section == "sources" else parts[-1]
            columns = value.get("columns")
            found = columns.values() if isinstance(columns, dict) else ()
            assets.append(
                GeneratedAsset(
                    "dbt_model",
                    (name, key),
                    tuple(_column(c) for c in found if isinstance(c, dict) and isinstance(c.get("name"), str)),
                    (),
                    Span(one.path, 1, 1, 1, 1),
                    complete=True,
                )
            )
    return ParsedFile(one.path, one.kind, one.digest, generated=tuple(assets))


def parse_run_results(one: Input, tree: Tree, report: Report) -> ParsedFile:
    """The results of the last dbt run; E108 where there are none."""
    results: list[ToolResult] = []
    for section, _, value in _members(one, tree, report, "run results", "run `dbt build` to write them again"):
        if section == "results" and isinstance(value, list):
            results += [_result(r) for r in value if isinstance(r, dict) and isinstance(r.get("unique_id"), str)]
    return ParsedFile(one.path, one.kind, one.digest, results=tuple(results))


def _members(one: Input, tree: Tree, report: Report, what: str, fix: str) -> list[tuple[str, str | None, Any]]:
    path = tree.local(one.path)
    if path is None:
        return []
    try:
        return list(members(path))
    except JsonError as error:
        span = Span(one.path, error.line, error.column, error.line, error.column + 1)
        report(Diagnostic("E108", f"the {what} cannot be read: {error.message}", span, fix=fix))
        return []


def _column(column: dict[str, Any]) -> GeneratedColumn:
    kind = column.get("type")
    return GeneratedColumn(column["name"], strata_type(kind) if isinstance(kind, str) else None)


def _result(result: dict[str, Any]) -> ToolResult:
    timing = result.get("timing")
    ends = [t.get("completed_at") for t in timing if isinstance(t, dict)] if isinstance(timing, list) else []
    at = max((e for e in ends if isinstance(e, str)), default=None)
    failures, message = result.get("failures"), result.get("message")
    return ToolResult(
        result["unique_id"],
        str(result.get("status")),
        at,
        failures if isinstance(failures, int) else None,
        message if isinstance(message, str) else None,
    )
