"""`dg` on a project with a Strata component: scaffold, check, list, and the state that a deployment is built with."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
PROJECT = """
[project]
name = "shop_dg"
version = "0.1.0"
requires-python = ">=3.11"
[tool.dg]
directory_type = "project"
[tool.dg.project]
root_module = "shop_dg"
"""
DEFINITIONS = """
from pathlib import Path

from dagster import definitions, load_from_defs_folder


@definitions
def defs():
    return load_from_defs_folder(path_within_project=Path(__file__).parent)
"""


@pytest.fixture
def dg(shop_on_disk, tmp_path):
    """Runs `dg` in a new project that has the shop as `transform`; gives the exit code and what was said."""
    root = tmp_path / "workspace"
    for path, text in {
        "pyproject.toml": PROJECT,
        "src/shop_dg/__init__.py": "",
        "src/shop_dg/definitions.py": DEFINITIONS,
        "src/shop_dg/defs/__init__.py": "",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    shop_on_disk.root.rename(root / "transform")

    def run(*arguments: str, program: str = "dg") -> tuple[int, str, str]:
        environment = {
            **os.environ,
            "DAGSTER_HOME": str(tmp_path / "home"),
            "HOME": str(tmp_path),
            "PATH": os.pathsep.join([str(BIN), os.environ["PATH"]]),
            "PYTHONPATH": os.pathsep.join([str(root / "src"), os.environ.get("PYTHONPATH", "")]),
            "PYTHONWARNINGS": "ignore",
            "VIRTUAL_ENV": str(BIN.parent),
        }
        ran = subprocess.run(
            [str(BIN / program), *arguments], cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        return ran.returncode, ran.stdout, ran.stderr

    run.root = root
    return run


@pytest.mark.slow
def test_a_component_is_scaffolded_checked_listed_and_deployed_with_its_state(dg) -> None:
    code, _, said = dg(
        "scaffold", "defs", "strata_dagster.StrataProjectComponent", "shop", "--project-path", "transform"
    )
    assert code == 0, said
    written = dg.root / "src/shop_dg/defs/shop/defs.yaml"
    assert "project: '{{ context.project_root }}/transform'" in written.read_text()

    code, said, error = dg("check", "yaml")
    assert (code, "validated successfully" in said) == (0, True), error
    code, listed, error = dg("list", "defs", "--json")
    assert code == 0, error
    assert {asset["asset_key"] for asset in json.loads(listed)["assets"]} == {
        "paid",
        "by_country",
        "rate",
        "orders",
        "rates",
    }

    code, _, error = dg("utils", "refresh-defs-state")
    assert code == 0, error
    (state,) = dg.root.rglob("state")
    code, said, error = dg("definitions", "validate", "-m", "shop_dg.definitions", program="dagster")
    assert (code, "no compiled state" in said + error) == (0, False), error
    state.unlink()
    code, said, error = dg("definitions", "validate", "-m", "shop_dg.definitions", program="dagster")
    assert (code, "no compiled state" in said + error) == (0, True), error

    written.write_text(written.read_text() + "  selekt: paid\n")
    code, said, error = dg("check", "yaml")
    assert code != 0
    assert "selekt" in said + error
