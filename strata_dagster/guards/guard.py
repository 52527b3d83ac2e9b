"""`guard`: the write pin of a contract on any asset: a dbt model, a Python asset, a table that others write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from dagster import (
    AssetCheckSpec,
    AssetExecutionContext,
    AssetKey,
    AssetsDefinition,
    AssetSpec,
    DagsterInvalidDefinitionError,
    MaterializeResult,
    Nothing,
    OpDefinition,
    Out,
    multi_asset,
)
from dagster._core.definitions.decorators.op_decorator import DecoratedOpFunction
from dagster._core.execution.plan.compute_generator import create_op_compute_wrapper

from strata_core.contract_engine.pin.covering import (
    Covered,
    contract_of_models,
    may_be_of_models,
    named_cover,
    unusable_contracts,
)
from strata_core.contract_engine.pipeline import examine, open_setting
from strata_core.diagnostics import Diagnostic, StrataError

from ..checks import check_specs, plain_name
from ..contracts.checks import checks_about, covering, covers_of, freshness_policy
from ..contracts.covering import names_of
from ..findings import findings
from ..names import COLUMN_SCHEMA, CONTRACT, MODEL
from ..project import StrataProject, quietly, require_project
from ..tables import table_schema_of

PIN_DESCRIPTION = (
    "The rows keep `{}`: types, nullability, enums, keys, nested values, freshness, blocking tests. Rows that do not "
    "are not materialized, and the last-known-good stays live in the store."
)
RESOURCE = "strata"
Contracts = str | Mapping[str | AssetKey, str]


def guard(
    asset: AssetsDefinition | AssetSpec, *, project: StrataProject, contracts: Contracts | None = None
) -> AssetsDefinition:
    """`asset`, whose rows are materialized only where they keep their contract, and then kept in the store.

    `contracts` names what each asset is held to: `product/asset`, a product, or a `contract` of the project's models;
    for one asset a text, for several a mapping of keys. Without it, assets are held to the product contracts that cover
    them, by their `ref` or `id`. An `AssetSpec` is of a table that others write: it is read where its contract says.
    The resource `strata` (a `StrataResource`) says in which environment rows are kept.

    Raises `DagsterInvalidDefinitionError` where no contract is found or the asset cannot be guarded.

        guarded = guard(staging, project=project, contracts="flights.staged")
    """
    require_project(project)
    _require_asset(asset)
    made = _observed(asset) if isinstance(asset, AssetSpec) else asset
    _require_guardable(made)
    known = covers_of(project)
    found = _references(made, contracts, known, project)
    specs = {key: _with_contract(made.specs_by_key[key], covers, ref) for key, (ref, covers) in found.items()}
    checks = [c for key, (ref, covers) in found.items() for c in _checks(made, key, ref, covers)]
    return _rebuilt(made, specs, checks)


def _require_asset(given: object) -> None:
    if not isinstance(given, AssetsDefinition | AssetSpec):
        kind = type(given).__name__
        raise DagsterInvalidDefinitionError(f"guard takes one asset, or the `AssetSpec` of a table, and not a {kind}")


def _require_guardable(asset: AssetsDefinition) -> None:
    def refuse(why: str) -> None:
        raise DagsterInvalidDefinitionError(f"guard: {why}")

    name = asset.node_def.name if asset.is_executable else ", ".join(k.to_user_string() for k in asset.keys)
    if not asset.is_executable:
        refuse(f"nothing makes or reads `{name}`: give its `AssetSpec`, and its rows are read where its contract says")
    if not isinstance(asset.node_def, OpDefinition):
        refuse(f"`{name}` is made by a graph; guard an asset of one op")
    if not asset.is_materializable:
        refuse(f"`{name}` is observed, not materialized: give its `AssetSpec`")
    if any(MODEL in spec.metadata for spec in asset.specs):
        refuse(f"the models of `{name}` have a write pin of their own")
    if any(CONTRACT in spec.metadata for spec in asset.specs):
        refuse(f"`{name}` is guarded already")


def _observed(spec: AssetSpec) -> AssetsDefinition:
    """An op that reads a table which others write: nothing is made, and the guard looks at what is there."""

    @multi_asset(
        name=f"guard_{spec.key.to_python_identifier()}",
        specs=[spec.replace_attributes(skippable=True)],
        can_subset=True,
    )
    def table() -> Iterator[MaterializeResult[None]]:
        yield MaterializeResult(asset_key=spec.key)

    return table


def _references(
    asset: AssetsDefinition, contracts: Contracts | None, known: Sequence[Covered], project: StrataProject
) -> dict[AssetKey, tuple[str, tuple[Covered, ...]]]:
    """What each guarded asset is held to, and the assets of products that cover it."""
    try:
        given = _given(asset, contracts, known, project)
        found = {key: _reference(ref, known, project) for key, ref in given.items()}
    except StrataError as error:
        raise DagsterInvalidDefinitionError(f"guard: {findings(error.diagnostics, None)}") from None
    tables: dict[str, AssetKey] = {}
    for key, (ref, covers) in found.items():
        other = tables.setdefault(covers[0].table if covers else key.to_python_identifier(), key)
        if other != key:
            both = f"`{other.to_user_string()}` and `{key.to_user_string()}`"
            raise DagsterInvalidDefinitionError(f"guard: {both} are both held to `{ref}`, which is one table")
    return found


def _given(
    asset: AssetsDefinition, contracts: Contracts | None, known: Sequence[Covered], project: StrataProject
) -> dict[AssetKey, str]:
    keys = list(asset.keys)
    if isinstance(contracts, Mapping):
        named = {k if isinstance(k, AssetKey) else AssetKey.from_user_string(k): ref for k, ref in contracts.items()}
        if unknown := [k.to_user_string() for k in named if k not in asset.keys]:
            there = ", ".join(k.to_user_string() for k in keys[:8])
            raise DagsterInvalidDefinitionError(f"guard: there is no asset `{unknown[0]}`; assets are {there}")
        return named
    if contracts is not None and len(keys) == 1:
        return {keys[0]: contracts}
    named = covered_assets(asset, contracts, known)
    if not named:
        there = ", ".join(c.reference for c in known[:8]) or "none"
        what = f"`{contracts}` covers no asset" if contracts else "no contract covers an asset"
        text = f"{what} of `{asset.node_def.name}`; contracts cover {there}"
        if faults := _unusable(project, contracts or ""):
            raise StrataError(*faults, Diagnostic("E036", text))
        raise DagsterInvalidDefinitionError(f"guard: {text}")
    return named


def covered_assets(asset: AssetsDefinition, product: str | None, known: Sequence[Covered]) -> dict[AssetKey, str]:
    """What each of the assets is held to that a contract covers, one of `product` where that is given. Raises
    `DagsterInvalidDefinitionError` where several cover one."""
    of = [c for c in known if product is None or c.product == product]
    specs = asset.specs_by_key
    found = {key: covering(of, {*names_of(specs[key]), key.path[-1]}) for key in asset.keys}
    several = {key: covers for key, covers in found.items() if len(covers) > 1}
    for key, covers in several.items():
        there = ", ".join(c.reference for c in covers)
        text = f"guard: `{key.to_user_string()}` is covered by {there}: say which in `contracts=`"
        raise DagsterInvalidDefinitionError(text)
    return {key: covers[0].reference for key, covers in found.items() if covers}


def _reference(ref: str, known: Sequence[Covered], project: StrataProject) -> tuple[str, tuple[Covered, ...]]:
    others: Iterable[str] = ()
    if may_be_of_models(ref) and not covering(known, (ref,)):
        from strata_core.planning.project import compile_  # a contract of the models: rare, and kept by content

        if contract_of_models(project.opened, ref) is not None:
            return ref, ()
        others = compile_(project.opened).contracts
    found = named_cover(ref, tuple(known), others=others, unusable=lambda: _unusable(project, ref))
    return found.reference, (found,)


def _unusable(project: StrataProject, reference: str) -> tuple[Diagnostic, ...]:
    return unusable_contracts(examine(open_setting(project.opened.root)), reference)


def _checks(asset: AssetsDefinition, key: AssetKey, ref: str, covers: tuple[Covered, ...]) -> list[AssetCheckSpec]:
    taken = {check.name for check in asset.check_specs if check.asset_key == key}
    pin, live = check_specs(key, PIN_DESCRIPTION.format(ref))
    if clash := taken & {pin.name, live.name}:
        raise DagsterInvalidDefinitionError(
            f"guard: `{key.to_user_string()}` has a check `{min(clash)}` already; give it another name"
        )
    return [pin, live, *checks_about(key, covers, taken)]


def _with_contract(spec: AssetSpec, covers: tuple[Covered, ...], ref: str) -> AssetSpec:
    metadata: dict[str, Any] = {CONTRACT: ref}
    if covers and covers[0].columns and COLUMN_SCHEMA not in spec.metadata:
        metadata[COLUMN_SCHEMA] = table_schema_of(covers[0].columns)
    with quietly():
        made = spec.replace_attributes(
            metadata={**spec.metadata, **metadata},
            description=spec.description or (covers[0].description if covers else None),
        )
        policy = freshness_policy(covers)
        if policy is not None and spec.freshness_policy is None:
            made = made.replace_attributes(freshness_policy=policy)
    return made


def _rebuilt(
    asset: AssetsDefinition, specs: Mapping[AssetKey, AssetSpec], checks: Sequence[AssetCheckSpec]
) -> AssetsDefinition:
    """`asset` with an op that judges what the old one makes. Where it makes one asset, or may make some of its assets
    alone, checks can run alone."""
    op = asset.op
    subsettable = asset.can_subset or len(list(asset.keys)) == 1
    outputs = {plain_name(c.get_python_identifier()): c for c in checks}
    outs = {name: out._replace(is_required=False) if subsettable else out for name, out in op.outs.items()}
    guarded = OpDefinition(
        compute_fn=_judging(asset, subsettable),
        name=op.name,
        ins=op.ins,
        outs={**outs, **{name: Out(Nothing, is_required=False) for name in outputs}},
        description=op.description,
        config_schema=op.config_schema,
        required_resource_keys={*op.required_resource_keys, RESOURCE},
        tags=op.tags,
        retry_policy=op.retry_policy,
        pool=op.pool,
    )
    made = [specs.get(s.key, s) for s in asset.specs]
    attributes = {
        **asset.get_attributes_dict(),
        "node_def": guarded,
        "can_subset": subsettable,
        "specs": [s.replace_attributes(skippable=True) for s in made] if subsettable else made,
        "check_specs_by_output_name": {**asset.node_check_specs_by_output_name, **outputs},
        "selected_asset_keys": None,
        "selected_asset_check_keys": None,
        "is_subset": False,
    }
    return AssetsDefinition.dagster_internal_init(**attributes)


def _judging(asset: AssetsDefinition, subsettable: bool) -> Any:
    op = asset.op
    inner = create_op_compute_wrapper(op) if isinstance(op.compute_fn, DecoratedOpFunction) else op.compute_fn
    required = frozenset(
        asset.keys_by_output_name[name]
        for name, out in op.outs.items()
        if out.is_required and name in asset.keys_by_output_name
    )

    def compute(context: AssetExecutionContext, inputs: Mapping[str, Any]) -> Iterator[Any]:
        # Loaded when the op runs: a code location does without engines and their libraries.
        from ..evaluations import of_the_assets
        from .op import GuardedOp
        from .run import Guarding

        guarding = Guarding(GuardedOp(context, asset, required if subsettable else frozenset()))
        told = guarding.stream(lambda shown: cast("Iterator[Any]", inner(shown, inputs)))
        return of_the_assets(told, asset.check_keys)

    # Dagster compares annotations of an op with types, and they are text here.
    compute.__annotations__ = {"context": AssetExecutionContext}
    return compute
