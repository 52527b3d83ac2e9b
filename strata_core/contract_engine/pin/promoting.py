"""Promote: what was judged sound of guarded tables goes live in one step, beside what others publish meanwhile; of what
was refused, that it was is kept until sound rows go live."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ...diagnostics import StrataError
from ...diagnostics.listing import headline
from ...frozen import dataclass
from ...planning.guarded.catalog import register_guarded
from ...planning.guarded.guarding import Kept, publish
from ...planning.guarded.partitions import laid_on
from ...planning.guarded.refusals import record_refusals
from ...planning.partitions.beside import published_beside
from ...store.environments import EnvironmentVersion
from .guard import Guard
from .judging import Verdict


@dataclass(frozen=True, slots=True)
class Promotion:
    """What is live after a promotion: the environment's version, and the tables that this step made live."""

    version: EnvironmentVersion
    promoted: frozenset[str]


def promote(
    guard: Guard,
    verdicts: Iterable[Verdict],
    *,
    message: str = "",
    tags: Mapping[str, str] = MappingProxyType({}),
) -> Promotion:
    """Make what was judged sound live, in one version. An environment that publishes `together` takes all or nothing.

    Raises `StrataError` E093 where another promoted other rows of the same table since the guard was opened, E092.
    """
    given = tuple(verdicts)
    found = {v.promise.name: v.kept for v in given if v.kept is not None}
    together = guard.project.config.environment(guard.environment).publish == "together"
    if not found or (together and len(found) < len(given)):
        return Promotion(guard.base, frozenset())
    version, found = _published(guard, found, message, tags)
    shown = {name: (one.artifact, one.offered) for name, one in found.items()}
    approved = tuple(a for v in given for a in v.approved)
    register_guarded(guard.store, guard.project.config.name, guard.environment, version, shown, approved)
    return Promotion(version, frozenset(found))


def _published(
    guard: Guard, found: dict[str, Kept], message: str, tags: Mapping[str, str]
) -> tuple[EnvironmentVersion, dict[str, Kept]]:
    """The version that has what was `found` sound; a partition goes beside those that others published meanwhile."""
    environment = guard.store.environment(guard.environment)

    def published(seen: EnvironmentVersion, kept: dict[str, Kept]) -> EnvironmentVersion:
        artifacts = {name: one.artifact for name, one in kept.items()}
        return publish(guard.store, guard.environment, seen, artifacts, message=message, tags=tags)

    def on(head: EnvironmentVersion, _conflict: StrataError) -> tuple[EnvironmentVersion, dict[str, Kept]] | None:
        return laid_on(guard.engine, guard.store, found, guard.base, head, guard.now)

    return published_beside(environment, guard.base, found, published, on)


def record_refused(guard: Guard, verdicts: Iterable[Verdict], done: Promotion) -> None:
    """Keep in the store that candidates, or partitions of them, were refused, when and why: asked after what is sound
    was promoted (`done`), so that this does not end it. Raises `StrataError` E092, E094."""
    found = {v.promise.name: (v.promise.reference, v.place, headline(v.violations)) for v in verdicts if v.violations}
    if found or done.promoted:
        record_refusals(guard.store, guard.environment, found, done.promoted)
