"""A plan as contracts rule it: with what owners approved, and the blocking tests that its rows will have to hold. The
one way to it for the command line and for orchestrators."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from ..planning.applying.blocking_tests import BlockingTests, telling_of
from ..planning.partitions.asked_periods import Asked
from ..planning.plan import Plan
from ..planning.workspace import Workspace
from .approvals import approvals
from .pin.blocking import blocking_tests


def governed_plan(
    workspace: Workspace,
    selected: Collection[str] | None = None,
    *,
    with_upstream: bool = True,
    force: bool = False,
    full_refresh: bool = False,
    take_back: bool = False,
    asked: Asked | None = None,
) -> tuple[Plan, BlockingTests]:
    """The plan, which tells what is wrong with the contracts of its tests, and the tests; parameters and errors are
    those of `Workspace.plan`."""
    plan = workspace.plan(
        selected,
        with_upstream=with_upstream,
        force=force,
        full_refresh=full_refresh,
        take_back=take_back,
        approvals=partial(approvals, workspace.project.root),
        asked=asked,
    )
    tests = blocking_tests(workspace.project, workspace.environment, {m.name for m in plan.stale})
    return telling_of(plan, tests), tests
