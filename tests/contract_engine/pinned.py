"""A project with models and the product that they are offered by, whose blocking tests are asked of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from strata_core.contract_engine.observations import Observations
from strata_core.contract_engine.pin.blocking import blocking_tests
from strata_core.contract_engine.pipeline import examine, open_setting
from strata_core.contract_engine.serving.publish import TARGETS, Provenance, prepare, publish
from strata_core.planning.applying.apply import apply_plan
from strata_core.planning.applying.results import Event, Outcome
from strata_core.planning.project import open_project
from strata_core.planning.workspace import open_workspace

from .projects import TODAY, write

PLACE = "contracts/shop/paid/contract.yaml"
MODELS = """\
source orders(csv: "data/orders.csv") {
  columns: { order_id: int64 nonnull primary_key, customer: string, amount: decimal(10,2), email: string }
}
source people(csv: "data/people.csv") { columns: { name: string nonnull primary_key, country: string } }
contract Paid {
  order_id: int64 primary_key
  customer: string
  amount: decimal(10,2)
  email: string classification: "pii" mask: hash
}
model paid -> contract Paid { from orders select { order_id, customer, amount, email } }
model totals { from paid group { customer } ( aggregate { total = sum(amount) } ) }
model people_of { from people select { name, country } }
"""
CONTRACT = """\
apiVersion: strata/v0
kind: DataProductContract
id: shop.paid
name: Paid
version: 0.1.0
status: draft
layer: bronze
domain: shop
owner: {team: orders}
assets:
  - {id: paid, kind: strata_model, columns: [{name: order_id, type: int64, primary_key: true}]}
  - {id: customers, kind: strata_model, ref: people_of}
"""
TESTS: list[dict[str, Any]] = [
    {"id": "positive", "kind": "sql", "severity": "blocking", "sql": "select * from paid where amount < 0"},
    {"id": "known", "kind": "expectation", "severity": "blocking", "asset": "paid"}
    | {"expectation": {"type": "referential", "columns": ["customer"], "to": ["customers.name"]}},
    {"id": "many", "kind": "expectation", "severity": "degrading", "asset": "paid"}
    | {"expectation": {"type": "row_count", "min": 10}},
    {"id": "try_out", "kind": "sql", "severity": "experimental", "sql": "select * from paid"},
]
GOOD = "order_id,customer,amount,email\n1,ann,1.00,secret-1@x\n2,bob,2.00,secret-2@x\n"
NEGATIVE = GOOD.replace("2.00", "-2.00")
UNKNOWN = GOOD.replace("bob", "eve")
LIVE = CONTRACT.replace("0.1.0", "1.0.0").replace("draft", "active")
PEOPLE = "name,country\nann,ES\nbob,MX\n"


def contract(*tests: dict[str, Any], text: str = CONTRACT) -> str:
    return f"{text}tests:\n" + "".join(f"  - {json.dumps(test)}\n" for test in tests)


def laid_out(root: Path, *tests: dict[str, Any], text: str = CONTRACT) -> Path:
    """The project in `root`, with the `tests` in its contract."""
    return write(
        root,
        {
            "strata.toml": '[project]\nname = "shop"\n',
            "models/shop.strata": MODELS,
            PLACE: contract(*(tests or TESTS), text=text),
            "data/orders.csv": GOOD,
            "data/people.csv": PEOPLE,
        },
    )


def promoted(root: Path) -> None:
    """Promote what the contracts say now, as `contract-engine publish` does."""
    by = Provenance("ana", "c0ffee", "0.1.0", datetime(2026, 11, 30, 12, tzinfo=UTC))
    publish(prepare(examine(open_setting(root, TODAY)), (), Observations(), by), TARGETS, root / "out")


def events(root: Path, *models: str, publish: str = "together", environment: str = "prod") -> Iterator[Event]:
    project = open_project(project=root)
    workspace = open_workspace(project, environment)
    plan = workspace.plan(models or None, with_upstream=False)
    tests = blocking_tests(project, environment, {m.name for m in plan.stale})
    return apply_plan(workspace, plan, workspace.engine(), publish=publish, tests=tests)


def applied(root: Path, *models: str, **how: str) -> Outcome:
    *_, outcome = events(root, *models, **how)
    assert isinstance(outcome, Outcome)
    return outcome


def statuses(outcome: Outcome) -> dict[str, str]:
    return {name: str(result.status) for name, result in outcome.results.items()}


def verdicts(outcome: Outcome) -> list[tuple[str, str, int | None]]:
    return [(t.test, t.outcome, t.offenders) for r in outcome.results.values() for t in r.tests]
