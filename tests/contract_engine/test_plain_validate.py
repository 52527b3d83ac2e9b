"""`contract-engine validate`, in any format, says and answers the same, read by hand or as any other command line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from strata_core.cli.contracts.main import plain_format
from strata_core.cli.contracts.validating import validate_here
from strata_core.cli.contracts.verbs import contract_engine
from strata_core.cli.verbs import run

from .projects import ORDERS, PLACE, write

OTHER = "contracts/shop/returns/contract.yaml"
BROKEN = ORDERS.replace("orders", "returns").replace("int64", "bigint")
TOML = '[project]\nname = "p"\n'
PROJECTS = {
    "sound": {"strata.toml": TOML, PLACE: ORDERS},
    "broken": {"strata.toml": TOML, PLACE: ORDERS, OTHER: BROKEN},
    "not configured": {PLACE: ORDERS},
    "wrongly configured": {"strata.toml": "[contract_engine]\nscan = 3\n", PLACE: ORDERS},
}
CODES = {"sound": 0, "broken": 1, "not configured": 0, "wrongly configured": 2}


@pytest.mark.parametrize("name", PROJECTS)
@pytest.mark.parametrize("format_", ["text", "json", "sarif", "junit", "github"])
def test_it_comes_to_the_same(
    name: str, format_: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def said() -> tuple[str, str]:
        out, err = capsys.readouterr()
        return out, re.sub(r"\(\d+\.\d\d s\)", "(s)", err)

    monkeypatch.chdir(write(tmp_path, PROJECTS[name]))
    assert validate_here(format_) == CODES[name]
    plain = said()
    monkeypatch.setattr(sys, "argv", ["contract-engine", "validate", f"--format={format_}"])
    with pytest.raises(SystemExit) as exit_:
        run(contract_engine, "contract-engine", "interrupted")
    assert (exit_.value.code, said()) == (CODES[name], plain)


def test_which_command_lines_are_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [
        plain_format(line.split()) for line in ("validate", "validate --format sarif", "validate --format=json")
    ] == [
        "text",
        "sarif",
        "json",
    ]
    for line in (
        "",
        "--help",
        "validate --help",
        "validate --format",
        "validate --format=xml",
        "validate -v",
        "status",
    ):
        assert plain_format(line.split()) is None
    monkeypatch.setenv("_CONTRACT_ENGINE_COMPLETE", "bash_complete")
    assert plain_format(["validate"]) is None


def validated(root: Path, *options: str) -> tuple[int, str, set[str], str]:
    """The exit code of a process, its output, what it imported, and what else it told on stderr."""
    program = "from strata_core.cli.contracts.main import main; main()"
    command = [sys.executable, "-X", "importtime", "-c", program, "validate", *options]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True)
    lines = ran.stderr.splitlines()
    imported = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
    return ran.returncode, ran.stdout, imported, "\n".join(li for li in lines if not li.startswith("import time:"))


def test_a_sound_contract_loads_neither_click_nor_the_schema_library(tmp_path: Path) -> None:
    write(tmp_path, PROJECTS["sound"])
    code, out, imported, err = validated(tmp_path)
    assert (code, out) == (0, "")
    assert err.startswith("1 contract, 1 input: 0 errors, 0 warnings (")
    heavy = {
        "click",
        "inspect",
        "dataclasses",
        "threading",
        "pydantic",
        "jsonschema_rs",
        "sqlglot",
        "strata_core.analysis",
    }
    assert imported & {*heavy, "yaml"} == {"yaml"}
    assert validated(tmp_path)[2] & {*heavy, "yaml", "json", "strata_core.contract_engine.collation.collate"} == set()


def test_a_process_ends_with_all_that_it_found(tmp_path: Path) -> None:
    write(tmp_path, PROJECTS["broken"])
    code, out, _, err = validated(tmp_path)
    assert (code, out.count("error[E072]")) == (1, 1)
    assert err.startswith("2 contracts, 2 inputs: 1 error, 0 warnings (")
    code, out, *_ = validated(tmp_path, "--format", "github")
    assert (code, out.count("\n"), out.endswith("%0AFix: write `int64`\n")) == (1, 1, True)
