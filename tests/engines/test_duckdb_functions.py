"""Functions that DuckDB has with another meaning: literal values, and the reference on many arguments."""

from __future__ import annotations

import random
from decimal import Decimal

import pyarrow as pa
import pytest

from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import ArrowTable
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.relation.build import project, ref, scan, window_rows
from strata_core.relation.expressions import Frame, SortKey, call, cast, literal, window
from strata_core.relation.nodes import Item, WindowItem
from strata_core.relation.schema import Column
from strata_core.types import STRING, Inferred, Money, parse_type
from strata_core.types.functions.maths import ROUNDING_MODES
from strata_core.types.physical import arrow_type

from .conformance import check_conformance, table_of

ENGINE = DuckDBEngine()
EUR = Money("EUR")


def column(name: str, type_: str) -> Column:
    return Column(name, Inferred(parse_type(type_), nullable=True))


@pytest.mark.parametrize("factor_type", ["int64", "decimal(5,4)", "decimal(18,6)", "decimal(38,10)"])
def test_money_is_scaled_exactly_in_every_mode(factor_type: str) -> None:
    dice = random.Random(3)
    type_ = parse_type(factor_type)
    scale = getattr(type_, "scale", 0)
    cents = [dice.randint(-(10 ** dice.randint(1, 14)), 10 ** dice.randint(1, 14)) for _ in range(200)] + [5, -5, 0, 1]
    digits = [dice.choice([1, -1, 2, 3, 5, -7, 0, dice.randint(-(10**5) + 1, 10**5 - 1)]) for _ in cents]
    columns = (column("a", "money(EUR)"), column("f", factor_type))
    factors = [Decimal(d).scaleb(-scale) if scale else d for d in digits]
    amounts = pa.array([Decimal(c).scaleb(-2) for c in cents], arrow_type(EUR))
    data = ArrowTable(pa.table({"a": amounts, "f": pa.array(factors, arrow_type(type_))}), columns)
    base = scan("t", columns)
    items = [
        Item(f"{name}_{mode}", call(name, ref(base, "a"), ref(base, "f"), literal(2), literal(mode)))
        for name in ("money_multiply", "money_divide")
        for mode in sorted(ROUNDING_MODES)
    ]
    check_conformance(ENGINE, project(base, items), {"t": data})


def test_money_beyond_64_bits_is_exact_too() -> None:
    largest = Decimal("999999999999999999999999999999999999.99")
    columns = (column("a", "money(EUR)"),)
    data = ArrowTable(pa.table({"a": pa.array([largest, largest.copy_negate()], arrow_type(EUR))}), columns)
    base = scan("t", columns)
    half = cast(literal("0.50"), parse_type("decimal(3,2)"))
    item = Item("y", call("money_multiply", ref(base, "a"), half, literal(2), literal("half_even")))
    rows = ENGINE.execute(project(base, [item]), {"t": data}).read_all()["y"].to_pylist()
    expected = Decimal("500000000000000000000000000000000000.00")
    assert rows == [expected, expected.copy_negate()]


def test_case_mapping_of_every_character() -> None:
    every = (chr(i) for i in range(1, 0x110000) if not 0xD800 <= i <= 0xDFFF)
    characters = [c for c in every if c.upper() != c or c.lower() != c]
    texts = [*characters, "straße", "ÉCOLE ß", "İx", "", None]
    columns = (Column("c", Inferred(STRING, nullable=True)),)
    data = ArrowTable(pa.table({"c": texts}), columns)
    base = scan("t", columns)
    relation = project(base, [Item(name, call(name, ref(base, "c"))) for name in ("upper", "lower", "length")])
    given, expected = (e.execute(relation, {"t": data}).read_all() for e in (ENGINE, ReferenceEngine()))
    assert given.equals(expected)
    assert given.slice(len(characters), 1).to_pylist() == [{"upper": "STRAßE", "lower": "straße", "length": 6}]


def test_windows_over_float64_agree_to_the_bit() -> None:
    dice = random.Random(1)
    columns = (column("k", "int64"), column("x", "float64"), column("z", "float64"))
    choices = (None, 1e300, -1e-300, 5.0, 0.1)
    rows = [
        [dice.choice([1, 2, None]), dice.choice([*choices, dice.gauss(0, 1)]), dice.choice([0.0, -0.0, None, 1.5])]
        for _ in range(80)
    ]
    base = scan("t", columns)
    x, order = ref(base, "x"), (SortKey(ref(base, "x")),)
    for partition in ((), (ref(base, "k"),), (ref(base, "z"), ref(base, "k"))):
        items = [WindowItem(f, window(f, x, partition=partition)) for f in ("sum", "avg", "variance", "stddev")]
        items.append(WindowItem("running", window("sum", x, partition=partition, order=order, frame=Frame(None, 0))))
        items.append(WindowItem("moving", window("avg", x, partition=partition, order=order, frame=Frame(-2, 1))))
        items.append(WindowItem("SUM", window("sum", x, partition=partition, frame=Frame(None, None))))
        check_conformance(ENGINE, window_rows(base, items), {"t": table_of(columns, rows)})


def test_a_decimal_product_of_narrow_factors_is_not_cut_to_64_bits() -> None:
    columns = (column("a", "decimal(18,2)"),)
    wide = Decimal("9999999999999999.99")
    data = ArrowTable(pa.table({"a": pa.array([wide], arrow_type(columns[0].inferred.type))}), columns)
    base = scan("t", columns)
    relation = project(base, [Item("y", call("multiply", ref(base, "a"), ref(base, "a")))])
    assert ENGINE.execute(relation, {"t": data}).read_all()["y"].to_pylist() == [PRODUCT]


PRODUCT = Decimal("99999999999999999800000000000000.0001")


@pytest.mark.parametrize("separator", ["", ",", "ab", None])
def test_parts_of_a_text(separator: str | None) -> None:
    columns = (column("s", "string"), column("p", "string"), column("n", "int64"))
    numbers = [0, 1, -1, 2, -2, 5, None]
    table = table_of(columns, [[text, separator, n] for text in ("ab,c", "00", "", None) for n in numbers])
    base = scan("t", columns)
    parts = project(base, [Item("y", call("split_part", *(ref(base, c.name) for c in columns)))])
    check_conformance(ENGINE, parts, {"t": table})
    whole = [row["y"] for row in ENGINE.execute(parts, {"t": table}).read_all().to_pylist()[:7]]
    if separator == "":  # nothing is taken apart: the whole text is the first part, and the last
        assert whole == ["", "ab,c", "ab,c", "", "", "", None]
