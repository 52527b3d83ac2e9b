"""`strata compile`: what the engine will execute, for reading; and the compiled manifest, for code locations."""

from __future__ import annotations

import click

from ..diagnostics.wording import plural
from ..planning.project import Project, compile_
from .exits import CLEAN, exit_code
from .options import environment_option, on_project
from .report import tell


@click.command("compile")
@click.argument("model", required=False)
@on_project
@environment_option
@click.option("--manifest", is_flag=True, help="Write .strata/manifest.json, from which a code location loads.")
def compile_command(project: Project, model: str | None, environment: str, manifest: bool) -> int:
    """Print what the engine will execute for MODEL; what is not there yet stands by its name.

    With --manifest, compile all models once, for a deployment: the manifest is written also where some have errors,
    which are told, and the exit code is 1.
    """
    if manifest == (model is not None):
        raise click.UsageError("give either a MODEL or --manifest")
    return _manifest(project) if model is None else _shown(project, model, environment)


def _shown(project: Project, model: str, environment: str) -> int:
    from ..planning.compile import explain
    from ..planning.plan import sound_model
    from ..planning.workspace import open_workspace

    compiled = compile_(project)
    name = sound_model(model, compiled).name
    click.echo(explain(open_workspace(project, environment, compiled, write=False), name))
    return CLEAN


def _manifest(project: Project) -> int:
    from ..planning.kept.compiled_manifest import MANIFEST_PATH, write_manifest
    from ..planning.kept.outline import outline

    found = outline(project)
    write_manifest(project, found)
    tell(found.errors, project.line_source)
    broken = f", {plural(len(found.broken), 'broken model')}" if found.broken else ""
    click.echo(f"{MANIFEST_PATH}: {plural(len(found.models), 'model')}, {plural(len(found.sources), 'source')}{broken}")
    return exit_code(found.errors)
