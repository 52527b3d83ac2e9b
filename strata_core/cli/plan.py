"""`strata plan`: the stale models, in order, with their reasons."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ..planning.plan import Plan
from ..planning.project import compile_
from .report import environment_option, format_option, opened, plural, project_option, refuse_errors


@click.command()
@click.argument("models", nargs=-1)
@project_option
@environment_option
@format_option("text", "json")
@click.option("--force", is_flag=True, help="Plan the selected models as stale.")
def plan(models: tuple[str, ...], project: Path | None, environment: str, format_: str, force: bool) -> None:
    """Show which models are stale, and why: own change, contract change, upstream change, data change, missing.

    MODELS limits the plan to these and the stale models that they read.
    """
    from ..planning.workspace import open_workspace

    found = opened(project)
    compiled = compile_(found)
    refuse_errors(found, compiled.diagnostics)
    workspace = open_workspace(found, environment, compiled)
    planned = workspace.plan(models or None, force=force)
    if format_ == "json":
        click.echo(json.dumps(as_json(planned), indent=2))
    else:
        print_plan(planned)
    for problem in workspace.missing.values():
        for diagnostic in problem.diagnostics:
            click.echo(f"warning: {diagnostic.message}", err=True)


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
                "reasons": [{"reason": str(c.reason), "upstream": list(c.upstream)} for c in m.causes],
            }
            for m in plan.models
        ],
    }


def print_plan(plan: Plan) -> None:
    """The plan as a table for people."""
    from rich.console import Console
    from rich.table import Table

    fresh = len(plan.models) - len(plan.stale)
    if not plan.stale:
        click.echo(f"{plan.environment}: nothing to do, {plural(fresh, 'model')} fresh")
        return
    table = Table("", "model", "because", box=None, pad_edge=False)
    for number, model in enumerate(plan.stale, start=1):
        table.add_row(f"{number}", model.name, ", ".join(map(str, model.causes)))
    Console(highlight=False).print(table)
    click.echo(f"{plan.environment}: {plural(len(plan.stale), 'model')} stale, {fresh} fresh")
