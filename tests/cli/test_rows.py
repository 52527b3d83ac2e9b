"""Values of every type as a table, as CSV and as JSON."""

from __future__ import annotations

import datetime
import decimal

import pyarrow as pa
import pytest

from strata_core.cli.rows import rows_of, write_csv, write_json, write_table

MOMENT = datetime.datetime(2026, 1, 2, 3, 4, 5, 678000)
VALUES = {
    "whole": (pa.int64(), -7, "-7", "-7", "-7"),
    "float": (pa.float64(), 0.1, "0.1", "0.1", "0.1"),
    "infinite": (pa.float64(), float("inf"), "inf", "inf", '"inf"'),
    "no number": (pa.float64(), float("nan"), "nan", "nan", '"nan"'),
    "money": (pa.decimal128(38, 2), decimal.Decimal("1234.50"), "1234.50", "1234.50", '"1234.50"'),
    "truth": (pa.bool_(), True, "true", "true", "true"),
    "date": (pa.date32(), datetime.date(2026, 1, 2), "2026-01-02", "2026-01-02", '"2026-01-02"'),
    "moment": (
        pa.timestamp("us"),
        MOMENT,
        "2026-01-02 03:04:05.678",
        "2026-01-02 03:04:05.678",
        '"2026-01-02T03:04:05.678"',
    ),
    "none": (pa.string(), None, "none", '""', "null"),
    "empty text": (pa.string(), "", "", '""', '""'),
    "quotes": (pa.string(), 'a "b", c', 'a "b", c', '"a ""b"", c"', '"a \\"b\\", c"'),
    "lines": (pa.string(), "a\nb", "a b", '"a\nb"', '"a\\nb"'),
    "steering": (pa.string(), "\x1b[2Jx", "␛[2Jx", "\x1b[2Jx", '"\\u001b[2Jx"'),
    "wide": (pa.string(), "東京", "東京", "東京", '"東京"'),
    "list": (pa.list_(pa.int64()), [1, None], "[1, null]", '"[1, null]"', "[1, null]"),
    "struct": (
        pa.struct([("a", pa.decimal128(4, 2)), ("b", pa.date32())]),
        {"a": decimal.Decimal("1.50"), "b": datetime.date(2026, 1, 2)},
        '{"a": "1.50", "b": "2026-01-02"}',
        '"{""a"": ""1.50"", ""b"": ""2026-01-02""}"',
        '{"a": "1.50", "b": "2026-01-02"}',
    ),
    "map": (
        pa.map_(pa.string(), pa.int64()),
        [("k", 1)],
        '{"k": 1}',
        '"{""k"": 1}"',
        '{"k": 1}',
    ),
}


def reader(kind, *values):
    return pa.table({"x": pa.array(values, kind)}).to_reader()


@pytest.mark.parametrize(("kind", "value", "cell", "field", "document"), VALUES.values(), ids=VALUES)
def test_a_value(capsys, kind, value, cell, field, document):
    write_table(reader(kind, value), ["x"], 20, 1)
    told = capsys.readouterr()
    assert [line.strip() for line in told.out.splitlines()] == ["x", cell]
    assert told.err == "1 row\n"
    write_csv(reader(kind, value), ["x"], None)
    assert capsys.readouterr().out == f"x\n{field}\n"
    write_json(reader(kind, value), ["x"], None)
    assert capsys.readouterr().out == f'{{"x": {document}}}\n'


def test_numbers_stand_to_the_right_and_texts_to_the_left(capsys):
    table = pa.table({"name": ["a", "東京"], "n": [5, 1000]})
    write_table(table.to_reader(), ["name", "n"], 20, 2)
    assert capsys.readouterr().out == "name     n\na        5\n東京  1000\n"


def test_columns_stand_as_asked_and_rows_end_where_asked(capsys):
    table = pa.table({"a": [1, 2, 3], "b": [4, 5, 6]})
    write_csv(table.to_reader(), ["b", "a"], 2)
    assert capsys.readouterr().out == "b,a\n4,1\n5,2\n"


def test_no_batch_is_read_beyond_the_last_row_that_is_asked_for():
    def batches():
        yield pa.record_batch({"x": [1, 2]})
        yield pa.record_batch({"x": [3, 4]})
        pytest.fail("read on")

    stream = pa.RecordBatchReader.from_batches(pa.schema({"x": pa.int64()}), batches())
    assert list(rows_of(stream, 3)) == [{"x": 1}, {"x": 2}, {"x": 3}]


def test_a_partition_alone(cli):
    cli.edit("models/paid.strata", "  from sales\n", "  from sales\n  partition_by: [country]\n")
    cli("apply", "paid")
    ran = cli("show", "paid", "--partition", "country=MX", "--format", "csv")
    assert (ran.code, ran.out) == (0, "id,country,amount\n2,MX,2.50\n")
    assert cli("show", "paid", "--partition", "country=FR", "--format", "csv").out == "id,country,amount\n"
    assert cli("show", "paid", "--partition", "id=1").code == 2
    ran = cli("show", "paid", "--partition", "country")
    assert (ran.code, ran.clean) == (2, True)
