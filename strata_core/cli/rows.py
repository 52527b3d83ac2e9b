"""Rows on a terminal: an aligned table for people, CSV and JSON for programs, streamed."""

from __future__ import annotations

import csv
import datetime
import decimal
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import islice

import click
import pyarrow as pa

from .report import plural

Row = dict[str, object]


def rows_of(reader: pa.RecordBatchReader, most: int | None) -> Iterator[Row]:
    """The first `most` rows, read batch by batch."""
    return islice((row for batch in reader for row in batch.to_pylist()), most)


def write_table(reader: pa.RecordBatchReader, columns: Sequence[str], most: int | None, total: int) -> None:
    """Rows as a table, numbers to the right, nulls dimmed; says how many rows are not shown."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        right = pa.types.is_integer(t := reader.schema.field(name).type) or pa.types.is_floating(t)
        table.add_column(name, justify="right" if right or pa.types.is_decimal(t) else "left", no_wrap=True)
    shown = 0
    for row in rows_of(reader, most):
        cells = (row[name] for name in columns)
        table.add_row(*(Text("none", style="dim") if c is None else Text(_text(c)) for c in cells))
        shown += 1
    console = Console(highlight=False)
    console.print(table)
    rest = f", the first {shown:,} shown" if shown < total else ""
    click.echo(f"{plural(total, 'row')}{rest}", err=True)


def write_csv(reader: pa.RecordBatchReader, columns: Sequence[str], most: int | None) -> None:
    """Rows as CSV with a header line; null is an empty field."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows_of(reader, most):
        writer.writerow("" if row[name] is None else _text(row[name]) for name in columns)


def write_json(reader: pa.RecordBatchReader, columns: Sequence[str], most: int | None) -> None:
    """Rows as one JSON document a line; decimals are strings, so that no digit is lost."""
    for row in rows_of(reader, most):
        click.echo(json.dumps({name: _plain(row[name]) for name in columns}, ensure_ascii=False))


def _text(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case datetime.datetime():
            return value.isoformat(sep=" ")
        case list() | dict() | tuple():
            return json.dumps(_plain(value), ensure_ascii=False)
        case _:
            return str(value)


def _plain(value: object) -> object:
    match value:
        case decimal.Decimal() | datetime.date():
            return str(value) if isinstance(value, decimal.Decimal) else value.isoformat()
        case dict():
            return {k: _plain(v) for k, v in value.items()}
        case list() | tuple():
            return [_plain(v) for v in value]
        case float() if value != value or value in (float("inf"), float("-inf")):
            return str(value)
        case _:
            return value
