"""`strata compile`: what the engine will execute, for reading."""

from __future__ import annotations

import click

from ..diagnostics import StrataError
from ..planning.project import Project, compile_
from .exits import CLEAN
from .report import environment_option, on_project


@click.command("compile")
@click.argument("model")
@on_project
@environment_option
def compile_command(project: Project, model: str, environment: str) -> int:
    """Print what the engine will execute for MODEL; what is not there yet stands by its name."""
    from ..planning.compile import explain
    from ..planning.plan import unknown_model
    from ..planning.workspace import open_workspace

    compiled = compile_(project)
    if model in compiled.broken:
        raise StrataError(*(d for d in compiled.diagnostics if d.blocks))
    if model not in compiled.models:
        raise StrataError(unknown_model(model, compiled))
    click.echo(explain(open_workspace(project, environment, compiled, write=False), model))
    return CLEAN
