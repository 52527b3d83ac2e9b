"""Publishing partitions of a table beside those that others publish meanwhile: nobody waits, and none is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ...diagnostics import StrataError
from ...store.environments import Environment, EnvironmentVersion

CONFLICT = "E093"
Made = TypeVar("Made")


def published_beside(
    environment: Environment,
    base: EnvironmentVersion,
    made: Made,
    publish: Callable[[EnvironmentVersion, Made], EnvironmentVersion],
    on: Callable[[EnvironmentVersion, StrataError], tuple[EnvironmentVersion, Made] | None],
) -> tuple[EnvironmentVersion, Made]:
    """The version in which `made` was published as planned on `base`, and what was.

    Where another has published first, `on` lays it on the head that there is now, and says on which version it is
    planned then; None where it cannot stand there. Raises what `publish` and `on` raise, E093 of a conflict that
    remains.
    """
    seen = base
    while True:
        try:
            return publish(seen, made), made
        except StrataError as error:
            head = environment.head()
            if error.diagnostics[0].code != CONFLICT or head.number == seen.number:
                raise
            laid = on(head, error)
            if laid is None:
                raise
            seen, made = laid
