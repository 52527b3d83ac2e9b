"""An error of a computation that read CSV, told at the line of the file that it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ...diagnostics import StrataError
from ..csv_files import first_fault
from ..protocol import CsvTable, TableInput


@contextmanager
def locating_csv_faults(tables: Mapping[str, TableInput]) -> Iterator[None]:
    """An error of a computation that read CSV is replaced by the fault of a file, with its line, if there is one."""
    try:
        yield
    except StrataError as error:
        if any(d.code in ("E033", "E090") for d in error.diagnostics):
            for table in tables.values():
                fault = first_fault(table) if isinstance(table, CsvTable) else None
                if fault is not None:
                    raise StrataError(fault) from None
        raise
