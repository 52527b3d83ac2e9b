"""`strata lineage`: where columns come from, and what depends on them."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import click

from ..planning.lineage import project_lineage
from ..planning.project import Project
from .exits import CLEAN
from .options import environment_option, format_option, on_project
from .progress import Progress
from .report import colored, tell

FORMATS = ("text", "json", "mermaid", "dot", "openlineage")


@click.command("lineage")
@click.argument("what", metavar="[MODEL[.COLUMN]]", required=False)
@on_project
@click.option("--up/--down", "up", default=True, help="Where it comes from (the default), or what depends on it.")
@click.option("--depth", type=click.IntRange(min=1), help="How many models far (one for a model, else all).")
@environment_option
@format_option(*FORMATS)
def lineage_command(
    project: Project, what: str | None, up: bool, depth: int | None, environment: str, format_: str
) -> int:
    """Show where a column comes from, or with --down all that depends on it: its value, and rows that it decides about.

    MODEL.COLUMN is a column of a model or source; MODEL all of its columns; without either, all models. A dbt
    model is `dbt:NAME`. What other projects have published in the same store and environment belongs to it.
    """
    from ..lineage import drawing, exchange, openlineage
    from ..lineage.selection import Way, find, project_models, select

    with Progress("reading lineage", quiet=format_ == "json"):
        found = project_lineage(project, environment)
    graph, name = found.graph, found.project
    if found.missing:
        tell(found.missing, project.line_source)
    start = find(graph, name, what, found.broken) if what is not None else project_models(graph, name)
    asked_one = what is not None and len(start) == 1
    selection = select(graph, start, Way.UP if up else Way.DOWN, depth or (None if asked_one or not up else 1))
    match format_:
        case "json":
            click.echo(json.dumps(exchange.as_json(selection), indent=2))
        case "mermaid":
            click.echo("\n".join(exchange.mermaid(selection, name)))
        case "dot":
            click.echo("\n".join(exchange.dot(selection, name)))
        case "openlineage":
            now = datetime.now(UTC)
            click.echo(json.dumps([*openlineage.events(graph, selection.tables, now)], indent=2))
        case _:
            paint = drawing.coloured if colored() else drawing.plain
            for line in drawing.draw(selection, name, paint):
                click.echo(line, color=True)
    if found.broken:
        click.echo(f"left out, for they have errors (`strata check`): {', '.join(found.broken)}", err=True)
    return CLEAN
