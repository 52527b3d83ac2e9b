"""Documentation updates: descriptions of the same values elsewhere, words that went stale, names that are no more
(Seed 2, "Generate Pull Requests": missing descriptions, documentation updates)."""

from __future__ import annotations

from pathlib import Path

from strata_core.contract_engine.collation.candidate import Confidence
from strata_core.contract_engine.pipeline import examine, open_setting
from strata_core.contract_engine.suggest.known import known_around
from strata_core.contract_engine.suggest.proposals import Proposal
from strata_core.contract_engine.suggest.suggested import suggested

from .projects import PLACE, TODAY, write
from .test_cli import committed, git
from .test_suggest import BRANCH, suggest

TOML = '[project]\nname = "p"\n'
HEAD = """\
apiVersion: strata/v0
kind: DataProductContract
id: shop.{name}
name: {name}
version: 0.1.0
status: draft
layer: bronze
domain: shop
owner: {{team: orders}}
assets:
"""
MODELS = """\
source raw(csv: "raw.csv") {
  columns: { id: int64 primary_key, placed_at: timestamp nonnull, amount: float64 }
}

model orders {
  from raw
  select { id, placed = placed_at, amount }
}

model bills {
  from raw
  derive { day = cast(placed_at, "date") }
  select { id, ordered = placed_at, day, total = amount * 2.0 }
}
"""


def proposed(root: Path, product: str, kind: str) -> list[Proposal]:
    """What is suggested of one kind."""
    found = examine(open_setting(root, TODAY))
    made = suggested(found, found.collated.by_id[product], known_around(found))
    return [p for p in made.proposals if p.kind == kind]


def contract(name: str, columns: str, more: str = "") -> str:
    asset = f"  - id: {name}\n    kind: strata_model\n    columns:\n"
    return HEAD.format(name=name) + asset + "".join(f"      - {c}\n" for c in columns.splitlines()) + more


def test_seed2_missing_descriptions_are_taken_from_columns_of_the_same_values(tmp_path: Path) -> None:
    described = (
        "{name: id, type: int64, description: Number of the order.}\n"
        "{name: placed, type: timestamp, description: 'When it was placed, UTC.'}\n"
        "{name: amount, type: float64, description: Gross.}"
    )
    lacking = (
        "{name: id, type: int64}\n{name: ordered, type: timestamp}\n"
        "{name: day, type: date}\n{name: total, type: float64}"
    )
    bills = "contracts/shop/bills/contract.yaml"
    write(tmp_path, {"strata.toml": TOML, "models/m.strata": MODELS, PLACE: contract("orders", described)})
    write(tmp_path, {bills: contract("bills", lacking)})
    found = proposed(tmp_path, "shop.bills", "description")
    assert [(p.where, p.edit.value, p.edit.reason) for p in found] == [
        (
            "assets[bills].columns[id].description",
            "Number of the order.",
            "`id` has the values of `raw.id`, as has `orders.id`, which is described so",
        ),
        (
            "assets[bills].columns[ordered].description",
            "When it was placed, UTC.",
            "`ordered` has the values of `raw.placed_at`, as has `orders.placed`, which is described so",
        ),
    ]  # of `day` and `total`, which are computed, nothing is known
    assert {(str(p.edit.source), p.edit.confidence) for p in found} == {
        (f"{PLACE}:14:9", Confidence.MEDIUM),
        (f"{PLACE}:15:9", Confidence.MEDIUM),
    }


def test_what_is_upstream_counts_more_and_of_two_wordings_beside_none_is_taken(tmp_path: Path) -> None:
    bills = contract("bills", "{name: id, type: int64}")
    orders = contract("orders", "{name: id, type: int64, description: Number of the order.}")
    other = contract("other", "{name: id, type: int64, description: Something else.}")
    write(tmp_path, {"strata.toml": TOML, "models/m.strata": MODELS, PLACE: orders})
    write(tmp_path, {"models/o.strata": "model other {\n  from raw\n  select { id }\n}\n"})
    write(tmp_path, {"contracts/shop/bills/contract.yaml": bills, "contracts/shop/other/contract.yaml": other})
    assert proposed(tmp_path, "shop.bills", "description") == []
    tills = "  - {id: raw, kind: table, columns: [{name: id, type: int64, description: From the till.}]}\n"
    write(tmp_path, {"contracts/shop/tills/contract.yaml": HEAD.format(name="tills") + tills})
    (one,) = proposed(tmp_path, "shop.bills", "description")
    assert (one.edit.value, one.edit.reason) == (
        "From the till.",
        "`id` has the values of `raw.id`, which is described so",
    )


def test_a_column_that_a_contract_derives_from_one_other_is_described_alike(tmp_path: Path) -> None:
    columns = (
        "{name: id, type: int64, description: Its number.}\n"
        "{name: ref, type: int64, derived_from: {columns: [orders.id]}}\n"
        "{name: hash, type: int64, derived_from: {columns: [orders.id], transformation: salted hash}}"
    )
    orders = contract("orders", columns).replace("strata_model", "table")
    write(tmp_path, {"strata.toml": TOML, PLACE: orders})
    assert [p.where for p in proposed(tmp_path, "shop.orders", "description")] == [
        "assets[orders].columns[ref].description"
    ]


def test_seed2_documentation_updates_reword_what_is_said_otherwise_beside_the_asset(tmp_path: Path) -> None:
    described = '{name: id, type: int64, description: "Its number, of old."}'
    fragment = "asset: orders\nproduct: shop.orders\ncolumns:\n  - {name: id, description: Its number.}\n"
    orders = contract("orders", described).replace("strata_model", "table")
    write(tmp_path, {"strata.toml": TOML, PLACE: orders, "models/o.contract.yaml": fragment})
    (one,) = proposed(tmp_path, "shop.orders", "documentation")
    assert (one.where, one.edit.replaces, one.edit.value) == (
        "assets[orders].columns[id].description",
        "Its number, of old.",
        "Its number.",
    )
    assert str(one.edit.source) == "models/o.contract.yaml:4:29"
    assert proposed(tmp_path, "shop.orders", "drift") == []


def test_seed2_documentation_updates_name_columns_as_they_are_called_by_now(tmp_path: Path) -> None:
    columns = (
        "{name: gross_amount, type: float64, description: With tax.}\n"
        '{name: net, type: float64, description: "`gross` less tax; gross is with it."}\n'
        '{name: tax, type: float64, description: "Part of orders.gross and of tax_rate."}\n'
        "{name: rate, type: float64, description: 'What was `tax_rate` is the `rate`.'}"
    )
    more = (
        "purpose: The tax_rate of each order.\n"
        "compatibility:\n"
        "  migration_notes: Read gross_amount instead of orders.gross, and rate instead of tax_rate.\n"
        "  renames:\n"
        "    - {asset: orders, before: gross, after: gross_amount}\n"
        "    - {asset: orders, before: tax_rate, after: rate}\n"
        "    - {asset: orders, before: net, after: rate}\n"
    )
    orders = contract("orders", columns, more).replace("strata_model", "table")
    committed(write(tmp_path, {"strata.toml": TOML, PLACE: orders}))
    found = proposed(tmp_path, "shop.orders", "documentation")
    assert [(p.where, p.edit.value, p.edit.reason) for p in found] == [
        (
            "assets[orders].columns[net].description",
            "`gross_amount` less tax; gross is with it.",
            "`orders.gross` is called `gross_amount` by now",
        ),
        (
            "assets[orders].columns[tax].description",
            "Part of orders.gross_amount and of rate.",
            "`orders.gross` is called `gross_amount` by now; `orders.tax_rate` is called `rate` by now",
        ),
        ("purpose", "The rate of each order.", "`orders.tax_rate` is called `rate` by now"),
    ]
    assert suggest(tmp_path)[0] == 0
    changed = git(tmp_path, "show", f"{BRANCH}:{PLACE}")
    assert 'description: "Part of orders.gross_amount and of rate."' in changed.replace("'", '"')
    assert "What was `tax_rate` is the `rate`." in changed
