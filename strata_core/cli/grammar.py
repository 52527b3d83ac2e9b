"""`strata grammar`: the grammar for programs that generate Strata, and for those that colour it."""

from __future__ import annotations

from pathlib import Path

import click

from ..diagnostics import StrataError
from ..language.gbnf import gbnf
from .exits import CLEAN, exit_code
from .report import tell


@click.command("grammar")
@click.option("--format", "format_", type=click.Choice(["gbnf", "textmate"]), default="gbnf", show_default=True)
@click.option(
    "--project",
    "project",
    type=click.Path(exists=True, path_type=Path),
    is_flag=False,
    flag_value=".",
    metavar="[DIR]",
    help="Allow only names of tables, columns, contracts and functions that exist in this project (default: here).",
)
def grammar_command(format_: str, project: Path | None) -> int:
    """Print the grammar for constrained decoding: llama.cpp, llguidance and xgrammar read it.

    With `--format textmate` the grammar that editors colour Strata by.
    """
    if format_ == "textmate":
        if project is not None:
            raise click.UsageError("a grammar for colours is the same for every project: leave `--project` out")
        from ..language.textmate import textmate

        click.echo(textmate(), nl=False)
        return CLEAN
    if project is None:
        click.echo(gbnf(), nl=False)
        return CLEAN
    from ..planning.generation import vocabulary
    from ..planning.project import open_project

    try:
        here = project == Path(".")
        names = vocabulary(open_project(Path.cwd() if here else None, project=None if here else project))
    except StrataError as error:
        tell(error.diagnostics, lambda path: None)
        return exit_code(error.diagnostics)
    click.echo(gbnf(names), nl=False)
    return CLEAN
