"""`strata check`: the compiler's findings, nothing else."""

from __future__ import annotations

import time
from pathlib import Path

import click

from ..diagnostics import Severity
from ..diagnostics.render import render_json
from ..planning.project import compile_
from .report import exit_code, format_option, opened, plural, print_diagnostics, project_option


@click.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@project_option
@format_option("text", "json")
def check(path: Path | None, project: Path | None, format_: str) -> None:
    """Check models and contracts without running anything.

    PATH is a .strata file or a folder; without it the whole project is checked. The findings of a file are
    those of its project, shown for that file or folder alone.
    """
    started = time.perf_counter()
    found = opened(project, path)
    compiled = compile_(found)
    diagnostics = compiled.diagnostics
    if path is not None:
        shown = _shown(path, found.root)
        diagnostics = tuple(d for d in diagnostics if d.span is None or _inside(d.span.file, shown))
    if format_ == "json":
        click.echo(render_json(diagnostics))
    else:
        print_diagnostics(diagnostics, found.line_source)
        errors = sum(d.severity is Severity.ERROR for d in diagnostics)
        warnings = sum(d.severity is Severity.WARNING for d in diagnostics)
        models = len(compiled.models) + len(compiled.broken)
        counted = f"{plural(models, 'model')} in {plural(len(found.files), 'file')}"
        findings = f"{plural(errors, 'error')}, {plural(warnings, 'warning')}"
        click.echo(f"{counted}: {findings} ({time.perf_counter() - started:.2f} s)", err=True)
    raise click.exceptions.Exit(exit_code(diagnostics))


def _shown(path: Path, root: Path) -> str:
    resolved = path.resolve()
    return resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else resolved.as_posix()


def _inside(file: str, shown: str) -> bool:
    return shown in (".", file) or file.startswith(f"{shown}/")
