"""`strata test`: the expectations of `test` blocks on what is published."""

from __future__ import annotations

import json
import time

import click

from ..planning.project import Project, compile_sound
from .exits import CLEAN, VIOLATED
from .report import environment_option, format_option, on_project, plural, rendered


@click.command("test")
@click.argument("models", nargs=-1)
@on_project
@environment_option
@format_option("text", "json")
def test_command(project: Project, models: tuple[str, ...], environment: str, format_: str) -> int:
    """Ask the expectations of `test` blocks of the published tables.

    MODELS limits them to those of these models. The exit code is 3 where one is broken.
    """
    from ..planning.testing import run_tests
    from ..planning.workspace import open_workspace

    started = time.perf_counter()
    workspace = open_workspace(project, environment, compile_sound(project), write=False)
    tested = run_tests(workspace, workspace.engine(), models)
    broken = [t.violation for t in tested if t.violation is not None]
    if format_ == "json":
        found = [
            {
                "model": t.expectation.model,
                "file": t.expectation.span.file,
                "line": t.expectation.span.line,
                "broken": t.broken,
                "message": t.violation.message if t.violation else None,
                "notes": [*t.violation.notes] if t.violation else [],
            }
            for t in tested
        ]
        click.echo(json.dumps(found, indent=2))
    else:
        click.echo(rendered(broken, project.line_source), nl=False, color=True)
        counted = (
            f"{plural(len(tested), 'expectation')} of {plural(len({t.expectation.model for t in tested}), 'model')}"
        )
        click.echo(f"{counted}: {len(broken):,} broken ({time.perf_counter() - started:.2f} s)", err=True)
    return VIOLATED if broken else CLEAN
