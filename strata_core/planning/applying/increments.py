"""An incremental model, this time: its live rows and those beyond the cursor, or all of them anew, and why.

With each artifact of such a model lies a *watermark*: the greatest cursor in the table that it begins with, and how
many of the table's rows did not lie beyond it. A later apply adds to the artifact what lies beyond, if nothing else has
changed: not what the model means, not another table, and not the rows up to the watermark, which are counted again.
Where something has, it computes the model in full. So a row that comes late is never left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing
from decimal import Decimal as Number
from typing import TYPE_CHECKING

from ...analysis.compiled import CompiledModel, Incremental
from ...analysis.incremental import latest
from ...analysis.scope import fresh
from ...digests import hexdigest
from ...frozen import dataclass
from ...relation.build import aggregate_rows, combine, filter_rows, join, project, ref, scan, sort_rows
from ...relation.canonical import canonical
from ...relation.expressions import Expr, Literal, aggregate, call, literal
from ...relation.nodes import AggregateItem, Item, JoinKind, Relation, SetKind
from ...relation.schema import Column
from ...store.document import JSON, spelled
from ...types import Date, Decimal, Inferred, Int64, Timestamp, ValueType
from ...types.functions import LiteralValue
from ...types.texts import read_date, read_timestamp
from ..artifact_relation import artifact_order

if TYPE_CHECKING:
    from ...engines.protocol import Engine, TableInput
    from ..plan import Applied, PlannedModel


@dataclass(frozen=True, slots=True)
class Watermark:
    """How far a table had come: its greatest cursor, spelled, and its rows that do not lie beyond it.

    `reading` is the part of its place that says which rows the same bytes are: the text that is null, the table of a
    database; of a stream, what decides the rows that came before.
    """

    greatest: str | None
    rows: int
    reading: str = ""

    def to_json(self) -> JSON:
        """As a manifest keeps it."""
        return {"greatest": self.greatest, "rows": self.rows, "reading": self.reading}


def read_watermark(note: JSON) -> Watermark | None:
    """The watermark that a manifest holds."""
    match note:
        case {"greatest": str() | None as greatest, "rows": int(rows), **others}:
            return Watermark(greatest, rows, str(others.get("reading", "")))
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Way:
    """Whether only rows beyond the cursor are computed, and why, or why not."""

    incremental: bool
    why: str

    def __str__(self) -> str:
        return f"{'incremental' if self.incremental else 'full'}: {self.why}"


def way_of(model: CompiledModel, planned: PlannedModel, before: Applied | None, changed: Collection[str]) -> Way | None:
    """How a stale `model` is to be computed, as far as that is known without its rows; None where it has one way.

    `before` is what its live artifact was made from, `changed` names the tables whose rows are others since.
    """
    increment = model.incremental
    if increment is None:
        return None
    if planned.live is None or before is None:
        return Way(False, "there are no live rows yet")
    if any(c.asks_for_all for c in planned.causes):
        return Way(False, "asked for")
    own = planned.fingerprint
    if (planned.live.fingerprint, before.own, before.contract) != (own.merkle, own.own, own.contract):
        return Way(False, "it means something else now")
    if before.watermark is None or before.watermark.greatest is None:
        return Way(False, "there are no live rows yet")
    if others := sorted(set(changed) - {increment.table}):
        return Way(False, f"{', '.join(f'`{name}`' for name in others)} changed, not only `{increment.table}`")
    return Way(True, f"rows of `{increment.table}` with `{increment.column}` beyond {before.watermark.greatest}")


def measured(
    increment: Incremental, table: TableInput, engine: Engine, since: Watermark | None
) -> tuple[Watermark, int | None]:
    """How far the table has come, and how many of its rows do not lie beyond `since`."""
    (column,) = (c for c in table.columns if c.name == increment.column)
    rows = scan(increment.table, [column])
    cursor = ref(rows, column.name)
    items = [
        AggregateItem("greatest", aggregate("max", cursor, grouped=False)),
        AggregateItem("rows", aggregate("count", grouped=False)),
    ]
    if since is not None and since.greatest is not None:
        within = call("coalesce", call("le", cursor, _literal(since.greatest, column.inferred.type)), literal(True))
        items.append(AggregateItem("within", aggregate("count_if", within, grouped=False)))
    with closing(engine.execute(aggregate_rows(rows, (), items), {increment.table: table})) as reader:
        ((greatest, count, *within_since),) = (tuple(row.values()) for row in reader.read_all().to_pylist())
    spelling = None if greatest is None else str(spelled(greatest))
    return Watermark(spelling, count, _reading(table)), next(iter(within_since), None)


def _reading(table: TableInput) -> str:
    from ...engines.protocol import CsvTable, DuckDBTable, StreamTable  # with Arrow, which a plan does not load

    match table:
        case CsvTable():
            return table.null or ""
        case DuckDBTable():
            return table.table
        case StreamTable():
            return table.past
        case _:
            return ""


def increment_address(local: str, inputs: Mapping[str, str], previous: str) -> str:
    """The content address of rows that are added to those of the digest `previous`."""
    return hexdigest("increment", local, previous, *(part for pair in sorted(inputs.items()) for part in pair))


def increment_relation(model: CompiledModel, since: Watermark) -> Relation:
    """The rows of the artifact: those that are live, read under the model's own name, and those beyond `since`. Its
    columns and their order are those of `artifact_relation`."""
    increment, schema = model.incremental, model.relation.schema
    assert increment is not None
    assert since.greatest is not None
    cursor = ref(increment.rows, increment.cursor)
    added: Relation = filter_rows(increment.rows, call("gt", cursor, _literal(since.greatest, cursor.inferred.type)))
    live: Relation = scan(model.name, [Column(c.name, c.inferred) for c in schema.columns])
    if increment.keys:
        added = latest(added, increment.keys, increment.cursor)
        taken = {k: fresh(f"new {k}", schema.names) for k in increment.keys}
        replaced = project(added, [Item(name, ref(added, key)) for key, name in taken.items()])
        equal = _all([call("eq", ref(live, key), ref(replaced, name)) for key, name in taken.items()])
        live = join(JoinKind.ANTI, live, replaced, equal)
    names = sorted(schema.names)
    both = combine(
        SetKind.UNION_ALL, *(project(side, [Item(n, ref(side, n)) for n in names]) for side in (live, added))
    )
    return canonical(sort_rows(both, artifact_order(model)))


def _all(conditions: list[Expr]) -> Expr:
    first, *others = conditions
    for other in others:
        first = call("and", first, other)
    return first


def _literal(text: str, type_: ValueType) -> Literal:
    value: LiteralValue
    match type_:
        case Int64():
            value = int(text)
        case Decimal():
            value = Number(text)
        case Date():
            value = read_date(text)
        case Timestamp():
            value = read_timestamp(text)
        case _:
            value = text
    return Literal(value, Inferred(type_, nullable=False))
