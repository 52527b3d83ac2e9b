"""The entries of a table's commit log as values. Each names the newest entry of every kind up to itself, so that any
entry is the root of the whole state at its number: no state is replayed, and a checkpoint is never needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from ...diagnostics import Diagnostic, StrataError
from ..document import JSON
from ..instant import Instant, parse, spell
from ..log import Entry
from ..manifest import Field, field_document, field_of

Range: TypeAlias = tuple[int | str, int | str]
"""The smallest and the largest value of a column; times in the column's own unit since 1970."""


@dataclass(frozen=True, slots=True)
class Newest:
    """The number of the newest entry of each kind, 0 where there is none. `replace` is the newest replacing run."""

    declare: int = 0
    schema: int = 0
    run: int = 0
    replace: int = 0
    snapshot: int = 0
    collect: int = 0
    hold: int = 0
    pin: int = 0


@dataclass(frozen=True, slots=True)
class Declared:
    """The table's declaration from here on, as its document."""

    declaration: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class RunCommit:
    """A run: where its parts lie below `data/`, and what a landing after it needs to know without opening them.

    `schema` is the table's merged schema where this run changed it. `arrived` is the digest of the rows as they
    came, `ranges` bounds the key, valid-time and availability columns, `replaces` hides all that was committed before.
    """

    run_id: str
    folder: str
    rows: int
    arrived: str
    replaces: bool = False
    schema: tuple[Field, ...] | None = None
    ranges: Mapping[str, Range] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class SnapshotCommit:
    """A snapshot that holds all committed runs up to entry `through`. `parent` is the entry of the one before."""

    snapshot_id: str
    parent: int
    through: int
    rows: int


@dataclass(frozen=True, slots=True)
class Collected:
    """Retention: nothing before `floor` is answered any more, but for what holds keep.

    `keep` is the entry of the oldest snapshot kept, which holds all runs up to the entry `through`. Of what came before
    only the entries `held_snapshots` and `held_runs` stay.
    """

    floor: Instant
    keep: int
    through: int
    held_snapshots: tuple[int, ...]
    held_runs: tuple[int, ...]

    def is_gone_snapshot(self, number: int) -> bool:
        """Whether the snapshot of that entry was let go."""
        return number < self.keep and number not in self.held_snapshots

    def is_gone_run(self, number: int) -> bool:
        """Whether the run of that entry was let go."""
        return number <= self.through and number not in self.held_runs

    def lets_go(self, entry: TableEntry) -> bool:
        """Whether `entry` committed rows that were let go."""
        match entry.commit:
            case SnapshotCommit():
                return self.is_gone_snapshot(entry.number)
            case RunCommit():
                return self.is_gone_run(entry.number)
            case _:
                return False


@dataclass(frozen=True, slots=True)
class Hold:
    """What a hold keeps: the state `at` an instant, as the snapshot entry (0 without one) and the runs it omits."""

    at: Instant
    snapshot: int
    runs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Holds:
    """All holds by name, from here on."""

    holds: Mapping[str, Hold]


@dataclass(frozen=True, slots=True)
class Pins:
    """The upper bound on transaction time of each build pin, from here on."""

    pins: Mapping[str, Instant]


Commit: TypeAlias = Declared | RunCommit | SnapshotCommit | Collected | Holds | Pins


@dataclass(frozen=True, slots=True)
class TableEntry:
    """One commit of a table: `number` is its `_commit_seq`, `at` its instant (a run's `_ingested_at`)."""

    number: int
    at: Instant
    newest: Newest
    commit: Commit


NOTHING = TableEntry(0, 0, Newest(), Pins(MappingProxyType({})))
"""The state before the first entry."""


def newest_after(newest: Newest, number: int, commit: Commit) -> Newest:
    """What the entry `number` with `commit` names as newest, after one that named `newest`."""
    match commit:
        case Declared():
            return replace(newest, declare=number)
        case RunCommit():
            return replace(
                newest,
                run=number,
                schema=number if commit.schema is not None else newest.schema,
                replace=number if commit.replaces else newest.replace,
            )
        case SnapshotCommit():
            return replace(newest, snapshot=number)
        case Collected():
            return replace(newest, collect=number)
        case Holds():
            return replace(newest, hold=number)
        case Pins():
            return replace(newest, pin=number)


def encode(newest: Newest, commit: Commit) -> tuple[str, dict[str, JSON]]:
    """The kind and the payload of an entry."""
    kind, body = _body(commit)
    return kind, {**body, "newest": {kind: number for kind, number in asdict(newest).items() if number}}


def _body(commit: Commit) -> tuple[str, dict[str, JSON]]:
    match commit:
        case Declared():
            return "declare", {"declaration": dict(commit.declaration)}
        case RunCommit():
            body: dict[str, JSON] = {
                "run_id": commit.run_id,
                "folder": commit.folder,
                "rows": commit.rows,
                "arrived": commit.arrived,
                "ranges": {column: list(bounds) for column, bounds in commit.ranges.items()},
            }
            if commit.replaces:
                body["replaces"] = True
            if commit.schema is not None:
                body["schema"] = [field_document(f) for f in commit.schema]
            return "run", body
        case SnapshotCommit():
            return "snapshot", {
                "snapshot_id": commit.snapshot_id,
                "parent": commit.parent,
                "through": commit.through,
                "rows": commit.rows,
            }
        case Collected():
            return "collect", {
                "floor": spell(commit.floor),
                "keep": commit.keep,
                "through": commit.through,
                "held_snapshots": list(commit.held_snapshots),
                "held_runs": list(commit.held_runs),
            }
        case Holds():
            return "hold", {
                "holds": {
                    name: {"at": spell(h.at), "snapshot": h.snapshot, "runs": list(h.runs)}
                    for name, h in commit.holds.items()
                }
            }
        case Pins():
            return "pin", {"pins": {name: spell(at) for name, at in commit.pins.items()}}


def decode(entry: Entry) -> TableEntry:
    """The commit in a log entry; E094 when it is none of a table."""
    try:
        newest = Newest(**{str(k): int(v) for k, v in entry.payload["newest"].items()})  # type: ignore[arg-type, union-attr]
        return TableEntry(entry.number, entry.at, newest, _commit(entry.kind, entry.payload))
    except (KeyError, TypeError, ValueError, AttributeError) as cause:
        message = f"log entry {entry.number} ({entry.kind}) is no commit of a table ({type(cause).__name__}: {cause})"
        raise StrataError(Diagnostic("E094", message, fix="restore the table's folder from a backup")) from cause


def _commit(kind: str, body: Mapping[str, JSON]) -> Commit:
    match kind, body:
        case "declare", {"declaration": dict(document)}:
            return Declared(MappingProxyType(document))
        case "run", {
            "run_id": str(run_id),
            "folder": str(folder),
            "rows": int(rows),
            "arrived": str(arrived),
            "ranges": dict(ranges),
        }:
            schema = body.get("schema")
            return RunCommit(
                run_id,
                folder,
                rows,
                arrived,
                body.get("replaces") is True,
                tuple(field_of(f) for f in schema) if isinstance(schema, list) else None,
                MappingProxyType({str(column): _range(bounds) for column, bounds in ranges.items()}),
            )
        case "snapshot", {
            "snapshot_id": str(snapshot_id),
            "parent": int(parent),
            "through": int(through),
            "rows": int(rows),
        }:
            return SnapshotCommit(snapshot_id, parent, through, rows)
        case "collect", {
            "floor": str(floor),
            "keep": int(keep),
            "through": int(through),
            "held_snapshots": list(snapshots),
            "held_runs": list(runs),
        }:
            return Collected(parse(floor), keep, through, _numbers(snapshots), _numbers(runs))
        case "hold", {"holds": dict(holds)}:
            return Holds(MappingProxyType({str(name): _hold(held) for name, held in holds.items()}))
        case "pin", {"pins": dict(pins)}:
            return Pins(MappingProxyType({str(name): parse(str(at)) for name, at in pins.items()}))
        case _:
            raise ValueError("a field is missing or has another type")


def _range(bounds: JSON) -> Range:
    match bounds:
        case [int() | str() as low, int() | str() as high]:
            return low, high
        case _:
            raise ValueError(f"not a range: {bounds!r}")


def _hold(document: JSON) -> Hold:
    match document:
        case {"at": str(at), "snapshot": int(snapshot), "runs": list(runs)}:
            return Hold(parse(at), snapshot, _numbers(runs))
        case _:
            raise ValueError(f"not a hold: {document!r}")


def _numbers(values: list[JSON]) -> tuple[int, ...]:
    if not all(isinstance(value, int) for value in values):
        raise ValueError("entry numbers are integers")
    return tuple(value for value in values if isinstance(value, int))
