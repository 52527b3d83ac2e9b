"""Where an apply, a plan, a promotion and a rollback look for blocking tests: a project without contracts loads nothing
of them."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

from ...diagnostics import Diagnostic, Severity, StrataError
from ...frozen import replace
from ...planning.applying.blocking_tests import NO_TESTS, BlockingTests, blocked
from ...planning.catalog import Registration, read_catalog
from ...planning.config import ProjectConfig, config_fault, has_products
from ...planning.project import Project
from ...store.environments import EnvironmentVersion


def blocking_tests(
    project: Project, environment: str, models: Set[str], guarded: Set[str] = frozenset()
) -> BlockingTests:
    """The blocking tests of products that may refuse candidates of `models`, and of `guarded` tables (`pin_tests`)."""
    if not (models or guarded):
        return NO_TESTS
    root, config, tests = project.root, project.config, NO_TESTS
    if has_products(root, config):
        from .pin_tests import pin_tests

        tests = pin_tests(root, environment, models, guarded)
    missing = _missing(root, config)
    return replace(tests, unread=(*missing, *tests.unread)) if missing else tests


def _missing(root: Path, config: ProjectConfig) -> tuple[Diagnostic, ...]:
    """E143 where `strata.toml` says that contracts lie in a folder that is not there."""
    named = config.contracts if config.contracts != ProjectConfig().contracts else ()
    gone = [folder for folder in named if not (root / folder).is_dir()]
    place = config_fault(root, "project.contracts", "", "").span if gone else None
    fix = "create it, or correct `[project] contracts`"
    messages = (f"there is no folder `{folder}`: blocking tests of contracts in it are not asked" for folder in gone)
    return tuple(Diagnostic("E143", message, place, Severity.WARNING, fix=fix) for message in messages)


def broken_tests(
    project: Project, environment: str, before: EnvironmentVersion, live: EnvironmentVersion
) -> tuple[Diagnostic, ...]:
    """The blocking tests that do not hold of what `live` has otherwise than `before`, and those that could not be
    asked: as warnings, for it is live."""
    changed = {name for name, pointer in live.models.items() if not pointer.same_rows(before.models.get(name))}
    own, store = project.config.name, project.store
    try:
        tables = read_catalog(store, environment).get(own, Registration(own)).tables
        guarded = {name for name in changed if name in tables and tables[name].held_to is not None}
        tests = blocking_tests(project, environment, changed, guarded)
        broken, unasked = blocked(tests, {name: store.artifact(name, live.models[name]) for name in guarded}, live)
    except StrataError as error:
        return tuple(replace(d, severity=Severity.WARNING) for d in error.diagnostics)
    return (*tests.unread, *(replace(d, severity=Severity.WARNING) for d in broken), *unasked)
