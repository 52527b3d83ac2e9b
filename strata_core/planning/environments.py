"""The environments of a project that something was published in. Their history needs no compiler."""

from __future__ import annotations

from collections.abc import Mapping

from ..diagnostics import Diagnostic, StrataError
from ..diagnostics.suggest import did_you_mean
from ..store.environments import Environment, EnvironmentVersion
from .config import MAIN
from .project import Project


def published_environment(project: Project, name: str) -> Environment:
    """The environment `name` of the project's store; raises `StrataError` E095 where nothing was published in it."""
    store = project.store
    if not store.exists():
        message = f"nothing was published yet: there is no store at `{project.config.store_root}`"
        raise StrataError(Diagnostic("E095", message, fix="run `strata apply`"))
    environment = store.opened(create=False).environment(name)
    if environment.head().number == 0:
        known = store.environments()
        fix = did_you_mean(name, known, f"run `strata apply --env {name}`")
        notes = (f"published environments are {', '.join(known)}",) if known else ()
        raise StrataError(Diagnostic("E095", f"nothing was published in `{name}` yet", fix=fix, notes=notes))
    return environment


def published_environments(project: Project) -> Mapping[str, EnvironmentVersion]:
    """The newest version of each environment that has models; one that was dropped has none. None where there is no
    store yet."""
    store = project.store
    heads = {name: store.environment(name).head() for name in store.environments()}
    return {name: head for name, head in heads.items() if head.models}


def not_published(name: str, environment: str | None = None, version: int | None = None) -> Diagnostic:
    """E095: a model that was asked for has no rows, in an environment or in a version of it."""
    place = "" if environment is None else f" in {environment}"
    place = place if version is None else f" in version {version} of {environment}"
    chosen = "" if environment in (None, MAIN) else f" --env {environment}"
    return Diagnostic("E095", f"`{name}` is not published{place}", fix=f"run `strata apply {name}{chosen}`")
