"""docs/language.md says what the parser does: each program parses, each error looks as shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from strata_core.analysis import compile_project
from strata_core.diagnostics.render import render_text
from strata_core.language.parser import parse_module

DOCS = Path(__file__).parents[2] / "docs" / "language.md"
PROGRAMS = re.findall(r"```strata\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
OUTPUTS = re.findall(r"```text\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_program_of_the_page_parses(program):
    result = parse_module(program, "docs/language.md")
    assert result.diagnostics == ()
    assert result.module.declarations


def test_the_programs_of_the_page_are_one_sound_project():
    """All but the last, whose import is of a file that the page does not show."""
    modules = [parse_module(p, f"{i}.strata").module for i, p in enumerate(PROGRAMS) if "import " not in p]
    assert len(modules) == len(PROGRAMS) - 1
    assert {d.code for d in compile_project(modules).diagnostics} == {"W001"}


def test_the_page_has_programs_of_every_declaration():
    found = {type(d).__name__ for program in PROGRAMS for d in parse_module(program, "d").module.declarations}
    assert found == {"Source", "Contract", "Domain", "Model", "Pipeline", "Import", "Test", "Extern", "Fn", "Generator"}


def test_the_error_of_the_page_looks_as_shown():
    file = "models/orders.strata"
    text = "model m {\n  from orders\n  fitler amount > 0\n}\n"
    shown = render_text(parse_module(text, file).diagnostics, lambda name: text, color=False, width=80)
    assert [shown.strip()] == [output.strip() for output in OUTPUTS]
