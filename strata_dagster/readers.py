"""Readers that stay fresh although something upstream went live with other rows, told to Dagster.

Staleness of models is by column, Dagster's by asset: it would call a reader stale because a column changed that the
reader never looks at. So whoever reads what a run published, and is fresh by the plan, is materialized again as it
was, with the version of its input that is live now.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from dagster import AssetExecutionContext, AssetKey, AssetMaterialization

from strata_core.planning.workspace import Workspace
from strata_core.store.environments import EnvironmentVersion

from .events import DATA_VERSION_TAG, INPUT_VERSION_TAG
from .translator import MODEL, READERS

KEPT_TAGS = (
    DATA_VERSION_TAG,
    "dagster/code_version",
    INPUT_VERSION_TAG,
    "dagster/input_event_pointer",
    "dagster/data_version_is_user_provided",
)


def fresh_readers(
    context: AssetExecutionContext,
    workspace: Workspace,
    version: EnvironmentVersion,
    published: Collection[str],
    selected: Mapping[str, AssetKey],
) -> Iterator[AssetMaterialization]:
    """The readers of what `published` names in `version` that the run did not select and that are fresh.

    One that Dagster never saw, or saw with other rows or another meaning than are live, is left to a run of its own.
    """
    known = _readers(context, [n for n in published if workspace.compiled.models[n].periods is None], selected)
    readers = {name: key for name, key in known.items() if name in workspace.compiled.models}  # the rest is gone since
    if not readers:
        return
    for planned in workspace.plan(readers, with_upstream=False).models:
        key, live = readers[planned.name], version.models.get(planned.name)
        event = context.instance.get_latest_materialization_event(key)
        last = event.asset_materialization if event else None
        if planned.stale or live is None or last is None:
            continue
        tags = {name: value for name, value in (last.tags or {}).items() if name.startswith(KEPT_TAGS)}
        told, meant = tags.get(DATA_VERSION_TAG), last.metadata.get("fingerprint")
        if (told, meant and meant.value) != (live.digest, planned.fingerprint.merkle):
            continue
        changed = [u for u in planned.inputs if u in published]
        read = {
            f"{INPUT_VERSION_TAG}/{selected[upstream].to_user_string()}": version.models[upstream].digest
            for upstream in changed
        }
        if not read.items() <= tags.items():
            yield AssetMaterialization(
                key,
                metadata={
                    "reused": True,
                    "reason": f"fresh: what it reads of {', '.join(changed)} did not change",
                    "environment": workspace.environment,
                    "environment_version": version.number,
                    "fingerprint": live.fingerprint,
                    "digest": live.digest,
                },
                tags=tags | read,
            )


def _readers(
    context: AssetExecutionContext, published: Collection[str], selected: Mapping[str, AssetKey]
) -> dict[str, AssetKey]:
    specs = [s for s in context.assets_def.specs if s.metadata.get(MODEL) in published and READERS in s.metadata]
    told_by_others = context.job_def.asset_layer.selected_asset_keys
    return {
        name: AssetKey.from_user_string(key)
        for spec in specs
        for name, key in spec.metadata[READERS].items()
        if name not in selected and AssetKey.from_user_string(key) not in told_by_others
    }
