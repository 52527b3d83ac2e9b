"""An environment that is not needed any more: what the project published in it is taken back, in one step.

Its history stays, so that a rollback undoes it until the artifacts are collected (`store/orphans.py`).
"""

from __future__ import annotations

from types import MappingProxyType

from ...analysis.compiled import CompiledProject
from ...diagnostics import Diagnostic, StrataError
from ...frozen import dataclass, replace
from ...store.environments import EnvironmentVersion
from ..catalog import Catalog, Registration, read_catalog
from ..consumers import breaking_changes, judged
from ..environments import published_environment
from ..project import Project
from ..registered_models import register_models

NOTHING = CompiledProject(
    MappingProxyType({}), MappingProxyType({}), MappingProxyType({}), MappingProxyType({}), frozenset(), ()
)
"""A project without models: what a dropped environment is to hold of this one."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """The `version` in which the tables `removed` are gone; `left` are those of other projects that share the store."""

    version: EnvironmentVersion
    removed: tuple[str, ...]
    left: tuple[str, ...]


def drop_environment(project: Project, name: str) -> Dropped:
    """Take back what `project` has published in the environment `name`, and what no project has registered there.

    Raises `StrataError` E095 where there is nothing of it, E030 where another project reads it there, E093 where an
    apply published meanwhile.
    """
    environment = published_environment(project, name)
    store = project.store
    head, catalog, own = environment.head(), read_catalog(store, name), project.config.name
    left = _of_others(catalog, own, head)
    removed = tuple(sorted(head.models.keys() - left))
    if not removed:
        message = f"nothing of {own} is published in `{name}`"
        raise StrataError(Diagnostic("E095", message, fix="`strata env list` shows what is published"))
    ours = catalog.get(own, Registration(own))
    readers = {**catalog, own: replace(ours, reads=())}  # which go with what they read
    # `protected` promises that columns stay while their table is made; to drop an environment is to end that.
    if breaking := [one for one in breaking_changes(own, lambda _: None, readers, removed) if one.readers]:
        raise StrataError(*judged(own, breaking, ()).diagnostics)
    version = environment.publish(head, {}, set(removed), message="dropped")
    register_models(store, own, NOTHING, {}, version, name, ())
    return Dropped(version, removed, tuple(sorted(left)))


def _of_others(catalog: Catalog, own: str, head: EnvironmentVersion) -> set[str]:
    """The live models that another project has published as they are."""
    return {
        table
        for project, one in catalog.items()
        if project != own
        for table, registered in one.tables.items()
        if table in head.models and registered.fingerprint in ("", head.models[table].fingerprint)
    }
