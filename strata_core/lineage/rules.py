"""What a change of a model does to its consumers, besides what its contract says: the rows of lineage's table.

The types and the table of contracts are those of `contract/changes.py`; here stands what only a compiled program
knows: how columns are computed, which rows there are, which facts were proven.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from ..contract.changes import ChangeRule, Demand, Impact
from ..relation.derivation import StepKind


class Meaning(StrEnum):
    """Changes of what a table's columns and rows mean."""

    MODEL_ADDED = "model-added"
    MODEL_REMOVED = "model-removed"
    MODEL_RENAMED = "model-renamed"
    SOURCE_ADDED = "source-added"
    SOURCE_REMOVED = "source-removed"
    SOURCE_RENAMED = "source-renamed"
    SOURCE_MOVED = "source-moved"
    KIND = "kind-changed"
    VALUES_MOVED = "values-moved"
    VALUE = "value-changed"
    ORIGIN = "origin-changed"
    VALUES_WIDENED = "values-widened"
    VALUES_NARROWED = "values-narrowed"
    VALUES_CHANGED = "values-changed"
    PROOF_LOST = "proven-key-lost"
    PROOF_GAINED = "proven-key-gained"
    ROWS = "rows-changed"
    ORDER = "order-changed"
    INCREMENTAL = "incremental-changed"
    OWNER = "owner-changed"


def _rows(*rules: ChangeRule) -> Mapping[Meaning, ChangeRule]:
    return {Meaning(rule.id): rule for rule in rules}


MEANINGS: Mapping[Meaning, ChangeRule] = _rows(
    ChangeRule("model-added", Impact.MINOR, "added"),
    ChangeRule("model-removed", Impact.MAJOR, "removed"),
    ChangeRule("model-renamed", Impact.MAJOR, "renamed"),
    ChangeRule("source-added", Impact.MINOR, "added"),
    ChangeRule("source-removed", Impact.MINOR, "no longer read"),
    ChangeRule("source-renamed", Impact.PATCH, "called otherwise in this project"),
    ChangeRule("source-moved", Impact.REVIEW, "read from another place"),
    ChangeRule("kind-changed", Impact.REVIEW, "made otherwise"),
    ChangeRule("values-moved", Impact.MAJOR, "holds what another column held"),
    ChangeRule("value-changed", Impact.REVIEW, "computed otherwise"),
    ChangeRule("origin-changed", Impact.REVIEW, "computed from other columns"),
    ChangeRule("values-widened", Impact.MINOR, "further values are possible", Demand.NOTICE),
    ChangeRule("values-narrowed", Impact.MINOR, "fewer values are possible"),
    ChangeRule("values-changed", Impact.MINOR, "other values are possible", Demand.NOTICE),
    ChangeRule("proven-key-lost", Impact.REVIEW, "no longer proven to be unique"),
    ChangeRule("proven-key-gained", Impact.MINOR, "proven to be unique"),
    ChangeRule("rows-changed", Impact.REVIEW, "rows are chosen in another order"),
    ChangeRule("order-changed", Impact.MINOR, "rows come in another order"),
    ChangeRule("incremental-changed", Impact.REVIEW, "rows are added otherwise"),
    ChangeRule("owner-changed", Impact.PATCH, "owned by others"),
)
"""A changed computation or choice of rows is for the owner to judge: no comparison tells whether it is meant."""

STEPS: Mapping[StepKind, ChangeRule] = {
    StepKind.READ: ChangeRule("reads-changed", Impact.REVIEW, "reads other tables"),
    StepKind.FILTER: ChangeRule("filter-changed", Impact.REVIEW, "filtered otherwise"),
    StepKind.JOIN: ChangeRule("join-changed", Impact.REVIEW, "joined otherwise"),
    StepKind.GROUP: ChangeRule("group-changed", Impact.REVIEW, "grouped otherwise"),
    StepKind.EXPAND: ChangeRule("expand-changed", Impact.REVIEW, "expanded otherwise"),
    StepKind.TAKE: ChangeRule("take-changed", Impact.REVIEW, "other rows are taken"),
    StepKind.COMBINE: ChangeRule("combine-changed", Impact.REVIEW, "combined otherwise"),
}
"""What is said where a step that decides about rows came, went or is another."""
