"""The columns of an asset, as a table: what is promised, where it comes from, what was seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..authored import Asset, ColumnContract
from ..collation.candidate import TIERS, Tier
from .blocks import Block, Code, Inline, Line, Listing, Mark, Paragraph, Part, Row, Table, compact
from .documented import Documented

_ORIGINS = 6
"""More origins than these are counted."""


def anchor(asset: str, column: str | None = None) -> str:
    """What names an asset or column in links, whatever characters its name has."""
    name = f"{asset}.{column}" if column else f"asset-{asset}"
    return "".join(c if c.isascii() and (c.isalnum() or c in "_.-") else f"~{ord(c):x}" for c in name)


def schema(product: Documented, number: int, asset: Asset) -> Iterator[Block]:
    """The table of the columns of the asset at `number`, and how what was seen differs."""
    at = ("assets", number, "columns")
    usual = source(product, number, asset)
    seen = next((s for s in product.view.observed_schema if s.asset == asset.id), None)
    if asset.columns:
        rows = tuple(
            Row(
                (
                    (Code(c.name),),
                    _type(c) + _from(product, (*at, place, "type"), usual),
                    _promises(c),
                    _description(c) + _from(product, (*at, place, "description"), usual),
                    _origins(product, asset, c),
                ),
                anchor(asset.id, c.name),
            )
            for place, c in enumerate(asset.columns)
        )
        head = ("column", "type", "promised", "description", "made of")
        yield compact(Table(f"Columns of {asset.id}", head, rows))
    else:
        yield Paragraph(("The contract names no columns.",))
    if seen is not None and seen.drift:
        heading = (Mark("drift", "warn"), " What was seen differs")
        yield Part(f"drift-{asset.id}", heading, (Listing(tuple((d,) for d in seen.drift)),))


def source(product: Documented, number: int, asset: Asset) -> tuple[Tier, str] | None:
    """The tier and file that most types and descriptions of columns come from: told once, instead of at each."""
    paths = (
        ("assets", number, "columns", n, word) for n in range(len(asset.columns)) for word in ("type", "description")
    )
    counted = Counter((p.tier, p.span.file) for path in paths if (p := product.provenance.get(path)) is not None)
    return counted.most_common(1)[0][0] if counted else None


def _type(column: ColumnContract) -> Line:
    return (Code(column.type),) if column.type else (Mark("unknown", "soft"),)


def _promises(column: ColumnContract) -> Line:
    marks: list[Inline] = []
    if column.primary_key:
        marks.append(Mark("key", "key", "primary key"))
    if column.unique and not column.primary_key:
        marks.append(Mark("unique", "key"))
    if column.nullable is False or column.primary_key:
        marks.append(Mark("never null"))
    else:
        marks.append(Mark("may be null", "soft"))
    if column.protected:
        marks.append(Mark("protected", "warn", "touching it breaks consumers"))
    if column.classification:
        marks.append(Mark(column.classification, "secret", "classification"))
    if column.mask:
        marks.append(Mark(f"masked: {column.mask}", "secret"))
    if column.partition_by:
        marks.append(Mark("partitions"))
    if column.freshness:
        marks.append(Mark(f"at most {column.freshness} old"))
    said: list[Inline] = []
    for mark in marks:
        said += [" ", mark] if said else [mark]
    if column.enum:
        said += [" " if said else "", "one of ", *_codes(column.enum)]
    return tuple(said)


def _codes(names: tuple[str, ...]) -> Iterator[Inline]:
    for number, name in enumerate(names):
        if number:
            yield ", "
        yield Code(name)


def _description(column: ColumnContract) -> Line:
    return (column.description,) if column.description else ()


def _origins(product: Documented, asset: Asset, column: ColumnContract) -> Line:
    """What the column is made of: as the contract says, else as the compiler or dbt's SQL says."""
    if column.derived_from:
        said = column.derived_from
        how = f" by {said.transformation}" if said.transformation else ""
        lowered = f" (lowers its classification, approved by {said.approved_by})" if said.lowers_classification else ""
        return (*_codes(said.columns), how + lowered)
    names = tuple(dict.fromkeys(f"{o.table}.{o.column}" for o in product.origins.get((asset.id, column.name), ())))
    more = len(names) - _ORIGINS
    return (*_codes(names[:_ORIGINS]), *((f" and {more} more",) if more > 0 else ()))


def _from(product: Documented, path: tuple[str | int, ...], usual: tuple[Tier, str] | None) -> Line:
    """A mark where a value comes from elsewhere than most."""
    source = product.provenance.get(path)
    if source is None or (source.tier, source.span.file) == usual:
        return ()
    return (" ", Mark(TIERS[source.tier], "soft", f"from {source.span.file}:{source.span.line}"))
