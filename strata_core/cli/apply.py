"""`strata apply`: carry out the plan, with progress, and say what was published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..planning.project import Project, compile_
from .report import (
    FAILED,
    VIOLATED,
    environment_option,
    format_option,
    opened,
    plural,
    print_diagnostics,
    project_option,
    refuse_errors,
)

if TYPE_CHECKING:
    from ..planning.results import ModelResult, Outcome


@click.command()
@click.argument("models", nargs=-1)
@project_option
@environment_option
@format_option("text", "json")
@click.option("--force", is_flag=True, help="Compute the selected models even if they are fresh.")
def apply(models: tuple[str, ...], project: Path | None, environment: str, format_: str, force: bool) -> None:
    """Compute what is stale, pin it and publish it in one step.

    MODELS limits the apply to these and the stale models that they read. When a candidate violates its contract
    nothing of it is published: the last-known-good stays live, and the exit code is 3.
    """
    from ..planning.apply import apply_plan
    from ..planning.results import Finished, Outcome, Started, Status
    from ..planning.workspace import open_workspace

    found = opened(project)
    compiled = compile_(found)
    refuse_errors(found, compiled.diagnostics, format_)
    workspace = open_workspace(found, environment, compiled)
    swept = workspace.store.sweep_staging()
    plan = workspace.plan(models or None, force=force)
    publish = found.config.environment(environment).publish
    outcome: Outcome | None = None
    with _Progress(len(plan.stale), quiet=format_ == "json") as shown:
        if swept:
            shown.say(f"removed {plural(len(swept), 'candidate')} left by a killed apply")
        for event in apply_plan(workspace, plan, workspace.engine(), publish=publish, progress=shown.rows):
            match event:
                case Started():
                    shown.start(event.name)
                case Finished(result=result) if result.status is not Status.FRESH:
                    shown.say(_line(result))
                    _explain(found, result, shown)
                case Outcome():
                    outcome = event
                case _:
                    pass
    assert outcome is not None
    if format_ == "json":
        click.echo(json.dumps(as_json(outcome, environment), indent=2, default=str))
    else:
        click.echo(_summary(outcome, environment))
    raise click.exceptions.Exit(VIOLATED if outcome.violated else FAILED if outcome.failed else 0)


def _line(result: ModelResult) -> str:
    rows = f"{result.artifact.manifest.rows:,} rows" if result.artifact else ""
    waits = f"waits for {', '.join(result.waits_for)}" if result.waits_for else ""
    return f"{result.status:<9} {result.name:<28} {rows or waits:<18} {result.seconds:6.2f} s"


def _explain(project: Project, result: ModelResult, shown: _Progress) -> None:
    reports = (*result.inputs, *((result.pin,) if result.pin else ()))
    found = [d for r in reports if not r.passed for d in r.diagnostics()]
    if diagnostics := (*found, *result.diagnostics):
        shown.pause()
        print_diagnostics(diagnostics, project.line_source, err=True)


def _summary(outcome: Outcome, environment: str) -> str:
    counts: dict[str, int] = {}
    for result in outcome.results.values():
        counts[result.status] = counts.get(result.status, 0) + 1
    parts = ", ".join(f"{n} {status}" for status, n in counts.items()) or "no models"
    if outcome.published:
        return f"{environment}: version {outcome.version.number} is live ({parts})"
    live = f"version {outcome.version.number} stays live" if outcome.version.number else "nothing is live yet"
    return f"{environment}: {live} ({parts})"


def as_json(outcome: Outcome, environment: str) -> dict[str, object]:
    """The outcome as a document for machines."""
    return {
        "environment": environment,
        "version": outcome.version.number,
        "published": sorted(outcome.published),
        "models": [
            {
                "name": r.name,
                "status": str(r.status),
                "reasons": [str(c) for c in r.causes],
                "rows": r.artifact.manifest.rows if r.artifact else None,
                "digest": r.artifact.manifest.digest if r.artifact else None,
                "seconds": round(r.seconds, 3),
                "pin": r.pin.to_json() if r.pin else None,
                "inputs": [i.to_json() for i in r.inputs],
                "diagnostics": [{"code": d.code, "message": d.message, "fix": d.fix} for d in r.diagnostics],
            }
            for r in outcome.results.values()
        ],
    }


class _Progress:
    """One live line on a terminal: the model at work and the rows written; nothing where nobody looks."""

    def __init__(self, total: int, quiet: bool) -> None:
        from rich.console import Console

        self._console = Console(stderr=True, highlight=False)
        self._quiet, self._total, self._position = quiet, total, 0
        self._name = ""
        self._status = None if quiet or not self._console.is_terminal else self._console.status("planning")

    def __enter__(self) -> _Progress:
        if self._status:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.pause()

    def start(self, name: str) -> None:
        self._position, self._name = self._position + 1, name
        self.rows(name, 0)

    def rows(self, name: str, rows: int) -> None:
        if self._status:
            self._status.update(f"[{self._position}/{self._total}] {name}  {rows:,} rows")
            self._status.start()

    def say(self, line: str) -> None:
        if not self._quiet:
            self._console.print(line, markup=False, soft_wrap=True)

    def pause(self) -> None:
        if self._status:
            self._status.stop()
