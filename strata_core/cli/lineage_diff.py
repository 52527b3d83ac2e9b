"""`strata lineage-diff`: what changed between two revisions, and for whom."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import click

from ..diagnostics import Diagnostic, StrataError
from ..planning.git_revisions import GitRevision
from ..planning.lineage import RevisionDiff, revision_diff
from .exits import CLEAN, FINDINGS, exit_code
from .options import format_option
from .progress import Progress
from .report import colored, tell

FORMATS = ("text", "json", "markdown", "html")


@click.command("lineage-diff")
@click.argument("revisions", metavar="BASE..HEAD")
@click.option(
    "--project",
    type=click.Path(exists=True, path_type=Path),
    metavar="DIR",
    default=Path("."),
    help="The project's folder (default: where you are), or a bare repository.",
)
@format_option(*FORMATS)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file, not to the screen.")
def lineage_diff_command(revisions: str, project: Path, format_: str, out: Path | None) -> int:
    """Compare a project at two Git revisions by meaning: each change, whether it breaks consumers, and whom it reaches.

    BASE..HEAD are two revisions, BASE...HEAD compares HEAD with where it branched off, and BASE alone with the
    files as they are now. Nothing is checked out. The exit code is 1 where a change breaks consumers or a model
    at HEAD has errors.
    """
    try:
        with Progress(f"comparing {revisions}", quiet=format_ == "json" or out is None):
            found = revision_diff(revisions, project)
        written = _written(found, format_)
        if out is None:
            click.echo(written, nl=False, color=True)
        else:
            _write(out, written)
    except StrataError as error:
        tell(error.diagnostics, lambda _path: None, format_)
        return exit_code(error.diagnostics)
    _tell_errors(found)
    return FINDINGS if found.diff.breaks or found.errors_after else CLEAN


def _written(found: RevisionDiff, format_: str) -> str:
    from ..lineage import diff_shown

    before, after = found.before, found.after
    match format_:
        case "json":
            document = diff_shown.as_json(found.diff, _named(before), _named(after))
            return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        case "markdown":
            return _joined(diff_shown.markdown_lines(found.diff, before.name, after.name))
        case "html":
            from ..lineage.page import page

            return page(found.diff, _named(before), _named(after))
        case _:
            paint = diff_shown.coloured if colored() else diff_shown.plain
            return _joined(diff_shown.text_lines(found.diff, paint))


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _named(revision: GitRevision) -> dict[str, str]:
    return {"name": revision.name, "commit": revision.commit}


def _write(out: Path, text: str) -> None:
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        message = f"`{out}` cannot be written: {error.strerror}"
        raise StrataError(Diagnostic("E002", message, fix="give `--out` a file in a folder that exists")) from None


def _tell_errors(found: RevisionDiff) -> None:
    for revision, errors in ((found.before, found.errors_before), (found.after, found.errors_after)):
        if errors:
            click.echo(f"{revision.name} has errors; its sound models were compared:", err=True)
            tell(errors, revision.project.line_source)
    if found.missing:
        tell(found.missing, found.after.project.line_source)
