"""DuckDB connections with limits, and its errors as diagnostics for people.

Every computation has a connection of its own, in which what it registers is seen by nobody else and goes with it.
Computations under equal settings share a database in memory, hence its limits: to open one takes longer than many a
query. Errors: E090 (a value does not fit), E091 (memory, disk, interruption), E033 (an input cannot be read).
"""

from __future__ import annotations

import atexit
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import duckdb
import pyarrow as pa

from ...diagnostics import Diagnostic, StrataError
from ..protocol import EngineSettings

MEMORY_SHARE = 0.6
"""The part of the machine's memory that a computation may take unless settings say otherwise."""
MAX_DEPTH = 5_000


def open_session(settings: EngineSettings, *, alone: bool = False) -> duckdb.DuckDBPyConnection:
    """A connection to a database in memory: its own if `alone`, for who attaches files, which all of a database see
    and which stay open. Errors: E091 where a limit is not accepted."""
    with computing():
        connection = _open(settings) if alone else _shared(settings).cursor()
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("SET order_by_non_integer_literal = true")
        return connection


@lru_cache(maxsize=4)
def _shared(settings: EngineSettings) -> duckdb.DuckDBPyConnection:
    """The database for `settings`."""
    return _open(settings)


atexit.register(_shared.cache_clear)  # closed while the interpreter still stands, a database removes its spill folder
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_shared.cache_clear)  # a child has none of the threads that closing one waits for


def _open(settings: EngineSettings) -> duckdb.DuckDBPyConnection:
    spill = settings.spill_directory or Path(tempfile.gettempdir()) / f"strata-spill-{os.getpid()}"
    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": settings.memory_limit or default_memory_limit(),
        "threads": settings.threads or available_threads(),
        "temp_directory": str(spill),
        "default_null_order": "nulls_last",
        "ieee_floating_point_ops": True,
        "preserve_insertion_order": True,
        "max_expression_depth": MAX_DEPTH,
        # Nothing is fetched from a network behind a computation's back.
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        # What a file held is asked of the file: one may be rewritten between two computations.
        "enable_external_file_cache": False,
    }
    return duckdb.connect(":memory:", config=config)


def available_threads() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_memory_limit() -> str:
    """A share of the machine's memory, in MiB."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        total = 4 << 30
    return f"{max(int(total * MEMORY_SHARE) >> 20, 256)}MiB"


@contextmanager
def computing() -> Iterator[None]:
    """DuckDB's errors inside become a `StrataError`. While rows are streamed they arrive as Arrow's."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise StrataError(diagnosis(str(error))) from None


def diagnosis(text: str) -> Diagnostic:
    """What an error of DuckDB means for the person whose model runs, without its SQL. The kind leads the text."""
    own = OWN_MESSAGE.match(text)
    if own is not None:
        return _failed(own[1])
    reason = _first_line(text)
    match text.partition(" Error")[0].lower():
        case "out of memory":
            return Diagnostic(
                "E091",
                f"the engine ran out of memory, or of room to spill: {reason}",
                fix="raise `memory_limit` in `strata.toml`, or give `spill` a folder with more room",
            )
        case "interrupt":
            return Diagnostic("E091", "the computation was interrupted", fix="start it again")
        case "io" if CANNOT_WRITE.search(text):
            return Diagnostic(
                "E091",
                f"the engine cannot write while it computes: {reason}",
                fix="make room, or set `spill` in `strata.toml` to a folder with more",
            )
        case "io" | "serialization":
            return Diagnostic(
                "E033", f"an input cannot be read: {reason}", fix="check that the file is whole and not being written"
            )
        case _:
            return _failed(_said(text))


CANNOT_WRITE = re.compile(r"space|quota|temporary|could not write|write file|create directory", re.IGNORECASE)


def _failed(reason: str) -> Diagnostic:
    return Diagnostic(
        "E090",
        reason if reason.startswith("`") else f"the computation failed: {reason}",
        fix="filter the offending rows, widen the type, or use `try_cast` for text that may not fit",
    )


MARK = "strata: "
"""What errors begin with that a query of ours raises (`sql.raise_error`)."""
OWN_MESSAGE = re.compile(rf"Invalid Input Error: {re.escape(MARK)}(.*?)(?:\n\nLINE \d+:.*)?$", re.DOTALL)
"""Such an error; DuckDB may add the line of SQL that it comes from."""

REASONS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"with value (?P<value>.*?) can't be cast .*destination type (?P<type>[\w(),]+)", re.DOTALL),
        "`{value}` does not fit {type}",
    ),
    (
        re.compile(r'Casting value "(?P<value>.*?)" to type (?P<type>[\w(),]+)', re.DOTALL),
        "`{value}` does not fit {type}",
    ),
    (
        re.compile(r'(?P<type>date|time|timestamp) field value out of range: "(?P<value>.*?)"', re.DOTALL),
        "`{value}` is no {type}",
    ),
    (
        re.compile(r"Could not cast value (?P<value>.*?) to (?P<type>[\w(),]+)", re.DOTALL),
        "`{value}` does not fit {type}",
    ),
    (
        re.compile(r"Could not convert string [\"'](?P<value>.*?)[\"'] to '?(?P<type>[\w(),]+)", re.DOTALL),
        "`{value}` is no {type}",
    ),
    (
        re.compile(r"Overflow in (?P<what>\w+) of (?P<type>[\w(),]+) \((?P<value>.*?)\)", re.DOTALL),
        "{what} overflows: `{value}` does not fit {type}",
    ),
    (re.compile(r"Overflow in (?P<what>[^:\n!(]+)"), "the result overflows: {what}"),
)
"""DuckDB's wordings, and what is said instead."""

TYPE_WORDS = {
    "INT64": "int64",
    "BIGINT": "int64",
    "DOUBLE": "float64",
    "INT128": "38 digits",
    "HUGEINT": "38 digits",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "UUID": "uuid",
}


def _said(text: str) -> str:
    for pattern, sentence in REASONS:
        found = pattern.search(text)
        if found is not None:
            words = {k: TYPE_WORDS.get(v, v.replace("DECIMAL", "decimal")) for k, v in found.groupdict().items()}
            return sentence.format(**words)
    return _first_line(text)


def _first_line(text: str) -> str:
    line = text.splitlines()[0] if text else "unknown"
    return re.sub(r"^[A-Za-z ]+ (Error|Exception): ", "", line)
