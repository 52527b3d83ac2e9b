"""The commit log: a folder of numbered JSON entries, each created only if it is absent. Environments and
tables are such logs; the number is the commit order (Seed 1, `_commit_seq`).

No lock is taken: whoever creates the next number has committed, the other sees a `LogConflictError`. Readers
list names and read entries; they never wait, and a temporary file of a killed writer is not an entry.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath

from ..diagnostics import Diagnostic, StrataError
from .document import JSON, from_text, to_text, too_new
from .files import LOCAL, Files, UnclearError
from .instant import Instant, next_instant, now, parse, spell

FORMAT = 1
_NAME = re.compile(r"(\d{20})\.json")


@dataclass(frozen=True, slots=True)
class Entry:
    """One commit: its number (from 1), a random id that tells whose it is, what it is, when, and its payload."""

    number: int
    id: str
    kind: str
    at: Instant
    payload: Mapping[str, JSON]


class LogConflictError(StrataError):
    """E093: the head moved past the number that the writer had seen. `head` is the number it has now."""

    def __init__(self, directory: PurePath, expected: int, head: int) -> None:
        super().__init__(
            Diagnostic(
                "E093",
                f"{directory} is at entry {head}, not at {expected}: another writer committed first",
                fix="read the new head, check that your change still holds on it, and commit again",
            )
        )
        self.expected = expected
        self.head = head


@dataclass(frozen=True, slots=True)
class CommitLog:
    """The log in `directory`, which need not exist before the first `append`. `clock` gives its instants."""

    directory: PurePath
    files: Files = LOCAL
    clock: Callable[[], Instant] = now

    def head(self, after: int = 0) -> int:
        """The number of the newest entry, 0 for an empty log. Reads names only; E094 for a gap.

        `after` is an entry known to exist: where none follows it, one look at the next name tells, and only the names
        later than its own are listed.
        """
        if after and not self.files.exists(self._path(after + 1)):
            return after
        names = self.files.names(self.directory, self._path(after).name if after else "")
        numbers = [int(m[1]) for name in names if (m := _NAME.fullmatch(name))]
        if not numbers:
            return after
        head = max(numbers)
        if len(numbers) != head - after:
            # A listing that runs beside a writer may show a later entry and not an earlier one: look again.
            for number in sorted(set(range(after + 1, head + 1)).difference(numbers)):
                if not self.files.exists(self._path(number)):
                    raise StrataError(_gap(self._path(number), number, head))
        return head

    def read(self, number: int) -> Entry:
        """The entry of that number; E094 when it is missing or damaged, E092 when it cannot be read."""
        path = self._path(number)
        text = self.files.read(path)
        if text is None:
            raise StrataError(_gap(path, number, number))
        return _decode(path, number, text)

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Entries with numbers above `after` up to the head seen now, in commit order."""
        return (self.read(number) for number in range(after + 1, self.head() + 1))

    def newest_at(self, bound: Instant, head: int, at: Callable[[int], Instant] | None = None) -> int:
        """The number of the newest entry at or before `bound`, up to `head`; 0 before the first. Reads log₂ n entries,
        or asks `at` for the instant of one, where somebody keeps what was read."""
        told = at or (lambda number: self.read(number).at)
        return bisect_right(range(1, head + 1), bound, key=told)

    def append(
        self, kind: str, payload: Mapping[str, JSON], expected: int | None = None, after: Instant | None = None
    ) -> Entry:
        """Commits one entry and returns it; its cost does not depend on the log's length when `expected` is given.

        `expected` is the head that the payload was made for: `LogConflictError` if it has moved. None takes
        the next free number, whatever came before. `after` is the instant of the entry `expected`, where the writer
        has read it.
        """
        if not expected:  # whoever made the first entry has prepared the folder before
            self.files.prepare(self.directory)
        previous = self.head() if expected is None else expected
        while True:
            before = after if after is not None else self.read(previous).at if previous else 0
            entry = Entry(previous + 1, secrets.token_hex(16), kind, next_instant(before, self.clock), payload)
            if self._commit(entry):
                return entry
            if expected is not None:
                raise LogConflictError(self.directory, expected, self.head())
            previous = self.head()

    def _commit(self, entry: Entry) -> bool:
        path = self._path(entry.number)
        try:
            created = self.files.create(path, _encode(entry))
        except UnclearError:
            raise  # what is looked at now may be otherwise in a moment
        except StrataError as fault:
            if self.files.exists(path) and self.read(entry.number).id == entry.id:
                note = f"entry {entry.number} is visible all the same; the disk has not confirmed that it will stay"
                raise StrataError(*(replace(d, notes=(*d.notes, note)) for d in fault.diagnostics)) from fault
            raise
        # A network filesystem may lose the answer to our own link: the id tells whose entry stands there.
        return created or self.read(entry.number).id == entry.id

    def _path(self, number: int) -> PurePath:
        return self.directory / f"{number:020d}.json"


def _encode(entry: Entry) -> bytes:
    body: dict[str, JSON] = {
        "format": FORMAT,
        "number": entry.number,
        "id": entry.id,
        "kind": entry.kind,
        "at": spell(entry.at),
        "payload": entry.payload,
    }
    return to_text({**body, "sha256": _seal(body)}).encode()


def _seal(body: Mapping[str, JSON]) -> str:
    return hashlib.sha256(to_text(body).encode()).hexdigest()


def _decode(path: PurePath, number: int, text: bytes) -> Entry:
    try:
        body = from_text(text)
    except ValueError as cause:
        raise StrataError(_damaged(path, f"it is not a JSON entry ({cause})")) from cause
    if isinstance(version := body.get("format"), int) and version > FORMAT:
        raise StrataError(too_new(path, version, FORMAT))
    seal = body.pop("sha256", None)
    if seal != _seal(body):
        raise StrataError(_damaged(path, "its content does not match its sha256"))
    match body:
        case {"number": int(n), "id": str(id_), "kind": str(kind), "at": str(at), "payload": dict(payload)}:
            if n != number:
                raise StrataError(_damaged(path, f"it says that it is entry {n}"))
            return Entry(n, id_, kind, parse(at), payload)
        case _:
            raise StrataError(_damaged(path, "a field is missing or has another type"))


def _gap(path: PurePath, number: int, head: int) -> Diagnostic:
    return Diagnostic(
        "E094",
        f"entry {number} of the log {path.parent} is missing (head {head})",
        fix=f"restore {path} from a backup; entries are never deleted by Strata",
    )


def _damaged(path: PurePath, why: str) -> Diagnostic:
    return Diagnostic("E094", f"log entry {path} is damaged: {why}", fix=f"restore {path} from a backup")
