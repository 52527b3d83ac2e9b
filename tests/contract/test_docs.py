"""docs/contracts.md says what the code does: its contract parses, its codes and masks are the real ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from strata_core.contract import authoring, report
from strata_core.contract.model import MaskRule
from strata_core.diagnostics import CODES
from strata_core.language.parser import parse_module

TEXT = (Path(__file__).parents[2] / "docs" / "contracts.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```strata\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("program", [*PROGRAMS, "contract C { a: string classification: pii mask: partial(4) }"])
def test_each_contract_of_the_page_parses(program: str) -> None:
    result = parse_module(program, "docs/contracts.md")
    assert result.diagnostics == ()
    assert result.module.declarations


def test_each_code_of_the_page_is_registered_and_each_code_of_the_pin_stands_there() -> None:
    named = set(re.findall(r"\b[EW]\d{3}\b", TEXT))
    assert named <= set(CODES)
    assert set(report.MESSAGES) <= named
    assert set(re.findall(r'"([EW]0\d\d)"', Path(authoring.__file__).read_text(encoding="utf-8"))) <= named


def test_each_mask_stands_on_the_page() -> None:
    assert [rule for rule in MaskRule if f"`{rule}" not in TEXT] == []
