"""The rows of a product: one line per kind of change, in the terms of `contract/changes.py` (design, "Compatibility").

Each row has an example that raises it and one that does not (`examples.py`); both run as tests and are printed with the
row in `docs/contract-rules.md`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...contract.changes import RULES as TABLE_RULES
from ...contract.changes import ChangeRule, Demand, Impact

_ROWS = (
    ChangeRule("asset-added", Impact.MINOR, "an asset is added"),
    ChangeRule("asset-removed", Impact.MAJOR, "an asset is removed"),
    ChangeRule("asset-moved", Impact.MAJOR, "those who read its files by path find it elsewhere"),
    ChangeRule("asset-source-changed", Impact.PATCH, "it is made elsewhere, and found where it was"),
    ChangeRule("partitioning-moved", Impact.MAJOR, "those who read its files by path find them laid out otherwise"),
    ChangeRule("column-aliased", Impact.MINOR, "renamed, and the old name still works"),
    ChangeRule("classification-raised", Impact.MINOR, "classified higher", Demand.NOTICE),
    ChangeRule("classification-lowered", Impact.MAJOR, "classified lower", Demand.APPROVAL),
    ChangeRule("masking-added", Impact.MINOR, "masked now", Demand.NOTICE),
    ChangeRule("masking-dropped", Impact.MAJOR, "no longer masked", Demand.APPROVAL),
    ChangeRule("masking-changed", Impact.REVIEW, "masked otherwise", Demand.APPROVAL),
    ChangeRule("retention-cut", Impact.MAJOR, "kept for a shorter time"),
    ChangeRule("retention-extended", Impact.MINOR, "kept longer", Demand.NOTICE),
    ChangeRule("availability-cut", Impact.MAJOR, "available less"),
    ChangeRule("availability-raised", Impact.MINOR, "available more"),
    ChangeRule("residency-changed", Impact.REVIEW, "kept in other places", Demand.APPROVAL),
    ChangeRule("lawful-basis-changed", Impact.REVIEW, "another lawful basis", Demand.APPROVAL),
    ChangeRule("grain-changed", Impact.REVIEW, "a row may stand for something else"),
    ChangeRule("meaning-changed", Impact.REVIEW, "the product may mean something else"),
    ChangeRule("wording-changed", Impact.PATCH, "declared to mean the same in other words"),
    ChangeRule("measure-added", Impact.MINOR, "a measure is added"),
    ChangeRule("measure-removed", Impact.MAJOR, "a measure is removed"),
    ChangeRule("measure-changed", Impact.MAJOR, "a measure has another unit, currency, column or roll-up"),
    ChangeRule("entity-changed", Impact.REVIEW, "an entity is added, removed or identified otherwise"),
    ChangeRule(
        "product-freshness-loosened", Impact.MAJOR, "the product may be older, or its age is no longer promised"
    ),
    ChangeRule("product-freshness-tightened", Impact.MINOR, "the product is fresher"),
    ChangeRule("usage-prohibited", Impact.MAJOR, "a usage is newly prohibited"),
    ChangeRule("usage-allowed", Impact.MINOR, "a usage is no longer prohibited"),
    ChangeRule("agent-added", Impact.MINOR, "another agent has access", Demand.APPROVAL),
    ChangeRule("agent-removed", Impact.MAJOR, "an agent loses access"),
    ChangeRule("agent-widened", Impact.MAJOR, "an agent may do more, or a constraint is dropped", Demand.APPROVAL),
    ChangeRule("agent-narrowed", Impact.MAJOR, "an agent may do less"),
    ChangeRule("owner-changed", Impact.PATCH, "another owner"),
    ChangeRule("status-deprecated", Impact.MINOR, "deprecated", Demand.NOTICE),
    ChangeRule("status-retired", Impact.MAJOR, "retired"),
    ChangeRule("status-changed", Impact.PATCH, "another status"),
    ChangeRule("layer-changed", Impact.REVIEW, "another layer"),
    ChangeRule("sunset-earlier", Impact.MAJOR, "the version before goes earlier than was said"),
    ChangeRule("test-added", Impact.MINOR, "a test is added"),
    ChangeRule("test-removed", Impact.PATCH, "a test that blocked nothing is removed"),
    ChangeRule("blocking-test-removed", Impact.MAJOR, "a blocking test is removed"),
    ChangeRule("blocking-test-loosened", Impact.MAJOR, "a blocking test passes more"),
    ChangeRule("blocking-test-demoted", Impact.MAJOR, "a blocking test blocks no more"),
    ChangeRule("test-tightened", Impact.MINOR, "a test passes less, or weighs more"),
    ChangeRule("test-changed", Impact.REVIEW, "a test asks something else"),
    ChangeRule("upstream-changed", Impact.PATCH, "made of other products"),
    ChangeRule("text-changed", Impact.PATCH, "other words: name, purpose, usage, documentation, tags, extensions"),
)

PRODUCT_RULES: Mapping[str, ChangeRule] = {rule.id: rule for rule in _ROWS}
"""The rows by id."""
ALL_RULES: Mapping[str, ChangeRule] = {**{rule.id: rule for rule in TABLE_RULES.values()}, **PRODUCT_RULES}
"""Every row that a comparison of products can show, those of columns first."""
