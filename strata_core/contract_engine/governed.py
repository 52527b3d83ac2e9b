"""A plan and a promotion as contracts rule them: with what owners approved, and the blocking tests that rows will have
to hold. The one way to both for the command line and for orchestrators."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING

from ..frozen import replace
from ..planning.applying.blocking_tests import BlockingTests, telling_of
from ..planning.partitions.asked_periods import Asked
from ..planning.plan import Plan
from ..planning.workspace import Workspace
from .pin.approved_changes import approved_changes
from .pin.blocking import blocking_tests

if TYPE_CHECKING:
    from ..planning.live.promotion import Promotion


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
        approvals=partial(approved_changes, workspace.project.root),
        asked=asked,
    )
    tests = blocking_tests(workspace.project, workspace.environment, {m.name for m in plan.stale})
    return telling_of(plan, tests), tests


def governed_promotion(
    workspace: Workspace,
    source: str,
    selected: Collection[str] | None = None,
    *,
    with_upstream: bool = True,
    take_back: bool = False,
    tested: bool = True,
) -> Promotion:
    """The promotion; parameters and errors are those of `plan_promotion`. Who judges the rows by himself, as a guarded
    op does that shows the result of each test, has them not `tested` here."""
    from ..planning.live.between import Rules  # all of which a plan does without
    from ..planning.live.promotion import plan_promotion
    from .pin.guard import promised_tables

    project = workspace.project
    rules = Rules(partial(approved_changes, project.root), partial(promised_tables, project.root))
    if tested:
        rules = replace(rules, tests=partial(blocking_tests, project, workspace.environment))
    return plan_promotion(workspace, source, selected, with_upstream=with_upstream, take_back=take_back, rules=rules)
