"""What the partitions of time of a model are like: which are live, with how many rows, and which of them are stale."""

from __future__ import annotations

from collections.abc import Iterable

from ...diagnostics import StrataError
from ...diagnostics.listing import listed
from ...frozen import dataclass
from ..partitions.asked_periods import Asked
from ..partitions.pieces import pieces_of
from ..plan import Cause, Reason
from ..provenance import sound_live
from ..workspace import Workspace

MOST_NAMED = 5
"""Partitions that a line names."""


@dataclass(frozen=True, slots=True)
class PartitionState:
    """One partition: its rows, None where it has none of its own in the live table, and why it is stale."""

    key: str
    rows: int | None
    causes: tuple[Cause, ...]

    @property
    def missing(self) -> bool:
        """Whether it was never made."""
        return any(cause.reason is Reason.MISSING for cause in self.causes)


def partition_states(workspace: Workspace, name: str) -> tuple[PartitionState, ...]:
    """The partitions of the model `name` from the first that is live to the last; none where nothing is.

    Raises `StrataError` where a plan cannot be made.
    """
    periods = workspace.compiled.models[name].periods
    live = workspace.store.environment(workspace.environment).head().models
    artifact = sound_live(workspace.store, name, live.get(name))
    pieces = None if artifact is None else pieces_of(artifact)
    if periods is None or pieces is None or not pieces.fit(periods) or not pieces.by_key:
        return ()
    keys = [*pieces.periods]
    try:
        plan = workspace.plan([name], with_upstream=False, asked=Asked(keys[0], keys[-1]))
    except StrataError as error:
        if any(d.code != "E037" for d in error.diagnostics):
            raise
        return tuple(PartitionState(key, pieces.by_key[key].rows, ()) for key in keys)  # declared otherwise since
    (planned,) = (p for p in plan.models if p.name == name)
    return tuple(
        PartitionState(p.key, pieces.by_key[p.key].rows if p.key in pieces.by_key else None, p.causes)
        for p in planned.periods or ()
        if p.key in pieces.by_key or p.causes
    )


def counted(states: Iterable[PartitionState]) -> str:
    """The partitions in a line: how many are live, and which of them are stale or missing.

    >>> counted([PartitionState("2024-01-01", 3, ()), PartitionState("2024-01-02", None, (Cause(Reason.MISSING),))])
    '1 live; 1 missing: 2024-01-02'
    """
    known = [*states]
    live = [s for s in known if s.rows is not None]
    stale = [s.key for s in known if s.causes and not s.missing]
    missing = [s.key for s in known if s.missing]
    parts = [f"{len(live):,} live"]
    parts += [f"{len(stale):,} stale: {listed(stale, MOST_NAMED)}"] if stale else []
    parts += [f"{len(missing):,} missing: {listed(missing, MOST_NAMED)}"] if missing else []
    return "; ".join(parts)
