"""`strata_contract_assets`: each data product an asset, `contract/<domain>/<product>`: the state of what is served.

Materializing it renews that; its checks say what is wrong with the contract and with its version. A test of the
contract is one check: of the data asset whose rows it is about, where these are asked for it (`checks`), else
of the product.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dagster import (
    AssetCheckSpec,
    AssetExecutionContext,
    AssetKey,
    AssetsDefinition,
    AssetSpec,
    CodeReferencesMetadataValue,
    LocalFileCodeReference,
    RetryPolicy,
    multi_asset,
)

from strata_core.contract_engine.pipeline import open_setting
from strata_core.contract_engine.serving.products import Product, products_of
from strata_core.diagnostics import StrataError

from ..checks import free_name, plain_name
from ..findings import findings
from ..names import CODE_REFERENCES, LAYER, PRODUCT, STATUS, VERSION
from ..project import StrataProject, quietly, require_project
from ..resource import StrataResource
from .contract_check import ContractCheck
from .covering import Given, Landscape, landscape

PREFIX = "contract"
VALID, COMPATIBLE = "valid", "compatible"
_KEY_PART = re.compile(r"[^A-Za-z0-9_.-]")
_TAG = re.compile(r"[A-Za-z0-9_.-]{1,63}")


@dataclass(frozen=True, slots=True)
class ContractAssets:
    """The products of a project as assets of a code location. `definitions` go into `Definitions(assets=…)`."""

    project: StrataProject
    resource: StrataResource
    definitions: tuple[AssetsDefinition, ...]
    here: Landscape
    keys: Mapping[tuple[str, ...], AssetKey]
    """The asset of each product, by the place of its contract."""
    covers: Mapping[AssetKey, Mapping[AssetKey, tuple[str, ...]]]
    """The data assets of each, with the names that contracts give them."""

    def __iter__(self) -> Iterator[AssetsDefinition]:
        return iter(self.definitions)

    @property
    def environment(self) -> str:
        """The environment that they tell of."""
        return self.resource.settled().environment


def strata_contract_assets(
    *,
    project: StrataProject,
    assets: Iterable[Given],
    resource: StrataResource,
    name: str = "contracts",
    retry_policy: RetryPolicy | None = None,
) -> ContractAssets:
    """One op that renews the products of `project`, and any of them alone.

    `assets` are those of the code location that products may be of: dbt's, Strata's, any other. `resource`, which the
    models run with, says in which environment they are published. A product depends on the assets that its contract
    covers, and observes them. Contracts that are broken are assets too, with a check that says so; what stands in a
    product's way (its key is taken, `strata.toml` cannot be read) is logged, and the rest loads.

        data = [staging, models, *observable_sources(project=project)]
        contracts = strata_contract_assets(project=project, assets=data, resource=strata)
        Definitions(assets=[*data, *contracts], sensors=[strata_contract_sensor(contracts)])
    """
    require_project(project)
    here = landscape(assets)
    try:
        found = products_of(open_setting(project.root)).products
    except StrataError as error:
        _log.error("no data product is loaded:\n%s", findings(error.diagnostics, None))
        return ContractAssets(project, resource, (), here, {}, {})
    keys: dict[tuple[str, ...], AssetKey] = {}
    taken: dict[AssetKey, str] = dict.fromkeys(here.keys, "an asset of this code location")
    for product in found:
        key = asset_key(product.place)
        if key in taken:
            told = "`%s` is no asset: %s has the key %s already. Give the contract, or the other, another place."
            _log.error(told, product.file, taken[key], key.to_user_string())
            continue
        keys[product.place] = key
        taken[key] = f"`{product.file}`"
    shown = [p for p in found if p.place in keys]
    covers = {keys[p.place]: _covered(p, here) for p in shown}
    if not shown:
        return ContractAssets(project, resource, (), here, keys, covers)
    with quietly():
        specs = [_spec(project, p, keys[p.place], covers[keys[p.place]]) for p in shown]
    elsewhere = {*here.tests.values()}
    checks = [check for p in shown for check in _check_specs(p, keys[p.place], elsewhere)]

    def body(context: AssetExecutionContext) -> Iterator[Any]:
        from .run import ContractRun  # loaded when a run begins

        yield from ContractRun(context, made).stream()

    # Dagster compares the annotations of an op with types, and here they are text.
    body.__annotations__ = {"context": AssetExecutionContext}
    op = multi_asset(name=name, specs=specs, check_specs=checks, can_subset=True, retry_policy=retry_policy)(body)
    made = ContractAssets(project, resource, (op,), here, keys, covers)
    return made


_log = logging.getLogger("strata_dagster")


def asset_key(place: Sequence[str]) -> AssetKey:
    """The key of the product whose contract lies at `place`."""
    return AssetKey([PREFIX, *(_KEY_PART.sub("_", part) for part in place)])


def _covered(product: Product, here: Landscape) -> dict[AssetKey, tuple[str, ...]]:
    found: dict[AssetKey, tuple[str, ...]] = {}
    for names in product.assets:
        if (key := here.key_of(names)) is not None:
            found[key] = tuple(dict.fromkeys((*found.get(key, ()), *names)))
    return found


def _spec(project: StrataProject, product: Product, key: AssetKey, covers: Iterable[AssetKey]) -> AssetSpec:
    file = LocalFileCodeReference(file_path=str(project.root / product.file), line_number=1, label=product.file)
    told = [f"**{product.name}**" if product.name else f"`{product.file}` cannot be read as a contract."]
    told += [product.purpose] if product.purpose else []
    tags = {LAYER: product.layer, STATUS: product.status, VERSION: product.version}
    return AssetSpec(
        key,
        deps=sorted(covers),
        description="\n\n".join(told),
        metadata={
            PRODUCT: product.id,
            CODE_REFERENCES: CodeReferencesMetadataValue(code_references=[file]),
        },
        skippable=True,  # a check may be run alone
        group_name=plain_name(product.domain) if product.domain else PREFIX,
        code_version=product.digest[:16],
        owners=[f"team:{product.team}"] if product.team else [],
        tags={name: value for name, value in tags.items() if value and _TAG.fullmatch(value)},
        kinds={"strata", "contract"},
    )


def _check_specs(
    product: Product, key: AssetKey, elsewhere: Collection[tuple[str, str | None]]
) -> Iterator[AssetCheckSpec]:
    """The checks of a product: of its contract, of its version, and of the tests that are no check of a data asset."""
    yield AssetCheckSpec(
        VALID, asset=key, description="The contract, and what it is made of, holds: findings with file and line."
    )
    yield AssetCheckSpec(
        COMPATIBLE, asset=key, description="Its version covers what changed since the one that was promoted."
    )
    names: list[str] = []
    for test in product.tests:
        if (product.id, test.id) in elsewhere:
            continue
        names.append(free_name(f"test_{plain_name(test.id)}", names))
        of = f" of {test.asset}" if test.asset else ""
        yield AssetCheckSpec(
            names[-1],
            asset=key,
            description=f"{test.severity.capitalize()} {test.kind} test{of}: {test.description or test.id}",
            metadata=ContractCheck(product.id, test=test.id, severity=test.severity).metadata(),
        )
