"""What a run selected, in the terms of the project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dagster import AssetExecutionContext, AssetKey

from .assets import LAST_KNOWN_GOOD, WRITE_PIN
from .translator import MODEL, SOURCE


@dataclass(frozen=True, slots=True)
class Selection:
    """`models` are to be applied; `pins` and `healths` have their `write_pin` and `last_known_good` told; `sources`
    are the files that the models read.

    All by name, each with its asset's key. A check may be selected without its model, and a model without it.
    """

    models: Mapping[str, AssetKey]
    pins: Mapping[str, AssetKey]
    healths: Mapping[str, AssetKey]
    sources: Mapping[str, AssetKey]


def selection_of(context: AssetExecutionContext) -> Selection:
    """The selection of a run of an op of `@strata_assets`."""
    specs = context.assets_def.specs_by_key
    names = {key: str(spec.metadata[MODEL]) for key, spec in specs.items() if MODEL in spec.metadata}
    checks = context.selected_asset_check_keys

    def checked(name: str) -> dict[str, AssetKey]:
        return {names[c.asset_key]: c.asset_key for c in checks if c.name == name and c.asset_key in names}

    deps = [dep for key in context.selected_asset_keys for dep in specs[key].deps]
    return Selection(
        models={names[key]: key for key in context.selected_asset_keys if key in names},
        pins=checked(WRITE_PIN),
        healths=checked(LAST_KNOWN_GOOD),
        sources={str(dep.metadata[SOURCE]): dep.asset_key for dep in deps if SOURCE in dep.metadata},
    )
