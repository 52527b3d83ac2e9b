"""What was written of rows, before it is known where they will stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from .arrow_schema import fields_of
from .document import JSON
from .instant import Instant
from .manifest import ColumnStatistics, Manifest, Part


@dataclass(frozen=True, slots=True)
class Written:
    """What `write_parts` wrote: the schema kept, parts in row order, and what is known of their rows: their digest,
    that of each column, and statistics."""

    schema: pa.Schema
    parts: tuple[Part, ...]
    digest: str
    columns: Mapping[str, str]
    statistics: Mapping[str, ColumnStatistics]

    @property
    def rows(self) -> int:
        """Rows of all parts."""
        return sum(part.rows for part in self.parts)

    @property
    def bytes(self) -> int:
        """Bytes of all parts on disk."""
        return sum(part.bytes for part in self.parts)

    def described(
        self, id: str, kind: str, table: str, created_at: Instant, provenance: Mapping[str, JSON]
    ) -> Manifest:
        """The manifest of what was written."""
        return Manifest(
            id=id,
            kind=kind,
            table=table,
            parts=self.parts,
            schema=fields_of(self.schema),
            rows=self.rows,
            digest=self.digest,
            columns=self.columns,
            created_at=created_at,
            statistics=self.statistics,
            provenance=provenance,
        )
