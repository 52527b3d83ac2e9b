"""The README's walk-through at the command line: a bad batch is told, nothing of it is published, a good one heals."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from demo.fetch import ROOT

pytestmark = pytest.mark.slow


def strata(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("strata")), *arguments, "--project", str(project)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def arrives(project: Path, batch: str) -> None:
    shutil.copyfile(ROOT / "demo" / "batches" / f"{batch}.csv", project / "data" / "landing" / "fuel_prices.csv")


def live_price_of_june(project: Path) -> str:
    rows = strata(project, "show", "fuel_price", "--format", "csv").stdout.splitlines()
    return next(row for row in rows if row.startswith("2013-06-01"))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's own models with the good batch published; `fuel_price` needs nothing that dbt stages."""
    folder = tmp_path_factory.mktemp("project")
    for part in ("models", "contracts"):
        shutil.copytree(ROOT / part, folder / part)
    shutil.copyfile(ROOT / "strata.toml", folder / "strata.toml")
    (folder / "data" / "landing").mkdir(parents=True)
    arrives(folder, "good")
    applied = strata(folder, "apply", "fuel_price")
    assert applied.returncode == 0, applied.stdout + applied.stderr
    return folder


@pytest.mark.parametrize(
    ("batch", "code"), [("null", "E081"), ("enum", "E082"), ("duplicate", "E083"), ("type", "E080")]
)
def test_a_bad_batch_is_told_and_the_last_good_rows_stay_live(project: Path, batch: str, code: str) -> None:
    arrives(project, batch)
    applied = strata(project, "apply", "fuel_price")
    assert applied.returncode == 3
    assert f"error[{code}]" in applied.stdout + applied.stderr
    assert "nothing was published" in applied.stdout + applied.stderr
    assert live_price_of_june(project) == "2013-06-01,GULF_COAST,2.789"


def test_a_repaired_batch_is_published(project: Path) -> None:
    arrives(project, "null")
    assert strata(project, "apply", "fuel_price").returncode == 3
    arrives(project, "repaired")
    assert strata(project, "apply", "fuel_price").returncode == 0
    assert live_price_of_june(project) == "2013-06-01,GULF_COAST,2.812"


def test_what_strata_is_has_a_command_each_that_works(project: Path) -> None:
    opening, _, _ = (ROOT / "README.md").read_text(encoding="utf-8").partition("## ")
    commands = re.findall(r"`\.venv/bin/([^`]+)` \|$", opening, re.MULTILINE)
    assert [c.split()[:2] for c in commands] == [
        ["strata", "check"],
        ["strata", "store"],
        ["contract-engine", "validate"],
    ]
    for program, *arguments in map(str.split, commands):
        command = [str(Path(sys.executable).with_name(program)), *arguments]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
