"""`strata plan`: the stale models, in order, and why; what they will take, and what that changes for whom."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from ..diagnostics import Diagnostic
from ..diagnostics.listing import listed
from ..diagnostics.render import diagnostic_as_json
from ..diagnostics.wording import plural
from ..planning.project import Project, compile_, compile_sound
from .exits import CLEAN, FINDINGS, exit_code
from .options import (
    environment_option,
    force_option,
    format_option,
    full_refresh_option,
    keep_going_option,
    models_argument,
    on_project,
    partition_option,
)
from .progress import Progress
from .report import colored, sized, tell

if TYPE_CHECKING:
    from ..contract.changes import Change
    from ..planning.applying.blocking_tests import BlockingTests
    from ..planning.forecast import Effect, Forecast, Work
    from ..planning.partitions.asked_periods import Asked
    from ..planning.plan import Plan

MOST_REACHED = 6
"""Columns and tables that a line names; the JSON has all."""
HEADERS = ("", "model", "why", "how", "input", "last took")


@click.command("plan")
@models_argument
@on_project
@environment_option
@format_option("text", "json")
@force_option
@full_refresh_option
@keep_going_option
@partition_option
def plan_command(
    project: Project,
    models: tuple[str, ...],
    environment: str,
    format_: str,
    force: bool,
    full_refresh: bool,
    keep_going: bool,
    asked: Asked | None,
) -> int:
    """Show which models are stale, and why: own change, contract change, upstream change, data change, missing.

    Of each it tells what an apply will take (an artifact that exists is reused), what changes for its readers, whom
    that reaches, and the blocking tests of product contracts that its rows have to hold. MODELS limits the plan to
    these and the stale models that they read. Without MODELS it is for what the pipelines of the environment name, or
    for all. The exit code is 1 where it would break another project that shares the store, or where a contract is at
    fault whose blocking tests would have to be asked, and 4 where a file that a stale model reads is missing, or lacks
    what is declared of it.
    """
    from ..contract_engine.governed import governed_plan
    from ..planning.choosing import models_named
    from ..planning.forecast import forecast
    from ..planning.leaving_out import sound_models
    from ..planning.moved_sources import moved_sources
    from ..planning.workspace import open_workspace

    with Progress("looking at files", quiet=format_ == "json"):
        compiled = compile_(project) if keep_going else compile_sound(project)
        workspace = open_workspace(project, environment, compiled, write=False)
        selected = sound_models(compiled, models_named(project, models) or None)
        plan, tests = governed_plan(workspace, selected, force=force, full_refresh=full_refresh, asked=asked)
        forecasts = forecast(workspace, plan) if plan.stale else {}
        moved = moved_sources(workspace, plan)
    read = {name for planned in plan.stale for name in planned.inputs}
    missing = [d for name, problem in workspace.missing.items() if name in read for d in problem.diagnostics]
    missing += moved
    if format_ == "json":
        click.echo(json.dumps(as_json(plan, forecasts, tests, (*compiled.errors, *missing)), indent=2))
    else:
        for line in lines(plan, forecasts, tests):
            click.echo(line, color=colored())
    if found := [*compiled.errors, *missing, *plan.conflicts, *tests.refused, *plan.lints]:
        tell(found, project.line_source)
    if missing:
        return exit_code(missing)
    return FINDINGS if compiled.errors or plan.conflicts or tests.refused else CLEAN


def as_json(
    plan: Plan, forecasts: Mapping[str, Forecast], tests: BlockingTests, faults: Sequence[Diagnostic] = ()
) -> dict[str, object]:
    """The plan as a document for machines; `faults` are those of models that it is without, and of its sources."""
    return {
        "environment": plan.environment,
        "version": plan.base.number,
        "removed": list(plan.removed),
        "outlived": list(plan.outlived),
        "lints": [diagnostic_as_json(d) for d in plan.lints],
        "conflicts": [diagnostic_as_json(d) for d in plan.conflicts],
        "diagnostics": [diagnostic_as_json(d) for d in (*faults, *tests.refused)],
        "approved": [{"table": a.table, "change": a.change, "by": a.by} for a in plan.approved],
        "models": [
            {
                "name": m.name,
                "stale": m.stale,
                "fingerprint": m.fingerprint.merkle,
                "live": m.live.digest if m.live else None,
                "way": str(m.way) if m.way else None,
                "externs": list(m.externs),
                "partitions": None
                if m.periods is None
                else {p.key: [str(cause) for cause in p.causes] for p in m.periods},
                "reasons": [{"reason": str(c.reason), "upstream": list(c.upstream)} for c in m.causes],
                "work": _work_as_json(forecasts[m.name].work) if m.name in forecasts else None,
                "effect": _effect_as_json(forecasts[m.name].effect) if m.name in forecasts else None,
                "tests": [{"product": t.product, "test": t.id} for t in tests.of(m.name)],
            }
            for m in plan.models
        ],
    }


def _work_as_json(work: Work) -> dict[str, object]:
    return {"reused": work.reused, "input_rows": work.rows, "input_bytes": work.bytes, "last_seconds": work.seconds}


def _effect_as_json(effect: Effect) -> dict[str, object]:
    changes = [
        {"rule": c.rule.id, "column": c.column, "impact": str(c.impact), "before": c.before, "after": c.after}
        for c in effect.changes
    ]
    return {
        "breaking": effect.breaks,
        "changes": changes,
        "values": list(effect.values),
        "other_rows": effect.other_rows,
        "reached_values": list(effect.reached_values),
        "reached_rows": list(effect.reached_rows),
    }


def lines(plan: Plan, forecasts: Mapping[str, Forecast], tests: BlockingTests) -> Iterator[str]:
    """The plan for people: a row for each stale model, what changes below it, and how many there are."""
    fresh = len(plan.models) - len(plan.stale)
    rows = []
    for number, model in enumerate(plan.stale, start=1):
        notes = [str(model.way)] if model.way else []
        notes += [f"calls extern {', '.join(model.externs)}"] if model.externs else []
        if model.periods is not None:
            notes.append(f"{sum(bool(p.causes) for p in model.periods):,} of {plural(len(model.periods), 'partition')}")
        told = f" ({'; '.join(notes)})" if notes else ""
        why = f"{'; '.join(map(str, model.causes))}{told}"
        work = forecasts[model.name].work
        rows.append((str(number), model.name, why, _how(work), _input(work), _took(work)))
    widths = [max(len(row[i]) for row in (HEADERS, *rows)) for i in range(len(HEADERS))]
    if rows:
        yield click.style(_aligned(HEADERS, widths), dim=True)
    for row in rows:
        yield _aligned(row, widths)
        below = [*effect_lines(forecasts[row[1]].effect), *_tests(tests, row[1])]
        yield from (f"{' ' * (widths[0] + 4)}{line}" for line in below)
    yield from (f"  {name}: no model of the project any more, will be unpublished" for name in plan.removed)
    if plan.outlived:
        yield f"  {outlived(plan)}"
    yield from (f"  {a.table}: {a.by} approved the change {a.change[:12]}" for a in plan.approved)
    if not rows and not plan.removed:
        yield f"{plan.environment}: nothing to do, {plural(fresh, 'model')} fresh"
        return
    reused = sum(forecasts[m.name].work.reused is True for m in plan.stale)
    counted = f"{plural(len(plan.stale), 'model')} stale{f' ({reused:,} reused)' if reused else ''}, {fresh:,} fresh"
    breaking = sum(f.effect.breaks for f in forecasts.values())
    yield f"{plan.environment}: {counted}{f', {breaking:,} breaking' if breaking else ''}"


def outlived(plan: Plan) -> str:
    """What a plan of some models leaves live that none makes any more."""
    return f"{listed(plan.outlived, MOST_REACHED)}: no model of the project any more, stays live until an apply of all"


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    number, *others = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return "  ".join((number.strip().rjust(widths[0]), *others)).rstrip()


def _how(work: Work) -> str:
    return {True: "reuse", False: "compute", None: "as needed"}[work.reused]


def _input(work: Work) -> str:
    size = sized(work.bytes) if work.bytes else ""
    return ", ".join(filter(None, (size, "" if work.rows is None else plural(work.rows, "row"))))


def _took(work: Work) -> str:
    return "" if work.seconds is None else f"{work.seconds:.2f} s"


def effect_lines(effect: Effect) -> Iterator[str]:
    """What the readers of a model will notice."""
    for change in effect.changes:
        yield click.style(_change(change), fg="red" if change.breaks else None)
    if effect.values:
        yield f"computed otherwise: {listed(effect.values, MOST_REACHED)}"
    if effect.other_rows:
        yield "other rows"
    if effect.reached_values:
        yield f"reaches the values of {listed(effect.reached_values, MOST_REACHED)}"
    if effect.reached_rows:
        yield f"reaches the rows of {listed(effect.reached_rows, MOST_REACHED)}"


def _tests(tests: BlockingTests, model: str) -> Iterator[str]:
    """What has to hold of the rows of a model before they go live."""
    by_product: dict[str, list[str]] = {}
    for test in tests.of(model):
        by_product.setdefault(test.product, []).append(test.id)
    for product, ids in by_product.items():
        yield f"blocking tests of {product}, before it goes live: {listed(ids, MOST_REACHED)}"


def _change(change: Change) -> str:
    told = f" ({change.before} → {change.after})" if change.before and change.after else ""
    return f"{change.column or 'table'}: {change.rule.says}{told}, {'breaking' if change.breaks else change.impact}"
