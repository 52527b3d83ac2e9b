"""Where an apply, a plan and a promotion look for blocking tests: a project without contracts loads nothing of them."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

from ...planning.applying.blocking_tests import NO_TESTS, BlockingTests
from ...planning.config import ProjectConfig
from ...planning.project import Project


def has_contracts(root: Path, config: ProjectConfig) -> bool:
    """Whether there is a folder of contracts."""
    return any((root / folder).is_dir() for folder in config.contracts)


def blocking_tests(project: Project, environment: str, models: Set[str]) -> BlockingTests:
    """The blocking tests of products that may refuse candidates of `models` (`pin_tests`)."""
    if not models or not has_contracts(project.root, project.config):
        return NO_TESTS
    from .pin_tests import pin_tests

    return pin_tests(project.root, environment, models)
