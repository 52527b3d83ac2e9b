"""What a verb may load: a command line that is quick is one that people use."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("dagster", "dbt", "duckdb", "lark", "pandas", "polars", "pyarrow", "rich", "sqlglot", "strata_core.analysis")

PROGRAM = "from strata_core.cli.main import main; main()"


def loaded(cli, *arguments):
    program = [sys.executable, "-X", "importtime", "-c", PROGRAM, *arguments]
    ran = subprocess.run(program, cwd=cli.root, capture_output=True, text=True)
    assert "Traceback" not in ran.stderr
    imported = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines() if line.startswith("import time:")}
    assert "strata_core.cli.main" in imported
    return sorted(imported & set(HEAVY))


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["check", "--help"], ["apply", "--help"]])
def test_help_loads_nothing_heavy(cli, arguments):
    assert loaded(cli, *arguments) == []


def test_a_check_of_what_did_not_change_loads_not_even_the_compiler(cli):
    loaded(cli, "check")
    assert loaded(cli, "check") == []
    assert loaded(cli, "check", "models/paid.strata") == []


def test_a_check_of_what_changed_loads_the_parser_alone(cli):
    cli.edit("models/paid.strata", "  from sales", "  from sales // changed for this test")
    assert set(loaded(cli, "check")) <= {"strata_core.analysis"}


def test_history_and_rollback_load_no_rows(cli):
    cli("apply")
    assert loaded(cli, "history") == []
    assert loaded(cli, "rollback", "1") == []


def test_a_plan_loads_no_engine(cli):
    cli("apply")
    assert set(loaded(cli, "plan")) & {"duckdb", "polars", "dagster", "sqlglot", "pyarrow"} == set()


def test_an_apply_loads_its_engine_and_no_frame_library(cli):
    """pyarrow imports pandas, where it is installed, for the mere making of a scalar: half a second."""
    cli.write("strata.toml", '[project]\nname = "sales"\n')
    found = loaded(cli, "apply")
    assert {"duckdb", "pyarrow"} <= set(found)
    assert {"pandas", "polars", "dagster"} & set(found) == set()
