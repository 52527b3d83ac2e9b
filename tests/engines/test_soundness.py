"""Whatever the compiler calls proven is never violated by a run, and what it does not prove is asked at the pin.

Random models in text, over random rows that keep what their sources declare, run on every engine one after the other
as `apply` does: a model whose pin fails is not published, and those that read it are not run.
"""

# ruff: noqa: E501  (tables of literal expectations, one row a case)
from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from decimal import Decimal

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from strata_core.analysis import CompiledModel, CompiledProject, compile_project
from strata_core.contract.authoring import proven
from strata_core.contract.rules import Fact, Rule, promises
from strata_core.engines.protocol import ArrowTable, Engine
from strata_core.engines.reference.assess import assess
from strata_core.engines.reference.values import group_key
from strata_core.language.parser import parse_module

from .conformance import check_facts, outcome_of, table_of
from .engines import ENGINES

Row = list[object]

SOURCES = """
source orders(csv: "o.csv") {
  columns: {
    id: int64 nonnull primary_key,
    customer: int64,
    kind: string nonnull enum {a, b, "ß"},
    note: string,
    amount: float64,
    price: decimal(9,2) nonnull,
    day: date,
    tags: array(int64),
  }
}
source customers(csv: "c.csv") {
  columns: { customer: int64 primary_key, kind: string enum {a, c}, note: string unique, amount: float64 nonnull }
}
source visits(csv: "v.csv") {
  columns: { customer: int64, kind: string nonnull, note: string, amount: float64 }
}
"""
COLUMNS = {
    "orders": ("id", "customer", "kind", "note", "amount", "price", "day", "tags"),
    "customers": ("customer", "kind", "note", "amount"),
    "visits": ("customer", "kind", "note", "amount"),
}

WORDS = st.sampled_from(["a", "b", "c", "ß", "A", "", "\u0131"])
NUMBERS = st.integers(-2, 3)
FLOATS = st.sampled_from([0.0, -0.0, 1.0, -1.5, 2.0, float("nan"), float("inf"), 5e-324])


def maybe(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | values


@st.composite
def rows(draw: st.DrawFn) -> dict[str, list[Row]]:
    """Rows that keep what the sources declare."""
    ids = draw(st.lists(st.integers(0, 6), unique=True, max_size=5))
    prices = st.integers(-200, 200).map(lambda n: Decimal(n).scaleb(-2))
    days = st.sampled_from([datetime.date(2024, 2, 28), datetime.date(2024, 2, 29)])
    orders = [
        [
            id_,
            draw(maybe(NUMBERS)),
            draw(st.sampled_from(["a", "b", "ß"])),
            draw(maybe(WORDS)),
            draw(maybe(FLOATS)),
            draw(prices),
            draw(maybe(days)),
            draw(maybe(st.lists(maybe(NUMBERS), max_size=2))),
        ]
        for id_ in ids
    ]
    keys = draw(st.lists(NUMBERS, unique=True, max_size=4))
    notes = iter(draw(st.permutations(["a", "b", "c", "ß", "A", "", "\u0131"])))
    customers = [
        [key, draw(maybe(st.sampled_from(["a", "c"]))), draw(st.sampled_from([None, next(notes)])), draw(FLOATS)]
        for key in keys
    ]
    visits = draw(
        st.lists(
            st.tuples(maybe(NUMBERS), st.sampled_from(["a", "b", "c"]), maybe(WORDS), maybe(FLOATS)).map(list),
            max_size=5,
        )
    )
    return {"orders": orders, "customers": customers, "visits": visits}


NUMBER = st.sampled_from(["1", "0", "2", "-1", "0.5", "0.0"])
TEXT = st.sampled_from(['"a"', '"b"', '"c"', '"ß"', '""'])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """An expression that is a string over columns every table has."""
    return draw(
        st.one_of(
            st.sampled_from(["kind", "note"]),
            TEXT,
            st.builds("upper({})".format, st.sampled_from(["kind", "note", '"ß"'])),
            st.builds("lower(upper({}))".format, st.sampled_from(["kind", "note"])),
            st.builds("trim({})".format, st.sampled_from(["kind", "note"])),
            st.builds("coalesce({}, {})".format, st.sampled_from(["kind", "note"]), TEXT),
            st.builds("if({}, {}, {})".format, conditions(), TEXT, st.sampled_from(["kind", "note", "none", '"a"'])),
            st.builds("case({}, {}, {}, {})".format, conditions(), TEXT, conditions(), TEXT),
            st.builds("case({}, {}, {})".format, conditions(), TEXT, st.sampled_from(["kind", '"c"'])),
            st.builds("nullif(kind, {})".format, TEXT),
            st.builds("{} || {}".format, st.sampled_from(["kind", "note"]), TEXT),
            st.builds("greatest({}, {})".format, st.sampled_from(["kind", "note"]), TEXT),
            st.just('try_cast(note, "string")'),
        )
    )


@st.composite
def numbers(draw: st.DrawFn) -> str:
    """An expression that is a number over columns every table has."""
    return draw(
        st.one_of(
            st.sampled_from(["customer", "amount"]),
            st.builds("customer / {}".format, st.sampled_from(["customer", "amount", "2", "0"])),
            st.builds("customer % {}".format, st.sampled_from(["customer", "2", "0"])),
            st.builds("amount * {}".format, st.sampled_from(["amount", "0.5", "5e-324"])),
            st.builds("1 / ({})".format, st.sampled_from(["nullif(customer, 0)", "coalesce(customer, 1)", "-amount"])),
            st.builds("if({}, {}, {})".format, conditions(), NUMBER, st.sampled_from(["amount", "none", "1.5"])),
            st.builds("coalesce(customer, {})".format, st.sampled_from(["0", "1", "amount"])),
            st.builds("abs(customer)".format),
            st.builds('try_cast(note, "int64")'.format),
            st.builds('cast(amount * 0.0, "decimal(9,2)")'.format),
        )
    )


@st.composite
def conditions(draw: st.DrawFn, prefix: str = "") -> str:
    column = st.sampled_from([f"{prefix}kind", f"{prefix}note"])
    number = st.sampled_from([f"{prefix}customer", f"{prefix}amount"])
    one = st.one_of(
        st.builds("{} {} {}".format, column, st.sampled_from(["==", "!=", "<", ">="]), TEXT),
        st.builds("{} {} {}".format, number, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), NUMBER),
        st.builds("{} in [{}, {}]".format, column, TEXT, st.one_of(TEXT, st.just("none"))),
        st.builds("not {} in [{}, {}]".format, column, TEXT, TEXT),
        st.builds("{} is {}none".format, st.one_of(column, number), st.sampled_from(["", "not "])),
        st.builds("{} like {}".format, column, st.sampled_from(['"a%"', '"_"', '"%"'])),
        st.builds("{0}customer == {0}amount".format, st.just(prefix)),
        st.builds("{0}kind == {0}note".format, st.just(prefix)),
        st.builds("upper({}) == {}".format, column, TEXT),
    )
    parts = draw(st.lists(one, min_size=1, max_size=3))
    text = parts[0]
    for part in parts[1:]:
        text = f"({text}) {draw(st.sampled_from(['and', 'or']))} ({part})"
    return f"not ({text})" if draw(st.integers(0, 5)) == 0 else text


ANNOTATIONS = {
    "kind": ["", " nonnull", " enum {a, b}", ' enum {a, b, c, "ß", "SS", A, B, C}', " nonnull enum {a}", " unique"],
    "note": ["", " nonnull", " enum {a}", " unique", " nonnull unique"],
    "customer": ["", " nonnull", " unique", " primary_key", " nonnull unique"],
    "amount": ["", " nonnull", " unique"],
}


KINDS = ("filter", "join", "semi", "derive", "set", "dedup", "group", "window", "take", "expand")


@st.composite
def bodies(draw: st.DrawFn, tables: Sequence[str]) -> str:
    """The statements of a model that leaves the columns `customer kind note amount`."""
    lines = [f"from {draw(st.sampled_from(tables))} as t"]
    for _ in range(draw(st.integers(0, 3))):
        match draw(
            st.sampled_from(["filter", "join", "semi", "derive", "set", "dedup", "group", "window", "take", "expand"])
        ):
            case "filter":
                lines.append(f"filter {draw(conditions())}")
            case "join":
                kind = draw(st.sampled_from(["left", "inner", "full", "left"]))
                other = draw(st.sampled_from(tables))
                column = draw(st.sampled_from(["customer", "kind", "note"]))
                more = draw(st.sampled_from(["", f" and {draw(conditions('r.'))}"]))
                expect = draw(st.sampled_from(["", " expect many_to_one", " expect one_to_one", " expect one_to_many"]))
                lines.append(f"join_{kind} {other} as r on {column} == r.{column}{more}{expect}")
                picked = {name: draw(st.sampled_from([name, f"r.{name}"])) for name in COLUMNS["visits"]}
                if draw(st.booleans()):
                    picked["kind"] = "coalesce(r.kind, kind)"
                lines.append("select { " + ", ".join(f"{name} = {value}" for name, value in picked.items()) + " }")
            case "semi":
                other = draw(st.sampled_from(tables))
                lines.append(f"join_{draw(st.sampled_from(['semi', 'anti']))} {other} as r on note == r.note")
            case "derive":
                lines.append(f"derive {{ kind = {draw(texts())}, amount = {draw(numbers())} }}")
            case "set":
                lines.append("select { customer, kind, note, amount }")
                word = draw(st.sampled_from(["union", "union all", "intersect", "except"]))
                lines.append(f"{word} {draw(st.sampled_from([t for t in tables if t != 'orders']))}")
            case "dedup":
                by = draw(st.sampled_from(["customer", "kind", "kind, note"]))
                lines.append(
                    draw(st.sampled_from(["dedup", f"dedup by {by}", f"dedup by {by} sort {{ amount desc }}"]))
                )
            case "group":
                key = draw(st.sampled_from(["kind", "note", "kind, note", ""]))
                rest = [name for name in ("kind", "note") if name not in key]
                made = [f"{name} = {draw(st.sampled_from(['min', 'max']))}({name})" for name in rest]
                number = draw(st.sampled_from(["count()", "count(note)", "count(distinct kind)", "max(customer)"]))
                value = draw(st.sampled_from(["sum(amount)", "avg(amount)", "stddev(amount)", "min(amount)"]))
                having = draw(st.sampled_from(["", " filter customer > 1"]))
                made += [f"customer = {number}", f'amount = cast({value}, "float64")']
                lines.append(f"group {{ {key} }} ( aggregate {{ {', '.join(made)} }}{having} )")
            case "window":
                over = draw(st.sampled_from(["", "partition_by: [kind], ", "partition_by: [note], "]))
                frame = draw(st.sampled_from(["", ", rows: 1..2", ", rows: -1..0", ", rows: ..-1"]))
                function = draw(st.sampled_from(["row_number()", "rank()", "count()", "count(note)", "lag(customer)"]))
                framed = frame if function.startswith("count") else ""
                best = draw(st.sampled_from(["max(amount)", "first_value(amount)", "sum(amount)"]))
                lines.append(
                    f"derive {{ customer = {function} over ({over}sort: [amount, note]{framed}), "
                    f"amount = {best} over ({over}sort: [kind, amount]{frame}) }}"
                )
            case "take":
                lines.append(f"sort {{ amount }} take {draw(st.sampled_from(['1', '2', '2..3']))}")
            case _:
                lines.append("expand [customer, 1, none] as other derive { customer = other }")
    lines.append("select { customer, kind, note, amount }")
    return "\n  ".join(lines)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Sources, and three models that may read one another, with contracts."""
    parts = [SOURCES]
    tables = ["orders", "customers", "visits"]
    for number in range(draw(st.integers(1, 3))):
        fields = [f"{name}: {type_}{draw(st.sampled_from(ANNOTATIONS[name]))}" for name, type_ in TYPES.items()]
        parts.append(f"contract C{number} {{ {', '.join(fields)} }}")
        promise = draw(st.sampled_from([f" -> contract C{number}", f" -> contract C{number}", ""]))
        parts.append(f"model m{number}{promise} {{\n  {draw(bodies(tables))}\n}}")
        tables.append(f"m{number}")
    return "\n".join(parts)


TYPES = {"customer": "int64", "kind": "string", "note": "string", "amount": "float64"}


def compiled(program: str) -> CompiledProject:
    parsed = parse_module(program, "p.strata")
    assert not parsed.diagnostics, parsed.diagnostics
    return compile_project([parsed.module])


def check_soundness(program: str, data: Mapping[str, list[Row]], engine: Engine) -> int:
    """Run all sound models; the number of those that ran. Raises where a run breaks what was proven."""
    project = compiled(program)
    tables = {n: table_of(source.columns, data[n]) for n, source in project.sources.items()}
    unpublished: set[str] = set()
    for name, model in project.models.items():
        if unpublished & {*model.upstream} or not run(model, tables, engine, program):
            unpublished.add(name)
    return len(project.models) - len(unpublished)


def run(model: CompiledModel, tables: dict[str, ArrowTable], engine: Engine, program: str) -> bool:
    """Run one model and look at its rows; whether it may be published."""
    outcome = outcome_of(engine, model.relation, tables)
    if outcome.codes:
        return False
    for expectation in model.expectations:
        seen = outcome_of(engine, expectation.relation, tables)
        keys = [expectation.relation.schema.names.index(c) for c in expectation.columns]
        if seen.codes or repeated([[row[at] for at in keys] for row in seen.rows]):
            return False
    check_facts(model.relation, outcome)
    columns = model.relation.schema.columns
    table = table_of(columns, [list(row) for row in outcome.rows])
    if model.contract is None:
        tables[model.name] = table
        return True
    known = proven(model.proofs)
    asked = set(model.assertions)
    sound = True
    for promise in promises(model.contract):
        question = promise.question()
        if question is None:
            continue
        assert promise.fact in known or question in asked, f"{promise.text} is neither proven nor asked\n{program}"
        (answer,) = assess(table, [question], ()).measurements
        if answer.offenders:
            assert promise.fact not in known, f"{model.name}: {promise.text} was proven\n{outcome.rows}\n{program}"
            sound = False
    tables[model.name] = table
    return sound


def repeated(keys: list[list[object]]) -> bool:
    """Whether two keys without nulls agree."""
    whole = [group_key(key) for key in keys if None not in key]
    return len(set(whole)) < len(whole)


@settings(max_examples=150)
@given(programs(), rows())
def test_what_is_proven_holds_in_every_run_on_every_engine(program, data):
    for engine in ENGINES:
        ran = check_soundness(program, data, engine)
    event(f"{ran} models ran")


ORDERS = [
    [1, 1, "a", None, 0.0, 0, None, [None]],
    [2, None, "b", "a", float("nan"), 1, None, None],
    [3, 1, "ß", "ß", -0.0, 2, datetime.date(2024, 2, 29), []],
]
CUSTOMERS = [[1, "a", None, float("nan")], [0, None, "a", 0.0]]
VISITS = [[1, "a", "a", 0.0], [1, "a", None, None], [None, "c", "a", 1.0], [None, "c", None, -0.0]]
DATA = {"orders": ORDERS, "customers": CUSTOMERS, "visits": VISITS}

PROVEN, ASKED, REFUSED = "proven", "asked", "refused"


@pytest.mark.parametrize(
    ("body", "field", "verdict"),
    [
        # Nullability: what a filter, a join, a branch or a frame may leave null is not called nonnull.
        ("from visits filter customer > 0", "customer: int64 nonnull", PROVEN),
        ("from visits filter not (customer > 0)", "customer: int64 nonnull", PROVEN),
        ("from visits filter customer > 0 or note == \"a\"", "customer: int64 nonnull", REFUSED),
        ("from visits filter customer > 0 or customer < 5", "customer: int64 nonnull", PROVEN),
        ("from visits filter not (customer > 0 and amount > 0.0)", "customer: int64 nonnull", REFUSED),
        ("from visits filter coalesce(customer, 1) == 1", "customer: int64 nonnull", REFUSED),
        ("from visits filter note in [\"a\", none]", "note: string nonnull", PROVEN),
        ("from visits filter not note in [\"b\"]", "note: string nonnull", REFUSED),
        ("from visits filter if(note is none, true, note == \"a\")", "note: string nonnull", REFUSED),
        ("from visits join_left customers on visits.customer == customers.customer select { kind = customers.kind, amount = customers.amount }", "amount: float64 nonnull", REFUSED),
        ("from visits join_left customers on visits.customer == customers.customer filter customers.amount is not none select { amount = customers.amount }", "amount: float64 nonnull", PROVEN),
        ("from customers join_full visits on visits.customer == customers.customer select { amount = customers.amount }", "amount: float64 nonnull", REFUSED),
        ("from customers select { kind = \"a\", amount } union all more", "amount: float64 nonnull", REFUSED),
        ("from more select { kind, amount } intersect plain", "amount: float64 nonnull", PROVEN),
        ("from more select { kind, amount } except plain", "amount: float64 nonnull", REFUSED),
        ("from orders expand tags as tag select { tag }", "tag: int64 nonnull", REFUSED),
        ("from orders select { x = coalesce(note, kind) }", "x: string nonnull", PROVEN),
        ("from orders select { x = case(kind == \"a\", \"x\") }", "x: string nonnull", REFUSED),
        ("from orders select { x = nullif(kind, \"a\") }", "x: string nonnull", REFUSED),
        ("from orders select { x = try_cast(kind, \"int64\") }", "x: int64 nonnull", REFUSED),
        ("from orders select { x = id / 2 }", "x: float64 nonnull", PROVEN),
        ("from orders select { x = id / (id - 1) }", "x: float64 nonnull", REFUSED),
        ("from orders filter id > 0 select { x = 1 % id }", "x: int64 nonnull", PROVEN),
        ("from orders filter id >= 0 select { x = 1 % id }", "x: int64 nonnull", REFUSED),
        ("from customers filter amount != 0.0 select { x = 1 / cast(amount, \"decimal(9,2)\") }", "x: float64 nonnull", REFUSED),
        ("from customers filter amount != 0.0 select { x = 1 / (amount * amount) }", "x: float64 nonnull", REFUSED),
        ("from orders aggregate { x = max(id) }", "x: int64 nonnull", REFUSED),
        ("from orders group { note } ( aggregate { x = max(id) } )", "x: int64 nonnull", PROVEN),
        ("from orders group { note } ( aggregate { x = stddev(id) } )", "x: float64 nonnull", REFUSED),
        ("from orders group { } ( aggregate { x = max(id) } )", "x: int64 nonnull", REFUSED),
        ("from orders group { kind } ( aggregate { n = count(note) } ) select { x = 1 / n }", "x: float64 nonnull", REFUSED),
        ("from orders group { kind } ( aggregate { n = count() } ) select { x = 1 / n }", "x: float64 nonnull", PROVEN),
        ("from orders derive { x = sum(id) over (sort: [id], rows: 1..2) }", "x: int64 nonnull", REFUSED),
        ("from orders derive { x = sum(id) over (sort: [id], rows: -1..0) }", "x: int64 nonnull", PROVEN),
        ("from orders derive { x = lag(id, 1, 0) over (sort: [id]) }", "x: int64 nonnull", PROVEN),
        ("from orders derive { x = lag(id) over (sort: [id]) }", "x: int64 nonnull", REFUSED),
        # Value sets.
        ("from orders select { x = upper(kind) }", 'x: string enum {A, B, "ß"}', ASKED),
        ("from orders filter kind != \"ß\" select { x = upper(kind) }", "x: string enum {A, B}", PROVEN),
        ("from orders filter kind in [\"a\", \"c\"]", "kind: string enum {a}", PROVEN),
        ("from orders filter kind == \"a\" or note == \"a\"", "kind: string enum {a}", REFUSED),
        ("from visits filter kind == note", 'kind: string enum {a}', ASKED),
        ("from visits filter kind == \"a\" and true", 'kind: string enum {a}', PROVEN),
        ("from visits filter not kind == \"a\"", 'kind: string enum {c}', ASKED),
        ("from orders select { x = if(note == \"a\", \"a\", kind) }", 'x: string enum {a, b, "ß"}', PROVEN),
        ("from orders select { x = coalesce(note, kind) }", 'x: string enum {a, b, "ß"}', ASKED),
        ("from orders join_left customers on orders.customer == customers.customer select { x = customers.kind }", "x: string enum {a, c}", PROVEN),
        ("from orders select { kind, amount } union all more", 'kind: string enum {a, b, "ß"}', ASKED),
        ("from orders group { note } ( aggregate { x = min(kind) } )", 'x: string enum {a, b, "ß"}', PROVEN),
        # Keys.
        ("from orders select { id, kind }", "id: int64 unique", PROVEN),
        ("from orders join_left customers on orders.customer == customers.customer select { id = orders.id }", "id: int64 unique", PROVEN),
        ("from orders join_left visits on orders.customer == visits.customer select { id = orders.id }", "id: int64 unique", ASKED),
        ("from visits join_left customers on visits.customer == customers.customer select { customer = customers.customer }", "customer: int64 unique", ASKED),
        ("from customers join_full visits on visits.customer == customers.customer select { customer = customers.customer }", "customer: int64 unique", ASKED),
        ("from orders join_cross customers select { id = orders.id }", "id: int64 unique", ASKED),
        ("from orders join_semi visits on orders.customer == visits.customer select { id }", "id: int64 unique", PROVEN),
        ("from orders select { id } union all ids", "id: int64 unique", ASKED),
        ("from orders select { id } union ids", "id: int64 unique", PROVEN),
        ("from orders select { id } except ids", "id: int64 unique", PROVEN),
        ("from orders expand tags as tag select { id, tag }", "id: int64 unique", ASKED),
        ("from visits group { customer } ( aggregate { n = count() } )", "customer: int64 unique", PROVEN),
        ("from visits group { customer, kind } ( aggregate { n = count() } )", "customer: int64 unique", ASKED),
        ("from visits dedup by customer", "customer: int64 unique", PROVEN),
        ("from visits select { customer, kind } dedup", "customer: int64 unique", ASKED),
        ("from visits sort { customer } take 1", "customer: int64 unique", PROVEN),
        ("from visits sort { customer } take 2", "customer: int64 unique", ASKED),
        ("from orders select { x = -id }", "x: int64 unique", ASKED),
        ("from orders select { x = cast(id, \"float64\") }", "x: float64 unique", ASKED),
        ("from orders derive { n = row_number() over (sort: [id]) }", "n: int64 unique", PROVEN),
        ("from orders derive { n = row_number() over (partition_by: [kind], sort: [id]) }", "n: int64 unique", ASKED),
        ("from orders derive { n = rank() over (sort: [kind]) }", "n: int64 unique", ASKED),
        ("from orders derive { n = row_number() over (partition_by: [kind], sort: [id]) } filter kind == \"a\"", "n: int64 unique", PROVEN),
        ("from orders derive { n = row_number() over (partition_by: [kind], sort: [id]) } filter kind in [\"a\"]", "n: int64 unique", ASKED),
    ],
)  # fmt: skip
def test_a_proof_says_no_more_than_holds(body, field, verdict):
    program = f"""{SOURCES}
model more {{ from visits select {{ kind, amount }} }}
model plain {{ from customers filter kind is not none select {{ kind = coalesce(kind, "a"), amount }} }}
model ids {{ from orders select {{ id }} }}
contract Held {{ {field} }}
model held -> contract Held {{ {body} }}
"""
    project = compiled(program)
    refused = {d.code for d in project.diagnostics if d.blocks}
    if verdict == REFUSED:
        assert refused in ({"E012"}, {"E014"})
        return
    assert not refused, project.diagnostics
    name, rule = field.split(":")[0], {"nonnull": Rule.NONNULL, "unique": Rule.UNIQUE}.get(field.split()[-1], Rule.ENUM)
    assert (Fact(rule, (name,)) in proven(project.models["held"].proofs)) == (verdict == PROVEN)
    for engine in ENGINES:
        check_soundness(program, DATA, engine)
