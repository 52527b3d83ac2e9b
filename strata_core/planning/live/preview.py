"""A few rows of an artifact as text, with the values hidden that a contract hides anywhere upstream."""

from __future__ import annotations

from collections.abc import Set
from itertools import islice

from ...contract.report import MASKED, shown
from ...frozen import dataclass
from ...store.artifacts import Artifact
from ...store.store import Store

PREVIEW_ROWS = 5


@dataclass(frozen=True, slots=True)
class Preview:
    """The first rows of `columns`, each value as short text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def preview(store: Store, artifact: Artifact, columns: tuple[str, ...], hidden: Set[str]) -> Preview:
    """The first `PREVIEW_ROWS` rows of an artifact, without the values of `hidden` columns."""
    with store.reader(artifact, columns) as reader:
        rows = tuple(
            islice((row for batch in reader for row in batch.slice(0, PREVIEW_ROWS).to_pylist()), PREVIEW_ROWS)
        )
    return Preview(columns, tuple(tuple(MASKED if n in hidden else shown(row[n]) for n in columns) for row in rows))
