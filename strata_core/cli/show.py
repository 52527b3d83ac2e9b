"""`strata show`: the published rows of a model."""

from __future__ import annotations

from pathlib import Path

import click

from ..planning.project import compile_
from .report import environment_option, fail, format_option, opened, project_option

DEFAULT_ROWS = 20


@click.command()
@click.argument("model")
@project_option
@environment_option
@format_option("table", "csv", "json")
@click.option("--limit", type=click.IntRange(0), help=f"Rows to print (default: {DEFAULT_ROWS} in a table, else all).")
@click.option("--version", "version", type=int, help="A version of the environment (default: the live one).")
def show(
    model: str, project: Path | None, environment: str, format_: str, limit: int | None, version: int | None
) -> None:
    """Print the published rows of MODEL: what its consumers read now, or read at an earlier version."""
    from ..planning.published import published_rows
    from ..store.store import Store
    from .rows import write_csv, write_json, write_table

    found = opened(project)
    compiled = compile_(found)
    store = Store.open(found.store_root, create=False)
    rows = published_rows(store, compiled, model, environment, version)
    most = limit if limit is not None else DEFAULT_ROWS if format_ == "table" else None
    if rows is None:
        from ..planning.plan import unknown_model

        fail(found, [unknown_model(model, compiled)])
        return
    with rows.reader as reader:
        match format_:
            case "csv":
                write_csv(reader, rows.columns, most)
            case "json":
                write_json(reader, rows.columns, most)
            case _:
                write_table(reader, rows.columns, most, rows.total)
