"""What is known around a product: the tables of tools, the contracts that offer them, and whose values columns have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...diagnostics import Span
from ...frozen import dataclass, field
from ..authored import Asset
from ..collation.candidate import Candidate
from ..documents import Document
from ..naming import split_ref
from ..parse.dbt_lineage import classified, with_dbt_origins
from ..parse.parsed import GeneratedAsset
from ..pipeline import Checked
from .proofs import COPIES, Proofs, TableColumn, proofs

_COPYING = frozenset({*COPIES, "identity"})
"""What leaves values as they are: `identity` is OpenLineage's word for it."""


Place = tuple[str, str]
"""A product, and an asset of it by id."""


@dataclass(frozen=True, slots=True)
class Offered:
    """An asset of a contract, and its number there."""

    candidate: Candidate
    number: int

    @property
    def asset(self) -> Asset:
        """The asset."""
        return self.candidate.contract.assets[self.number]

    @property
    def place(self) -> Place:
        """What tells it apart from all others."""
        return self.candidate.id, self.asset.id

    def column_span(self, column: str) -> Span:
        """Where the contract, or what fills it, has the column."""
        columns = [c.name for c in self.asset.columns]
        where = ("columns", columns.index(column)) if column in columns else ()
        return self.candidate.span(("assets", self.number, *where))


@dataclass(frozen=True, slots=True)
class Known:
    """`tables` has what tools know, by each of a table's names; `offered` the assets of sound contracts, and `copies`
    whose values a column has, by the name that the table's tool has for it; `proofs` what the compiler knows."""

    proofs: Proofs = Proofs()
    tables: Mapping[str, GeneratedAsset] = field(default_factory=dict)
    offered: Mapping[str, Offered] = field(default_factory=dict)
    copies: Mapping[TableColumn, TableColumn] = field(default_factory=dict)

    def table_of(self, asset: Asset | Mapping[str, Any]) -> GeneratedAsset | None:
        """What a tool knows of an asset, by its name where it is made."""
        return next((self.tables[name] for name in _names(asset) if name in self.tables), None)

    def name_of(self, asset: Asset | Mapping[str, Any]) -> str:
        """The name that its tool has for an asset."""
        return self.named(_names(asset)[0])

    def named(self, name: str) -> str:
        """A name of a table as its tool has it: dbt's models have several."""
        return self.tables[name].refs[0] if name in self.tables else name

    def same_values(self, column: TableColumn) -> Iterator[TableColumn]:
        """The columns that `column` has its values from, unchanged: itself, then what it is copied from, nearest
        first."""
        seen: set[TableColumn] = set()
        here: TableColumn | None = column
        while here is not None and here not in seen:
            seen.add(here)
            yield here
            here = self.copies.get(here)


def assets_of(document: Document) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The assets as the canonical file has them, with their numbers."""
    yield from enumerate(document.data.get("assets", ()))


def known_around(checked: Checked) -> Known:
    """What is known in a project."""
    parsed, proven = checked.parsed, proofs(checked.setting)
    if not classified(parsed):  # then the SQL of dbt's models was not traced yet
        parsed = with_dbt_origins(parsed, checked.setting.tree)
    tables: dict[str, GeneratedAsset] = {}
    for table in parsed.generated:  # compiled ones come first, and count
        for ref in table.refs if table.kind != "lineage" else ():
            tables.setdefault(ref, table)
    found = Known(proven, tables)
    sound = [c for c in checked.collated.candidates if c.sound]
    offered: dict[str, Offered] = {}
    for candidate in sound:
        for number, asset in enumerate(candidate.contract.assets):
            offered.setdefault(found.name_of(asset), Offered(candidate, number))
    copies = {**dict(_declared(sound, found)), **dict(_copied(parsed.generated)), **proven.copies}
    return Known(proven, tables, offered, copies)


def _names(asset: Asset | Mapping[str, Any]) -> tuple[str, ...]:
    return asset.names if isinstance(asset, Asset) else (asset.get("ref") or asset["id"], asset["id"])


def _copied(tables: Iterable[GeneratedAsset]) -> Iterator[tuple[TableColumn, TableColumn]]:
    for table in tables:
        for column in table.columns:
            if len(column.origins) == 1 and column.origins[0].transform in _COPYING:
                (origin,) = column.origins
                yield (table.refs[0], column.name), (origin.table, origin.column)


def _declared(candidates: Iterable[Candidate], known: Known) -> Iterator[tuple[TableColumn, TableColumn]]:
    """Columns that a contract derives from one other, without a word of anything that is done to it."""
    by_id = {c.id: {a.id: a for a in c.contract.assets} for c in candidates}
    for candidate in candidates:
        for asset in candidate.contract.assets:
            for column in asset.columns:
                made = column.derived_from
                if made is None or made.transformation is not None or len(made.columns) != 1:
                    continue
                product, table, source = split_ref(made.columns[0])
                other = by_id.get(product or candidate.id, {}).get(table)
                if other is not None:
                    yield (known.name_of(asset), column.name), (known.name_of(other), source)
