"""`strata check`: the compiler's findings, nothing else."""

from __future__ import annotations

import gc
import time
from pathlib import Path

import click

from ..diagnostics import Diagnostic, Severity, StrataError
from ..planning.findings import findings
from ..planning.project import Project
from .exits import exit_code
from .progress import Progress
from .report import FORMATS, exchanged, format_option, on_project, plural, rendered


@click.command("check")
@click.argument("path", required=False, type=click.Path(exists=True, path_type=Path))
@on_project
@click.option("--explain", metavar="MODEL", help="Say of each promise of a model whether it is proven, and by what.")
@format_option(*FORMATS)
def check_command(project: Project, path: Path | None, explain: str | None, format_: str) -> int:
    """Check models and contracts without running anything.

    PATH is a .strata file or a folder; without it the whole project is checked. The findings of a file are
    those of its project, shown for that file or folder alone.
    """
    if explain is not None:
        from .proofs import explain_model  # loads the compiler, which a check of what did not change needs not

        return explain_model(project, explain, as_json=format_ == "json")
    started = time.perf_counter()
    gc.disable()  # the process ends with this check: what is left goes with it
    with Progress(f"checking {plural(len(project.files), 'file')}", quiet=format_ != "text"):
        found = findings(project)
    diagnostics = found.diagnostics if path is None else within(found.diagnostics, path, project)
    if format_ != "text":
        click.echo(exchanged(diagnostics, format_, [file.path for file in project.files], "strata"))
        return exit_code(diagnostics)
    click.echo(rendered(diagnostics, project.line_source), nl=False, color=True)
    errors = sum(d.severity is Severity.ERROR for d in diagnostics)
    warnings = sum(d.severity is Severity.WARNING for d in diagnostics)
    counted = f"{plural(found.models, 'model')} in {plural(len(project.files), 'file')}"
    told = f"{plural(errors, 'error')}, {plural(warnings, 'warning')}"
    click.echo(f"{counted}: {told} ({time.perf_counter() - started:.2f} s)", err=True)
    return exit_code(diagnostics)


def within(diagnostics: tuple[Diagnostic, ...], path: Path, project: Project) -> tuple[Diagnostic, ...]:
    """The diagnostics of one file or folder, and those that have no place."""
    resolved = path.resolve()
    shown = resolved.relative_to(project.root).as_posix() if resolved.is_relative_to(project.root) else str(resolved)

    def inside(file: str) -> bool:
        return shown in (".", file) or file.startswith(f"{shown}/")

    if not any(inside(file.path) for file in project.files):
        message = f"`{path}` holds no module of the project `{project.config.name}` in `{project.root}`"
        models = ", ".join(project.config.models)
        raise StrataError(Diagnostic("E073", message, fix=f"its modules lie in {models} (`[project] models`)"))
    return tuple(d for d in diagnostics if d.span is None or inside(d.span.file))
