"""What suggestions rest on: what the compiler proves, what rows look like, what tools know of an asset (Seed 2,
"Generate Pull Requests")."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from strata_core.contract_engine.pipeline import examine, open_setting
from strata_core.contract_engine.suggest.known import known_around
from strata_core.contract_engine.suggest.suggested import suggested

from .projects import HEAD, PLACE, TODAY, write
from .test_cli import committed, git, run
from .test_suggest import BRANCH, suggest

TOML = '[project]\nname = "p"\n'
STRATA = """\
source raw(csv: "raw.csv") {
  columns: { day: date nonnull, country: string enum {DE, NO}, amount: float64 }
}

model orders {
  from raw
  group { day, country } ( aggregate { amount = sum(amount) } )
}
"""
PROVEN = f"""\
{HEAD}assets:
  - id: orders
    kind: strata_model
    columns:
      - {{name: day, type: date}}
      - {{name: country, type: string}}
      - {{name: amount, type: float64}}
"""
SOLD = f"""\
{HEAD}assets:
  - id: orders
    kind: table
    location: data/orders.parquet
    columns:
      - {{name: id, type: int64}}
      - {{name: country, type: string}}
      - {{name: email, type: string, classification: restricted, mask: hash}}
      - {{name: height, type: int64, nullable: true}}
      - {{name: amount, type: float64}}
      - {{name: delay, type: int64}}
"""


def made(root: Path) -> dict[str, Any]:
    """What is suggested, by the id of a test, or the last step of a path."""
    found = examine(open_setting(root, TODAY))
    (candidate,) = found.collated.candidates
    edits = [p.edit for p in suggested(found, candidate, known_around(found)).proposals]
    return {e.value["id"] if e.path[:1] == ("tests",) else str((e.path or (e.file,))[-1]): e for e in edits}


def test_seed2_tests_and_the_grain_are_suggested_from_what_the_compiler_proves(tmp_path: Path) -> None:
    write(tmp_path, {"strata.toml": TOML, "models/m.strata": STRATA, PLACE: PROVEN})
    found = made(tmp_path)
    assert {name: e.value if name == "grain" else e.value["expectation"] for name, e in found.items()} == {
        "grain": "one row per day and country",
        "orders_unique": {"type": "unique", "columns": ["day", "country"]},
        "orders_not_null": {"type": "not_null", "columns": ["day"]},
        "orders_country_values": {"type": "accepted_values", "column": "country", "values": ["DE", "NO"]},
    }
    unique = found["orders_unique"]
    assert unique.reason == "proven by the compiler to tell all rows apart: `day`, `country` of `orders`"
    assert str(unique.source) == "models/m.strata:5:1"
    asked = {"id": "k", "kind": "expectation", "severity": "blocking", "asset": "orders"}
    more = {**asked, "expectation": {"type": "unique", "columns": ["day"]}}  # asks for more than what is proven
    write(tmp_path, {PLACE: f"{PROVEN}tests: {json.dumps([more])}\n"})
    assert "orders_unique" not in made(tmp_path)


def sold(root: Path, rows: int = 60) -> Path:
    columns: dict[str, list[Any]] = {
        "id": [*range(rows)],
        "country": [["DE", "NO", None][n % 3] for n in range(rows)],
        "email": [f"{n % 2}@x" for n in range(rows)],
        "height": [180 + n % 20 for n in range(rows)],
        "amount": [n * 0.5 for n in range(rows)],
        "delay": [n - 5 for n in range(rows)],
    }
    write(root, {"strata.toml": TOML, PLACE: SOLD, "data/.keep": ""})
    pq.write_table(pa.table(columns), root / "data" / "orders.parquet")
    return root


def test_seed2_tests_are_suggested_from_what_rows_look_like(tmp_path: Path) -> None:
    found = made(sold(tmp_path))
    assert {name: (e.value["expectation"], e.reason) for name, e in found.items()} == {
        "orders_unique": (
            {"type": "unique", "columns": ["id"]},
            "no value of `id` is there twice in 60 rows of `orders`, and none is null",
        ),
        "orders_filled": (
            {"type": "not_null", "columns": ["id", "email", "amount", "delay"]},
            "null in none of 60 rows of `orders`: `id`, `email`, `amount`, `delay`",
        ),
        "orders_country_values": (
            {"type": "accepted_values", "column": "country", "values": ["DE", "NO"]},
            "`country` has 2 values in 60 rows of `orders`",
        ),
        "orders_amount_range": (
            {"type": "range", "column": "amount", "min": 0},
            "`amount` goes from 0 to 29.5 in 60 rows of `orders`",
        ),
        "orders_not_empty": ({"type": "row_count", "min": 1}, "`orders` had 60 rows when it was looked at"),
    }
    assert "@x" not in repr(found)


def test_of_few_rows_and_of_rows_out_of_reach_nothing_is_concluded(tmp_path: Path) -> None:
    assert made(sold(tmp_path, 29)) == {}
    (tmp_path / "data" / "orders.parquet").write_text("no Parquet")
    assert made(tmp_path) == {}
    (tmp_path / "data" / "orders.parquet").unlink()
    assert made(tmp_path) == {}


def test_what_was_suggested_from_rows_holds_of_them(tmp_path: Path) -> None:
    committed(sold(tmp_path))
    assert suggest(tmp_path)[2] == f"5 suggestions for shop.orders on {BRANCH}\n"
    assert suggest(tmp_path)[2] == f"5 suggestions for shop.orders on {BRANCH} (as before)\n"
    git(tmp_path, "merge", "--ff-only", BRANCH)
    code, _, err = run("test", "--project", str(tmp_path))
    assert (code, err) == (0, "5 tests: 0 failed, 0 not run\n")
    assert suggest(tmp_path)[2] == "nothing to suggest for shop.orders\n"


MANIFEST: dict[str, Any] = {
    "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
    "nodes": {
        "model.p.orders": {
            "resource_type": "model",
            "name": "orders",
            "unique_id": "model.p.orders",
            "original_file_path": "models/staging/orders.sql",
            "columns": {
                "id": {"name": "id", "data_type": "bigint", "description": "Its number."},
                "country": {"name": "country"},
            },
        }
    },
}


def test_seed2_a_fragment_is_suggested_beside_an_asset_that_has_none(tmp_path: Path) -> None:
    toml = f'{TOML}[dbt]\nmanifest = "dbt/target/manifest.json"\n[contract_engine]\nscan = ["dbt/models"]\n'
    files = {"strata.toml": toml, PLACE: f"{HEAD}assets:\n  - {{id: orders, kind: dbt_model}}\n"}
    sql, manifest = "dbt/models/staging/orders.sql", "dbt/target/manifest.json"
    write(tmp_path, {**files, sql: "select 1", manifest: json.dumps(MANIFEST)})
    committed(tmp_path)
    new = "dbt/models/staging/orders.contract.yaml"
    assert suggest(tmp_path)[2] == f"1 suggestion for shop.orders on {BRANCH}\n"
    assert git(tmp_path, "diff", "--name-only", "HEAD", BRANCH) == new
    assert git(tmp_path, "show", f"{BRANCH}:{new}") == (
        "product: shop.orders\nasset: orders\ncolumns:\n"
        "  - name: id\n    type: int64\n    description: Its number.\n  - name: country"
    )
    body = git(tmp_path, "log", "-1", "--format=%B", BRANCH)
    assert f"### New fragments\n\n- `{new}` is new: 2 columns (`" in body
    assert "None: the changed contract is valid." in body
    git(tmp_path, "merge", "--ff-only", BRANCH)
    assert suggest(tmp_path)[2] == "nothing to suggest for shop.orders\n"
    git(tmp_path, "rm", "-q", new)
    write(tmp_path, {"strata.toml": toml.replace('"dbt/models"', '"models"')})  # nobody would read it there
    committed(tmp_path)
    assert suggest(tmp_path)[2] == "nothing to suggest for shop.orders\n"


def test_a_fragment_is_suggested_of_the_query_in_a_sql_file(tmp_path: Path) -> None:
    query = "select o.id, sum(amount) as total from orders o group by all"
    contract = f"{HEAD}assets:\n  - {{id: totals, kind: sql, ref: models/sales/totals.sql}}\n"
    write(tmp_path, {"strata.toml": TOML, PLACE: contract, "models/sales/totals.sql": query})
    (one,) = made(tmp_path).values()
    assert (one.file, one.value) == (
        "models/sales/totals.contract.yaml",
        {"product": "shop.orders", "asset": "totals", "columns": [{"name": "id"}, {"name": "total"}]},
    )
    write(tmp_path, {one.file: json.dumps(one.value)})
    assert made(tmp_path) == {}
    write(tmp_path, {one.file: "", "models/sales/totals.sql": "select {{ columns }} from x"})
    assert made(tmp_path) == {}


def test_seed2_suggestion_mode_tells_what_would_be_written(tmp_path: Path) -> None:
    committed(write(tmp_path, {"strata.toml": TOML, "models/m.strata": STRATA, PLACE: PROVEN}))
    code, out, _ = run("validate", "--mode", "suggestion", "--project", str(tmp_path), "--format", "json")
    told = json.loads(out)
    assert (code, {(d["code"], d["severity"]) for d in told}) == (0, {("W180", "info")})
    grain = next(d for d in told if d["field_path"] == "semantics.grain")
    assert grain["message"] == "`day` and `country` of `orders` is proven by the compiler to be a key"
    written = "`semantics.grain`: `one row per day and country` is added"
    assert grain["fix"] == f"`contract-engine suggest` writes it, for review: {written}"
    assert git(tmp_path, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert "proven by the compiler" in run("validate", "--mode", "suggestion", "--project", str(tmp_path))[1]


def test_a_dry_run_says_what_validation_would_say(tmp_path: Path) -> None:
    committed(write(tmp_path, {"strata.toml": TOML, "models/m.strata": STRATA, PLACE: PROVEN}))
    (tmp_path / PLACE).write_text(PROVEN.replace("bronze", "bronce"))
    assert f"- error E121 at `{PLACE}:7:8`: " in suggest(tmp_path, "--dry-run")[1]
