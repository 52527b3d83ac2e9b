"""`strata compile`: what the engine will execute, for reading."""

from __future__ import annotations

from pathlib import Path

import click

from ..planning.project import compile_
from .report import environment_option, fail, opened, project_option, refuse_errors


@click.command("compile")
@click.argument("model")
@project_option
@environment_option
def compile_command(model: str, project: Path | None, environment: str) -> None:
    """Print what the engine will execute for MODEL; upstream models stand by their names."""
    from ..planning.compile import explain
    from ..planning.workspace import open_workspace

    found = opened(project)
    compiled = compile_(found)
    if model in compiled.broken:
        refuse_errors(found, compiled.diagnostics)
    workspace = open_workspace(found, environment, compiled)
    if model not in compiled.models:
        from ..planning.plan import unknown_model

        fail(found, [unknown_model(model, compiled)])
    click.echo(explain(workspace, model))
