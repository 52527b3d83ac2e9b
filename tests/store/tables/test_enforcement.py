"""Seed 1 *beneath-enforcement*, and that nothing which a reader gets leaks what is masked."""

from __future__ import annotations

import io
import json
import traceback
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import pyarrow as pa
import pytest

from strata_core.store.tables import StoreError
from strata_core.store.tables.enforcement import Principal

from .conftest import World, refused, rows, stamp

SECRET = "xyzzy-4711"
NUMBER = 987_654_321
STAFF = """
[[pipeline.tables]]
name = "staff"
primary_key = ["id"]
tenant_column = "firm"
rows = ["level <= principal.level or team == principal.name", "kind in [\\"a\\", \\"b\\"]"]
[pipeline.tables.valid_time]
from = "since"
[pipeline.tables.columns]
gone = { type = "string", classification = "pii" }
hashed = { type = "string", classification = "pii", mask = "hash" }
emptied = { type = "int64", classification = "pay", mask = "null" }
tail = { type = "string", classification = "pii", mask = "partial", keep = 2 }
"""
TYPES = {
    "id": pa.int64(),
    "firm": pa.string(),
    "level": pa.int64(),
    "team": pa.string(),
    "kind": pa.string(),
    "since": pa.timestamp("us"),
    "gone": pa.string(),
    "hashed": pa.string(),
    "emptied": pa.int64(),
    "tail": pa.string(),
}
DAY = stamp("2020-01-01")
ANN = Principal("ann", tenant="f1", attributes=(("level", 2),))


def staffed(world: World) -> Any:
    table = world.declare(STAFF)
    table.land(
        rows(
            TYPES,
            (1, "f1", 1, "x", "a", DAY, SECRET, SECRET, NUMBER, SECRET),
            (2, "f1", 3, "x", "a", DAY, SECRET, SECRET, NUMBER, SECRET),
            (3, "f1", 3, "ann", "b", DAY, SECRET, None, None, "ab"),
            (4, "f2", 1, "x", "a", DAY, SECRET, SECRET, NUMBER, SECRET),
            (5, "f1", 1, "x", "c", DAY, SECRET, SECRET, NUMBER, SECRET),
            (6, "f1", None, None, "a", DAY, SECRET, SECRET, NUMBER, SECRET),
        )
    )
    return table


def test_row_conditions_the_tenant_and_masks(world: World) -> None:
    table = staffed(world)
    for _ in range(2):
        shown = table.read(principal=ANN).arrow().to_pylist()
        assert [r["id"] for r in shown] == [1, 3]
        assert "gone" not in shown[0]
        assert (shown[0]["emptied"], shown[0]["tail"]) == (None, "****11")
        assert (shown[1]["hashed"], shown[1]["tail"]) == (None, "****")
        assert len(shown[0]["hashed"]) == 32
        table.fold()


def test_a_clearance_shows_its_classification_and_no_other(world: World) -> None:
    table = staffed(world)
    cleared = Principal("ann", tenant="f1", attributes=(("level", 2),), clearances=frozenset({"pii"}))
    first = table.read(principal=cleared).arrow().to_pylist()[0]
    assert (first["gone"], first["hashed"], first["tail"], first["emptied"]) == (SECRET, SECRET, SECRET, None)


def test_hashes_are_equal_for_equal_values_of_one_store_and_differ_between_stores(world: World, tmp_path: Any) -> None:
    one = staffed(world).read(principal=ANN, columns=["hashed"]).arrow().column(0)[0].as_py()
    other = staffed(World(tmp_path / "other")).read(principal=ANN, columns=["hashed"]).arrow().column(0)[0].as_py()
    again = world.reopened().tables.table("staff").read(principal=ANN, columns=["hashed"]).arrow().column(0)[0].as_py()
    assert one == again != other  # a keyed hash: a dictionary of guesses does not undo it


def test_who_names_no_tenant_or_attribute_sees_nothing(world: World) -> None:
    table = staffed(world)
    refused("StorePrincipalRequired", table.read)
    refused("StorePrincipalRequired", lambda: table.read(principal=Principal("x", tenant="f1")))
    refused("StorePrincipalRequired", lambda: table.read(principal=Principal("x", attributes=(("level", 2),))))


QUESTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"columns": ["gone"]},
    {"columns": ["id", "hashed", "tail", "emptied"]},
    {"filter": f'hashed == "{SECRET}"'},
    {"filter": f'tail == "{SECRET}"'},
    {"filter": f'gone == "{SECRET}"'},
    {"filter": f"emptied == {NUMBER}"},
    {"filter": f"emptied > {NUMBER - 1}"},
    {"filter": "emptied is not none"},
    {"filter": 'gone < "z"'},
    {"filter": "1 / emptied > 0"},
    {"filter": 'cast(hashed, "int64") == 1'},
    {"as_of": "2030-01-01"},
    {"valid_as_of": "2021-01-01"},
    {"as_of": "2030-01-01", "valid_as_of": "2021-01-01", "filter": f'hashed == "{SECRET}"'},
    {"vintage": "first"},
    {"pin": SECRET},
)


def test_a_planted_secret_leaks_through_no_bound_filter_message_statistic_or_cache_entry(world: World) -> None:
    """Everything that a reader without clearance gets back is searched for the planted values."""
    table = staffed(world)
    told = io.StringIO()
    narrowed = []
    for _ in range(2):
        for asked in QUESTIONS:
            with redirect_stdout(told), redirect_stderr(told):
                try:
                    read = table.read(principal=ANN, **asked)
                    found = read.arrow()
                    own = str(asked.get("filter"))
                    told.write(f"{read.schema} {read.bounds} {found.to_pylist()} {found.nbytes} {table!r}")
                    told.write(repr(read).replace(own, ""))
                    told.write(str(list(read.reader())) + str(read.lazy().collect()) + str(read.lazy().explain()))
                    if "filter" in asked and asked["filter"] != "emptied is not none":
                        narrowed.append(found.num_rows)
                except StoreError as error:
                    # what was asked is the asker's own; the rest must not answer it
                    message = "".join(traceback.format_exception_only(error)) + str(error.diagnostics)
                    told.write(message.replace(str(asked.get("filter")), "").replace(repr(asked.get("pin")), ""))
        for entry in table.history():
            told.write(f"{entry.number} {entry.at} {type(entry.commit).__name__}")
        for kept in list(world.tables.results._held.values()):
            told.write(str(kept.to_pylist()))
        table.fold()
    assert len(world.tables.results) > 2
    text = told.getvalue().replace(f"no pin {SECRET}", "")
    assert SECRET not in text
    assert str(NUMBER) not in text
    assert set(narrowed) == {0}  # a filter sees what is masked: it finds no row by a secret


def test_the_result_cache_keeps_principals_apart(world: World) -> None:
    table = staffed(world)
    cleared = Principal("ann", tenant="f1", attributes=(("level", 2),), clearances=frozenset({"pii", "pay"}))
    assert SECRET in str(table.read(principal=cleared).arrow().to_pylist())
    assert SECRET not in str(table.read(principal=ANN).arrow().to_pylist())
    world.declare(STAFF.replace('"pii" }', '"pii", mask = "null" }'))
    assert table.read(principal=ANN).arrow().column("gone").to_pylist() == [None, None]


def test_a_landing_that_is_refused_quotes_no_cell_of_a_masked_column(world: World, tmp_path: Any) -> None:
    table = world.declare(STAFF)
    bad = tmp_path / "bad.csv"
    bad.write_text(f"id,firm,level,team,kind,since,emptied\n1,f1,1,x,a,2020-01-01,{SECRET}\n")
    error = refused("StoreSourceInvalid", lambda: table.land(bad))
    assert SECRET not in str(error)
    assert SECRET not in json.dumps([d.message for d in error.diagnostics])


def test_a_row_condition_that_is_none_is_refused_when_it_is_declared(world: World) -> None:
    refused("StoreFilterInvalid", lambda: world.declare('[[pipeline.tables]]\nname = "t"\nrows = ["level <"]\n'))
    assert world.tables.names() == ()


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        ("level <", "cannot be answered"),
        ("level + 1", "needs a condition"),
        ("level + 1 > 2", "computes more than"),
        ("nothing == 1", "no column"),
        ("level == 1 }\nsource other {\n filter: level == 1", "more than one"),
        ('level == "a"', "cannot be answered"),
        ("sum(level) > 1", "not allowed"),
    ],
)
def test_conditions_are_refused_with_what_they_may_be(world: World, condition: str, why: str) -> None:
    table = world.declare('[[pipeline.tables]]\nname = "t"\n')
    table.land(rows({"level": pa.int64()}, (1,)))
    assert why in str(refused("StoreFilterInvalid", lambda: table.read(filter=condition)))
