"""What an engine is: relation in, Arrow batches out; and the kinds of table it reads.

Engines translate; types, nullability, names and orders are settled in the relation. All engines pass the
conformance suite of `tests/engines`, whose oracle is the `reference` interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ..contract.assertions import Assertion, Assessment
from ..diagnostics import Diagnostic, StrataError
from ..relation.extern import Extern
from ..relation.nodes import Relation
from ..relation.schema import Column
from ..types import STRING, Inferred

if TYPE_CHECKING:  # pyarrow takes 0.2 s to import, and a plan reads no row
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """Parquet files of one schema, read in the order given.

    `ours` says that the store's writer has just made them, so that the null counts of their footers are believed;
    what comes from elsewhere is read.
    """

    paths: Sequence[Path]
    columns: tuple[Column, ...]
    ours: bool = False


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A CSV file with a header line. An empty field is null, and so is the text `null` where it is given."""

    path: Path
    columns: tuple[Column, ...]
    null: str | None = None


@dataclass(frozen=True, slots=True)
class DuckDBTable:
    """A table or view inside a DuckDB database file, opened read-only."""

    path: Path
    table: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class ArrowTable:
    """Rows in memory."""

    data: pa.Table
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class StreamTable:
    """Rows that come as a stream of the schema `schema`, the same rows each time that `open` is called.

    `place` says for people what they are; while `past` stays, rows are only added to those that came before. An
    engine's library passes a fault of the stream on as text: the engine leaves the fault itself in `faults`, and raises
    it in the place of that text.
    """

    open: Callable[[], pa.RecordBatchReader]
    schema: pa.Schema
    columns: tuple[Column, ...]
    place: str
    past: str = ""
    faults: list[StrataError] = field(default_factory=list, compare=False, repr=False)


TableInput = ParquetTable | CsvTable | DuckDBTable | ArrowTable | StreamTable


def no_translation(function: Extern, engine: str) -> StrataError:
    """E066: a declared function that the engine is not told how to compute."""
    given = ", ".join(f"`{name}`" for name, _ in function.bindings)
    message = f"`{function.name}` has no translation for {engine}"
    fix = f'add `{engine}: "…"` to its declaration, which has {given}'
    return StrataError(Diagnostic("E066", message, fix=fix))


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Limits of a computation; `None` takes the engine's default from the machine."""

    memory_limit: str | None = None
    threads: int | None = None
    spill_directory: Path | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """How many rows a query that somebody wrote has, its columns, and the first few rows."""

    rows: int
    columns: tuple[str, ...]
    samples: tuple[tuple[object, ...], ...]


class Engine(Protocol):
    """An engine. Every method raises `StrataError`: E090 (a value overflows or a cast fails), E091 (out of
    memory or disk), E033 (an input cannot be read: missing, ragged, not of its format)."""

    @property
    def name(self) -> str:
        """The engine's name in `strata.toml`."""
        ...

    def execute(self, relation: Relation, tables: Mapping[str, TableInput]) -> pa.RecordBatchReader:
        """The rows of `relation`, streamed; columns and Arrow types as `types.physical.arrow_field` says,
        rows in the order of the outermost `Sort` or `Limit` if there is one."""
        ...

    def explain(self, relation: Relation, tables: Mapping[str, TableInput]) -> str:
        """What `execute` would run, as text for people; what `tables` lacks stands by its name."""
        ...

    def physical_schema(self, table: TableInput) -> pa.Schema:
        """The schema that the data itself has, before any cast."""
        ...

    def assess(self, table: TableInput, assertions: Sequence[Assertion], key: Sequence[str] = ()) -> Assessment:
        """Answers to `assertions` about the table's rows in one pass, without loading it whole; samples name
        the `key` columns."""
        ...


def as_text(table: TableInput) -> CsvTable | None:
    """A CSV file with every field as the text that it is; other formats have types of their own."""
    if not isinstance(table, CsvTable):
        return None
    text = Inferred(STRING, nullable=True)
    return replace(table, columns=tuple(Column(c.name, text) for c in table.columns))
