"""Tags of a run, by which runs are found: the environment, and what the project meant then."""

from __future__ import annotations

from dagster import AssetExecutionContext

from strata_core.digests import hexdigest
from strata_core.planning.fingerprints import kept_fingerprints
from strata_core.planning.workspace import Workspace

from .names import ENVIRONMENT, FINGERPRINT

DIGITS = 16


def tag_run(context: AssetExecutionContext, workspace: Workspace) -> None:
    """Tag the run of `context`; it may be known only once the run has begun what its project means."""
    prints = kept_fingerprints(workspace.project, workspace.compiled)
    digest = hexdigest(*(part for name in sorted(prints) for part in (name, prints[name].merkle)))[:DIGITS]
    wanted = {ENVIRONMENT: workspace.environment, FINGERPRINT: digest}
    if not wanted.items() <= context.run.tags.items():
        context.instance.add_run_tags(context.run.run_id, wanted)
