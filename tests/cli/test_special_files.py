"""Pipes, devices, sockets and folders where a file is meant: told at once and at its place, by both command lines."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from strata_core.cli.contracts.verbs import contract_engine
from strata_core.cli.verbs import strata

MODELS = """\
source orders(csv: "data/orders.csv") { columns: { id: int64 } }
source parts(parquet: "data/parts") { columns: { id: int64 } }
source made(dbt: "orders") { columns: { id: int64 } }
model paid { from orders select { id } }
model pieces { from parts select { id } }
model built { from made select { id } }
"""
TOML = """\
[project]
name = "shop"
[dbt]
manifest = "target/manifest.json"
[contract_engine]
generated = ["target/manifest.json"]
"""
ASSET = "{id: raw, kind: table, location: data/orders.csv, columns: [{name: id, type: int64}]}"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {
        "strata.toml": TOML,
        "models/m.strata": MODELS,
        "data/orders.csv": "id\n1\n",
        "contracts/shop/orders/contract.yaml": "apiVersion: strata/v0\nkind: DataProductContract\nid: shop.orders\n"
        "name: Orders\nversion: 0.1.0\nstatus: draft\nlayer: bronze\ndomain: shop\nowner: {team: orders}\n"
        f"assets: [{ASSET}]\n",
        "target/.keep": "",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "data/parts").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str) -> str:
    group, *arguments = command.split()
    main = strata if group == "strata" else contract_engine
    result = CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.output


def pipe(place: Path) -> None:
    place.unlink(missing_ok=True)
    os.mkfifo(place)


PIPE = "cannot be read: it is a pipe, and no regular file"
PIPES = [
    ("data/orders.csv", "strata plan", "E030", f"`orders.csv` {PIPE}"),
    ("data/orders.csv", "strata guard raw", "E030", "is no Parquet or CSV file of the project: it is a pipe, and no"),
    ("data/parts/b.parquet", "strata plan", "E033", f"`b.parquet` {PIPE}"),
    ("data/parts/b.parquet", "strata apply", "E033", f"`b.parquet` {PIPE}"),
    ("target/manifest.json", "strata apply built", "E033", f"`manifest.json` {PIPE}"),
    ("target/manifest.json", "strata lineage dbt:orders", "E033", f"`manifest.json` {PIPE}"),
    ("target/manifest.json", "contract-engine validate", "E100", "it is neither a file nor a folder"),
    ("strata.toml", "strata plan", "E073", f"strata.toml {PIPE}"),
    ("strata.toml", "strata guard raw", "E073", f"strata.toml {PIPE}"),
    ("strata.toml", "contract-engine validate", "E073", f"strata.toml {PIPE}"),
    ("strata.toml", "contract-engine suggest", "E073", f"strata.toml {PIPE}"),
    ("models/m.strata", "strata fmt models", "E002", f"`models/m.strata` {PIPE}"),
]


@pytest.mark.parametrize(("place", "command", "code", "message"), PIPES)
def test_a_pipe_is_told_and_not_waited_for(root: Path, place: str, command: str, code: str, message: str) -> None:
    pipe(root / place)
    told = " ".join(run(command).split())
    assert f"[{code}]" in told
    assert message in told


def test_a_gitignore_that_is_a_pipe_ignores_nothing(root: Path) -> None:
    pipe(root / ".gitignore")
    assert "contracts/shop/orders/contract.yaml" in run("contract-engine discover")


def test_a_folder_of_a_source_may_hold_folders_that_are_called_parquet(root: Path) -> None:
    """What Spark writes: a folder with the name of a file, and the files in it."""
    (root / "models/m.strata").write_text("\n".join(line for line in MODELS.splitlines() if "parts" in line))
    (root / "data/parts/day.parquet").mkdir()
    pq.write_table(pa.table({"id": [1, 2]}), root / "data/parts/day.parquet/part-0.parquet")
    assert "computed  pieces  2 rows" in run("strata apply")


def test_what_is_wrong_with_the_configuration_is_told_by_every_verb_that_reads_it(root: Path) -> None:
    (root / "strata.toml").write_text("[projekt]\n")
    for command in ("strata guard raw", "strata plan", "strata store verify orders", "contract-engine status"):
        assert "error[E073]" in run(command), command
