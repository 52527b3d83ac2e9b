"""What commands see of the running world: files of tools, the store, the clock."""

from __future__ import annotations

from collections.abc import Set
from datetime import UTC, datetime

from ...contract_engine.observe import Observations, seen_in_files, seen_in_store
from ...contract_engine.pipeline import Checked


def observed(checked: Checked, now: datetime, products: Set[str] | None = None) -> Observations:
    """What dbt, OpenLineage and the store tell of the products' assets, and what their tests (those of `products`
    alone, if given) say of the rows that are in reach."""
    from ...contract_engine.execution.run import run_tests
    from ...planning.reachable import ReachableTables

    models = {
        name
        for candidate in checked.collated.candidates
        if candidate.sound
        for asset in candidate.contract.assets
        for name in (asset.ref or asset.id, asset.id)
        if asset.kind in ("strata_model", "dagster_asset")
    }
    seen = seen_in_files(checked.parsed).with_(seen_in_store(checked.setting, sorted(models)))
    tables = ReachableTables(checked.setting.root, checked.setting.config)
    return seen.with_(run_tests(checked, tables, now, products))


def moment() -> datetime:
    """Now, to the second."""
    return datetime.now(UTC).replace(microsecond=0)
