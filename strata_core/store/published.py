"""What an environment has of a model, now or as of an instant: the artifact that was live then.

The log of an environment is its transaction time, as that of a table is (Seed 1 *as-of*): a bound selects the newest
version at or before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import instants
from ..diagnostics import Diagnostic, StrataError
from .artifacts import Artifact
from .environments import Environment, EnvironmentVersion, Pointer
from .instant import spell
from .tables.bounds import Bounds
from .tables.errors import StoreError

if TYPE_CHECKING:
    from .store import Store


@dataclass(frozen=True, slots=True)
class Published:
    """The `artifact` of a model that `version` of an environment names, and the `bounds` that were asked for."""

    artifact: Artifact
    version: EnvironmentVersion
    asked: Bounds

    @property
    def bounds(self) -> Mapping[str, str | bool] | None:
        """The echo of the bound (Seed 1 *echo*), None for what is live now."""
        return self.asked.echo()


def published(store: Store, model: str, environment: str, as_of: instants.Literal | None) -> Published:
    """What `environment` has of `model`, as of an instant where one is given. Errors: those of `Store.published`."""
    log = store.environment(environment)
    if as_of is None:
        version = log.head()
        if (pointer := version.models.get(model)) is None:
            raise StrataError(_unpublished(model, environment))
        return Published(store.artifact(model, pointer), version, Bounds())
    try:
        bound = instants.bound(as_of)
    except ValueError as fault:
        raise StoreError("StoreBoundInvalid", model, f"{model}: as_of: {fault}") from None
    version = log.as_of(bound.last)
    pointer = version.models.get(model)
    artifact = None if pointer is None else _kept(store, model, pointer)
    if artifact is None:
        raise _unanswerable(store, log, model, version)
    return Published(artifact, version, Bounds(as_of=bound))


def _kept(store: Store, model: str, pointer: Pointer) -> Artifact | None:
    found = store.find(model, pointer.address)
    return found if found is not None and found.manifest.digest == pointer.digest else None


def _unanswerable(store: Store, log: Environment, model: str, then: EnvironmentVersion) -> StrataError:
    """Why there are no rows of `then`: the oldest instant from which on there are some is told."""
    oldest: EnvironmentVersion | None = None
    ever = False
    for version in log.history():
        pointer = version.models.get(model)
        ever = ever or pointer is not None
        if pointer is not None and _kept(store, model, pointer) is not None:
            oldest = version
        elif oldest is not None:
            break
    if not ever:
        return StrataError(_unpublished(model, log.name))
    if then.models.get(model) is not None:
        why = f"the artifact that was live then, of version {then.number}, was collected"
    elif any(version.models.get(model) is not None for version in _before(log, then)):
        why = f"version {then.number}, which was live then, has no {model}"
    else:
        why = "nothing of it was published yet"
    fix = f"publish it: `strata apply {model}`"
    if oldest is not None:
        fix = f"ask for {spell(oldest.at)} or later, the oldest instant that is answered"
    return StoreError("StoreAsOfUnretained", model, f"{model} in {log.name}: {why}", fix)


def _before(log: Environment, then: EnvironmentVersion) -> list[EnvironmentVersion]:
    return [version for version in log.history() if version.number < then.number]


def _unpublished(model: str, environment: str) -> Diagnostic:
    return Diagnostic("E095", f"`{model}` is not published in {environment}", fix=f"run `strata apply {model}`")
