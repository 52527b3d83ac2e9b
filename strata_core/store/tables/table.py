"""A table of the store: land, read, fold, collect, hold, pin, and what happened to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from typing import Literal as Word

from ..instant import Instant
from .entries import TableEntry
from .history import History

if TYPE_CHECKING:  # reads and landings load pyarrow and polars; a listing does not
    from ...instants import Literal
    from .asof import AsofRead
    from .collecting import Collection
    from .declaration import TableDeclaration
    from .enforcement import Principal
    from .entries import Hold
    from .folding import Snapshot
    from .landing import Run
    from .reading import Read
    from .results import ResultCache
    from .verifying import Verified


How: TypeAlias = Word["left", "inner"]
"""Whether a row without a match stays or goes."""


@dataclass(frozen=True, slots=True)
class Table:
    """A declared table. Every call sees the log as it is then; the object itself holds nothing that changes."""

    log: History
    results: ResultCache
    mask_key: Callable[[], bytes]
    sibling: Callable[[str], Table]

    @property
    def name(self) -> str:
        """The table's name."""
        return self.log.name

    @property
    def declaration(self) -> TableDeclaration:
        """What it is declared to be now."""
        return self.log.declared(self.log.head())

    def land(self, data: Any, *, run_id: str | None = None, mode: str = "append") -> Run:
        """Lands `data` as one run: `landing.land` says what it takes and raises."""
        from .landing import land

        return land(self.log, data, run_id, mode)

    def schema_changes(self, run: Run) -> tuple[str, ...]:
        """What `run` changed of the table's columns, as text; nothing for the first one, which made them all."""
        from .schema_merge import told_changes

        before, after = (self.log.entry(number) for number in (run.commit_seq - 1, run.commit_seq))
        return told_changes(self.log.schema(before), self.log.schema(after))

    def has_run(self, run_id: str, commit_seq: int) -> bool:
        """Whether commit `commit_seq` is the run of that id."""
        from .entries import RunCommit

        if not 0 < commit_seq <= self.log.head().number:
            return False
        commit = self.log.entry(commit_seq).commit
        return isinstance(commit, RunCommit) and commit.run_id == run_id

    def read(
        self,
        *,
        as_of: Literal | None = None,
        valid_as_of: Literal | None = None,
        available_as_of: Literal | None = None,
        vintage: str = "latest",
        pin: str | None = None,
        principal: Principal | None = None,
        columns: Sequence[str] | None = None,
        filter: str | None = None,
    ) -> Read:
        """A read, resolved and checked: the rows follow with `.arrow()`, `.reader()` or `.lazy()`.

        Errors: StoreBoundInvalid, StoreValidTimeUndeclared, StoreAvailableTimeUndeclared, StoreAsOfUnretained,
        StorePinUnknown, StoreColumnUnknown, StoreFilterInvalid, StorePrincipalRequired, StoreAdjustmentInvalid.
        """
        from .enforcement import ANONYMOUS
        from .reading import Asked, open_read

        given = None if columns is None else tuple(columns)
        asked = Asked(as_of, valid_as_of, available_as_of, vintage, pin, given, filter)
        return open_read(self, asked, principal or ANONYMOUS)

    def join_asof(
        self,
        left: Any,
        *,
        by: Mapping[str, str] | Sequence[str] | str | None = None,
        at: str | None = None,
        available_as_of: str | None = None,
        within: str | None = None,
        how: How = "left",
        prefix: str = "",
        as_of: Literal | None = None,
        pin: str | None = None,
        principal: Principal | None = None,
        columns: Sequence[str] | None = None,
        filter: str | None = None,
    ) -> AsofRead:
        """The rows of `left`, each with the row of this table that held at its instant `at`, as far as it was known
        at its instant `available_as_of`: columns of `left`, in which a date is its whole day, as in a bound.

        `left` is what `land` takes. `by` names the key (by default the primary key, under its own name), or maps left
        columns to it. Nothing further back than `within` (`"7d"`) is found. Rows without a match have nulls, or go with
        `how="inner"`. `as_of`, `pin`, `principal`, `columns` and `filter` are those of `read`.

        Errors: StoreJoinInvalid, StoreSourceInvalid, and those of `read`.
        """
        from .asof import Asof, lookback, open_join, pairs
        from .enforcement import ANONYMOUS
        from .reading import Asked, open_read

        given = None if columns is None else tuple(columns)
        asked = Asked(as_of=as_of, vintage="all", pin=pin, columns=given, filter=filter)
        right = open_read(self, asked, principal or ANONYMOUS)
        distance = None if within is None else lookback(self.name, within)
        joined = Asof(pairs(right.declared, by), at, available_as_of, distance, how, prefix)
        return open_join(left, right, joined)

    def fold(self) -> Snapshot | None:
        """Merges the current snapshot with the runs it omits into a new one; None when there is nothing to fold, or
        another fold came first."""
        from .folding import fold

        return fold(self.log)

    def history(self) -> Iterator[TableEntry]:
        """All commits, newest first."""
        head = self.log.head()
        return (self.log.entry(number) for number in range(head.number, 0, -1))

    def hold(self, name: str, *, as_of: Literal | None = None) -> Hold:
        """Keeps the state as of an instant (now without one) from collection. Errors: StoreAsOfUnretained."""
        from .holding import hold

        return hold(self.log, name, as_of)

    def release(self, name: str) -> None:
        """Ends a hold. Errors: StoreHoldUnknown."""
        from .holding import release

        release(self.log, name)

    def pin(self, name: str, *, as_of: Literal | None = None) -> Instant:
        """Records a build's upper bound on this table (now without one). Errors: StoreAsOfUnretained."""
        from .holding import pin

        return pin(self.log, name, as_of)

    def collect(self, *, grace: str = "1h", progress: Callable[[str], None] = lambda _: None) -> Collection:
        """Removes what `retain_runs` lets go and nobody holds; parts go once `grace` has passed since their floor was
        published."""
        from .collecting import collect

        return collect(self.log, grace, progress)

    def verify(self, *, contents: bool = True, progress: Callable[[str], None] = lambda _: None) -> Verified:
        """Whether log, manifests and parts are what they say; without `contents` parts are not read."""
        from .verifying import verify

        return verify(self.log, contents, progress)
