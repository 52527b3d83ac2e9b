"""One read-only SQL query that somebody wrote, over tables that are named to it and nothing else.

The query sees views of the tables; files other than theirs, settings and the network are closed to it before it runs.
A database file is attached as a whole, so that its other tables could be named: a query of one is first bound where
nothing but empty tables of the same columns is. It is bounded in time, and in memory by the engine's settings.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb
import sqlglot
from sqlglot import exp

from ...diagnostics import Diagnostic, StrataError
from ..protocol import Answer, DuckDBTable, EngineSettings, ParquetTable, TableInput
from . import sql
from .scans import Source, scan, source_of
from .session import computing, diagnosis, open_session


def ask(
    query: str, tables: Mapping[str, TableInput], settings: EngineSettings, *, seconds: float, samples: int
) -> Answer:
    """The answer to `query` over `tables`, each under its name; a name with dots is also that of a schema's table.

    Raises `StrataError` E140 (it is no such query), E030, E033 (an input), E090 (a computation fails), E091 (time or
    memory).
    """
    with closing(open_session(settings, alone=True)) as connection:
        for number, (name, table) in enumerate(tables.items()):
            source = source_of(table, connection, f"{sql.RESERVED}source_{number}")
            body = sql.render(_rows(table, source))
            for place in _places(name):
                _make_room(connection, place)
                with computing():
                    connection.execute(f"CREATE VIEW IF NOT EXISTS {_path(place)} AS {body}")
        _close(connection, tables)
        text = _one_select(connection, query)
        if any(isinstance(table, DuckDBTable) for table in tables.values()):
            _bind_alone(connection, query, tables, settings)
        with _bounded(connection, seconds), computing():
            counted = connection.execute(f"SELECT count(*) FROM (\n{text}\n) AS answer").fetchone()
            rows = counted[0] if counted else 0
            found = connection.execute(f"SELECT * FROM (\n{text}\n) AS answer LIMIT {samples if rows else 0:d}")
            columns = tuple(c[0] for c in found.description or ())
            return Answer(rows, columns, tuple(found.fetchall()))


def _places(name: str) -> list[tuple[str, ...]]:
    """How a table can be written: as one name, and, where that has dots, by its schema or database."""
    parts = tuple(name.split("."))
    return [(name,), parts] if 1 < len(parts) <= 3 and all(parts) else [(name,)]


def _make_room(connection: duckdb.DuckDBPyConnection, place: Sequence[str]) -> None:
    """The schema, and the database in memory, that a table stands in."""
    with computing():
        if len(place) == 3:
            connection.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {_path(place[:1])}")
        if len(place) > 1:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_path(place[:-1])}")


def _path(place: Iterable[str]) -> str:
    return ".".join(sql.render(sql.column(part)) for part in place)


def _rows(table: TableInput, source: Source) -> exp.Select:
    """The rows of a table: in declared types where it declares any, else as they are."""
    if table.columns:
        return scan(table, source, table.columns, {})
    items = [sql.named(sql.column(own), name) for name, own in source.columns.items()]
    return exp.Select(expressions=items, from_=exp.From(this=source.rows))


def _close(connection: duckdb.DuckDBPyConnection, tables: Mapping[str, TableInput]) -> None:
    """From here on the connection reads the files of `tables` and nothing else, whatever it is asked."""
    paths: list[Path] = []
    for table in tables.values():
        match table:
            case ParquetTable(paths=several):
                paths += several
            case DuckDBTable():
                pass  # attached already
            case _ if (path := getattr(table, "path", None)) is not None:
                paths.append(path)
    with computing():
        allowed = exp.Array(expressions=[sql.string(str(p)) for p in paths])
        connection.execute(f"SET allowed_paths = {sql.render(allowed)}")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")


def _one_select(connection: duckdb.DuckDBPyConnection, query: str) -> str:
    """The text of the one statement in `query`, without its end. E140 where there is another number of them, where it
    does more than to read, or where it does not fit the tables; this message names no value of theirs."""
    with _refused():
        statements = connection.extract_statements(query)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise duckdb.ParserException("it is not one SELECT")
        connection.execute(f"EXPLAIN {query}")
    tokens = sqlglot.tokenize(query, read="duckdb")
    end = next((t.start for t in tokens if t.token_type is sqlglot.TokenType.SEMICOLON), len(query))
    return query[:end]


def _bind_alone(
    connection: duckdb.DuckDBPyConnection, query: str, names: Iterable[str], settings: EngineSettings
) -> None:
    """E140 where `query` names more than the views `names` of `connection`."""
    with closing(open_session(settings, alone=True)) as alone:
        for name in names:
            with computing():
                columns = connection.execute(f"DESCRIBE {sql.render(sql.table(name))}").fetchall()
                listed = ", ".join(f"{sql.render(sql.column(c[0]))} {c[1]}" for c in columns)
            for place in _places(name):
                _make_room(alone, place)
                with computing():
                    alone.execute(f"CREATE TABLE IF NOT EXISTS {_path(place)} ({listed})")
        with _refused():
            alone.execute(f"EXPLAIN {query}")


@contextmanager
def _refused() -> Iterator[None]:
    """What DuckDB has against a query, as E140."""
    try:
        yield
    except duckdb.Error as error:
        why = diagnosis(str(error)).message.removeprefix("the computation failed: ")
        message = f"this query cannot be asked: {why}"
        raise StrataError(Diagnostic("E140", message, fix="write one SELECT over the tables")) from None


@contextmanager
def _bounded(connection: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """Interrupt what runs on `connection` after `seconds`: E091."""
    late = threading.Event()

    def stop() -> None:
        late.set()
        connection.interrupt()

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    except StrataError:
        if late.is_set():
            message = f"the query took longer than {seconds:g} seconds and was stopped"
            raise StrataError(Diagnostic("E091", message, fix="ask for less, or of fewer rows")) from None
        raise
    finally:
        timer.cancel()
