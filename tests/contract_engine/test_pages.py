"""The examples on the pages of the codes of contracts do what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata_core.diagnostics.codes import CODES
from strata_core.diagnostics.pages import read_page

from .projects import PLACE, checked

PAGES = {code: page for code in CODES if (page := read_page(code)).program("Wrong", "yaml")}


def codes(root: Path, contract: str | None) -> set[str]:
    assert contract is not None
    toml = '[classification.labels]\npii = "restricted"\n'
    return {d.code for d in checked(root, {PLACE: contract}, toml).diagnostics}


@pytest.mark.parametrize("code", PAGES)
def test_the_wrong_example_raises_exactly_its_code(code: str, tmp_path: Path) -> None:
    assert codes(tmp_path, PAGES[code].program("Wrong", "yaml")) == {code}


@pytest.mark.parametrize("code", PAGES)
def test_the_right_example_is_clean(code: str, tmp_path: Path) -> None:
    assert codes(tmp_path, PAGES[code].program("Right", "yaml")) == set()
