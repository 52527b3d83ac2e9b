"""What all verbs share: options, exit codes, and how diagnostics reach the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from ..diagnostics import Diagnostic, StrataError, has_errors
from ..diagnostics.render import render_json, render_text
from ..planning.project import Project, open_project

CLEAN, FINDINGS, USAGE, VIOLATED, FAILED = 0, 1, 2, 3, 4

EXIT_BY_PREFIX = {"E027": USAGE, "E03": FAILED, "E08": VIOLATED, "E09": FAILED}

F = TypeVar("F", bound=Callable[..., Any])
Lines = Callable[[str], str | None]


def exit_code(diagnostics: Sequence[Diagnostic]) -> int:
    """The exit code that `diagnostics` ask for: the gravest of their families, 0 without errors."""
    return max((_code(d) for d in diagnostics if d.blocks), default=CLEAN)


def _code(diagnostic: Diagnostic) -> int:
    for prefix, code in EXIT_BY_PREFIX.items():
        if diagnostic.code.startswith(prefix):
            return code
    return FINDINGS


def project_option(command: F) -> F:
    """`--project`, the same for every verb."""
    return click.option(
        "--project",
        "project",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="The project's folder, or a single .strata file (default: the nearest strata.toml upwards).",
    )(command)


def environment_option(command: F) -> F:
    """`--env`, the same for every verb that reads or publishes."""
    return click.option("--env", "environment", default="prod", show_default=True, help="The environment.")(command)


def format_option(*formats: str) -> Callable[[Any], Any]:
    """`--format`, the first being the default."""
    return click.option("--format", "format_", type=click.Choice(formats), default=formats[0], show_default=True)


def opened(project: Path | None, path: Path | None = None) -> Project:
    """The project that the options mean."""
    if project is not None and project.suffix == ".strata":
        return open_project(project)
    return open_project(path, project=project)


def colored(err: bool = False) -> bool:
    """Whether to colour: on a terminal, unless NO_COLOR is set; always where FORCE_COLOR is."""
    if os.environ.get("NO_COLOR"):
        return False
    stream = sys.stderr if err else sys.stdout
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def print_diagnostics(diagnostics: Sequence[Diagnostic], lines: Lines, *, err: bool = False) -> None:
    """Print `diagnostics` with their source lines."""
    if diagnostics:
        width = min(120, max(60, _width()))
        click.echo(render_text(tuple(diagnostics), lines, colored(err), width), err=err, color=True)


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        return 100


def refuse_errors(project: Project, diagnostics: Sequence[Diagnostic], format_: str = "text") -> None:
    """Stop a verb that needs a project without errors: print them and leave with their exit code."""
    if has_errors(tuple(diagnostics)):
        fail(project, [d for d in diagnostics if d.blocks], format_)


def fail(project: Project, diagnostics: Sequence[Diagnostic], format_: str = "text") -> None:
    """Print `diagnostics` and leave with their exit code."""
    if format_ == "json":
        click.echo(render_json(tuple(diagnostics)))
    else:
        print_diagnostics(diagnostics, project.line_source, err=True)
    raise click.exceptions.Exit(exit_code(diagnostics))


def plural(count: int, noun: str) -> str:
    """`1 model`, `2 models`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


__all__ = [
    "CLEAN",
    "FAILED",
    "FINDINGS",
    "USAGE",
    "VIOLATED",
    "StrataError",
    "colored",
    "environment_option",
    "exit_code",
    "fail",
    "format_option",
    "opened",
    "plural",
    "print_diagnostics",
    "project_option",
    "refuse_errors",
]
