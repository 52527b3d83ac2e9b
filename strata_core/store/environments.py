"""Environments: which artifact each model has now, and had before. One log, one entry a version.

An entry holds the whole map, so publishing many models is one atomic step, a reader needs one file, and a
rollback is a new version with an old map.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from types import MappingProxyType

from ..diagnostics import Diagnostic, StrataError
from .document import JSON
from .instant import Instant, next_instant, parse, spell
from .log import CommitLog, Entry, LogConflictError

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Pointer:
    """A model's live artifact. `published_at` is filled in by the version that first published it."""

    address: str
    digest: str
    fingerprint: str
    published_at: Instant | None = None

    def same_rows(self, other: Pointer | None) -> bool:
        """Whether `other` points at the same artifact."""
        return other is not None and (self.address, self.digest) == (other.address, other.digest)


@dataclass(frozen=True, slots=True)
class EnvironmentVersion:
    """One version of an environment. Number 0 is the empty environment before anything was published.

    `cause` is `publish` or `rollback`; `restores` is the version whose map a rollback took.
    """

    number: int
    id: str
    at: Instant
    models: Mapping[str, Pointer]
    message: str
    tags: Mapping[str, str]
    cause: str
    restores: int | None


EMPTY = EnvironmentVersion(0, "", 0, MappingProxyType({}), "", _NOTHING, "publish", None)


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment `name`, kept in `log`. `settle` is asked before an entry names an artifact that the one before it
    does not: it makes the artifact durable (another apply may have moved it to its address and been killed before it
    synced the folder), keeps it from being collected, and raises E094 where it is gone."""

    name: str
    log: CommitLog
    settle: Callable[[str, Pointer], None]

    def head(self) -> EnvironmentVersion:
        """The version that readers see now."""
        return self._version(self.log.head())

    def at(self, number: int) -> EnvironmentVersion:
        """The version of that number; E095 when there is none."""
        head = self.log.head()
        if not 0 < number <= head:
            known = f"use a version from 1 to {head}" if head else "publish something first"
            message = f"environment {self.name} has no version {number}"
            raise StrataError(Diagnostic("E095", message, fix=known))
        return self._version(number)

    def as_of(self, at: Instant) -> EnvironmentVersion:
        """The newest version that was committed at or before `at`; `EMPTY` before the first."""
        return self._version(self.log.newest_at(at, self.log.head()))

    def history(self) -> Iterator[EnvironmentVersion]:
        """All versions, newest first, read one by one."""
        return (self._version(number) for number in range(self.log.head(), 0, -1))

    def publish(
        self,
        base: EnvironmentVersion,
        changes: Mapping[str, Pointer],
        removed: Set[str] = frozenset(),
        *,
        message: str = "",
        tags: Mapping[str, str] = _NOTHING,
        reads: Mapping[str, str] = _NOTHING,
    ) -> EnvironmentVersion:
        """Publishes `changes` and takes `removed` out, all in one entry, and returns the new version.

        `base` is the version that the changes were planned on; `reads` maps each model that they were computed
        from to its digest. When others published since, the changes are laid on the newest version, unless it
        differs in a model that is changed, removed or read here: then E093 names the models and the winner.
        """
        while True:
            head = self.head()
            now = next_instant(head.at)
            wanted: dict[str, Pointer | None] = {
                **{model: _dated(p, head.models.get(model), now) for model, p in changes.items()},
                **dict.fromkeys(removed),
            }
            models = {m: p for m, p in {**head.models, **wanted}.items() if p is not None}
            lost = _lost(base, head, wanted) | _outdated(models, reads)
            if lost:
                raise StrataError(self._lost_to(head, base, lost))
            self._settle(changes, head)
            payload = _payload(models, message, tags, None)
            try:
                return _decode(self.log.append("publish", payload, expected=head.number))
            except LogConflictError:
                continue  # somebody committed: look at what it was

    def rollback(self, to: int) -> EnvironmentVersion:
        """A new version with the map of version `to`; E095 when unknown, E093 when another apply came between,
        E094 when an artifact of it was collected since."""
        head = self.head()
        models = self.at(to).models
        self._settle(models, head)
        payload = _payload(models, f"rollback to version {to}", _NOTHING, to)
        return _decode(self.log.append("rollback", payload, expected=head.number))

    def _settle(self, pointers: Mapping[str, Pointer], head: EnvironmentVersion) -> None:
        """Of what an entry after `head` will name, what `head` does not."""
        for model, pointer in pointers.items():
            if not pointer.same_rows(head.models.get(model)):
                self.settle(model, pointer)

    def _version(self, number: int) -> EnvironmentVersion:
        return _decode(self.log.read(number)) if number else EMPTY

    def _lost_to(self, head: EnvironmentVersion, base: EnvironmentVersion, lost: Set[str]) -> Diagnostic:
        winner = head
        for number in range(head.number, base.number, -1):
            before = self._version(number - 1)
            if any(not _same(winner.models.get(m), before.models.get(m)) for m in lost):
                break
            winner = before
        said = f' "{winner.message}"' if winner.message else ""
        return Diagnostic(
            "E093",
            f"nothing was published in {self.name}: version {winner.number}{said} of {spell(winner.at)} has other rows "
            f"of {', '.join(sorted(lost))} than this apply was planned on (version {base.number})",
            fix="run the apply again: it plans on the new version and reuses what is still fresh",
        )


def _dated(pointer: Pointer, live: Pointer | None, now: Instant) -> Pointer:
    """`pointer` with the instant of its first publication: that of the live one when it is the same."""
    if pointer.published_at is not None:
        return pointer
    if live is not None and replace(live, published_at=None) == pointer:
        return live
    return replace(pointer, published_at=now)


def _lost(base: EnvironmentVersion, head: EnvironmentVersion, wanted: Mapping[str, Pointer | None]) -> frozenset[str]:
    """The models of ours that differ between `base` and `head`, but for those that `head` has as we want them."""
    return frozenset(
        model
        for model, ours in wanted.items()
        if not _same(base.models.get(model), theirs := head.models.get(model)) and not _same(ours, theirs)
    )


def _same(one: Pointer | None, other: Pointer | None) -> bool:
    return one.same_rows(other) if one is not None else other is None


def _outdated(models: Mapping[str, Pointer], reads: Mapping[str, str]) -> frozenset[str]:
    """The models that were read with another digest than the one that would be live beside the changes."""
    return frozenset(m for m, digest in reads.items() if m not in models or models[m].digest != digest)


def _payload(
    models: Mapping[str, Pointer], message: str, tags: Mapping[str, str], restores: int | None
) -> dict[str, JSON]:
    pointers: dict[str, JSON] = {
        model: {
            "address": p.address,
            "digest": p.digest,
            "fingerprint": p.fingerprint,
            "published_at": None if p.published_at is None else spell(p.published_at),
        }
        for model, p in models.items()
    }
    return {"models": pointers, "message": message, "tags": dict(tags), "restores": restores}


def _decode(entry: Entry) -> EnvironmentVersion:
    match entry.payload:
        case {
            "models": dict(models),
            "message": str(message),
            "tags": dict(tags),
            "restores": (int() | None) as restores,
        }:
            return EnvironmentVersion(
                entry.number,
                entry.id,
                entry.at,
                MappingProxyType({model: _pointer(entry, model, p) for model, p in models.items()}),
                message,
                MappingProxyType({key: str(value) for key, value in tags.items()}),
                entry.kind,
                restores,
            )
        case _:
            raise StrataError(_not_a_version(entry))


def _pointer(entry: Entry, model: str, document: JSON) -> Pointer:
    match document:
        case {"address": str(address), "digest": str(digest), "fingerprint": str(fingerprint), "published_at": str(at)}:
            return Pointer(address, digest, fingerprint, parse(at))
        case _:
            raise StrataError(_not_a_version(entry, f": model {model}"))


def _not_a_version(entry: Entry, where: str = "") -> Diagnostic:
    message = f"log entry {entry.number} ({entry.kind}) is not a version of an environment{where}"
    return Diagnostic("E094", message, fix="restore the environment's folder from a backup")
