"""An incremental model, this time: its live rows and those beyond the cursor, or all of them anew, and why.

With each artifact of such a model lies a *watermark*: the greatest cursor in the table that it begins with, and how
many of the table's rows did not lie beyond it. A later apply adds to the artifact what lies beyond, if nothing else has
changed: not what the model means, not another table, and not the rows up to the watermark, which are counted again.
Where something has, it computes the model in full. So a row that comes late is never left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from decimal import Decimal as Number
from typing import TYPE_CHECKING

from ...analysis.compiled import CompiledModel, Incremental
from ...analysis.incremental import latest
from ...analysis.scope import fresh
from ...digests import hexdigest
from ...relation.build import aggregate_rows, combine, filter_rows, join, project, ref, scan, sort_rows
from ...relation.canonical import canonical
from ...relation.expressions import Expr, Literal, aggregate, call, literal
from ...relation.nodes import AggregateItem, Item, JoinKind, Relation, SetKind
from ...relation.schema import Column
from ...store.document import spelled
from ...types import Date, Decimal, Inferred, Int64, Timestamp, ValueType
from ...types.functions import LiteralValue
from ...types.texts import read_date, read_timestamp
from ..artifact_relation import artifact_order
from ..watermarks import Watermark

if TYPE_CHECKING:
    from ...engines.protocol import Engine, TableInput


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
