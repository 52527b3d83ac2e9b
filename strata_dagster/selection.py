"""What a run selected, in the terms of the project."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dagster import AssetCheckKey, AssetExecutionContext, AssetKey

from strata_core.diagnostics import StrataError

from .checks import LAST_KNOWN_GOOD, WRITE_PIN
from .names import MODEL, SOURCE

if TYPE_CHECKING:
    from strata_core.analysis.compiled import CompiledProject


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


def without(selection: Selection, names: Collection[str]) -> Selection:
    """What is left of `selection` without the models `names`; their health may be looked at all the same."""

    def rest(keys: Mapping[str, AssetKey]) -> dict[str, AssetKey]:
        return {name: key for name, key in keys.items() if name not in names}

    return replace(selection, models=rest(selection.models), pins=rest(selection.pins))


def require_known(selection: Selection, compiled: CompiledProject) -> None:
    """Raise E027 where the project has no such models any more: those of a code location that was loaded before."""
    from strata_core.planning.plan import unknown_model

    gone = [unknown_model(n, compiled) for n in {**selection.models, **selection.pins} if n not in compiled.models]
    if gone:
        told = "reload the code location, which was loaded from other files"
        raise StrataError(*(replace(d, fix=f"{told}; {d.fix}" if d.fix else told) for d in gone))


def selection_of(context: AssetExecutionContext) -> Selection:
    """The selection of a run of an op of `@strata_assets`."""
    specs = [spec for spec in context.assets_def.specs if MODEL in spec.metadata]
    keys = {str(spec.metadata[MODEL]): spec.key for spec in specs}  # in the order of the project
    assets, checks = context.selected_asset_keys, context.selected_asset_check_keys

    def checked(check: str) -> dict[str, AssetKey]:
        return {name: key for name, key in keys.items() if AssetCheckKey(key, check) in checks}

    deps = [dep for spec in specs if spec.key in assets for dep in spec.deps]
    return Selection(
        models={name: key for name, key in keys.items() if key in assets},
        pins=checked(WRITE_PIN),
        healths=checked(LAST_KNOWN_GOOD),
        sources={str(dep.metadata[SOURCE]): dep.asset_key for dep in deps if SOURCE in dep.metadata},
    )
