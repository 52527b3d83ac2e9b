"""The latest results of tests, whoever runs them: SQL and expectations are asked here, dbt's are what dbt last told."""

from __future__ import annotations

from collections.abc import Mapping, Set
from datetime import datetime
from types import MappingProxyType

from ...frozen import replace
from ...planning.inputs.reachable import ReachableTables, TableInput
from ..authored import AuthoredContract
from ..authored_tests import DbtTest
from ..observations import SeenTest, not_asked, seen_in_files
from ..pipeline import Checked
from .run import run_tests

WITHHELD = "dbt's words are not shown, for they may name values of classified columns"


def latest_results(
    checked: Checked,
    tables: ReachableTables,
    now: datetime,
    only: Set[tuple[str, str]],
    *,
    rows: Mapping[tuple[str, str], TableInput] = MappingProxyType({}),
    seen: Mapping[str, SeenTest] | None = None,
) -> Mapping[tuple[str, str], SeenTest]:
    """The results of the tests `only` (product and id) of sound products; each of them has one.

    `rows` holds candidates, as in `run_tests`; `seen` what dbt's tests gave, as in `of_dbt`.
    """
    products = {product for product, _ in only}
    found = {
        (t.product or "", t.test): t for t in run_tests(checked, tables, now, products, only=only, rows=rows).tests
    }
    for candidate in checked.collated.candidates:
        if candidate.id in products and candidate.sound and checked.validated.passed(candidate):
            for test in candidate.contract.tests:
                if isinstance(test, DbtTest) and (candidate.id, test.id) in only:
                    found[candidate.id, test.id] = of_dbt(checked, candidate.contract, test, seen)
    return found


def of_dbt(
    checked: Checked, contract: AuthoredContract, test: DbtTest, seen: Mapping[str, SeenTest] | None
) -> SeenTest:
    """What a test of dbt's last gave, under its name in `contract`: in `seen` by dbt's name, else in dbt's files.

    dbt tells an engine's error in full; of a product with classified columns these words are not shown.
    """
    nodes = {t.unique_id: t.name for file in checked.parsed.files for t in file.tests}
    if seen is None:
        seen = {t.test: t for t in seen_in_files(checked.parsed).tests if t.product is None}
    found = seen.get(nodes.get(test.ref, test.ref))
    if found is None:
        return not_asked(contract.id, test.id, "dbt has not run it on these rows")
    hidden = any(table.hidden for table in checked.validated.tables.get(contract.id, {}).values())
    message = WITHHELD if found.message and hidden else found.message
    return replace(found, product=contract.id, test=test.id, message=message)
