"""Queries that were written before, kept by what they are written from.

To write a query takes sqlglot and the translation, whose modules take a quarter of the time in which an apply starts;
to read it again takes neither. Only queries over Parquet files are kept, since nothing has to be attached or registered
for those. The files' names are no part of a query that is kept: of new files with the old columns the same is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from ...caches import cache_directory, keep, kept, program_stamp
from ...diagnostics import StrataError
from ...digests import local_key, of_value
from ..inputs import parquet_schema
from ..protocol import ParquetTable, TableInput

GLOB = frozenset("*?[")

Schemas = Mapping[str, pa.Schema]
Written = Callable[[Mapping[str, TableInput], Schemas], str]
"""Writes a query over tables; of those that are Parquet files the schema is known."""


@dataclass(frozen=True, slots=True)
class Queries:
    """The queries over `tables`. `known` is the digest of what is known of them, `None` where no query is kept."""

    tables: Mapping[str, TableInput]
    schemas: Schemas
    known: bytes | None

    def text(self, purpose: str, subject: object, write: Written) -> str:
        """What `write` writes for `purpose`, which depends on `subject` and on what is known of the tables alone.

        `write` may be given tables whose files have other names. Raises what it raises.
        """
        if self.known is None:
            return write(self.tables, self.schemas)
        key = local_key(program_stamp(), purpose, of_value(subject), self.known)
        path = cache_directory() / "queries" / f"{key}.sql"
        files = {n: t for n, t in self.tables.items() if isinstance(t, ParquetTable) and t.paths}
        places = {name: f"{key}-{number}" for number, name in enumerate(files)}
        content = kept(path)
        if content is None:
            named = {name: replace(table, paths=(Path(places[name]),)) for name, table in files.items()}
            try:
                content = write({**self.tables, **named}, self.schemas).encode(errors="surrogatepass")
            except StrataError:  # it names files
                return write(self.tables, self.schemas)
            keep(path, content)
        text = content.decode(errors="surrogatepass")
        for name, place in places.items():
            text = text.replace(f"'{place}'", ", ".join(map(_quoted, files[name].paths)))
        return text


def queries_over(tables: Mapping[str, TableInput]) -> Queries:
    """The queries over `tables`. Errors: E030, E033, E080 of Parquet files."""
    schemas = {name: parquet_schema(table) for name, table in tables.items() if isinstance(table, ParquetTable)}
    if len(schemas) < len(tables) or any(map(differ_in_case_alone, schemas.values())):
        return Queries(tables, schemas, None)
    known = [
        (name, table.columns, table.paths == (), schemas[name].serialize().to_pybytes())
        for name, table in sorted(tables.items())
        if isinstance(table, ParquetTable)
    ]
    return Queries(tables, schemas, of_value(known))


def differ_in_case_alone(schema: pa.Schema) -> bool:
    """Whether columns differ in case alone. DuckDB gives such columns names of its own, in the order of the file."""
    return len({name.casefold() for name in schema.names}) < len(schema.names)


def literal_path(path: Path) -> str:
    """A path that DuckDB takes as it is: signs that it reads as patterns stand in brackets."""
    return "".join(f"[{c}]" if c in GLOB else c for c in str(path))


def _quoted(path: Path) -> str:
    return "'" + literal_path(path).replace("'", "''") + "'"
