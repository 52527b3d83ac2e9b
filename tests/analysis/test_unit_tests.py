"""`test model "title" { given … expect … }` (language.md, "Declarations"): which tables are sound, and what is not."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from strata_core.analysis import CompiledProject
from strata_core.analysis.compiled import UnitTest

from .programs import marked, project

SOURCES = """
source raw(csv: "r.csv") {
  columns: {
    id: int64 primary_key, kind: string nonnull enum {a, b}, amount: money(EUR), rate: decimal(6,3), x: float64,
    day: date, at: timestamp, ok: bool, key: uuid, doc: json, tags: array(string nonnull), m: map(string, int64),
    s: struct<a: int64 nonnull, b: array(date)>, note: string, unread: string nonnull,
  }
  filter: id != 9
}
source people(csv: "p.csv") { columns: { id: int64 primary_key, name: string nonnull } }
model m { from raw select { * except {unread} } }
model counts { from m group { kind } ( aggregate { n = count() } ) sort { -n } }
model named { from raw join_inner people on raw.id == people.id select { raw.id, people.name } }
"""


def compiled(text: str) -> CompiledProject:
    return project(text, sources=SOURCES)


def unit(text: str) -> UnitTest:
    found = compiled(text)
    assert not [d for d in found.diagnostics if d.blocks]
    (one,) = found.unit_tests
    assert found.expectations == ()
    return one


CELL = {
    "amount": [("1", Decimal("1.00")), ("-2.5", Decimal("-2.50")), ("none", None), ("null", None)],
    "rate": [("999.999", Decimal("999.999")), ("1.5000", Decimal("1.500")), ("1e2", Decimal("100.000"))],
    "x": [("1", 1.0), ("-1e3", -1000.0), ("inf", float("inf"))],
    "day": [("2024-01-31", datetime.date(2024, 1, 31)), ('"2024-01-31"', datetime.date(2024, 1, 31))],
    "at": [
        ("2024-01-31", datetime.datetime(2024, 1, 31)),
        ("2024-01-31 10:05", datetime.datetime(2024, 1, 31, 10, 5)),
        ("2024-01-31 10:05:06.5", datetime.datetime(2024, 1, 31, 10, 5, 6, 500000)),
        ('"2024-01-31T10:05:06Z"', datetime.datetime(2024, 1, 31, 10, 5, 6)),
    ],
    "ok": [("true", True), ("false", False)],
    "key": [
        ('"6F9619FF-8B86-D011-B42D-00CF4FC964FF"', "6f9619ff-8b86-d011-b42d-00cf4fc964ff"),
    ],
    "doc": [('"{\\"a\\": [1]}"', '{"a": [1]}')],
    "tags": [("[]", []), ('["a|b", word]', ["a|b", "word"])],
    "m": [("{}", {}), ('{a: 1, "b c": none}', {"a": 1, "b c": None})],
    "s": [
        ("{a: 1}", {"a": 1, "b": None}),
        ("{b: [2024-01-31, none], a: 2}", {"a": 2, "b": [datetime.date(2024, 1, 31), None]}),
    ],
    "note": [('"a|b"', "a|b"), ("word", "word"), ('"none"', "none"), ('""', "")],
    "kind": [("a", "a"), ('"b"', "b")],
}


@pytest.mark.parametrize(("column", "cell", "value"), [(c, t, v) for c, cases in CELL.items() for t, v in cases])
def test_a_cell_is_a_value_of_its_columns_type(column: str, cell: str, value: object) -> None:
    given = f"given raw {{ | id | {column} | | 1 | {cell} | }} given people {{ | id | }}"
    one = unit(f'test named "t" {{ {given} expect {{ | id | }} }}')
    assert one.given["raw"].rows == ((1, value),)
    assert type(one.given["raw"].rows[0][1]) is type(value)


WRONG = {
    "a string for a number": ("x", '"1"', "`x` is float64, but this is a string"),
    "a fraction for a whole number": ("id", "1.0", "`id` is int64, but this is a number"),
    "a bool for a number": ("id", "true", "`id` is int64, but this is a bool"),
    "too many digits": ("rate", "1000", "`rate` is decimal(6,3), which does not hold 1000"),
    "digits that would be rounded": ("amount", "1.005", "`amount` is money(EUR), which does not hold 1.005"),
    "a number for a string": ("note", "1", "`note` is string, but this is a whole number"),
    "a date for a string": ("note", "2024-01-31", "`note` is string, but this is a date"),
    "no date": ("day", "2024-02-30", "`day`: day is out of range for month"),
    "a time for a date": ("day", "2024-02-28 10:00", "`day`: the value is no date, which is written YYYY-MM-DD"),
    "no uuid": ("key", '"1"', "`key`: the value is no uuid, which is written as 32 hexadecimal digits in five groups"),
    "no list": ("tags", '"a"', "`tags` is array(string nonnull), but this is a string"),
    "a null in a list": ("tags", "[none]", "`tags` is never null"),
    "no record": ("m", "[1]", "`m` is map(string, int64), but this is a list"),
    "a key twice": ("m", "{a: 1, a: 2}", "`a` stands twice in the record"),
    "an unknown field": ("s", "{a: 1, c: 2}", "`s` has no field `c`"),
    "a field that is missing": ("s", "{b: []}", "`s.a` is never null"),
    "null in a column that has none": ("kind", "none", "`kind` is never null"),
    "outside the enum": ("kind", "c", "`kind` is never 'c'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_cell_that_is_none(case: str) -> None:
    column, cell, message = WRONG[case]
    header = "kind" if column == "id" else "id"
    other = "a" if column == "id" else 1
    given = f"given raw {{ | {header} | {column} | | {other} | {cell} | }}"
    text = f'test m "t" {{ {given} expect row_count > 0 }}'
    found = [d for d in compiled(text).diagnostics if d.code == "E074" and "lacks" not in d.message]
    assert [d.message for d in found] == [message]
    assert marked(text, found[0]) in cell


def errors(text: str) -> list[tuple[str, str, str]]:
    found = compiled(text)
    assert found.unit_tests == ()
    return [(d.code, marked(text, d), d.message) for d in found.diagnostics if d.blocks]


def test_columns_that_are_left_out_are_null_or_not_read() -> None:
    one = unit('test m "t" { given raw { | kind | id | | a | 1 | } expect { | id | } }')
    assert [c.name for c in one.given["raw"].columns] == ["kind", "id"]
    text = 'test m "t" { given raw { | id | | 1 | } expect { | id | } }'
    assert errors(text) == [("E074", "raw", "`raw` lacks `kind`: read by the model and never null")]
    unit('test m "t" { given raw { | id | } expect { | id | } }')


def test_a_model_that_is_not_given_is_computed() -> None:
    assert unit('test counts "t" { given raw { | id | kind | } expect { | n | } }').through == ("m", "counts")
    assert unit('test counts "t" { given m { | kind | } expect { | n | } }').through == ("counts",)


def test_the_filter_of_a_source_is_asked_of_the_rows_that_are_given() -> None:
    text = 'source f(csv: "f") { columns: { k: string } filter: k == "x" } model g { from f }'
    assert not [
        d for d in compiled(text + ' test g "t" { given f { | k | | y | } expect { | k | } }').diagnostics if d.blocks
    ]


TABLES = {
    "no such table": (
        "given nix { | id | } expect { | id | }",
        [
            ("E070", "m", "the test gives no rows for `raw`, which `m` reads"),
            ("E020", "nix", "no source or model `nix`"),
        ],
    ),
    "a table that is not read": (
        "given raw { | id | } given people { | id | } expect { | id | }",
        [("E020", "people", "`m` does not read `people`")],
    ),
    "the model itself": (
        "given raw { | id | } given m { | id | } expect { | id | }",
        [("E070", "m", "`m` is what this test computes")],
    ),
    "a table twice": (
        "given raw { | id | } given raw { | id | } expect { | id | }",
        [("E023", "raw", "the table `raw` is given twice")],
    ),
    "an unknown column": (
        "given raw { | idd | } expect { | id | }",
        [("E021", "idd", "`raw` has no column `idd`")],
    ),
    "an unknown expected column": (
        "given raw { | id | } expect { | id | unread | }",
        [("E021", "unread", "`m` has no column `unread`")],
    ),
    "a column twice": (
        "given raw { | id | id | } expect { | id | }",
        [("E023", "id", "the column `id` is given twice")],
    ),
    "a short row": (
        "given raw { | id | kind | | 1 | | 2 | a | } expect { | id | }",
        [("E070", "| 1 |", "the row has 1 cell, the header 2")],
    ),
    "a key twice": (
        "given raw { | id | kind | | 1 | a | | 1 | b | } expect { | id | }",
        [("E074", "| 1 | b |", "two rows of `raw` agree on `id`, of which it has each value once")],
    ),
    "an expected null": (
        "given raw { | id | kind | } expect { | kind | | none | }",
        [("E074", "none", "`kind` is never null")],
    ),
    "nothing expected": ("given raw { | id | }", [("E070", "m", "this test expects nothing")]),
}


@pytest.mark.parametrize("case", TABLES)
def test_tables_that_are_not_valid(case: str) -> None:
    body, expected = TABLES[case]
    assert errors(f'test m "t" {{ {body} }}') == expected


def test_rows_that_lack_behind_a_chain() -> None:
    message = "the test gives no rows for `raw`, which `m` reads, which `counts` is made of"
    assert errors('test counts "t" { expect { | n | } }') == [("E070", "counts", message)]


def test_a_broken_model_raises_no_second_error() -> None:
    found = compiled('model b { from raw filter nix > 1 } test b "t" { given raw { | id | } expect { | x | } }')
    assert [d.code for d in found.diagnostics if d.blocks] == ["E021"]


def test_unit_tests_change_no_model() -> None:
    text = 'test m "t" { given raw { | id | } expect { | id | } }'
    assert compiled(text).models["m"].relation == compiled("").models["m"].relation
