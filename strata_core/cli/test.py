"""`strata test`: unit tests on literal tables, and the expectations of `test` blocks on what is published."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ..diagnostics.wording import plural
from ..planning.project import Project, compile_sound
from .exits import CLEAN, VIOLATED
from .options import environment_option, format_option, models_argument, on_project
from .report import rendered

if TYPE_CHECKING:
    from ..planning.testing import Tested
    from ..planning.unit_tests import UnitTested


@click.command("test")
@models_argument
@click.option("--unit", is_flag=True, help="Run the unit tests alone: no data, no store.")
@click.option(
    "--engine", type=click.Choice(["reference", "duckdb"]), default="reference", help="What runs the unit tests."
)
@on_project
@environment_option
@format_option("text", "json")
def test_command(
    project: Project, models: tuple[str, ...], unit: bool, engine: str, environment: str, format_: str
) -> int:
    """Run unit tests, and ask the expectations of `test` blocks of the published tables.

    MODELS limits them to those of these models. A unit test, which brings its own rows, needs no data at all. The
    exit code is 3 where a test fails or an expectation is broken.
    """
    from ..planning.choosing import models_named
    from ..planning.engines import named_engine
    from ..planning.unit_tests import run_unit_tests

    started = time.perf_counter()
    compiled = compile_sound(project)
    models = models_named(project, models)
    units = run_unit_tests(compiled, named_engine(project, engine), models)
    failed = sum(bool(u.violations) for u in units)
    if format_ == "text":
        if units:
            click.echo(rendered([d for u in units for d in u.violations], project.line_source), nl=False, color=True)
            counted = _counted(units, "unit test", {u.test.model for u in units})
            click.echo(f"{counted}: {failed:,} failed ({time.perf_counter() - started:.2f} s)", err=True)
        broken = 0 if unit or (units and not compiled.expectations) else _expectations(project, models, environment)
        return VIOLATED if failed or broken else CLEAN
    asked = [] if unit or not compiled.expectations else _asked(project, models, environment)
    click.echo(json.dumps([*map(_unit, units), *map(_expectation, asked)], indent=2))
    return VIOLATED if failed or any(t.violation for t in asked) else CLEAN


def _asked(project: Project, models: tuple[str, ...], environment: str) -> tuple[Tested, ...]:
    from ..planning.testing import run_tests
    from ..planning.workspace import open_workspace

    workspace = open_workspace(project, environment, compile_sound(project), write=False)
    return run_tests(workspace, workspace.engine(), models)


def _expectations(project: Project, models: tuple[str, ...], environment: str) -> int:
    """How many expectations of published tables are broken; they are shown."""
    started = time.perf_counter()
    tested = _asked(project, models, environment)
    broken = [t.violation for t in tested if t.violation is not None]
    click.echo(rendered(broken, project.line_source), nl=False, color=True)
    counted = _counted(tested, "expectation", {t.expectation.model for t in tested})
    click.echo(f"{counted}: {len(broken):,} broken ({time.perf_counter() - started:.2f} s)", err=True)
    return len(broken)


def _counted(found: Sequence[object], what: str, models: set[str]) -> str:
    return f"{plural(len(found), what)} of {plural(len(models), 'model')}"


def _unit(ran: UnitTested) -> dict[str, object]:
    found = ran.violations
    return {
        "kind": "unit",
        "model": ran.test.model,
        "title": ran.test.title,
        "file": ran.test.span.file,
        "line": ran.test.span.line,
        "broken": len(found),
        "message": "; ".join(d.message for d in found) or None,
        "notes": [note for d in found for note in d.notes],
    }


def _expectation(tested: Tested) -> dict[str, object]:
    return {
        "kind": "expectation",
        "model": tested.expectation.model,
        "title": "",
        "file": tested.expectation.span.file,
        "line": tested.expectation.span.line,
        "broken": tested.broken,
        "message": tested.violation.message if tested.violation else None,
        "notes": [*tested.violation.notes] if tested.violation else [],
    }
