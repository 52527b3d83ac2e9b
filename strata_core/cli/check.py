"""`strata check`: the compiler's findings, nothing else."""

from __future__ import annotations

from pathlib import Path

import click

from ..planning.project import Project
from .checking import check
from .formats import FORMATS
from .options import format_option, on_project


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
        from .proofs import explain_model  # loads the compiler, which a check of what did not change does not need

        return explain_model(project, explain, as_json=format_ == "json")
    return check(project, path, format_)
