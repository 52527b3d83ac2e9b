"""What a table must answer, from the definition alone: every row ever landed is kept, and each read evaluates the
design's eight steps over all of them in plain Python. It shares no code with the store.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]


class UnretainedError(Exception):
    """Retention removed that state."""


@dataclass
class Spec:
    """A declaration in the oracle's words; times are integers (nanoseconds)."""

    key: tuple[str, ...] = ()
    order_by: str = "_ingested_at"
    from_: str | None = None
    to: str | None = None
    available: str | None = None
    hash: str | None = None
    retain_runs: int | None = None
    retain_rows: tuple[str, int] | None = None


@dataclass
class Landed:
    at: int
    number: int
    run_id: str
    rows: list[Row]
    replaces: bool
    gone: bool = False


@dataclass
class Snap:
    at: int
    number: int
    through: int
    gone: bool = False


@dataclass
class Held:
    at: int
    runs: list[int]
    snapshot: int


@dataclass
class Oracle:
    spec: Spec
    clock: int
    last_at: int = 0
    number: int = 0
    landed: list[Landed] = field(default_factory=list)
    snaps: list[Snap] = field(default_factory=list)
    holds: dict[str, Held] = field(default_factory=dict)
    pins: dict[str, int] = field(default_factory=dict)
    keep: int = 0
    collected: tuple[Any, ...] | None = None

    def commit(self) -> int:
        self.last_at = max(self.clock, self.last_at + 1)
        self.number += 1
        return self.last_at

    # --- what happens

    def land(self, run_id: str, rows: list[Row], replaces: bool) -> int:
        kept = self._restating(rows) if self.spec.key and self.spec.available else list(rows)
        at = self.commit()
        stamped = [
            {**r, "_ingested_at": at, "_run_id": run_id, "_row_seq": i, "_commit_seq": self.number}
            for i, r in enumerate(kept)
        ]
        self.landed.append(Landed(at, self.number, run_id, stamped, replaces))
        return len(kept)

    def _restating(self, rows: list[Row]) -> list[Row]:
        kept: list[Row] = []
        identity = self._identity()
        for row in rows:
            mine = [r for r in [*self._everything(), *kept] if all(r[c] == row[c] for c in identity)]
            latest = None
            for r in mine:
                if latest is None or self._rank(r) >= self._rank(latest):
                    latest = r
            h = row[self.spec.hash or ""]
            if latest is not None and h is not None and latest[self.spec.hash or ""] == h:
                continue
            kept.append(row)
        return kept

    def _rank(self, row: Row) -> tuple[Any, ...]:
        """Availability, then order; rows that tie are in the order in which they landed."""
        order = 0 if self.spec.order_by == "_ingested_at" else row[self.spec.order_by]
        return (row[self.spec.available or ""], (order is not None, order if order is not None else 0))

    def _everything(self) -> list[Row]:
        return self._rows(self.number)

    def fold(self) -> bool:
        last = self.snaps[-1].through if self.snaps else 0
        replaced = max((x.number for x in self.landed if x.replaces), default=0)
        if not any(x.number > last for x in self.landed) and not replaced > last:
            return False
        through = self.number
        at = self.commit()
        self.snaps.append(Snap(at, self.number, through))
        return True

    def collect(self) -> None:
        if self.spec.retain_runs is not None:
            cutoff = max(self.clock, self.last_at) - self.spec.retain_runs
            self.keep = max([self.keep, *(s.number for s in self.snaps if s.at <= cutoff)])
        if not self.keep:
            return
        keep = next(s for s in self.snaps if s.number == self.keep)
        held_runs = {n for h in self.holds.values() for n in h.runs}
        held_snaps = {h.snapshot for h in self.holds.values()}
        state = (
            self.keep,
            tuple(x.number for x in self.landed if x.number <= keep.through and not x.gone and x.number in held_runs),
            tuple(s.number for s in self.snaps if s.number < self.keep and not s.gone and s.number in held_snaps),
        )
        if state != self.collected:
            self.collected = state
            self.commit()
        for x in self.landed:
            x.gone |= x.number <= keep.through and x.number not in held_runs
        for s in self.snaps:
            s.gone |= s.number < self.keep and s.number not in held_snaps

    def hold(self, name: str, bound: int | None) -> None:
        at = self.last_at if bound is None else bound
        snapshot, runs = self._base(at)
        self.commit()
        self.holds[name] = Held(at, runs, snapshot)

    def release(self, name: str) -> None:
        del self.holds[name]
        self.commit()

    def pin(self, name: str, bound: int | None) -> None:
        at = self.last_at if bound is None else bound
        self._base(at)
        self.commit()
        self.pins[name] = at

    # --- what is read

    def read(self, as_of: int | None, valid: int | None, available: int | None, vintage: str) -> list[Row]:
        if as_of is not None:
            self._base(as_of)
        until = max((n for n, at in self._commits() if as_of is None or at <= as_of), default=0)
        rows = self._rows(until)
        rows = self._latest(rows, (*self._identity(), *((self.spec.available,) if self.spec.available else ())))
        if self.spec.available:
            if available is not None:
                rows = [r for r in rows if r[self.spec.available] <= available]
            if self.spec.key:
                rows = self._vintages(rows, vintage)
        if valid is not None:
            rows = [r for r in rows if self._covers(r, valid)]
        if self.spec.retain_rows:
            column, age = self.spec.retain_rows
            rows = [r for r in rows if r[column] >= max(self.clock, self.last_at) - age]
        return rows

    def _commits(self) -> list[tuple[int, int]]:
        return [(x.number, x.at) for x in self.landed]

    def _base(self, bound: int) -> tuple[int, list[int]]:
        """Which snapshot and runs answer `bound`; raises where they are not there."""
        before = [x for x in self.landed if x.at <= bound]
        replaced = max((x.number for x in before if x.replaces), default=0)
        for s in [*reversed([s for s in self.snaps if s.at <= bound]), None]:
            through = s.through if s else 0
            base, start = (s, through) if replaced <= through else (None, replaced - 1)
            runs = [x for x in before if x.number > start]
            if any(x.gone for x in runs) or (base is not None and base.gone):
                continue
            if base is None and not runs and self.collected is not None:
                continue
            return (base.number if base else 0), [x.number for x in runs]
        raise UnretainedError

    def _rows(self, until: int) -> list[Row]:
        runs = [x for x in self.landed if x.number <= until]
        start = max((i for i, x in enumerate(runs) if x.replaces), default=0)
        return [r for x in runs[start:] for r in x.rows]

    def _identity(self) -> tuple[str, ...]:
        if not self.spec.key or not self.spec.from_:
            return self.spec.key
        return (*self.spec.key, self.spec.from_)

    def _latest(self, rows: list[Row], key: tuple[str, ...]) -> list[Row]:
        if not self.spec.key:
            return rows
        best: dict[tuple[Any, ...], Row] = {}

        def rank(r: Row) -> tuple[Any, ...]:
            order = r[self.spec.order_by]
            return (
                order is not None,
                order if order is not None else 0,
                r["_ingested_at"],
                r["_run_id"],
                r["_row_seq"],
            )

        for r in rows:
            k = tuple(r[c] for c in key)
            if k not in best or rank(r) > rank(best[k]):
                best[k] = r
        return list(best.values())

    def _vintages(self, rows: list[Row], vintage: str) -> list[Row]:
        best: dict[tuple[Any, ...], Row] = {}
        for r in rows:
            k = tuple(r[c] for c in self._identity())
            mine, current = r[self.spec.available or ""], best.get(k)
            if current is None or (mine > current[self.spec.available or ""]) == (vintage == "latest"):
                best[k] = r
        return list(best.values())

    def _covers(self, row: Row, at: int) -> bool:
        begin = row[self.spec.from_ or ""]
        end = row[self.spec.to] if self.spec.to else None
        return begin is not None and begin <= at and (end is None or end > at)
