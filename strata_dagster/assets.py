"""`@strata_assets`: the models of a project as one subsettable multi-asset."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any, Literal, Required, TypedDict, Unpack, overload

from dagster import (
    AssetCheckSpec,
    AssetsDefinition,
    AssetSpec,
    BackfillPolicy,
    PartitionsDefinition,
    RetryPolicy,
    multi_asset,
)

from strata_core.diagnostics import Span
from strata_core.planning.cache import uncollected
from strata_core.planning.config import CONFIG_NAME
from strata_core.planning.kept.outline import ModelOutline

from .checks import check_specs, plain_name
from .choosing import Choice, chosen_models
from .contracts.checks import promised_of
from .findings import list_of
from .model_tests import test_specs
from .names import MODEL, ON_ERROR
from .partitions import in_one_op, with_partitions
from .project import StrataProject, quietly, require_project
from .translator import DagsterStrataTranslator, asset_keys

BROKEN = "broken"
"""The group of models that do not compile."""

Body = Callable[..., Any]


class ModelOptions(TypedDict, total=False):
    """What `strata_assets` takes beside `op_per_model`, which says what it gives."""

    project: Required[StrataProject]
    name: str | None
    select: Choice | None
    exclude: Choice
    translator: DagsterStrataTranslator | None
    retry_policy: RetryPolicy | None
    op_tags: dict[str, Any] | None
    pool: str | None
    partitions_def: PartitionsDefinition[str] | None
    backfill_policy: BackfillPolicy | None
    block_on_unit_tests: bool


@overload
def strata_assets(
    *, op_per_model: Literal[False] = False, **options: Unpack[ModelOptions]
) -> Callable[[Body], AssetsDefinition]: ...


@overload
def strata_assets(
    *, op_per_model: Literal[True], **options: Unpack[ModelOptions]
) -> Callable[[Body], list[AssetsDefinition]]: ...


def strata_assets(
    *,
    project: StrataProject,
    name: str | None = None,
    select: Choice | None = None,
    exclude: Choice = (),
    translator: DagsterStrataTranslator | None = None,
    retry_policy: RetryPolicy | None = None,
    op_tags: dict[str, Any] | None = None,
    pool: str | None = None,
    partitions_def: PartitionsDefinition[str] | None = None,
    backfill_policy: BackfillPolicy | None = None,
    block_on_unit_tests: bool = False,
    op_per_model: bool = False,
) -> Callable[[Body], AssetsDefinition] | Callable[[Body], list[AssetsDefinition]]:
    """One op that applies the models of `project`, each with a blocking `write_pin`, a `last_known_good` check, the
    tests of product contracts that cover it, and its own `test` blocks.

    `select` and `exclude` name models as dbt does, or are Dagster's own selections (`choosing`). `op_per_model` makes
    an op of each model, for runs in parallel and retries of one, and gives a list. `partitions_def` takes the place of
    the partitions of all models that have some, and `backfill_policy` that of a single run for a range of them.
    `retry_policy` repeats what a repetition may mend, such as a full disk; a violated contract is never tried again.
    With `block_on_unit_tests` a model whose unit tests fail is not applied, nor is what would be made of it.
    Raises `DagsterInvalidDefinitionError` where the project does not compile or a selection names nothing.

        @strata_assets(project=project, select="+revenue,path:models/finance", exclude="tag:classification/pii")
        def models(context: AssetExecutionContext, strata: StrataResource):
            yield from strata.apply(context).stream()
    """
    require_project(project)
    specs = strata_asset_specs(project, translator or DagsterStrataTranslator(), select, exclude)
    found = with_partitions(specs, partitions_def, project.outline.models)
    promised = promised_of(project, found)
    specs, models = promised.specs, project.outline.models

    def checks(spec: AssetSpec) -> Iterator[AssetCheckSpec]:
        yield from check_specs(spec.key)
        if (model := models.get(str(spec.metadata[MODEL]))) is not None:
            yield from test_specs(spec.key, model, block=block_on_unit_tests)
        yield from promised.checks.get(spec.key, ())

    def one_op(name: str | None, specs: Sequence[AssetSpec]) -> Callable[[Body], AssetsDefinition]:
        return multi_asset(
            name=name,
            specs=in_one_op(specs),
            check_specs=[check for spec in specs for check in checks(spec)],
            can_subset=True,
            retry_policy=retry_policy,
            op_tags={**(op_tags or {}), ON_ERROR: project.on_error},
            pool=pool,
            backfill_policy=backfill_policy or BackfillPolicy.single_run(),
        )

    def ops(body: Body) -> list[AssetsDefinition]:
        prefix = name or body.__name__
        return [one_op(plain_name(f"{prefix}__{s.metadata[MODEL]}"), [s])(body) for s in specs]

    return ops if op_per_model else one_op(name, specs)


def strata_asset_specs(
    project: StrataProject,
    translator: DagsterStrataTranslator,
    select: Choice | None = None,
    exclude: Choice = (),
) -> list[AssetSpec]:
    """The specs of the selected models, in topological order."""
    found = project.outline
    keys = asset_keys(project, translator)

    def specs(names: Collection[str]) -> dict[str, AssetSpec]:
        with quietly(), uncollected():
            sound = {n: translator.get_asset_spec(project, m, keys) for n, m in found.models.items() if n in names}
        return sound | {name: broken_spec(project, translator, name) for name in found.broken if name in names}

    everything = partial(specs, {*found.models, *found.broken})
    return list(specs(chosen_models(project, translator, everything, select, exclude)).values())


def broken_spec(project: StrataProject, translator: DagsterStrataTranslator, name: str) -> AssetSpec:
    """The asset of a model that does not compile: nothing is known of it but its name and why."""
    told = list_of(project.outline.errors)
    nowhere = Span(CONFIG_NAME, 1, 1, 1, 1)
    model = ModelOutline(name, BROKEN, "", None, (), (), {}, None, nowhere)
    return AssetSpec(
        translator.get_asset_key(project, model),
        description=f"`{name}` does not compile, or reads what does not:\n\n{told}",
        metadata={MODEL: name},
        skippable=True,
        group_name=BROKEN,
        kinds={"strata"},
    )
