"""Guard: a table that was made elsewhere is kept in the store only where it keeps its contract (Seed 0 §5 C; Seed 2,
"Evaluate Tests": blocking tests block).

`open_guard` looks at the project, the store and the contracts, and `promise_of` says what a table is held to; `judge`
(`judging.py`) holds a candidate against the pin and the tests of its contract and puts what is sound into the store,
seen by nobody; `promote` (`promoting.py`) makes what was judged live in one step. `strata guard` and Dagster's
`guard(…)` both do this and no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from ...contract.model import TableContract
from ...diagnostics import Diagnostic, Span, StrataError
from ...engines.protocol import Engine, TableInput
from ...frozen import dataclass, field, replace
from ...planning.engines import make_engine
from ...planning.inputs.reachable import ReachableTables
from ...planning.project import Project, compile_, open_project
from ...store.environments import EnvironmentVersion
from ...store.store import Store
from ..authored import Asset
from ..authored_tests import Test
from ..execution.run import asset_rows
from ..naming import store_name
from ..pipeline import Checked, examine, open_setting
from .covering import (
    Covered,
    contract_of_models,
    covered_by,
    may_be_of_models,
    named_cover,
    unusable_contracts,
)
from .pin_tests import place_of


@dataclass(frozen=True, slots=True)
class Guard:
    """Everything that judging needs. `base` is the environment as it was when it was opened."""

    project: Project
    checked: Checked
    environment: str
    store: Store
    engine: Engine
    tables: ReachableTables
    base: EnvironmentVersion
    now: datetime


@dataclass(frozen=True, slots=True)
class Promise:
    """The contract of one table: `reference` names it, `name` is that of the table in the store. `asset`, `tests`, the
    `places` where these are written, and `owner` belong to a product's contract; a Strata `contract` has none."""

    reference: str
    name: str
    table: TableContract
    covered: Covered | None = None
    asset: Asset | None = None
    tests: tuple[Test, ...] = ()
    owner: str | None = None
    places: Mapping[str, Span] = field(default_factory=dict)


def open_guard(root: Path, environment: str, now: datetime | None = None) -> Guard:
    """The guard of the project in `root`. Raises `StrataError` E073, E092 where project or store cannot be used."""
    setting = open_setting(root)
    project = open_project(project=setting.root)
    store = project.store.opened()
    store.sweep_staging()
    base = store.environment(environment).head()
    tables = ReachableTables(setting.root, setting.config, environment)
    engine = make_engine(project)
    return Guard(project, examine(setting), environment, store, engine, tables, base, now or datetime.now(UTC))


def promise_of(guard: Guard, reference: str, name: str | None = None) -> Promise:
    """The contract that `reference` names: of a product (`named_cover`), or a `contract` of the project's models, whose
    rows are kept as `name`. Raises `StrataError` E036, or with what is wrong with the contract."""
    return _promise(guard.project, guard.checked, reference, name)


def promised_tables(root: Path, references: Mapping[str, str]) -> dict[str, TableContract | tuple[Diagnostic, ...]]:
    """The contract that each table is held to, by the names of the tables and of their contracts, or what is wrong with
    it. Raises `StrataError` E073."""
    setting = open_setting(root)
    project, checked = open_project(project=setting.root), examine(setting)
    found: dict[str, TableContract | tuple[Diagnostic, ...]] = {}
    for name, reference in references.items():
        try:
            found[name] = _promise(project, checked, reference, name).table
        except StrataError as error:
            found[name] = error.diagnostics
    return found


def _promise(project: Project, checked: Checked, reference: str, name: str | None) -> Promise:
    of_models = may_be_of_models(reference)
    if of_models and (contract := contract_of_models(project, reference)) is not None:
        return Promise(reference, store_name(name or reference), contract)
    sound = {c.id: c for c in checked.collated.candidates if c.sound}
    found = named_cover(
        reference,
        tuple(one for c in sound.values() for one in covered_by(c)),
        others=compile_(project).contracts if of_models else (),
        unusable=partial(unusable_contracts, checked, reference),
    )
    candidate = sound[found.product]
    if not checked.usable(candidate):
        raise StrataError(*checked.blocking(candidate))
    table = checked.validated.tables[found.product][found.asset]
    asset = next(a for a in candidate.contract.assets if a.id == found.asset)
    about = {t.id for t in found.tests}
    tests = tuple(t for t in candidate.contract.tests if t.id in about)
    owner, places = candidate.contract.owner.team, {t.id: place_of(candidate, t.id) for t in tests}
    return Promise(
        found.reference, found.table, replace(table, name=found.reference), found, asset, tests, owner, places
    )


def rows_of(guard: Guard, promise: Promise, location: str | None = None) -> tuple[TableInput, str]:
    """The rows of a table, and where they are: at `location`, else where its contract says. Raises `StrataError` E030,
    E033, E036."""
    if location is not None:
        return guard.tables.file(location, ()), location
    if promise.asset is None:
        message = f"the contract `{promise.reference}` does not say where the rows of `{promise.name}` are"
        raise StrataError(Diagnostic("E036", message, fix="name their file (`--rows`)"))
    asset = promise.asset
    if asset.location is None and asset.kind not in ("dbt_model", "strata_model"):
        message = f"`{promise.reference}` does not say where its rows are"
        fix = "add `location: path/of/the.parquet` to the asset in its contract, or name their file (`--rows`)"
        raise StrataError(Diagnostic("E036", message, fix=fix))
    if asset.location is not None and "://" in asset.location:
        message = f"the rows of `{promise.reference}` are at an address, which nothing here reads"
        fix = "name a Parquet or CSV file of them (`--rows`); in Dagster, guard an asset that returns them"
        raise StrataError(Diagnostic("E036", message, promise.table.span, fix=fix))
    place = asset.location or f"dbt model {asset.ref or asset.id}"
    return asset_rows(asset, None, guard.tables), place
