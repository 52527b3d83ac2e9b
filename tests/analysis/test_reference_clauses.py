"""language-reference.md and language.md, clause by clause: a program that is accepted, or the code that it raises.

`reference_clauses.txt` holds the sources that all of them may read, and then the programs, each below a line
`=== clause`, or `=== clause ! code` where it is refused.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from strata_core.analysis import compile_project
from strata_core.language.parser import parse_module

SOURCES, *CLAUSES = (Path(__file__).parent / "reference_clauses.txt").read_text(encoding="utf-8").split("\n=== ")
PROGRAMS = {title: program for title, _, program in (clause.partition("\n") for clause in CLAUSES)}


@pytest.mark.parametrize("clause", PROGRAMS)
def test_a_clause_of_the_reference(clause: str) -> None:
    modules, found = [], []
    for number, text in enumerate((SOURCES, PROGRAMS[clause])):
        parsed = parse_module(text, f"m{number}.strata")
        modules.append(parsed.module)
        found += parsed.diagnostics
    codes = [d.code for d in (*found, *compile_project(modules).diagnostics) if d.blocks]
    assert codes[:1] == clause.split(" ! ")[1:]
