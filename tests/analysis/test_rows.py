"""What models compute: literal rows in, literal rows out, through the reference interpreter."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from strata_core.engines.protocol import ArrowTable
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.relation.build import sort_rows
from strata_core.relation.canonical import canonical
from strata_core.relation.nodes import Relation

from ..engines.conformance import table_of
from .programs import model, project

SOURCES = """
source sales(csv: "s.csv") {
  columns: { id: int64 primary_key, shop: string, amount: decimal(6,2), day: date nonnull, kind: string enum {a, b} }
}
source shops(csv: "p.csv") { columns: { shop: string primary_key, city: string, boss: string } }
source log(csv: "l.csv") { columns: { n: int64 nonnull, shop: string } filter: n > 0 }
"""
DAY = datetime.date(2024, 5, 1)
LATER = datetime.date(2024, 6, 2)
DATA: dict[str, list[list[object]]] = {
    "sales": [
        [1, "x", Decimal("10.00"), DAY, "a"],
        [2, "x", Decimal("5.50"), LATER, "b"],
        [3, "y", None, DAY, "a"],
        [4, None, Decimal("1.00"), LATER, None],
        [5, "z", Decimal("10.00"), DAY, "b"],
    ],
    "shops": [["x", "Rome", "y"], ["y", "Oslo", None], ["w", None, "x"]],
    "log": [[1, "x"], [2, "x"], [-3, "y"], [4, "y"]],
}


def rows(body: str) -> list[list[object]]:
    """The rows of a model in its order, the same of its canonical form."""
    compiled = model(body, sources=SOURCES)
    columns = {name: source.columns for name, source in project("", sources=SOURCES).sources.items()}
    tables = {name: table_of(columns[name], data) for name, data in DATA.items()}
    relation = sort_rows(compiled.relation, compiled.order) if compiled.order else compiled.relation
    found = computed(relation, tables)
    assert sorted(map(repr, computed(canonical(relation), tables))) == sorted(map(repr, found))
    return found


def computed(relation: Relation, tables: dict[str, ArrowTable]) -> list[list[object]]:
    return [list(r.values()) for r in ReferenceEngine().execute(relation, tables).read_all().to_pylist()]


ROWS: dict[str, tuple[str, list[list[object]]]] = {
    "a filter drops what is null": ("from sales filter amount > 5 select { id } sort { id }", [[1], [2], [5]]),
    "let, derive and select": (
        "from sales let double = amount + amount derive { amount = double } select { id, amount } sort { id } take 2",
        [[1, Decimal("20.00")], [2, Decimal("11.00")]],
    ),
    "a sort by a column that select leaves behind": (
        "from sales sort { -amount } take 3 select { id } sort { id }",
        [[1], [2], [5]],
    ),
    "an order survives a select": (
        "from sales sort { day desc, id } select { d = day, n = id } take 2",
        [[LATER, 2], [LATER, 4]],
    ),
    "take of a range": ("from sales sort { id } take 2..3 select { id }", [[2], [3]]),
    "take of none": ("from sales take 0 select { id }", []),
    "take before and after a filter": ("from sales sort { id } take 3 filter amount is none select { id }", [[3]]),
    "left join": (
        "from sales join_left shops on sales.shop == shops.shop select { id, shops.city } sort { id }",
        [[1, "Rome"], [2, "Rome"], [3, "Oslo"], [4, None], [5, None]],
    ),
    "inner join with a condition": (
        'from sales join_inner shops as s on sales.shop == s.shop and day > cast("2024-05-15", "date") select { id }',
        [[2]],
    ),
    "semi join": ("from sales join_semi log on sales.shop == log.shop select { id } sort { id }", [[1], [2], [3]]),
    "anti join": ("from sales join_anti log on sales.shop == log.shop select { id } sort { id }", [[4], [5]]),
    "full join": (
        "from sales join_full shops as s on sales.shop == s.shop select { id, name = s.shop } sort { id, name }",
        [[1, "x"], [2, "x"], [3, "y"], [4, None], [5, None], [None, "w"]],
    ),
    "self join": (
        "from shops join_left shops as boss on shops.boss == boss.shop select { shop, city = boss.city } sort { shop }",
        [["w", "Rome"], ["x", "Oslo"], ["y", None]],
    ),
    "a source's filter": ("from log sort { n }", [[1, "x"], [2, "x"], [4, "y"]]),
    "group": (
        "from sales group { shop } ( aggregate { n = count(), paid = count(amount), total = sum(amount) } ) "
        "sort { shop }",
        [
            ["x", 2, 2, Decimal("15.50")],
            ["y", 1, 0, None],
            ["z", 1, 1, Decimal("10.00")],
            [None, 1, 1, Decimal("1.00")],
        ],
    ),
    "having, sort and take in a group": (
        "from sales group { m = date_trunc(day, month) } ( aggregate { n = count() } filter sum(amount) > 1 "
        "sort { -n } take 1 )",
        [[DAY, 3]],
    ),
    "arithmetic around aggregates": (
        "from sales group { kind } ( aggregate { mean = sum(amount) / count(amount), "
        "spread = max(amount) - min(amount) } ) "
        "filter kind is not none sort { kind }",
        [["a", 10.0, Decimal("0.00")], ["b", 7.75, Decimal("4.50")]],
    ),
    "an aggregate of nothing is one row": ("from sales aggregate { x = 1 }", [[1]]),
    "an aggregate of which nothing is read is one row": (
        "from sales aggregate { n = count() } derive { x = 1 } select { x }",
        [[1]],
    ),
    "a take among rows that look alike goes by what a let still holds": (
        "from sales let n = -id let m = n select { day } take 1..2 derive { y = m }",
        [[DAY, -5], [DAY, -3]],
    ),
    "a window among rows that look alike goes by what a let still holds": (
        "from sales filter id != 4 let n = -id derive { id = 0, day = 0, amount = 0, shop = 0, kind = 0 } "
        "derive { r = row_number() over (sort: [day]) } sort { r } select { r, n }",
        [[1, -5], [2, -3], [3, -2], [4, -1]],
    ),
    "an aggregate of no rows": (
        "from sales filter id > 99 aggregate { n = count(), s = sum(amount) }",
        [[0, None]],
    ),
    "a key's expression repeated": (
        'from sales group { upper(kind) } ( aggregate { k = upper(kind) || "!", n = count() } ) sort { g0 }',
        [["A", "A!", 2], ["B", "B!", 2], [None, None, 1]],
    ),
    "a key's name in an aggregate": (
        "from sales group { big = amount > 5 } ( aggregate { any_big = any(big), n = count() } ) sort { n, big }",
        [[False, False, 1], [None, None, 1], [True, True, 3]],
    ),
    "windows": (
        "from sales derive { nth = row_number() over (partition_by: [day], sort: [-id]), "
        "rest = amount - min(amount) over (partition_by: [kind]) } select { id, nth, rest } sort { id }",
        [
            [1, 3, Decimal("0.00")],
            [2, 2, Decimal("0.00")],
            [3, 2, None],
            [4, 1, Decimal("0.00")],
            [5, 1, Decimal("4.50")],
        ],
    ),
    "a filter on a window": (
        "from sales derive { nth = row_number() over (partition_by: [day], sort: [-id]) } filter nth == 1 "
        "select { id } sort { id }",
        [[4], [5]],
    ),
    "a window over aggregates": (
        "from sales group { day } ( aggregate { n = count(), share = count() / sum(count()) over () } ) sort { day }",
        [[DAY, 3, 0.6], [LATER, 2, 0.4]],
    ),
    "an ordered aggregate": (
        'from sales sort { -id } group { kind } ( aggregate { ids = array_agg(id) } ) filter kind == "b"',
        [["b", [5, 2]]],
    ),
}


@pytest.mark.parametrize("case", ROWS)
def test_rows(case: str) -> None:
    body, expected = ROWS[case]
    assert rows(body) == expected
