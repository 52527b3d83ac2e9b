"""`partition_start: "2013-01-01"` of a model: its table is made and published by periods of time (`language.md`,
"Partitions of time").

The attributes stand beside `partition_by`, whose first column tells the time. Code: E070.
"""

from __future__ import annotations

from datetime import datetime

from ..diagnostics import Diagnostic, Report, Span
from ..language import ast
from ..language.names import spelled
from ..periods import LAST, Every, Periods, instant_of
from ..relation.nodes import Relation
from ..types import Date, Timestamp
from .compiled import Incremental

START, END, EVERY = "partition_start", "partition_end", "partition_every"
ATTRIBUTES = {
    START: "where the first partition of time begins",
    EVERY: "how long a partition of time is: hour, day, week or month",
    END: "where the last partition of time ends",
}
"""What an editor says of each."""


def periods_of(
    model: ast.Model,
    output: Relation,
    partition: tuple[str, ...],
    incremental: Incremental | None,
    report: Report,
) -> Periods | None:
    """The periods of `model`, whose table of the columns `output` is laid out by `partition`; None where it has none,
    or where what it asks for cannot be, which is reported (E070)."""
    written = {e.key.text: e for e in model.attributes if e.key.text in (START, END, EVERY)}
    if not written:
        return None
    if START not in written:
        key = next(iter(written.values())).key
        fix = f'add `{START}: "2024-01-01"`: where the first partition begins'
        report(Diagnostic("E070", f"`{key}` needs `{START}`", key.span, fix=fix))
        return None
    if (found := _misplaced(written[START].key.span, output, partition, incremental)) is not None:
        report(found)
        return None
    try:
        return _read(written, partition[0], isinstance(output.schema[partition[0]].inferred.type, Date))
    except _UnfitError as unfit:
        report(unfit.diagnostic)
        return None


class _UnfitError(Exception):
    def __init__(self, entry: ast.Entry, message: str, fix: str) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic("E070", message, entry.key.span, fix=fix)


def _misplaced(
    span: Span, output: Relation, partition: tuple[str, ...], incremental: Incremental | None
) -> Diagnostic | None:
    """Why a table that is laid out by `partition` has no periods."""
    if not partition or partition[0] not in output.schema:
        fix = "add `partition_by: [day]`, a date or timestamp first"
        return Diagnostic("E070", f"`{START}` is about `partition_by`, which is not there", span, fix=fix)
    told = output.schema[partition[0]].inferred
    if not isinstance(told.type, Date | Timestamp):
        message = f"partitions of time are told by a date or timestamp, and `{partition[0]}` is {told.type}"
        return Diagnostic("E070", message, span, fix="name a date or timestamp first in `partition_by`")
    if told.nullable:
        message = f"`{partition[0]}` may be null, and a null lies in no partition of time"
        fix = f"leave such rows out: `filter {spelled(partition[0])} is not none`"
        return Diagnostic("E070", message, span, fix=fix)
    if frozenset() in output.schema.keys:
        fix = "leave the attribute out"
        return Diagnostic("E070", "a table of one row has no partitions of time", span, fix=fix)
    if incremental is not None:
        message = "a model is either added to (`incremental`) or made by partitions of time"
        return Diagnostic("E070", message, span, fix="leave one of the two out")
    return None


def _read(written: dict[str, ast.Entry], column: str, dates: bool) -> Periods:
    every = _every(written[EVERY], dates) if EVERY in written else Every.DAY
    start = _instant(written[START], every)
    end = _instant(written[END], every) if END in written else None
    if end is not None and end <= start:
        raise _UnfitError(written[END], f"`{END}` is not after `{START}`", "it is the first instant that is left out")
    return Periods(column, every.value, _iso(start), None if end is None else _iso(end), dates)


def _every(entry: ast.Entry, dates: bool) -> Every:
    text = _text(entry)
    lengths = [e.value for e in Every if not (dates and e is Every.HOUR)]
    if text not in lengths:
        why = f"`{text}` is no length of a partition" + (" of dates" if text == Every.HOUR else "")
        raise _UnfitError(entry, why, f"write one of {', '.join(lengths)}")
    return Every(text)


def _instant(entry: ast.Entry, every: Every) -> datetime:
    text = _text(entry)
    at = instant_of(text, short=every is Every.MONTH)
    if at is None:
        raise _UnfitError(entry, f"`{text}` is no day or time of day without a zone", 'write `"2024-01-31"`')
    if at > LAST or (at == LAST and entry.key.text == START):
        raise _UnfitError(entry, f"no partition begins after {LAST.year - 1}", f"`{END}` may be left out")
    if (begins := every.floor(at)) != at:
        fix = f'write `"{_iso(begins)}"`'
        raise _UnfitError(entry, f"no {every} begins at `{text}`", fix)
    return at


def _text(entry: ast.Entry) -> str:
    match entry.value:
        case ast.Name(text=text):
            return text
        case ast.Literal(value=value):
            return str(value)
        case ast.Duration(seconds=seconds):
            return f"{seconds}s"


def _iso(at: datetime) -> str:
    return at.date().isoformat() if at == Every.DAY.floor(at) else at.isoformat(timespec="minutes")
