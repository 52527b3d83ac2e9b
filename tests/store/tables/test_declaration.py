"""Declarations: read with all their keys, refused with place and remedy, and kept from changing under rows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from strata_core.diagnostics.codes import CODES
from strata_core.store import Store
from strata_core.store.tables.declaration import declaration, read_declarations
from strata_core.store.tables.errors import CODES as STORE_CODES
from strata_core.store.tables.errors import StoreError

from .conftest import GDP, World, gdp, refused, rows

FULL = """
[[pipeline.tables]]
name = "gdp"
primary_key = ["series"]
order_by = "_ingested_at"
content_hash_column = "content_hash"
retain_runs = "7d"
[pipeline.tables.valid_time]
from = "period_start"
to = "period_end"
[pipeline.tables.available_time]
column = "published"
zone = "America/New_York"
live_since = 2014-01-01
[pipeline.tables.available_time.lag]
class_column = "release"
classes = { advance = "30d", second = "60d" }
[pipeline.tables.available_time.adjustment]
factor_table = "splits"
factor_column = "factor"
adjust_columns = ["close"]
"""


def test_every_key_of_the_design_is_read_and_written_back() -> None:
    (declared,) = read_declarations(FULL)
    document = declared.document()
    assert document["available_time"]["live_since"] == "2014-01-01"  # type: ignore[index,call-overload]
    assert document["valid_time"] == {"from": "period_start", "to": "period_end"}
    assert declaration(document) == declared


def test_a_mask_of_texts_is_refused_of_a_number_when_it_is_declared(tmp_path: Path) -> None:
    text = '[[pipeline.tables]]\nname = "cards"\n[pipeline.tables.columns]\nNUMBER\n'
    (numeric,) = read_declarations(text.replace("NUMBER", 'n = { type = "int64", mask = "partial" }'))
    tables = Store.at(tmp_path).tables
    with pytest.raises(StoreError) as stopped:
        tables.declare(numeric)
    assert stopped.value.diagnostics[0].message == (
        "StoreDeclarationInvalid: table cards: columns.n: the mask `partial(4)` leaves the last characters of a text,"
        " not of int64"
    )
    assert stopped.value.diagnostics[0].fix == (
        "use `hash`, `null` or `drop`; `partial` is for columns of type string or uuid"
    )
    assert tables.names() == ()
    for column in ('n = { type = "string", mask = "partial" }', 'n = { mask = "partial" }'):
        tables.declare(*read_declarations(text.replace("NUMBER", column)))


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ('retain_runs = "7d"', 'retain_runs = "7"', "gdp: retain_runs: '7' is no duration"),
        ("primary_key", "primary_keys", "gdp: primary_keys: there is no such key"),
        ('zone = "America/New_York"', 'zone = "Atlantis"', "available_time.zone: 'Atlantis' is no time zone"),
        ('"published"', '"_published"', "names that begin with _ belong to the store"),
        ('name = "gdp"', 'name = "../gdp"', "cannot name a table"),
        ('["series"]', '["series", "series"]', "primary_key names series twice"),
        ("live_since = 2014-01-01", "live_since = 2014", "is no instant"),
        ('column = "published"', 'column = "period_start"', "part of another clock"),
        ('[pipeline.tables.valid_time]\nfrom = "period_start"\nto = "period_end"\n', "", "none is declared"),
        ("[[pipeline.tables]]", "[[pipeline.table]]", "declares no tables"),
        ('"7d"', "7d", "is not TOML"),
        ('advance = "30d", second = "60d"', "", "lag.classes"),
        ('adjust_columns = ["close"]', "adjust_columns = []", "adjust_columns"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(before: str, after: str, why: str) -> None:
    assert before in FULL
    assert why in str(refused("StoreDeclarationInvalid", lambda: read_declarations(FULL.replace(before, after))))


def test_a_mask_without_a_rule_drops_and_its_keys_are_checked() -> None:
    columns = '[[pipeline.tables]]\nname = "t"\n[pipeline.tables.columns]\n'
    (declared,) = read_declarations(columns + 'a = { classification = "pii" }\nb = "string"\n')
    assert [(n, str(c.masked) if c.masked else None) for n, c in declared.columns.items()] == [
        ("a", "drop"),
        ("b", None),
    ]
    for wrong in ('a = "strin"', 'a = { mask = "hidden" }', 'a = { mask = "hash", keep = 3 }', "a = { keep = 3 }"):
        refused("StoreDeclarationInvalid", lambda wrong=wrong: read_declarations(columns + wrong))


def test_a_table_is_declared_once_in_a_text() -> None:
    assert "declared twice" in str(refused("StoreDeclarationInvalid", lambda: read_declarations(GDP + GDP)))


def test_nothing_is_declared_where_one_table_of_a_text_is_not_valid(world: World) -> None:
    store = Store.open(world.root)
    refused(
        "StoreVintageHashUndeclared",
        lambda: store.declare(GDP + GDP.replace('"gdp"', '"b"').replace("content_hash_c", "#")),
    )
    assert store.tables.names() == ()


def test_the_same_declaration_again_commits_nothing(world: World) -> None:
    table = world.declare(GDP)
    world.declare(GDP)
    assert table.log.head().number == 1


def test_rows_keep_their_key_order_and_availability_column(world: World) -> None:
    table = world.declare(GDP)
    world.declare(GDP.replace('["series"]', '["series", "value"]'))
    world.declare(GDP)
    table.land(gdp((1.0, "2014-04-30")))
    for change in (
        ('["series"]', '["value"]'),
        ('["series"]', '["series"]\norder_by = "value"'),
        ('from = "period_start"', 'from = "value"'),
    ):
        refused("StoreDeclarationInvalid", lambda c=change: world.declare(GDP.replace(*c)))
    world.declare(GDP.replace("[pipeline.tables.valid_time]", 'retain_runs = "9d"\n[pipeline.tables.valid_time]'))
    assert world.reopened().tables.table("gdp").declaration.retain_runs == "9d"


def test_an_undeclared_table(world: World) -> None:
    assert "no table nowhere" in str(refused("StoreTableUndeclared", lambda: world.tables.table("nowhere")))


def test_every_error_has_a_diagnostic(world: World) -> None:
    assert set(STORE_CODES.values()) == {"E094", "E096", "E097", "E098"}
    assert set(STORE_CODES.values()) <= CODES.keys()
    table = world.declare(GDP)
    error = refused("StoreColumnReserved", lambda: table.land(rows({"_run_id": pa.string()}, ("x",))))
    (diagnostic,) = error.diagnostics
    assert diagnostic.code == "E097"
    assert diagnostic.message == (
        "StoreColumnReserved: table gdp: the column _run_id arrives, and names that begin with _ belong to the store"
    )
    assert (diagnostic.fix, diagnostic.field_path) == ("rename _run_id before it lands", "gdp")
