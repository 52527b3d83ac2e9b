"""Where an apply, a plan, a promotion and a rollback look for blocking tests: a project without contracts loads nothing
of them."""

from __future__ import annotations

from collections.abc import Set

from ...diagnostics import Diagnostic, Severity, StrataError
from ...frozen import replace
from ...planning.applying.blocking_tests import NO_TESTS, BlockingTests, blocked
from ...planning.config import has_products
from ...planning.project import Project
from ...store.environments import EnvironmentVersion


def blocking_tests(
    project: Project, environment: str, models: Set[str], guarded: Set[str] = frozenset()
) -> BlockingTests:
    """The blocking tests of products that may refuse candidates of `models`, and of `guarded` tables (`pin_tests`)."""
    if not (models or guarded) or not has_products(project.root, project.config):
        return NO_TESTS
    from .pin_tests import pin_tests

    return pin_tests(project.root, environment, models, guarded)


def broken_tests(
    project: Project, environment: str, before: EnvironmentVersion, live: EnvironmentVersion
) -> tuple[Diagnostic, ...]:
    """The blocking tests that do not hold of what `live` has otherwise than `before`, and those that could not be
    asked: as warnings, for it is live."""
    changed = {name for name, pointer in live.models.items() if not pointer.same_rows(before.models.get(name))}
    try:
        tests = blocking_tests(project, environment, changed)
        broken, unasked = blocked(tests, {}, live)
    except StrataError as error:
        return tuple(replace(d, severity=Severity.WARNING) for d in error.diagnostics)
    return (*tests.unread, *(replace(d, severity=Severity.WARNING) for d in broken), *unasked)
