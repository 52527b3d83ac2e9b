"""A suggestion that was declined is not made again, as long as it rests on the same (Seed 2, "Generate Pull Requests":
what Git says of intent is not overruled by what was observed)."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from .projects import PLACE, write
from .test_cli import committed, git, run
from .test_suggest import BRANCH, suggest
from .test_suggest_evidence import HEAD, TOML

CONTRACT = f"""\
{HEAD}assets:
  - id: orders
    kind: table
    location: data/orders.parquet
    columns:
      - {{name: country, type: string}}
"""
DECLINE = "declined_suggestions:\n  - {{by: ann, at: {at}, suggestions: [{names}], reason: Countries come and go.}}\n"


def sold(root: Path, countries: list[str], contract: str = CONTRACT) -> Path:
    """Orders from some countries, sixty for each."""
    write(root, {"strata.toml": TOML, PLACE: contract, "data/.keep": ""})
    pq.write_table(pa.table({"country": countries * 60}), root / "data" / "orders.parquet")
    committed(root)
    return root


def fingerprints(root: Path) -> dict[str, str]:
    """What is suggested, and the fingerprint that is told with it."""
    out = run("validate", "--mode", "suggestion", "--project", str(root), "--format", "json")[1]
    told = [d for d in json.loads(out) if d["code"] == "W180"]
    return {d["field_path"]: d["notes"][-1].split("`")[1] for d in told}


def declined(names: str, at: str = "2026-11-30") -> str:
    return CONTRACT + DECLINE.format(names=names, at=at)


def test_seed2_a_declined_suggestion_is_told_and_not_made_again(tmp_path: Path) -> None:
    own = fingerprints(sold(tmp_path, ["DE", "NO"]))
    assert [*own] == ["tests[orders_filled]", "tests[orders_country_values]", "tests[orders_not_empty]"]
    values = own["tests[orders_country_values]"]
    assert f"(`{values}`)" in suggest(tmp_path, "--dry-run")[1]
    write(tmp_path, {PLACE: declined(values)})
    committed(tmp_path)
    assert suggest(tmp_path)[2] == f"2 suggestions for shop.orders (1 declined) on {BRANCH}\n"
    body = git(tmp_path, "log", "-1", "--format=%B", BRANCH)
    left_out = body.partition("### Declined before, and left out\n\n")[2].partition("\n\n")[0]
    assert left_out.startswith("- `tests[orders_country_values]`: `{id: orders_country_values,")
    assert left_out.endswith(f"is added (`{values}`): ann, 2026-11-30: Countries come and go.")
    assert "orders_country_values" not in git(tmp_path, "show", f"{BRANCH}:{PLACE}")
    assert [*fingerprints(tmp_path)] == ["tests[orders_filled]", "tests[orders_not_empty]"]
    # A contract that declines is as valid as one that does not, and no other version.
    assert run("validate", "--project", str(tmp_path))[0] == 0
    # More of the same rows is the same evidence.
    assert suggest(sold(tmp_path, ["DE", "NO", "NO"], declined(values)))[2].startswith("2 suggestions")


def test_seed2_a_decline_ends_with_the_evidence_that_it_was_given_to(tmp_path: Path) -> None:
    own = fingerprints(sold(tmp_path, ["DE", "NO"]))
    values = own["tests[orders_country_values]"]
    sold(tmp_path, ["DE", "NO", "SE"], declined(values))
    told = f"shop.orders: `{values}`, which ann declined, is not suggested now: it rests on something else\n"
    assert suggest(tmp_path)[2] == f"3 suggestions for shop.orders on {BRANCH}\n{told}"
    assert fingerprints(tmp_path)["tests[orders_country_values]"] != values
    out = run("validate", "--mode", "suggestion", "--project", str(tmp_path), "--format", "json")[1]
    (idle,) = (d for d in json.loads(out) if d["code"] == "W181")
    place = idle["span"]["file"], idle["span"]["line"]
    assert (idle["severity"], idle["field_path"], place) == ("info", "declined_suggestions[0]", (PLACE, 17))


def test_all_that_is_declined_leaves_nothing_to_suggest(tmp_path: Path) -> None:
    own = fingerprints(sold(tmp_path, ["DE", "NO"]))
    write(tmp_path, {PLACE: declined(", ".join(own.values()))})
    committed(tmp_path)
    assert suggest(tmp_path)[2] == "nothing to suggest for shop.orders (3 declined)\n"


def test_a_decline_has_a_reason_a_fingerprint_and_a_day(tmp_path: Path) -> None:
    sold(tmp_path, ["DE"], declined("abc"))
    assert "E107" in run("validate", "--project", str(tmp_path))[1]
    write(tmp_path, {PLACE: declined("9f86d081884c", at="2026-02-30")})
    out = run("validate", "--project", str(tmp_path))[1]
    assert "`2026-02-30` is no day of the calendar" in out
    write(tmp_path, {PLACE: declined("9f86d081884c").replace(", reason: Countries come and go.", "")})
    assert "reason" in run("validate", "--project", str(tmp_path))[1]
