"""Who is reached by a change: products and tables that read what changed, column by column (the blast radius)."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

from ...frozen import replace
from ..collation.candidate import Candidate
from ..collation.collate import Collated
from ..naming import split_ref
from ..parse.parsed import Parsed

if TYPE_CHECKING:  # where nothing was promoted, nothing is compared
    from ..compatibility.changes import ProductChange

Node = TypeVar("Node", bound=Hashable)


class Consumers:
    """Edges from columns and tables to those that read them; built when a change is asked about for the first time."""

    def __init__(self, parsed: Parsed, collated: Collated) -> None:
        self._parsed, self._collated = parsed, collated
        self._columns: dict[tuple[str, str], set[tuple[str, str]]] | None = None
        self._tables: dict[str, set[str]] = defaultdict(set)
        self._products: dict[str, set[str]] = defaultdict(set)
        self._declared: dict[tuple[str, str, str], set[str]] = defaultdict(set)

    def reached(self, changes: Iterable[ProductChange], candidate: Candidate) -> tuple[ProductChange, ...]:
        """`changes` with the consumers of each that is more than words."""
        from ...contract.changes import Impact

        return tuple(
            replace(c, consumers=self._of(c, candidate)) if c.impact is not Impact.PATCH else c for c in changes
        )

    def _of(self, change: ProductChange, candidate: Candidate) -> tuple[str, ...]:
        columns = self._built()
        refs = {a.id: a.ref or a.id for a in candidate.contract.assets}
        if change.asset is None:
            return tuple(sorted(self._products[candidate.id]))
        table = refs.get(change.asset, change.asset)
        if change.column is None:
            tables = self._reach({table}, self._tables)
            return tuple(sorted(tables | self._products[candidate.id]))
        found = self._reach({(table, change.column)}, columns)
        declared = self._declared[candidate.id, change.asset, change.column]
        return tuple(sorted({f"{t}.{c}" for t, c in found} | declared))

    @staticmethod
    def _reach(start: set[Node], edges: Mapping[Node, set[Node]]) -> set[Node]:
        found: set[Node] = set()
        waiting = deque(start)
        while waiting:
            for there in edges.get(waiting.popleft(), ()):
                if there not in found and there not in start:
                    found.add(there)
                    waiting.append(there)
        return found

    def _built(self) -> dict[tuple[str, str], set[tuple[str, str]]]:
        if self._columns is not None:
            return self._columns
        columns: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
        for asset in self._parsed.generated:
            name = asset.refs[0]
            for upstream in asset.upstream:
                self._tables[upstream].add(name)
            for column in asset.columns:
                for origin in column.origins:
                    columns[origin.table, origin.column].add((name, column.name))
        for candidate in self._collated.candidates:
            if not candidate.sound:
                continue
            contract = candidate.contract
            for upstream_ in contract.lineage.upstream if contract.lineage else ():
                if upstream_.product:
                    self._products[upstream_.product].add(contract.id)
            for own in contract.assets:
                for promised in own.columns:
                    for ref in promised.derived_from.columns if promised.derived_from else ():
                        product, table, source = split_ref(ref)
                        reader = f"{contract.id}/{own.id}.{promised.name}"
                        self._declared[product or contract.id, table, source].add(reader)
        self._columns = columns
        return columns
