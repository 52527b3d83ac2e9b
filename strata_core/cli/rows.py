"""Rows on a terminal: an aligned table for people, CSV and JSON for programs, streamed."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import accumulate

import click
import pyarrow as pa

from ..diagnostics.render import printable, terminal_width
from ..diagnostics.wording import plural
from ..types.texts import json_of, shown_text
from .report import colored, terminal_columns

Row = dict[str, object]

WIDEST = 40
"""Terminal cells of one value in a table; longer ones are cut."""
GAP = "  "


def rows_of(reader: pa.RecordBatchReader, most: int | None) -> Iterator[Row]:
    """The first `most` rows, read batch by batch."""
    left = most
    while left is None or left > 0:
        batch = next(reader, None)
        if batch is None:
            return
        taken = batch if left is None else batch.slice(0, left)
        yield from taken.to_pylist(maps_as_pydicts="strict")
        left = None if left is None else left - taken.num_rows


def write_table(reader: pa.RecordBatchReader, columns: Sequence[str], most: int, total: int) -> None:
    """Rows as a table, numbers to the right; says how many rows are left out, and which columns do not fit."""
    texts = [[_cell(row[name]) for name in columns] for row in rows_of(reader, most)]
    widths = [max(terminal_width(t) for t in column) for column in zip(map(printable, columns), *texts, strict=True)]
    right = [_is_number(reader.schema.field(name).type) for name in columns]
    ends = [end + len(GAP) * i for i, end in enumerate(accumulate(widths))]
    fitting = sum(end <= terminal_columns() for end in ends) if sys.stdout.isatty() else len(columns)
    shown = max(1, fitting)

    def line(cells: Sequence[str]) -> str:
        padded = (_padded(c, w, r) for c, w, r in zip(cells[:shown], widths, right, strict=False))
        return GAP.join(padded).rstrip()

    head = line([printable(name) for name in columns])
    click.echo(f"\x1b[1m{head}\x1b[0m" if colored() else head, color=True)
    for cells in texts:
        click.echo(line(cells))
    notes = [f"the first {len(texts):,} shown"] if len(texts) < total else []
    if shown < len(columns):
        notes.append(f"without {', '.join(columns[shown:])}, which fit no more (--format csv has all)")
    click.echo(", ".join([plural(total, "row"), *notes]), err=True)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _cell(value: object) -> str:
    text = printable(shown_text(value))
    if terminal_width(text) <= WIDEST:
        return text
    while terminal_width(text) >= WIDEST:
        text = text[: min(len(text) - 1, WIDEST)]
    return f"{text}…"


def _padded(text: str, width: int, right: bool) -> str:
    blank = " " * (width - terminal_width(text))
    return blank + text if right else text + blank


def write_csv(reader: pa.RecordBatchReader, columns: Sequence[str], most: int | None) -> None:
    """Rows as CSV with a header line; null is an empty field."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows_of(reader, most):
        writer.writerow("" if row[name] is None else shown_text(row[name]) for name in columns)


def write_json(reader: pa.RecordBatchReader, columns: Sequence[str], most: int | None) -> None:
    """Rows as one JSON document a line; decimals are strings, so that no digit is lost."""
    for row in rows_of(reader, most):
        click.echo(json.dumps({name: json_of(row[name]) for name in columns}, ensure_ascii=False))
