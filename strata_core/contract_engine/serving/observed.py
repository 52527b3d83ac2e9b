"""What can be seen from here of a project's products: files of tools, the store, and what the tests say of the rows."""

from __future__ import annotations

from collections.abc import Set
from datetime import datetime

from ...planning.config import MAIN
from ..observations import Observations, seen_in_files, seen_in_store
from ..pipeline import Checked


def observed(checked: Checked, now: datetime, products: Set[str] | None = None) -> Observations:
    """What `seen_of_assets` gives, and what the products' tests (those of `products` alone, if given) say of the rows
    that are in reach."""
    return seen_of_assets(checked).with_(results_of_tests(checked, now, products))


def seen_of_assets(checked: Checked, environment: str = MAIN, others: Observations | None = None) -> Observations:
    """What dbt, OpenLineage and the store tell of the products' assets, and what `others` saw of them."""
    assets = [asset for c in checked.collated.candidates if c.sound for asset in c.contract.assets]
    names = sorted({name for asset in assets for name in asset.stored})
    models = {name for asset in assets if asset.kind == "strata_model" for name in asset.stored}
    in_store = seen_in_store(checked.setting, names, environment, models=models)
    seen = seen_in_files(checked.parsed).with_(in_store)
    return seen if others is None else seen.with_(others)


def results_of_tests(
    checked: Checked, now: datetime, products: Set[str] | None = None, environment: str = MAIN
) -> Observations:
    """What the tests of products (all, if none are given) say of the rows that are in reach."""
    from ...planning.inputs.reachable import ReachableTables
    from ..execution.run import run_tests

    tables = ReachableTables(checked.setting.root, checked.setting.config, environment)
    return run_tests(checked, tables, now, products)
