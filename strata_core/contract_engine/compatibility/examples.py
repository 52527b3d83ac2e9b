"""An example of each rule of compatibility: a change that raises it, and one of the same field that does not.

Each is a value of one contract, `BASE`, before and after. The tests run all of them; `docs/contract-rules.md`
prints them beside the rules.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ...frozen import dataclass

BASE: Mapping[str, Any] = MappingProxyType(
    {
        "apiVersion": "strata/v0",
        "kind": "DataProductContract",
        "id": "shop.orders",
        "name": "Orders",
        "version": "1.0.0",
        "status": "active",
        "layer": "gold",
        "domain": "shop",
        "owner": {"team": "orders", "approvers": ["head-of-orders"]},
        "assets": [
            {
                "id": "orders",
                "kind": "table",
                "columns": [
                    {"name": "order_id", "type": "int64"},
                    {"name": "amount", "type": "decimal(10,2)"},
                    {"name": "country", "type": "string"},
                    {"name": "day", "type": "date"},
                ],
            }
        ],
    }
)


@dataclass(frozen=True, slots=True)
class Example:
    """At `where` of the contract (steps between points) stands `before`. `after` raises the rule, `instead` does not.
    `also` is what both sides have besides; a value of None stands for nothing."""

    where: str
    before: Any
    after: Any
    instead: Any
    also: Mapping[str, Any] | None = None

    def contracts(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """The contract before, after, and after the change that does not raise the rule."""
        before, after, instead = (
            _with(_all(copy.deepcopy(dict(BASE)), self.also or {}), self.where, value)
            for value in (self.before, self.after, self.instead)
        )
        return before, after, instead


def _all(contract: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    for where, value in values.items():
        contract = _with(contract, where, value)
    return contract


def _with(contract: dict[str, Any], where: str, value: Any) -> dict[str, Any]:
    steps: list[Any] = [int(s) if s.isdigit() else s for s in where.split(".")]
    here: Any = contract
    for step in steps[:-1]:
        here = here[step] if isinstance(step, int) else here.setdefault(step, {})
    last = steps[-1]
    if isinstance(last, int):
        here[last : last + 1] = [] if value is None else [value]
    elif value is None:
        here.pop(last, None)
    else:
        here[last] = value
    return contract


ID, AMOUNT, COUNTRY, DAY = "assets.0.columns.0", "assets.0.columns.1", "assets.0.columns.2", "assets.0.columns.3"
_CUSTOM = {"type": "custom", "expression": "amount > 0"}
_WIDER = {"type": "custom", "expression": "amount >= 0"}
_RANGE = {"type": "range", "column": "amount", "min": 0, "max": 100}


def _test(severity: str = "blocking", expectation: Mapping[str, Any] = MappingProxyType(_RANGE)) -> list[Any]:
    return [
        {"id": "t", "kind": "expectation", "severity": severity, "asset": "orders", "expectation": dict(expectation)}
    ]


def _agent(**more: Any) -> list[Any]:
    return [{"agent": "analyst", "actions": ["query"], **more}]


def _measure(**more: Any) -> list[Any]:
    return [{"name": "revenue", "column": "orders.amount", "unit": "money", "currency": "EUR", **more}]


_RENAMED = {"asset": "orders", "before": "amount", "after": "total"}
_TOTAL = {"name": "total", "type": "decimal(10,2)"}
_OLD = {"name": "amount", "type": "decimal(10,2)"}
_WINDOW = {"announced": "2026-01-31", "sunset": "2026-06-30"}

EXAMPLES: Mapping[str, Example] = MappingProxyType(
    {
        # columns, as contract/changes.py compares them
        "column-added": Example("assets.0.columns.4", None, {"name": "note", "type": "string"}, None),
        "column-removed": Example(COUNTRY, {"name": "country"}, None, {"name": "country", "description": "ISO code"}),
        "column-renamed": Example(AMOUNT, _OLD, _TOTAL, _OLD, {"compatibility.renames": [_RENAMED]}),
        "type-narrowed": Example(f"{AMOUNT}.type", "decimal(10,2)", "decimal(8,2)", "decimal(12,2)"),
        "type-widened": Example(f"{AMOUNT}.type", "decimal(10,2)", "decimal(12,2)", "decimal(10, 2)"),
        "type-changed": Example(f"{AMOUNT}.type", "decimal(10,2)", "string", "decimal(12,2)"),
        "nonnull-added": Example(f"{AMOUNT}.nullable", None, False, True),
        "nonnull-dropped": Example(f"{AMOUNT}.nullable", False, True, False),
        "enum-narrowed": Example(f"{COUNTRY}.enum", ["DE", "NO"], ["DE"], ["NO", "DE"]),
        "enum-widened": Example(f"{COUNTRY}.enum", ["DE", "NO"], ["DE", "NO", "SE"], ["DE"]),
        "enum-changed": Example(f"{COUNTRY}.enum", ["DE", "NO"], ["DE", "SE"], ["DE"]),
        "unique-added": Example(f"{ID}.unique", None, True, False),
        "unique-dropped": Example(f"{ID}.unique", True, None, True),
        "key-added": Example(f"{ID}.primary_key", None, True, False, {f"{ID}.nullable": False, f"{ID}.unique": True}),
        "key-dropped": Example(f"{ID}.primary_key", True, None, True, {f"{ID}.nullable": False, f"{ID}.unique": True}),
        "key-changed": Example(
            f"{DAY}.primary_key",
            None,
            True,
            False,
            {f"{ID}.primary_key": True, f"{COUNTRY}.primary_key": True, f"{DAY}.nullable": False},
        ),
        "protection-added": Example(f"{AMOUNT}.protected", None, True, False),
        "protection-dropped": Example(f"{AMOUNT}.protected", True, None, True),
        "classification-added": Example(f"{COUNTRY}.classification", None, "internal", None),
        "classification-dropped": Example(f"{COUNTRY}.classification", "internal", None, "internal"),
        "classification-changed": Example(f"{COUNTRY}.classification", "internal", "odd", "restricted"),
        "mask-strengthened": Example(f"{COUNTRY}.mask", "partial(4)", "drop", "partial(4)"),
        "mask-weakened": Example(f"{COUNTRY}.mask", "hash", "partial(4)", "null"),
        "partitioning-changed": Example(f"{DAY}.partition_by", None, True, False),
        "freshness-tightened": Example(f"{DAY}.freshness", "2d", "1d", "48h"),
        "freshness-loosened": Example(f"{DAY}.freshness", "1d", "2d", "12h"),
        "freshness-changed": Example(
            "assets.0.freshness",
            {"max_age": "1d", "column": "day"},
            {"max_age": "1d", "column": "seen"},
            {"max_age": "1d", "column": "day"},
            {"assets.0.columns.4": {"name": "seen", "type": "date"}},
        ),
        "closed-added": Example("assets.0.closed", None, True, False),
        "closed-dropped": Example("assets.0.closed", True, False, True),
        "description-changed": Example(f"{AMOUNT}.description", "Gross.", "With tax.", "Gross."),
        # what only products have
        "asset-added": Example("assets.1", None, {"id": "lines", "kind": "table"}, None),
        "asset-removed": Example(
            "assets.1", {"id": "lines", "kind": "table"}, None, {"id": "lines", "kind": "table", "tags": ["new"]}
        ),
        "asset-moved": Example("assets.0.location", "s3://lake/orders", "s3://lake/shop/orders", "s3://lake/orders"),
        "asset-source-changed": Example("assets.0.ref", "orders_v1", "orders_v2", "orders_v1"),
        "partitioning-moved": Example(
            f"{DAY}.partition_by", None, True, False, {"assets.0.location": "s3://lake/orders"}
        ),
        "column-aliased": Example(AMOUNT, _OLD, _TOTAL, _OLD, {"compatibility.renames": [{**_RENAMED, "alias": True}]}),
        "classification-raised": Example(f"{COUNTRY}.classification", "internal", "restricted", "public"),
        "classification-lowered": Example(f"{COUNTRY}.classification", "internal", "public", "restricted"),
        "masking-added": Example("governance.masking", None, [{"column": "orders.country", "rule": "hash"}], []),
        "masking-dropped": Example(
            "governance.masking",
            [{"column": "orders.country", "rule": "hash"}],
            [],
            [{"column": "orders.country", "rule": "drop"}],
        ),
        "masking-changed": Example(
            "governance.masking",
            [{"column": "orders.country", "rule": "hash"}],
            [{"column": "orders.country", "rule": "drop"}],
            [],
        ),
        "retention-cut": Example("governance.retention", {"period": "52w"}, {"period": "26w"}, {"period": "104w"}),
        "retention-extended": Example("governance.retention", {"period": "52w"}, {"period": "104w"}, {"period": "26w"}),
        "availability-cut": Example("governance.availability", 99.9, 99, 99.95),
        "availability-raised": Example("governance.availability", 99, 99.9, 98),
        "residency-changed": Example("governance.residency", ["DE", "NO"], ["DE"], ["NO", "DE"]),
        "lawful-basis-changed": Example("governance.lawful_basis", "consent", "contract", "consent"),
        "grain-changed": Example(
            "semantics.grain", "one row per order", "one row per order and day", "one row per order"
        ),
        "meaning-changed": Example(
            "semantics.meaning", "orders that were paid", "orders that were placed", "orders that were paid"
        ),
        "wording-changed": Example(
            "semantics.grain",
            "one row per order",
            "one row for each order",
            "one row per order",
            {"compatibility.meaning_unchanged": ["grain"]},
        ),
        "measure-added": Example("semantics.measures", [], _measure(), []),
        "measure-removed": Example("semantics.measures", _measure(), [], _measure(description="with tax")),
        "measure-changed": Example(
            "semantics.measures", _measure(), _measure(currency="USD"), _measure(description="with tax")
        ),
        "entity-changed": Example(
            "semantics.entities",
            [{"name": "order", "keys": ["orders.order_id"]}],
            [{"name": "order", "keys": ["orders.order_id", "orders.day"]}],
            [{"name": "order", "keys": ["orders.order_id"], "description": "what was bought at once"}],
        ),
        "product-freshness-loosened": Example("freshness.max_age", "24h", "48h", "12h"),
        "product-freshness-tightened": Example("freshness.max_age", "24h", "12h", "1d"),
        "usage-prohibited": Example("usage.prohibited", ["pricing"], ["pricing", "scoring"], []),
        "usage-allowed": Example("usage.prohibited", ["pricing"], [], ["pricing", "scoring"]),
        "agent-added": Example("agent_permissions", [], _agent(), []),
        "agent-removed": Example("agent_permissions", _agent(), [], _agent(purpose="reports")),
        "agent-widened": Example(
            "agent_permissions",
            _agent(constraints={"row_limit": 100}),
            _agent(constraints={"row_limit": 1000}),
            _agent(constraints={"row_limit": 10}),
        ),
        "agent-narrowed": Example("agent_permissions", _agent(), _agent(assets=["orders"]), _agent(purpose="reports")),
        "owner-changed": Example("owner.team", "orders", "sales", "orders"),
        "status-deprecated": Example("status", "active", "deprecated", "draft"),
        "status-retired": Example("status", "active", "retired", "deprecated"),
        "status-changed": Example("status", "draft", "active", "deprecated"),
        "layer-changed": Example("layer", "gold", "silver", "gold"),
        "sunset-earlier": Example(
            "compatibility.deprecation",
            _WINDOW,
            {**_WINDOW, "sunset": "2026-03-31"},
            {**_WINDOW, "sunset": "2026-12-31"},
        ),
        "test-added": Example("tests", [], _test("degrading"), []),
        "test-removed": Example("tests", _test("degrading"), [], _test("degrading")),
        "blocking-test-removed": Example("tests", _test(), [], _test("degrading")),
        "blocking-test-loosened": Example(
            "tests", _test(), _test(expectation={**_RANGE, "max": 200}), _test(expectation={**_RANGE, "max": 50})
        ),
        "blocking-test-demoted": Example("tests", _test(), _test("informational"), _test()),
        "test-tightened": Example(
            "tests", _test(), _test(expectation={**_RANGE, "min": 1}), _test(expectation={**_RANGE, "min": -1})
        ),
        "test-changed": Example(
            "tests", _test(expectation=_CUSTOM), _test(expectation=_WIDER), _test(expectation=_CUSTOM)
        ),
        "upstream-changed": Example(
            "lineage.upstream", [{"asset": "shop db"}], [{"asset": "the shop's db"}], [{"asset": "shop db"}]
        ),
        "text-changed": Example("purpose", "to bill", "to bill and to ship", "to bill"),
    }
)
"""By the id of the rule."""
