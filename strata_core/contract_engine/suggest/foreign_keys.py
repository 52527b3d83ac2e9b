"""Columns that are read as foreign keys: what tells of them, and which columns of contracts they are.

Who joins by a key says it of the tables that he joins; contracts offer other tables, which the columns are copied from
or into. Each is told of the nearest asset, so that one join is one suggestion for each contract that it is about.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...frozen import dataclass, replace
from ...types.spelling import TypeSpellingError, parse_type
from ..authored import Asset, ColumnContract
from ..collation.candidate import Candidate, Confidence
from ..parse.parsed import Parsed
from .known import Known, Offered, Place
from .proofs import ForeignKey


@dataclass(frozen=True, slots=True)
class Reference:
    """Columns of an asset of the product whose values are found in columns of another asset, of it or another product.

    `by_name` says that nothing but names and types tells so; `rows` is how many were looked at, all of which agree.
    """

    own: Offered
    columns: tuple[str, ...]
    other: Offered
    key: tuple[str, ...]
    told: ForeignKey
    by_name: bool = False
    rows: int | None = None

    @property
    def confidence(self) -> Confidence:
        """Rows make a guess out of a join surer, but not one out of names."""
        return self.told.confidence if self.rows is None or self.by_name else Confidence.MEDIUM

    @property
    def why(self) -> str:
        """What tells so."""
        looked = f"; all values that {self.rows:,} rows have are found there" if self.rows is not None else ""
        return f"{self.told.why}{looked}"

    @property
    def what(self) -> tuple[str, tuple[str, ...], Place]:
        """Which columns refer to which asset."""
        return self.own.asset.id, self.columns, self.other.place

    @property
    def to(self) -> list[str]:
        """The columns referred to, as an expectation names them."""
        product = self.other.candidate.id
        prefix = "" if product == self.own.candidate.id else f"{product}/"
        return [f"{prefix}{self.other.asset.id}.{column}" for column in self.key]


def references(parsed: Parsed, candidate: Candidate, known: Known) -> list[Reference]:
    """The references of a product's columns, the surest first, one for the same columns and asset."""
    told = (*_relationships(parsed, known), *known.proofs.lookups)
    found = [r for key in told for r in _offered(key, candidate, known)]
    found += _by_name(candidate, known)
    asked = {t.ref for t in candidate.contract.tests if t.kind == "dbt"}
    covered = {one.what for one in found if asked.intersection(one.told.tests)}
    first: dict[tuple[str, tuple[str, ...], Place], Reference] = {}
    for one in sorted(found, key=lambda r: list(Confidence).index(r.told.confidence)):
        if one.what not in covered:
            first.setdefault(one.what, one)
    return [*first.values()]


def _relationships(parsed: Parsed, known: Known) -> Iterator[ForeignKey]:
    for test in (test for file in parsed.files for test in file.tests):
        if test.relationship is not None and test.asset is not None:
            asked = test.relationship
            table, other = known.named(test.asset), known.named(asked.other)
            why = f"dbt tests that each `{table}.{asked.column}` is a `{other}.{asked.key}`"
            tests = (test.name, test.unique_id)
            yield ForeignKey(table, (asked.column,), other, (asked.key,), why, asked.span, Confidence.MEDIUM, tests)


def _offered(key: ForeignKey, candidate: Candidate, known: Known) -> Iterator[Reference]:
    """What a foreign key says of the assets of a product: of its table, else of those next to it on either side."""
    other = _upwards(key.other, key.key, known)
    if other is None:
        return
    own = _upwards(key.table, key.columns, known)
    sides = [(own, key)] if own else []
    if key.table not in known.offered:
        # What its rows are copied from may have more of them, which were left out on the way.
        sides = [(own, replace(key, confidence=Confidence.LOW))] if own else []
        sides += [(below, key) for below in _downwards(key, candidate, known)]
    for (offered, columns), told in sides:
        if offered.candidate.id == candidate.id and offered.place != other[0].place:
            yield Reference(offered, columns, *other, told)


def _upwards(table: str, columns: tuple[str, ...], known: Known) -> tuple[Offered, tuple[str, ...]] | None:
    """The nearest asset of a contract that has the columns: that of the table, or one that they are all copied from."""
    paths = [[*known.same_values((table, column))] for column in columns]
    for step in zip(*paths, strict=False):
        tables = {name for name, _ in step}
        offered = known.offered.get(step[0][0]) if len(tables) == 1 else None
        names = tuple(column for _, column in step)
        if offered is not None and set(names) <= {c.name for c in offered.asset.columns}:
            return offered, names
    return None


def _downwards(key: ForeignKey, candidate: Candidate, known: Known) -> Iterator[tuple[Offered, tuple[str, ...]]]:
    """The assets of the product whose columns are copied from the table's, with no asset of a contract in between."""
    for number, asset in enumerate(candidate.contract.assets):
        name = known.name_of(asset)
        copied: dict[str, str] = {}
        for column in asset.columns:
            for table, source in list(known.same_values((name, column.name)))[1:]:
                if table == key.table:
                    copied.setdefault(source, column.name)
                if table in known.offered or table == key.table:
                    break
        if copied.keys() >= set(key.columns):
            yield Offered(candidate, number), tuple(copied[c] for c in key.columns)


def _by_name(candidate: Candidate, known: Known) -> Iterator[Reference]:
    """Columns that are named and typed like the key of an asset of the product, or of one that it is made of."""
    upstream = {u.product for u in candidate.contract.lineage.upstream} if candidate.contract.lineage else set()
    near = [o for o in known.offered.values() if o.candidate.id in {candidate.id, *upstream}]
    for number, asset in enumerate(candidate.contract.assets):
        own = Offered(candidate, number)
        for column in asset.columns:
            if column.primary_key or column.unique:
                continue
            for other in near:
                key = _single_key(other.asset)
                if key is None or other.place == own.place:
                    continue
                if column.name in _names_for(other.asset, key) and _same_type(column, key):
                    ends = (known.name_of(asset), (column.name,), known.name_of(other.asset), (key.name,))
                    shown = f"`{key.name}`, the key of `{other.candidate.id}/{other.asset.id}`"
                    why = f"`{column.name}` of `{asset.id}` is named like {shown}"
                    told = ForeignKey(*ends, why, own.column_span(column.name), Confidence.LOW)
                    yield Reference(own, (column.name,), other, (key.name,), told, by_name=True)


def _single_key(asset: Asset) -> ColumnContract | None:
    keys = [c for c in asset.columns if c.primary_key]
    return keys[0] if len(keys) == 1 else None


def _names_for(asset: Asset, key: ColumnContract) -> set[str]:
    """What a column is called that holds the key: as the key, where that says whose it is, or with the asset's name."""
    thing = asset.id.removesuffix("s")
    own = {key.name} if key.name.lower() not in ("id", "key", "code", "name") else set()
    return own | {f"{thing}_{key.name}", f"{asset.id}_{key.name}"}


def _same_type(column: ColumnContract, key: ColumnContract) -> bool:
    if column.type is None or key.type is None:
        return False
    try:
        return parse_type(column.type) == parse_type(key.type)
    except TypeSpellingError:
        return column.type == key.type
