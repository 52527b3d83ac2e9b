"""OpenLineage events, one JSON object a line: runs that were seen, with schema and column lineage of what they made.

The latest event of each output counts (Seed 2, "Runtime Observations": they never change what was authored).
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

from ...diagnostics import Diagnostic, Report, Severity, Span
from ...regular_files import open_regular
from ..discover import Input
from ..tree import Tree
from .parsed import GeneratedAsset, GeneratedColumn, ObservedRun, Origin, ParsedFile
from .sql_types import strata_type

EVENTS = frozenset({"START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"})


def parse_events(one: Input, tree: Tree, report: Report) -> ParsedFile:
    """The latest run and schema of each output; E108 (a warning) for a line that is no event."""
    runs: dict[str, ObservedRun] = {}
    assets: dict[str, tuple[str, GeneratedAsset]] = {}
    for number, line in enumerate(_lines(one, tree), start=1):
        if not line.strip():
            continue
        span = Span(one.path, number, 1, number, 2)
        event = _event(line)
        if event is None:
            fix = "one event of OpenLineage stands in each line: it has `eventTime`, `eventType`, `run` and `outputs`"
            report(Diagnostic("E108", "this line is no OpenLineage event", span, Severity.WARNING, fix=fix))
            continue
        at = str(event["eventTime"])
        inputs = tuple(_name(d) for d in event.get("inputs") or () if isinstance(d, dict))
        for output in event.get("outputs") or ():
            if not isinstance(output, dict) or not isinstance(output.get("name"), str):
                continue
            name = _name(output)
            if name not in runs or runs[name].at <= at:
                runs[name] = ObservedRun(str(event["run"]["runId"]), name, inputs, str(event["eventType"]), at)
            seen = _seen(output, inputs, span)
            if seen is not None and (name not in assets or assets[name][0] <= at):
                assets[name] = (at, seen)
    return ParsedFile(
        one.path,
        one.kind,
        one.digest,
        generated=tuple(asset for _, asset in (assets[name] for name in sorted(assets))),
        runs=tuple(runs[name] for name in sorted(runs)),
    )


def _lines(one: Input, tree: Tree) -> Any:
    path = tree.local(one.path)
    if path is None:
        return ()
    return io.TextIOWrapper(open_regular(path), encoding="utf-8", errors="replace")


def _event(line: str) -> Mapping[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match event:
        case {"eventTime": str(), "eventType": str(kind), "run": {"runId": str()}} if kind in EVENTS:
            return dict(event)
        case _:
            return None


def _name(dataset: Mapping[str, Any]) -> str:
    return str(dataset.get("name"))


def _seen(output: Mapping[str, Any], inputs: tuple[str, ...], span: Span) -> GeneratedAsset | None:
    facets = output.get("facets")
    if not isinstance(facets, dict):
        return None
    schema, lineage = facets.get("schema"), facets.get("columnLineage")
    fields = schema.get("fields") if isinstance(schema, dict) else None
    origins = lineage.get("fields") if isinstance(lineage, dict) else None
    named = [f for f in fields or () if isinstance(f, dict) and isinstance(f.get("name"), str)]
    made = origins if isinstance(origins, dict) else {}
    columns = [_column(f["name"], f.get("type"), made.get(f["name"]), span) for f in named]
    known = {c.name for c in columns}
    columns += [_column(name, None, facts, span) for name, facts in made.items() if name not in known]
    if not columns:
        return None
    name = _name(output)
    refs = tuple(dict.fromkeys((name, name.rpartition(".")[2])))
    return GeneratedAsset("table", refs, tuple(columns), inputs, span, complete=bool(named))


def _column(name: str, kind: Any, facts: Any, span: Span) -> GeneratedColumn:
    inputs = facts.get("inputFields") if isinstance(facts, dict) else None
    origins = tuple(Origin(_name(i), str(i.get("field")), _transform(i)) for i in inputs or () if isinstance(i, dict))
    return GeneratedColumn(name, strata_type(kind) if isinstance(kind, str) else None, origins=origins, span=span)


def _transform(field: Mapping[str, Any]) -> str:
    steps = field.get("transformations")
    if isinstance(steps, list) and steps and isinstance(steps[0], dict):
        return str(steps[0].get("subtype") or steps[0].get("type") or "transformation").lower()
    return "transformation"
