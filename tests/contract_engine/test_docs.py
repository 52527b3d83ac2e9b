"""The documentation and this repository's own contracts are as they say."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from strata_core.contract_engine.discover import InputKind
from strata_core.contract_engine.odcs.write import odcs
from strata_core.contract_engine.pipeline import examine, open_setting
from strata_core.contract_engine.yaml_dump import yaml_text

from .projects import PLACE, TODAY, checked, write
from .test_cli import committed, run

ROOT = Path(__file__).resolve().parents[2]
DOCS = (ROOT / "docs" / "contract-engine.md").read_text(encoding="utf-8")


def test_the_contract_on_the_page_holds(tmp_path: Path) -> None:
    example = re.search(r"```yaml\n(apiVersion.*?)```", DOCS, re.DOTALL)
    assert example is not None
    assert checked(tmp_path, {PLACE: example[1]}).diagnostics == ()


def test_every_command_of_the_page_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)```", DOCS, re.DOTALL | re.MULTILINE))
    assert sorted(files) == [PLACE, "data/orders.csv"]
    write(tmp_path, {"strata.toml": '[project]\nname = "shop"\n', **files})
    monkeypatch.chdir(tmp_path)
    codes = []
    for command, output in re.findall(r"^\$ (.+)\n((?:(?!\$ |```).*\n)*)", DOCS, re.MULTILINE):
        name, *arguments = shlex.split(command)
        if name == "git":
            committed(tmp_path, arguments[-1])
            continue
        assert name == "contract-engine"
        code, out, err = run(*arguments)
        assert stable(out + err) == stable(output), command
        codes.append(code)
    assert codes == [0, 0, 0, 1, 0, 0, 0, 0, 0]


def stable(text: str) -> list[str]:
    """The lines without times; the two streams are told apart by a terminal only."""
    text = re.sub(r"\d+\.\d\d s\b", "_ s", text)
    return sorted(re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "_", text).splitlines())


def test_the_prose_of_the_page_is_wrapped() -> None:
    prose = re.sub(r"^```.*?^```$", "", DOCS, flags=re.DOTALL | re.MULTILINE)
    assert [line for line in prose.splitlines() if len(line) > 120 and not line.startswith("|")] == []


def test_seed2_the_contracts_of_this_repository_hold() -> None:
    found = examine(open_setting(ROOT, TODAY))
    assert [d for d in found.diagnostics if d.blocks] == []
    products = {c.id: c.contract for c in found.collated.candidates}
    assert {c.domain for c in products.values()} == {"flights", "finance"}
    assert {c.layer for c in products.values()} == {"bronze", "silver", "gold"}
    live = found.validated.compatibility["flights.punctuality"]
    assert (live.against, live.verdict) == ("1.0.0", "minor-compatible")
    kinds = {f.kind for f in found.parsed.files if f.fragments}
    assert kinds >= {InputKind.FRAGMENT, InputKind.DBT_YAML, InputKind.SQL, InputKind.PYTHON}
    quotes = products["finance.fuel_quotes"].assets[0]
    assert [(c.name, c.type) for c in quotes.columns] == [  # as dlt's schema export says
        ("market", "string"),
        ("noted_at", "timestamp"),
        ("quoted_on", "date"),
        ("usd_per_gallon", "decimal(5,3)"),
    ]


def test_the_exported_contract_in_this_repository_is_that_of_its_contract() -> None:
    place = ROOT / "contracts" / "flights" / "punctuality" / "punctuality.odcs.yaml"
    candidate = examine(open_setting(ROOT, TODAY)).collated.by_id["flights.punctuality"]
    exported = yaml_text(odcs(candidate.contract, "3.2"))
    command = f"contract-engine export flights.punctuality --to odcs --out {place.relative_to(ROOT)}"
    assert place.read_text(encoding="utf-8") == exported, f"run `{command}`"
