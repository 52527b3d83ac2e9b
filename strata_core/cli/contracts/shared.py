"""What the verbs share: where the project is, in which format findings are told, and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from ...contract_engine.pipeline import open_setting
from ...diagnostics import Diagnostic, StrataError
from ..exits import CLEAN, FINDINGS, USAGE
from ..report import FORMATS, exchanged, rendered

Verb = TypeVar("Verb", bound=Callable[..., int])
__all__ = ["FORMATS", "exit_code", "format_option", "on_contracts", "tell"]
_USAGE_CODES = ("E073", "E034")
"""Findings about the command or `strata.toml`, not about contracts."""


def on_contracts(verb: Callable[..., int]) -> Callable[..., int]:
    """Give `verb` the option `--project`, and the opened setting in its place; tell what keeps it from working."""

    @click.option(
        "--project",
        "project",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="The project's folder (default: the nearest strata.toml upwards, else this folder).",
    )
    @wraps(verb)
    def run(project: Path | None, **options: Any) -> int:
        format_ = options.get("format_", "text")
        try:
            code = verb(open_setting(project), **options)
            sys.stdout.flush()
        except StrataError as error:
            tell(error.diagnostics, project or Path.cwd(), format_, err=True)
            code = exit_code(error.diagnostics)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = CLEAN
        return code

    return run


def format_option(*formats: str) -> Callable[[Verb], Verb]:
    """`--format`, the first being the default."""
    return click.option("--format", "format_", type=click.Choice(formats), default=formats[0], show_default=True)


def exit_code(diagnostics: Iterable[Diagnostic]) -> int:
    """0 without anything that blocks, 2 where the command or the configuration is at fault, else 1."""
    blocking = [d for d in diagnostics if d.blocks]
    if not blocking:
        return CLEAN
    return USAGE if all(d.code in _USAGE_CODES for d in blocking) else FINDINGS


def tell(
    diagnostics: Sequence[Diagnostic], root: Path, format_: str, *, files: Sequence[str] = (), err: bool = False
) -> None:
    """The findings in a format: text as the terminal has room, the others on standard output."""
    if format_ == "text":
        click.echo(rendered(diagnostics, lines_below(root), err=err), nl=False, err=err, color=True)
        return
    click.echo(exchanged(diagnostics, format_, files, "contract-engine"))


def lines_below(root: Path) -> Callable[[str], str | None]:
    """The text of a file of the project, for showing lines of it."""

    def lines(path: str) -> str | None:
        try:
            return (root / path).read_text(encoding="utf-8", errors="replace") if (root / path).is_file() else None
        except OSError:
            return None

    return lines
