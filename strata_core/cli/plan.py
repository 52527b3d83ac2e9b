"""`strata plan`: the stale models, in order, with their reasons."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from ..planning.plan import Plan
from ..planning.project import Project, compile_sound
from .exits import CLEAN, exit_code
from .progress import Progress
from .report import environment_option, force_option, format_option, full_refresh_option, on_project, plural, tell


@click.command("plan")
@click.argument("models", nargs=-1)
@on_project
@environment_option
@format_option("text", "json")
@force_option
@full_refresh_option
def plan_command(
    project: Project, models: tuple[str, ...], environment: str, format_: str, force: bool, full_refresh: bool
) -> int:
    """Show which models are stale, and why: own change, contract change, upstream change, data change, missing.

    MODELS limits the plan to these and the stale models that they read. The exit code is 4 where a file that a
    stale model reads is missing.
    """
    from ..planning.workspace import open_workspace

    with Progress("looking at files", quiet=format_ == "json"):
        workspace = open_workspace(project, environment, compile_sound(project), write=False)
        plan = workspace.plan(models or None, force=force, full_refresh=full_refresh)
    read = {name for planned in plan.stale for name in planned.inputs}
    missing = [d for name, problem in workspace.missing.items() if name in read for d in problem.diagnostics]
    if format_ == "json":
        click.echo(json.dumps(as_json(plan), indent=2))
    else:
        for line in lines(plan):
            click.echo(line)
    if missing:
        tell(missing, project.line_source)
    return exit_code(missing) if missing else CLEAN


def as_json(plan: Plan) -> dict[str, object]:
    """The plan as a document for machines."""
    return {
        "environment": plan.environment,
        "version": plan.base.number,
        "models": [
            {
                "name": m.name,
                "stale": m.stale,
                "fingerprint": m.fingerprint.merkle,
                "live": m.live.digest if m.live else None,
                "way": str(m.way) if m.way else None,
                "reasons": [{"reason": str(c.reason), "upstream": list(c.upstream)} for c in m.causes],
            }
            for m in plan.models
        ],
    }


def lines(plan: Plan) -> Iterator[str]:
    """The plan for people: a line for each stale model, with the reasons, and how many there are."""
    fresh = len(plan.models) - len(plan.stale)
    if not plan.stale:
        yield f"{plan.environment}: nothing to do, {plural(fresh, 'model')} fresh"
        return
    width = max(len(m.name) for m in plan.stale)
    for number, model in enumerate(plan.stale, start=1):
        way = f" ({model.way})" if model.way else ""
        yield f"{number:>4}  {model.name:<{width}}  {'; '.join(map(str, model.causes))}{way}"
    yield f"{plan.environment}: {plural(len(plan.stale), 'model')} stale, {fresh:,} fresh"
