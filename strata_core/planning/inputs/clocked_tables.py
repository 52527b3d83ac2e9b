"""A source that is a table with three clocks of the store (Seed 1), read within the bounds that its clause gives.

The rows are those at the frontier when the plan was made: what lands while a model is computed is read by the next
plan. The project reads as a principal of its own name, without tenant or clearance, so that what the store hides from
others is hidden from models as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from ...analysis.compiled import Resource, Source
from ...analysis.sources import BOUNDS
from ...diagnostics import Diagnostic, Severity, StrataError
from ...engines.protocol import StreamTable
from ...folder_names import names_a_folder
from ...frozen import dataclass
from ...store.instant import moment
from ...store.store import Store
from ...store.tables import StoreError, Table

if TYPE_CHECKING:  # pyarrow takes 0.2 s to import, and most projects read no such table
    import pyarrow as pa

    from ...store.tables.reading import Read

UNDECLARED = "StoreTableUndeclared"
INGESTED_AT = "_ingested_at"


@dataclass(frozen=True, slots=True)
class ClockedTable:
    """A table as a source reads it: `digest` identifies its rows, `landed` is when its newest run was committed.

    `unbounded` says that it has vintages of which the source asks for the latest that ever came.
    """

    table: StreamTable
    digest: str
    landed: datetime | None
    unbounded: bool


def declared_in(store: Store, name: str) -> Table | None:
    """The table `name` that is declared in the store, if there is one."""
    if not names_a_folder(name):
        return None
    try:
        return store.tables.table(name)
    except StoreError as error:
        if error.code == UNDECLARED:
            return None
        raise


def bounds_of(resource: Resource) -> Mapping[str, str]:
    """The bounds that a resource clause gives, as they are written."""
    return {name: str(resource.options[name]) for name in BOUNDS if name in resource.options}


def clocked_table(table: Table, source: Source, resource: Resource, project: str) -> ClockedTable:
    """What `source` reads of `table`. Errors: E096 as `Table.read`, E030 where nothing has landed."""
    from ...store.tables.declaration import BOOKKEEPING
    from ...store.tables.enforcement import Principal
    from ...store.tables.identity import identity, landed_at

    bounds = bounds_of(resource)
    whole = table.read(
        as_of=bounds.get("as_of"),
        valid_as_of=bounds.get("valid_as_of"),
        available_as_of=bounds.get("available_as_of"),
        vintage=bounds.get("vintage", "latest"),
        principal=Principal(project),
    )
    if not whole.table_schema.names:
        fix = f"land its rows: `strata store land {table.name} FILE`"
        raise StrataError(Diagnostic("E030", f"nothing has landed in the table `{table.name}`", fix=fix))
    known = {*whole.schema.names, *BOOKKEEPING}
    found = [c.name for c in source.columns if c.name in known]
    read = whole.select(found) if found else whole  # that none is there is told by who looks for them
    schema = _plain_schema(read)
    with _reading(table.name):
        decided = identity(table, read)
    place = f"the table `{table.name}` of the store"
    rows = StreamTable(partial(_plain, read, schema), schema, source.columns, place, decided.past)
    landed = landed_at(read)
    asked = bounds.keys() & {"as_of", "available_as_of"} or bounds.get("vintage") in ("first", "all")
    unbounded = read.declared.available_time is not None and not asked
    return ClockedTable(rows, decided.rows, None if landed is None else moment(landed), unbounded)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """E094 for a part of the table `name` that is damaged, or that was collected since."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as fault:
        message = f"a part of the table `{name}` cannot be read: {str(fault).splitlines()[0]}"
        fix = f"run `strata store verify {name}`, and plan anew where a collection came between"
        raise StrataError(Diagnostic("E094", message, fix=fix)) from None


def _plain_schema(read: Read) -> pa.Schema:
    """Instants as the language has them: in UTC, without a zone, those of the store's own clocks in microseconds."""
    import pyarrow as pa

    def plain(field: pa.Field) -> pa.DataType:
        if not pa.types.is_timestamp(field.type):
            return field.type
        resolved = field.name in (INGESTED_AT, read.declared.available_column)
        return pa.timestamp("us" if resolved else field.type.unit)

    return pa.schema([pa.field(f.name, plain(f), f.nullable) for f in read.schema])


def _plain(read: Read, schema: pa.Schema) -> pa.RecordBatchReader:
    import pyarrow as pa

    def batches() -> Iterator[pa.RecordBatch]:
        with _reading(read.declared.name):
            for batch in read.reader():
                columns = [_as(column, f.type) for column, f in zip(batch.columns, schema, strict=True)]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _as(column: pa.Array, type_: pa.DataType) -> pa.Array:
    """An instant without its zone; of a microsecond that began, the beginning."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type == type_:
        return column
    if column.type.unit != type_.unit:
        column = pc.floor_temporal(column, unit="microsecond").cast(pa.timestamp("us", column.type.tz))
    return column.view(type_)


def unbounded_reads(sources: Mapping[str, Source], clocked: Mapping[str, ClockedTable]) -> tuple[Diagnostic, ...]:
    """W016 for each source that reads the vintages of a table as they are known today."""
    fix = 'say which are meant: `available_as_of: "2014-06-01"` for what was known by then, or `as_of:`'
    return tuple(
        Diagnostic(
            "W016",
            f"`{name}` reads {clocked[name].table.place} as it is known today: what was restated since looks ahead",
            source.span,
            Severity.WARNING,
            fix=fix,
        )
        for name, source in sources.items()
        if name in clocked and clocked[name].unbounded
    )
