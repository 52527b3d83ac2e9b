"""Every code has a page, and what the pages show as wrong and as right is so."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata_core.analysis import compile_project
from strata_core.diagnostics import Diagnostic
from strata_core.diagnostics.codes import CODES, FAMILIES, family
from strata_core.diagnostics.pages import FOLDER, read_page
from strata_core.language.format import format_text
from strata_core.language.parser import parse_module
from strata_core.planning.lints import ruled
from strata_core.planning.texts import SourceText

INDEX = Path(__file__).parents[2] / "docs" / "diagnostics.md"
PAGES = {code: read_page(code) for code in CODES}
OF_TEXT = [code for code, page in PAGES.items() if page.program("Wrong")]
NOT_OF_TEXT = {"W016", "W017", "W030", "E002", "E015", "E066", "E073"}
"""Raised by a plan, for bytes, for a contract in a document, by an engine, and for `strata.toml`."""


def findings(text: str) -> tuple[Diagnostic, ...]:
    parsed = parse_module(text, "page.strata")
    found = [*parsed.diagnostics, *compile_project([parsed.module]).diagnostics]
    return ruled(found, [SourceText("page.strata", text.encode())], {})


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{code}.md" for code in CODES}


@pytest.mark.parametrize("code", CODES)
def test_a_page_says_what_the_code_means_and_what_to_do(code: str) -> None:
    page = PAGES[code]
    assert page.title == f"{code}: {CODES[code]}"
    assert page.meaning.endswith(".")
    names = [section.name for section in page.sections]
    assert names in (["Wrong", "Right"], ["Given", "Wrong", "Right"], ["When", "Remedy"])
    assert {section.is_program for section in page.sections} == {names[-1] == "Right"}


def test_codes_of_a_programs_text_have_examples_and_no_others() -> None:
    at_run_time = {code for code in CODES if family(code) in ("E03", "E08", "E09")}
    of_contracts = {code for code in CODES if family(code).startswith("E1") or family(code) == "W1"}
    assert set(OF_TEXT) == CODES.keys() - at_run_time - of_contracts - NOT_OF_TEXT


@pytest.mark.parametrize("code", OF_TEXT)
def test_the_wrong_example_raises_exactly_its_code(code: str) -> None:
    assert {d.code for d in findings(PAGES[code].program("Wrong") or "")} == {code}


@pytest.mark.parametrize("code", OF_TEXT)
def test_the_right_example_is_clean_and_formatted(code: str) -> None:
    page = PAGES[code]
    assert findings(page.program("Right") or "") == ()
    for section in page.sections:
        assert format_text(section.text, "page.strata").text in (section.text, None)


def test_the_index_lists_each_code_under_its_family() -> None:
    parts = [f"## {title[0].upper()}{title[1:]}\n\n" for title in FAMILIES.values()]
    listed = [
        part
        + "".join(
            f"- [{code}](../strata_core/diagnostics/pages/{code}.md) {text}\n"
            for code, text in CODES.items()
            if family(code) == prefix
        )
        for prefix, part in zip(FAMILIES, parts, strict=True)
    ]
    assert INDEX.read_text(encoding="utf-8").split("\n\n## ", 1)[1] == "\n".join(listed)[len("## ") :]
