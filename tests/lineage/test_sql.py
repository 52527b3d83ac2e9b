"""Column lineage read out of SQL, scope by scope (`lineage/sql.py`)."""

from __future__ import annotations

import pytest

from strata_core.lineage.sql import SqlLineage, UntracedError, sql_lineage

KNOWN = {"o": ["x", "y", "z"], "p": ["x", "q"], "open": []}


def traced(text: str, outputs: tuple[str, ...] = ()) -> SqlLineage:
    return sql_lineage(text, "duckdb", lambda table: table.name if table.name in KNOWN else None, KNOWN, outputs)


def origins(text: str, outputs: tuple[str, ...] = ()) -> dict[str, list[str]]:
    return {
        name: [f"{o.node}.{o.column} {o.transform}{' joined' if o.joined else ''}" for o in found]
        for name, found in traced(text, outputs).columns.items()
    }


def edges(text: str) -> list[str]:
    return sorted(f"{e.node}.{e.column} {e.role}" for e in traced(text).edges)


ORIGINS: dict[str, dict[str, list[str]]] = {
    "select x, y as b, z + 1 as c, 1 as d from o": {
        "x": ["o.x passthrough"],
        "b": ["o.y passthrough"],
        "c": ["o.z derived"],
        "d": [],
    },
    'select * from "db"."main"."o"': {n: [f"o.{n} passthrough"] for n in "xyz"},
    "select o.* exclude (x), q from o join p using (x)": {
        "y": ["o.y passthrough"],
        "z": ["o.z passthrough"],
        "q": ["p.q passthrough joined"],
    },
    "select x, sum(y) as s, count(*) as n from o group by 1": {
        "x": ["o.x grouped"],
        "s": ["o.y aggregated"],
        "n": [],
    },
    "with a as (select x as k, sum(y) as s from o group by x) select k, s * 2 as t from a": {
        "k": ["o.x grouped"],
        "t": ["o.y derived"],
    },
    "select k from (select y as k from o) as sub": {"k": ["o.y passthrough"]},
    "select x from o union all select x from p": {"x": ["o.x passthrough", "p.x passthrough"]},
    "select x from o except select x from p": {"x": ["o.x passthrough"]},
    "select x, (select max(q) from p where p.x = o.x) as m from o": {
        "x": ["o.x passthrough"],
        "m": ["p.q aggregated"],
    },
    "select sum(y) over (partition by x order by z) as w from o": {"w": ["o.y derived"]},
    "select u from o, unnest(o.z) as t(u)": {"u": ["o.z derived joined"]},
    "with recursive r as (select x from o union all select x + 1 from r) select x from r": {
        "x": ["o.x derived", "o.x passthrough"]
    },
    "select a, b + 1 as c from open": {"a": ["open.a passthrough"], "c": ["open.b derived"]},
    "with raw as (select * from open), t as (select *, upper(a) as up from raw) select a, up, b from t": {
        "a": ["open.a passthrough"],
        "up": ["open.a derived"],
        "b": ["open.b passthrough"],
    },
    "select elsewhere.v from elsewhere": {"v": []},
}


@pytest.mark.parametrize(("text", "expected"), ORIGINS.items())
def test_where_the_outputs_of_a_query_come_from(text: str, expected: dict[str, list[str]]) -> None:
    assert origins(text) == expected


EDGES: dict[str, list[str]] = {
    "select x from o where y > 1 having z > 2": ["o.y filter", "o.z filter"],
    "select o.x from o left join p on o.y = p.q": ["o.y join", "p.q join"],
    "select o.x from o join p using (x)": ["o.x join", "p.x join"],
    "select x as k from o group by y, x order by k limit 3": ["o.x group", "o.x sort", "o.y group"],
    "select x from o order by y": [],
    "select distinct x from o": ["o.x group"],
    "select x from o union select q from p": ["o.x group", "p.q group"],
    "select x from o intersect select q from p": ["o.x join", "p.q join"],
    "select x from o qualify row_number() over (partition by y order by z) = 1": ["o.y window", "o.z window"],
    "with a as (select x from o where y = 1) select x from a": ["o.y filter"],
    "select x from o where exists (select 1 from p where p.x = o.x)": ["o.x filter", "p.x filter"],
}


@pytest.mark.parametrize(("text", "expected"), EDGES.items())
def test_what_decides_about_the_rows_of_a_query(text: str, expected: list[str]) -> None:
    assert edges(text) == expected


def test_a_star_over_what_nobody_knows_is_read_by_the_outputs_that_are_documented() -> None:
    assert origins("select * from open", ("a",)) == {"a": ["open.a passthrough"]}


def test_a_column_whose_table_cannot_be_told_is_named() -> None:
    assert traced("select x from o join p on o.x = p.x").untraced == ("x",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("select * from open", "it takes all columns of a table whose columns are not known"),
        ("select from where", "its SQL does not parse at line 1, column 17"),
        ("create table t as select 1", "it is no query but CREATE"),
        ("pivot o on x using sum(y)", "it is no query but PIVOT"),
        ("select 1; select 2", "it is no query but BLOCK"),
        ("", "its SQL does not parse"),
    ],
)
def test_what_cannot_be_traced_says_why(text: str, why: str) -> None:
    with pytest.raises(UntracedError) as raised:
        traced(text)
    assert why in str(raised.value)


def test_a_diamond_of_two_to_the_hundred_paths_is_walked_once() -> None:
    steps = ", ".join(
        f"c{i} as (select a.x + b.x as x from c{i - 1} a join c{i - 1} b on a.x = b.x)" for i in range(1, 100)
    )
    assert origins(f"with c0 as (select x from o), {steps} select x from c99") == {
        "x": ["o.x derived", "o.x derived joined"]
    }
