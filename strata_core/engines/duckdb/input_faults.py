"""An error of a computation, told as the fault of the input that it comes from: a stream, or the line of a CSV file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ...diagnostics import StrataError
from ..csv_files import first_fault
from ..protocol import CsvTable, StreamTable, TableInput


@contextmanager
def locating_faults(tables: Mapping[str, TableInput]) -> Iterator[None]:
    """An error of a computation is replaced by the fault of what it read, if there is one: that of a stream, or that of
    a CSV file, with its line."""
    try:
        yield
    except StrataError as error:
        for table in tables.values():
            if isinstance(table, StreamTable) and table.faults:
                first = table.faults[0]
                table.faults.clear()  # each scan of a query has its own, and they are one
                raise first from None
        if any(d.code in ("E033", "E090") for d in error.diagnostics):
            for table in tables.values():
                fault = first_fault(table) if isinstance(table, CsvTable) else None
                if fault is not None:
                    raise StrataError(fault) from None
        raise
