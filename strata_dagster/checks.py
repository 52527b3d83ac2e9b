"""The two checks of whatever Strata keeps in its store: `write_pin` and `last_known_good`; and how checks are named.

A model has `unit_tests` and `expectations` too, where it has `test` blocks (`model_tests`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dagster import AssetCheckSpec, AssetKey

WRITE_PIN = "write_pin"
LAST_KNOWN_GOOD = "last_known_good"
UNIT_TESTS = "unit_tests"
EXPECTATIONS = "expectations"
PIN_DESCRIPTION = (
    "The candidate keeps its contract: types, nullability, enums, keys, nested values, freshness. "
    "One that does not is not published, and the last-known-good stays live."
)
LIVE_DESCRIPTION = (
    "The live artifact exists, is what its manifest says, and keeps the contract that it was published under. Run "
    "alone, the check reads its bytes and rows again; nothing is computed or published."
)


def check_specs(asset: AssetKey, pin_description: str = PIN_DESCRIPTION) -> tuple[AssetCheckSpec, AssetCheckSpec]:
    """The two checks. The op that makes the rows reports them: no other op could hold a publication back, nor would
    it run after a violation, when what is live matters most."""
    return (
        AssetCheckSpec(WRITE_PIN, asset=asset, blocking=True, description=pin_description),
        AssetCheckSpec(LAST_KNOWN_GOOD, asset=asset, description=LIVE_DESCRIPTION),
    )


def plain_name(text: str) -> str:
    """`text` as the name of a check, of an op or of a group.

    >>> plain_name("shop.orders: a-b")
    'shop_orders__a_b'
    """
    return re.sub(r"[^A-Za-z0-9_]", "_", text)


def free_name(name: str, taken: Iterable[str]) -> str:
    """`name`, with a number where it is among `taken`: ids may be one name in Dagster, as `a-b` and `a_b` are.

    >>> free_name("a_b", {"a_b", "a_b_2"})
    'a_b_3'
    """
    found, number, there = name, 1, set(taken)
    while found in there:
        number += 1
        found = f"{name}_{number}"
    return found
