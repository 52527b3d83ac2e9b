"""`strata explain`: one page, all codes, and codes that do not exist."""

from __future__ import annotations

import pytest

from strata_core.diagnostics.codes import CODES, FAMILIES


def test_a_page_needs_no_project(empty):
    ran = empty("explain", "w004")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "W004: classified column without a mask\n\n"
        "A field is classified, so that it must not be shown to everybody, and no mask says what is shown\n"
        "instead.\n\n"
        'Wrong\n  contract Person {\n    email: string classification: "pii"\n  }\n\n'
        'Right\n  contract Person {\n    email: string classification: "pii" mask: hash\n  }\n'
    )


@pytest.mark.parametrize("code", CODES)
def test_each_code(empty, code):
    ran = empty("explain", code)
    assert ran.code == 0
    assert ran.out.startswith(f"{code}: {CODES[code]}\n")
    assert max(map(len, ran.out.splitlines())) <= 102


def test_without_a_code_all_are_listed_by_family(empty):
    ran = empty("explain")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert [line for line in lines if line and not line.startswith(" ")] == list(FAMILIES.values())
    assert [line.split()[0] for line in lines if line.startswith(" ")] == list(CODES)


@pytest.mark.parametrize(
    ("code", "hint"), [("E12", "did you mean E012?"), ("banana", "`strata explain` lists all codes")]
)
def test_an_unknown_code(empty, code, hint):
    ran = empty("explain", code)
    assert (ran.code, ran.out) == (2, "")
    assert f"there is no code '{code}'; {hint}" in ran.err
