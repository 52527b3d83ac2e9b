"""Where an apply, a plan and a promotion look for blocking tests: a project without contracts loads nothing of them."""

from __future__ import annotations

from collections.abc import Set

from ...planning.applying.blocking_tests import NO_TESTS, BlockingTests
from ...planning.config import has_contract_folders
from ...planning.project import Project


def blocking_tests(project: Project, environment: str, models: Set[str]) -> BlockingTests:
    """The blocking tests of products that may refuse candidates of `models` (`pin_tests`)."""
    promoted = project.root / project.config.contract_engine.promotions
    if not models or not (has_contract_folders(project.root, project.config) or promoted.is_dir()):
        return NO_TESTS
    from .pin_tests import pin_tests

    return pin_tests(project.root, environment, models)
