"""dbt's `catalog.json` (what the warehouse has), `run_results.json` (what happened last) and `sources.json` (how
old the rows of sources are)."""

from __future__ import annotations

from typing import Any

from ...diagnostics import Diagnostic, Report, Span
from ...json_stream import JsonError, members
from ..discover import Input
from ..tree import Tree
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


BUILDING = frozenset({"build", "run", "seed", "snapshot", "test", "retry", "clone"})
"""The commands of dbt whose results are of tables and tests; `compile` and `docs generate` make none."""


def parse_run_results(one: Input, tree: Tree, report: Report) -> ParsedFile:
    """The results of the last dbt run; E108 where there are none."""
    told = _members(one, tree, report, "run results", "run `dbt build` to write them again")
    command = next((value for section, key, value in told if (section, key) == ("args", "which")), None)
    if isinstance(command, str) and command not in BUILDING:
        return ParsedFile(one.path, one.kind, one.digest)
    return ParsedFile(one.path, one.kind, one.digest, results=tuple(map(_result, *_results(told))))


def parse_sources(one: Input, tree: Tree, report: Report) -> ParsedFile:
    """What `dbt source freshness` found; E108 where it is not that."""
    told = _members(one, tree, report, "freshness of sources", "run `dbt source freshness` to write it again")
    return ParsedFile(one.path, one.kind, one.digest, results=tuple(map(_age, *_results(told))))


def _results(told: list[tuple[str, str | None, Any]]) -> tuple[list[dict[str, Any]], list[str | None]]:
    """The results, and for each the run that they are of."""
    run = next((value for section, key, value in told if (section, key) == ("metadata", "invocation_id")), None)
    found = [
        r
        for section, _, value in told
        if section == "results" and isinstance(value, list)
        for r in value
        if isinstance(r, dict) and isinstance(r.get("unique_id"), str)
    ]
    return found, [run if isinstance(run, str) else None] * len(found)


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


def _result(result: dict[str, Any], run: str | None) -> ToolResult:
    timing = result.get("timing")
    ends = [t.get("completed_at") for t in timing if isinstance(t, dict)] if isinstance(timing, list) else []
    at = max((e for e in ends if isinstance(e, str)), default=None)
    failures = result.get("failures")
    return ToolResult(
        result["unique_id"],
        str(result.get("status")),
        at,
        failures if isinstance(failures, int) else None,
        _text(result.get("message")),
        run,
    )


def _age(result: dict[str, Any], run: str | None) -> ToolResult:
    loaded, looked = _text(result.get("max_loaded_at")), _text(result.get("snapshotted_at"))
    status, why = str(result.get("status")), _text(result.get("error"))
    if why is None and loaded is not None and status in ("warn", "error"):
        why = f"the newest row was loaded at {loaded}, which is late"
    return ToolResult(result["unique_id"], status, loaded, None, why, run, looked)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
