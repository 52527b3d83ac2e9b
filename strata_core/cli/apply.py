"""`strata apply`: carry out the plan, with progress, and say what was published."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from ..diagnostics import Diagnostic
from ..diagnostics.listing import listed
from ..diagnostics.render import diagnostic_as_json
from ..diagnostics.wording import plural
from ..planning.project import Project, compile_, compile_sound
from .exits import CLEAN, FAILED, FINDINGS, VIOLATED
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
from .plan import outlived
from .progress import Progress
from .report import rendered, tell

if TYPE_CHECKING:
    from ..analysis.compiled import CompiledProject
    from ..planning.applying.results import Event, ModelResult, Outcome
    from ..planning.leaving_out import LeftOut
    from ..planning.partitions.asked_periods import Asked
    from ..planning.plan import Plan


MOST_PARTITIONS = 6
"""Partitions that a line names; the JSON has all."""


@click.command("apply")
@models_argument
@on_project
@environment_option
@format_option("text", "json")
@force_option
@full_refresh_option
@keep_going_option
@click.option(
    "--block-on-unit-tests",
    is_flag=True,
    help="Ask the unit tests of stale models first; one that fails them, and what would be made of it, is left out.",
)
@partition_option
def apply_command(
    project: Project,
    models: tuple[str, ...],
    environment: str,
    format_: str,
    force: bool,
    full_refresh: bool,
    keep_going: bool,
    block_on_unit_tests: bool,
    asked: Asked | None,
) -> int:
    """Compute what is stale, pin it and publish it in one step.

    MODELS limits the apply to these and the stale models that they read. Without MODELS it is for what the pipelines of
    the environment name, or for all. When a candidate violates its contract nothing of it is published: the
    last-known-good stays live, and the exit code is 3. Nothing runs where it would break another project that shares
    the store: the exit code is 1. With --partition only these partitions are computed and published.
    """
    from ..contract_engine.governed import governed_plan
    from ..planning.applying.apply import apply_plan
    from ..planning.applying.run_events import announced
    from ..planning.choosing import models_named
    from ..planning.leaving_out import failing_unit_tests, sound_models, with_readers
    from ..planning.workspace import open_workspace

    with Progress("looking at files", quiet=format_ == "json") as shown:
        compiled = compile_(project) if keep_going else compile_sound(project)
        workspace = open_workspace(project, environment, compiled)
        swept = workspace.store.sweep_staging()
        if swept:
            shown.say(f"removed {plural(len(swept), 'candidate')} of killed applies")
        selected = sound_models(compiled, models_named(project, models) or None)
        planned = partial(governed_plan, workspace, force=force, full_refresh=full_refresh, asked=asked)
        plan, tests = planned(selected)
        wrong: LeftOut = {}
        if block_on_unit_tests and (wrong := failing_unit_tests(project, compiled, [m.name for m in plan.stale])):
            left_out = with_readers(compiled, wrong)
            plan, tests = planned([m.name for m in plan.models if m.name not in left_out], with_upstream=False)
        if found := _left_out(compiled, wrong):
            shown.say(rendered(found, project.line_source, err=True))
        if plan.conflicts:
            tell(plan.conflicts, project.line_source, format_)
            return FINDINGS
        if plan.lints and format_ != "json":
            shown.say(rendered(plan.lints, project.line_source, err=True))
        if plan.outlived:
            shown.say(outlived(plan))
        publish = project.config.environment(environment).publish
        events = apply_plan(
            workspace,
            plan,
            workspace.engine(),
            publish=publish,
            progress=lambda _model, rows: shown.update(plural(rows, "row")),
            tests=tests,
        )
        events = announced(events, workspace, plan, shown.say)
        outcome = _told(events, project, shown, max((len(p.name) for p in plan.stale), default=0))
    if format_ == "json":
        click.echo(json.dumps(as_json(outcome, plan, _left_out(compiled, wrong)), indent=2))
    else:
        click.echo(summary(outcome, environment))
    return _code(outcome, compiled, wrong)


def _left_out(compiled: CompiledProject, wrong: LeftOut) -> tuple[Diagnostic, ...]:
    """Why models are not applied of an apply that goes on without them; `wrong` fail their unit tests."""
    return (*compiled.errors, *(d for violations in wrong.values() for d in violations))


def _code(outcome: Outcome, compiled: CompiledProject, wrong: LeftOut) -> int:
    if outcome.violated or wrong:
        return VIOLATED
    return FAILED if outcome.failed else FINDINGS if compiled.errors else CLEAN


def _told(events: Iterator[Event], project: Project, shown: Progress, width: int) -> Outcome:
    """Say what happens, model by model; a finding that several models share is said once."""
    from ..planning.applying.results import Finished, Outcome, Published, Started

    told = set[Diagnostic]()
    for event in events:
        match event:
            case Started():
                shown.set(f"[{event.position}/{event.total}] {event.name}")
            case Finished(result=result):
                shown.say(_line(result, width))
                new = [d for d in (*result.unasked, *result.violations) if d not in told]
                if new:
                    shown.say(rendered(new, project.line_source, err=True))
                told.update(new)
            case Published():
                continue
            case Outcome():
                return event
    raise AssertionError("an apply ends with its outcome")


def _line(result: ModelResult, width: int) -> str:
    rows = plural(result.artifact.manifest.rows, "row") if result.artifact else ""
    line = f"{result.status:<8}  {result.name:<{width}}  "
    if result.waits_for:
        return f"{line}waits for {', '.join(result.waits_for)}"
    told = str(result.way) if result.way else _partitions(result)
    return f"{line}{rows:<16} {result.seconds:6.2f} s{f'  {told}' if told else ''}"


def _partitions(result: ModelResult) -> str:
    """What became of partitions of time, and which were refused."""
    if not result.pieces:
        return ""
    counts = Counter(piece.status for piece in result.pieces.values())
    refused = [key for key, piece in result.pieces.items() if not piece.status.sound]
    named = f": {listed(refused, MOST_PARTITIONS)}" if refused else ""
    return f"{plural(len(result.pieces), 'partition')} ({', '.join(f'{n:,} {s}' for s, n in counts.items())}){named}"


def summary(outcome: Outcome, environment: str) -> str:
    """The apply in one line: what is live now, and what became of the models."""
    counts = Counter(result.status for result in outcome.results.values())
    parts = ", ".join(f"{n:,} {status}" for status, n in counts.items()) or "no models"
    number = outcome.version.number
    if outcome.published:
        return f"{environment}: version {number} is live ({parts})"
    if not (outcome.violated or outcome.failed):
        return f"{environment}: nothing to do ({parts})"
    live = f"version {number} stays live" if number else "nothing is live yet"
    return f"{environment}: nothing was published, {live} ({parts})"


def as_json(outcome: Outcome, plan: Plan, left_out: Sequence[Diagnostic] = ()) -> dict[str, object]:
    """The outcome of `plan` as a document for machines; `left_out` is why it went on without some models."""
    return {
        "environment": plan.environment,
        "version": outcome.version.number,
        "published": sorted(outcome.published),
        "outlived": list(plan.outlived),
        "lints": [diagnostic_as_json(d) for d in plan.lints],
        "diagnostics": [diagnostic_as_json(d) for d in left_out],
        "models": [_model_as_json(result) for result in outcome.results.values()],
    }


def _model_as_json(result: ModelResult) -> dict[str, object]:
    from ..contract.encoding import report_to_json

    live = result.planned.live
    return {
        "name": result.name,
        "status": str(result.status),
        "reasons": [str(c) for c in result.causes],
        "rows": result.artifact.manifest.rows if result.artifact else None,
        "digest": result.artifact.manifest.digest if result.artifact else None,
        "live": live.digest if live else None,
        "seconds": round(result.seconds, 3),
        "way": str(result.way) if result.way else None,
        "partitions": {
            key: {
                "status": str(piece.status),
                "rows": piece.piece.rows if piece.piece else None,
                "digest": piece.piece.digest if piece.piece else None,
            }
            for key, piece in result.pieces.items()
        },
        "pin": report_to_json(result.pin) if result.pin else None,
        "inputs": [report_to_json(report) for report in result.inputs],
        "tests": [
            {"product": t.product, "test": t.test, "outcome": t.outcome, "offenders": t.offenders, "message": t.message}
            for t in result.tests
        ],
        "unasked": [diagnostic_as_json(d) for d in result.unasked],
        "diagnostics": [diagnostic_as_json(d) for d in result.violations],
    }
