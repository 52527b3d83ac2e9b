"""Values of classified columns are in no channel that people, logs or other systems read: everything that a project
writes is searched for planted ones, in runs that keep their contract, that break it in every way, and that fail."""

# Without postponed annotations: Dagster compares those of an op with types.

import sys
from pathlib import Path
from typing import Any

import pytest

from .test_contract_sensor import Location

SECRETS = ("s3cr3t", "918273645", "1931-07-23", "60481.25")
"""What the planted texts have in common, and an integer, a date and a decimal."""
SOURCES = """
source people(csv: "data/people.csv") {
  columns: { id: string nonnull, card: int64, born: date, pay: decimal(12,2), country: string nonnull }
}
"""
MODELS = """
contract Person {
  id: string primary_key classification: "pii" mask: hash
  card: int64 classification: "pii" mask: hash
  born: date classification: "pii" mask: "null"
  pay: decimal(12,2) classification: "pii" mask: drop
  country: string nonnull enum {ES, MX}
}
model person -> contract Person {
  owner: "finance"
  from people
  select { id, card, born, pay, country }
}
contract Derived { label: string primary_key classification: "pii" mask: hash  country: string }
model derived -> contract Derived { from person select { label = lower(id), country } }
test person {
  expect card < 5
  expect born > cast("2000-01-01", "date")
  expect id == "x"
}
"""
CONTRACT = """
apiVersion: strata/v0
kind: DataProductContract
id: sales.people
name: People
version: 1.0.0
status: active
layer: bronze
domain: sales
owner: {team: sales, approvers: [ana]}
purpose: To tell who buys.
assets:
  - id: person
    kind: strata_model
    columns:
      - {name: id, type: string, primary_key: true, classification: pii, mask: hash}
      - {name: card, type: int64, classification: pii, mask: hash}
      - {name: born, type: date, classification: pii, mask: 'null'}
      - {name: pay, type: 'decimal(12,2)', classification: pii, mask: drop}
      - {name: country, type: string, nullable: false, enum: [ES, MX]}
tests:
  - {id: shown, kind: sql, severity: degrading, asset: person, sql: select * from person}
  - {id: counted, kind: sql, severity: informational, asset: person, sql: "select id as who, card + 0 as n from person"}
  - {id: known, kind: expectation, severity: degrading, asset: person, expectation: {type: not_null, columns: [born]}}
"""
GOOD = """id,card,born,pay,country
s3cr3t-1,918273645,1931-07-23,60481.25,ES
s3cr3t-2,918273645,,60481.25,MX
"""
BAD = {
    "a value outside the enum": GOOD + "s3cr3t-3,1,1931-07-23,60481.25,FR\n",
    "a key twice": GOOD + "s3cr3t-1,918273645,1931-07-23,60481.25,ES\n",
    "a text that is no number": GOOD + "s3cr3t-3,s3cr3t-card,1931-07-23,60481.25,ES\n",
    "a text that is no date": GOOD + "s3cr3t-3,1,s3cr3t-born,60481.25,ES\n",
    "a number that is too long": GOOD + "s3cr3t-3,1,1931-07-23,918273645918273645.00,ES\n",
    "a line that is too long": GOOD + "s3cr3t-3,1,1931-07-23,60481.25,ES,s3cr3t,918273645\n",
    "a null in the key": GOOD + ",918273645,1931-07-23,60481.25,ES\n",
}
COMMANDS = (
    ["check"],
    ["plan"],
    ["apply"],
    ["apply", "--format", "json"],
    ["show", "person"],
    ["show", "person", "--format", "json"],
    ["show", "derived", "--format", "csv"],
    ["history"],
    ["history", "--format", "json"],
    ["test"],
    ["lineage"],
    ["env", "list"],
)
CONTRACT_COMMANDS = (
    ["validate"],
    ["evaluate"],
    ["docs"],
    ["status", "sales.people"],
    ["suggest"],
    ["show", "sales.people"],
)


@pytest.fixture
def location(shop_on_disk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Location:
    shop = shop_on_disk
    location = Location(shop)
    for left in ("contracts/sales/paid", "contracts/sales/rates", "contracts/sales/python"):
        (shop.root / left / "contract.yaml").unlink()
    shop.write("models/sources.strata", SOURCES)
    shop.write("models/rates.strata", "")
    shop.write("models/sales/orders.strata", MODELS)
    shop.write("data/people.csv", GOOD)
    shop.write("contracts/sales/people/contract.yaml", CONTRACT)
    for name, value in {"TYPE": "file", "LOG_FILE_PATH": str(tmp_path / "lineage.jsonl"), "APPEND": "true"}.items():
        monkeypatch.setenv(f"OPENLINEAGE__TRANSPORT__{name}", value)
    return location


def leaks(tmp_path: Path) -> list[str]:
    """The files below `tmp_path`, but for the data and the store's own, that have a secret in them: Dagster's databases
    and captured logs, views and pages of products, lineage events, caches."""
    found = []
    for path in sorted(p for p in tmp_path.rglob("*") if p.is_file()):
        place = path.relative_to(tmp_path).as_posix()
        if not place.startswith(("shop/data/", "shop/.strata/store/")):
            content = path.read_bytes()
            found += [f"{place}: {secret}" for secret in SECRETS if secret.encode() in content]
    return found


def told(capfd: pytest.CaptureFixture[str]) -> list[str]:
    out, err = capfd.readouterr()
    return [line for line in (out + err).splitlines() if any(secret in line for secret in SECRETS)]


def commands(shop: Any) -> None:
    from click.testing import CliRunner

    from strata_core.cli.contracts.verbs import contract_engine
    from strata_core.cli.verbs import strata

    for program, verbs in ((strata, COMMANDS), (contract_engine, CONTRACT_COMMANDS)):
        for verb in verbs:
            ran = CliRunner().invoke(program, verb)
            print(f"$ {verb}\n{ran.output}", file=sys.stderr)
            assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception


def everything(location: Location) -> None:
    shop = location.shop
    location.reload()
    shop.run(assets=location.data[:1])
    location.asked()
    commands(shop)


def test_nothing_of_it_is_told_of_rows_that_keep_their_contract(
    location: Location, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(location.shop.root)
    everything(location)
    location.promote()
    everything(location)
    assert sorted(str(row["country"]) for row in location.shop.live("person")) == ["ES", "MX"]
    assert (told(capfd), leaks(tmp_path)) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize("case", BAD)
def test_nothing_of_it_is_told_of_rows_that_are_refused(
    location: Location, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.chdir(location.shop.root)
    location.reload()
    assert location.shop.run(assets=location.data[:1]).success
    location.promote()
    location.shop.write("data/people.csv", BAD[case])
    everything(location)
    assert sorted(str(row["country"]) for row in location.shop.live("person")) == ["ES", "MX"]
    assert (told(capfd), leaks(tmp_path)) == ([], [])
