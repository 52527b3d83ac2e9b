"""`strata lint`: the lints among the compiler's findings, and nothing else."""

from __future__ import annotations

from pathlib import Path

import click

from ..diagnostics.wording import plural
from ..planning.kept.findings import findings
from ..planning.lints import LINTS
from ..planning.project import Project
from .checking import within
from .exits import exit_code
from .formats import FORMATS
from .options import format_option, on_project
from .report import exchanged, rendered


@click.command("lint")
@click.argument("path", required=False, type=click.Path(exists=True, path_type=Path))
@on_project
@format_option(*FORMATS)
def lint_command(project: Project, path: Path | None, format_: str) -> int:
    """Show what compiles and is likely not what was meant (codes W…).

    PATH is a .strata file or a folder. `[lint]` of strata.toml gives each code its severity: off, warning or error; a
    comment `// strata: allow W007 because …` takes one finding away. A model with errors has no lints: see
    `strata check`. The exit code is 1 where a lint is an error.
    """
    found = findings(project)
    diagnostics = found.diagnostics if path is None else within(found.diagnostics, path, project)
    lints = tuple(d for d in diagnostics if d.code in LINTS)
    if format_ != "text":
        click.echo(exchanged(lints, format_, [file.path for file in project.files], "strata"))
        return exit_code(lints)
    click.echo(rendered(lints, project.line_source), nl=False, color=True)
    click.echo(f"{plural(found.models, 'model')}: {plural(len(lints), 'lint')}", err=True)
    return exit_code(lints)
