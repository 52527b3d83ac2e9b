"""`strata grammar`: the text as the library gives it, with the names of a project where that is asked."""

from __future__ import annotations

from strata_core.language.gbnf import gbnf
from strata_core.planning.generation import vocabulary
from strata_core.planning.project import read_project


def test_the_grammar_needs_no_project(empty):
    ran = empty("grammar")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == empty("grammar", "--format", "gbnf").out == gbnf()


def test_seed0_s7_with_the_names_of_the_project_here_or_there(cli):
    expected = gbnf(vocabulary(read_project(cli.root)))
    assert '"paid"' in expected
    assert cli("grammar", "--project").out == expected
    assert cli("grammar", "--project", "models").out == expected
    assert cli("grammar", "--format", "gbnf", "--project", str(cli.root)).out == expected


def test_without_a_project_there_are_no_names(empty):
    ran = empty("grammar", "--project")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error[E073]")
