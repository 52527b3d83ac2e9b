"""The printed rules are those that are worked by."""

from __future__ import annotations

from strata_core.contract_engine.compatibility.rules import ALL_RULES
from strata_core.contract_engine.rules_page import PAGE, page


def test_the_page_is_printed_from_the_tables() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(), "run: python -m strata_core.contract_engine.rules_page"


def test_seed2_each_rule_stands_in_one_line() -> None:
    lines = page().splitlines()
    assert [sum(line.startswith(f"| `{rule}` |") for line in lines) for rule in ALL_RULES] == [1] * len(ALL_RULES)
