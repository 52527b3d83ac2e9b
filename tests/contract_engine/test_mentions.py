"""What a contract still says of columns that were removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from .projects import HEAD, PLACE, checked, line
from .test_publish import promoted

ASSETS = """\
assets:
  - id: orders
    kind: table
    columns:
      - {name: order_id, type: int64, primary_key: true}
      - {name: net_amount, type: int64}
      - {name: state, type: string}
  - id: lines
    kind: table
    columns:
      - {name: order_id, type: int64}
      - {name: state, type: string}
"""
GONE = ASSETS.replace("      - {name: net_amount, type: int64}\n", "").replace(
    "      - {name: state, type: string}\n  - id: lines", "  - id: lines"
)
LATER = HEAD.replace("0.1.0", "0.2.0") + GONE


def told(root: Path, text: str) -> list[str]:
    promoted(checked(root, {PLACE: HEAD + ASSETS}))
    found = checked(root, {PLACE: text}).diagnostics
    assert not any(d.blocks for d in found)
    return [f"{line(d)}: {d.message}" for d in found]


@pytest.mark.parametrize(
    ("purpose", "names"),
    [
        ("Sums of net_amount.", "orders.net_amount"),
        ("Sums of `net_amount` alone.", "orders.net_amount"),
        ("Grouped by `state`.", "orders.state"),
        ("Grouped by orders.state.", "orders.state"),
        ("The state of things, net_amounts, lines.state and lines.net_amount.", None),
    ],
)
def test_a_text_that_names_a_removed_column_is_told(tmp_path: Path, purpose: str, names: str | None) -> None:
    found = told(tmp_path, f"{LATER}purpose: {purpose}\n")
    said = [f"W114 {PLACE}:20:10 purpose: `purpose` names `{names}`, which was removed"]
    assert found == (said if names else [])


def test_every_kind_of_text_is_looked_at_and_what_tells_of_the_past_is_not(tmp_path: Path) -> None:
    more = """\
semantics: {grain: one row per net_amount, meaning: the net_amount}
tests:
  - {id: t, kind: sql, severity: degrading, description: of net_amount, sql: select order_id from orders}
compatibility: {migration_notes: net_amount is gone.}
extensions: {description: net_amount}
"""
    text = LATER.replace("kind: table\n", "kind: table\n    documentation: About net_amount.\n", 1) + more
    assert [
        t.partition(":")[0].split()[0] + " " + t.split(" names")[0].split("`")[1] for t in told(tmp_path, text)
    ] == [
        "W114 assets[orders].documentation",
        "W114 semantics.grain",
        "W114 semantics.meaning",
        "W114 tests[t].description",
    ]


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("select order_id from orders where net_amount < 0", "orders.net_amount"),
        ("select o.order_id from orders as o where o.STATE = 'x'", "orders.state"),
        ("select l.order_id from orders as o join lines as l using (order_id) where l.state = 'x'", None),
        ("select order_id from lines where state = 'x'", None),
        ("select order_id, 1 as net_amount from orders order by net_amount", None),
        ("select order_id from orders where 'net_amount' = '' -- net_amount", None),
    ],
)
def test_a_test_that_asks_for_a_removed_column_is_told(tmp_path: Path, sql: str, names: str | None) -> None:
    found = told(tmp_path, f'{LATER}tests:\n  - {{id: t, kind: sql, severity: degrading, sql: "{sql}"}}\n')
    said = [f"W114 {PLACE}:21:50 tests[t].sql: the test `t` asks for `{names}`, which was removed"]
    assert found == (said if names else [])


def test_a_renamed_column_is_told_with_its_new_name_and_one_with_an_alias_is_there(tmp_path: Path) -> None:
    text = HEAD.replace("0.1.0", "0.2.0") + ASSETS.replace("net_amount", "net") + "purpose: Sums of net_amount.\n"
    rename = "compatibility: {renames: [{asset: orders, before: net_amount, after: net}]}\n"
    promoted(checked(tmp_path, {PLACE: HEAD + ASSETS}))
    (found,) = checked(tmp_path, {PLACE: text + rename}).diagnostics
    assert (found.code, found.fix) == ("W114", "say `net`, as it is called by now")
    alias = rename.replace("after: net", "after: net, alias: true")
    assert checked(tmp_path, {PLACE: text + alias}).diagnostics == ()


def test_a_text_that_names_a_removed_asset_is_told(tmp_path: Path) -> None:
    before = HEAD + ASSETS + "  - {id: raw_clicks, kind: table}\n"
    promoted(checked(tmp_path, {PLACE: before}))
    text = HEAD.replace("0.1.0", "0.2.0") + ASSETS.split("  - id: lines")[0]
    found = checked(tmp_path, {PLACE: f"{text}purpose: Of raw_clicks, lines and `lines`.\n"}).diagnostics
    assert [d.message for d in found] == [
        "`purpose` names `lines`, which was removed",
        "`purpose` names `raw_clicks`, which was removed",
    ]
    found = checked(tmp_path, {PLACE: f"{text}purpose: Of lines.\n"}).diagnostics
    assert found == ()


def test_it_is_still_told_when_the_removal_was_promoted(tmp_path: Path) -> None:
    promoted(checked(tmp_path, {PLACE: HEAD + ASSETS}))
    promoted(checked(tmp_path, {PLACE: LATER}))
    text = LATER.replace("0.2.0", "0.2.1") + "purpose: Sums of net_amount.\n"
    assert [d.code for d in checked(tmp_path, {PLACE: text}).diagnostics] == ["W114"]
