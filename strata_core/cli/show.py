"""`strata show`: the published rows of a model."""

from __future__ import annotations

import json

import click

from ..planning.project import Project, compile_
from ..store.instant import spell
from .exits import CLEAN
from .options import environment_option, format_option, on_project

DEFAULT_ROWS = 20


@click.command("show")
@click.argument("model")
@on_project
@environment_option
@format_option("table", "csv", "json")
@click.option("--limit", type=click.IntRange(0), help=f"Rows to print (default: {DEFAULT_ROWS} in a table, else all).")
@click.option("--version", type=click.IntRange(1), help="A version of the environment (default: the live one).")
@click.option(
    "--as-of", metavar="INSTANT", help="What was live then: 2014-05-01T09:30:00Z, or a date for its whole day."
)
@click.option(
    "--partition",
    "partitions",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Only the files of this partition are read.",
)
def show_command(
    project: Project,
    model: str,
    environment: str,
    format_: str,
    limit: int | None,
    version: int | None,
    as_of: str | None,
    partitions: tuple[str, ...],
) -> int:
    """Print the published rows of MODEL: what its consumers read now, or read at an earlier version or instant.

    With --as-of the bound as it was understood, and the artifact that was live then, go to stderr.
    """
    from ..planning.live.published import live_then, published_rows
    from .rows import write_csv, write_json, write_table

    wanted = dict(_pair(text) for text in partitions)
    compiled = compile_(project)
    if as_of is not None:
        if version is not None:
            raise click.UsageError("--version and --as-of both say which version is meant: give one of them")
        then = live_then(project, compiled, model, environment, as_of)
        version = then.version.number
        click.echo(f"bounds: {json.dumps(then.bounds)}", err=True)
        live = f"version {version}, live since {spell(then.version.at)}, artifact {then.artifact.address}"
        click.echo(live, err=True)
    rows = published_rows(project, compiled, model, environment, version, wanted)
    if rows.hidden:
        click.echo(f"masked by contract: {', '.join(rows.hidden)}", err=True)
    with rows.reader as reader:
        match format_:
            case "csv":
                write_csv(reader, rows.columns, limit)
            case "json":
                write_json(reader, rows.columns, limit)
            case _:
                write_table(reader, rows.columns, DEFAULT_ROWS if limit is None else limit, rows.total)
    return CLEAN


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise click.BadParameter(f"{text!r} is no partition: write `day=2024-01-31`", param_hint="--partition")
    return name, value
