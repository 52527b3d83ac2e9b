"""How far the table of an incremental model has come, and the way in which it is computed.

The rule that makes use of both is in `applying/increments.py`; here is what a plan and a manifest hold of them.
"""

from __future__ import annotations

from ..frozen import dataclass
from ..store.document import JSON


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
