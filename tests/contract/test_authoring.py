"""Phase A: one test for each rule of Seed 0 §5 A and §3, with message and fix of every code."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.contract.assertions import NotOlder, Unique, Within
from strata_core.contract.authoring import CHECKS, Conformance, conform, lint, proven
from strata_core.contract.model import ContractField, Freshness, Mask, MaskRule, TableContract
from strata_core.contract.rules import Fact, Rule, promises
from strata_core.diagnostics import Diagnostic, Severity, Span
from strata_core.relation.build import aggregate_rows, filter_rows, join, ref, scan
from strata_core.relation.expressions import aggregate, call, literal
from strata_core.relation.nodes import AggregateItem, Item, JoinKind
from strata_core.relation.schema import Column, Schema
from strata_core.types import (
    BOOL,
    DATE,
    FLOAT64,
    INT64,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    UUID,
    Array,
    Decimal,
    Inferred,
    Money,
    Struct,
    StructField,
    ValueType,
)

MODEL = Span("m.strata", 10, 15, 10, 29)
PROMISED = Span("m.strata", 2, 3, 2, 20)
EXPRESSION = Span("m.strata", 12, 5, 12, 30)


def output(*columns: Column, keys: frozenset[frozenset[str]] = frozenset()) -> Schema:
    return Schema(columns, keys)


def column(name: str, type_: ValueType, nullable: bool = False, values: set[str] | None = None) -> Column:
    return Column(name, Inferred(type_, nullable, None if values is None else frozenset(values)))


def check(schema: Schema, *fields: ContractField, closed: bool = False) -> Conformance:
    spans = dict.fromkeys(schema.names, EXPRESSION)
    return conform(schema, TableContract("Paid", fields, closed=closed), MODEL, spans)


def only(conformance: Conformance) -> Diagnostic:
    (finding,) = conformance.diagnostics
    return finding


def explained(conformance: Conformance) -> list[str]:
    return [str(p) for p in conformance.proofs]


def test_every_rule_of_a_contract_has_a_check() -> None:
    assert set(CHECKS) == set(Rule) - {Rule.HOLDS}


def test_seed0_s5a_missing_field_is_e010() -> None:
    finding = only(check(output(column("id", STRING)), ContractField("amount", INT64, span=PROMISED)))
    assert (finding.code, finding.span) == ("E010", MODEL)
    assert finding.message == "the output has no `amount`, which is promised by contract `Paid`"
    assert finding.fix == "add `amount` to the `select`, or take it out of the contract"
    assert [(r.span, r.message) for r in finding.related] == [(PROMISED, "promised here: int64")]
    assert finding.field_path == "contracts.Paid.amount"


def test_seed0_s5a_missing_field_offers_a_near_name() -> None:
    finding = only(check(output(column("ammount", INT64)), ContractField("amount", INT64)))
    assert finding.fix == "did you mean `ammount`? Name it so: `amount = ammount`"


def test_a_near_name_that_the_contract_promises_itself_is_not_offered() -> None:
    schema = output(column("amount2", INT64))
    finding = only(check(schema, ContractField("amount", INT64), ContractField("amount2", INT64)))
    assert finding.fix == "add `amount` to the `select`, or take it out of the contract"


def test_seed0_s5a_output_may_be_a_superset() -> None:
    assert check(output(column("id", STRING), column("more", BOOL)), ContractField("id", STRING)).diagnostics == ()


def test_seed0_s5a_equal_types_conform() -> None:
    result = check(output(column("id", INT64)), ContractField("id", INT64))
    assert (result.diagnostics, dict(result.casts)) == ((), {})
    assert explained(result) == ["id: type proven (type inference: int64 nonnull, computed from no column)"]


@pytest.mark.parametrize(
    ("inferred", "promised"),
    [
        (INT64, FLOAT64),
        (INT64, Decimal(38, 2)),
        (Decimal(10, 2), Decimal(12, 3)),
        (Array(INT64, element_nullable=False), Array(INT64)),
    ],
)
def test_seed0_s5a_a_subtype_conforms_by_an_implicit_cast(inferred: ValueType, promised: ValueType) -> None:
    result = check(output(column("x", inferred)), ContractField("x", promised))
    assert (result.diagnostics, dict(result.casts)) == ((), {"x": promised})
    assert explained(result)[0] == (
        f"x: type proven ({inferred} widens to {promised} by a cast that the compiler adds)"
    )


@pytest.mark.parametrize(
    ("inferred", "promised", "fix"),
    [
        (FLOAT64, Decimal(10, 2), '`x = cast(x, "decimal(10,2)")`'),
        (Decimal(12, 2), Decimal(10, 2), '`x = cast(x, "decimal(10,2)")`'),
        (DATE, TIMESTAMP, '`x = cast(x, "timestamp")`'),
        (STRING, UUID, '`x = cast(x, "uuid")`'),
        (Money("EUR"), Decimal(38, 2), '`x = cast(x, "decimal(38,2)")`'),
        (INT64, Money("EUR"), '`x = cast(x, "money(EUR)")`'),
        (Decimal(10, 2), Money("EUR"), '`x = cast(x, "money(EUR)")`'),
        (Decimal(10, 4), Money("EUR"), '`x = cast(round(x, 2, half_even), "money(EUR)")`'),
        (FLOAT64, Money("EUR"), '`x = cast(round(x, 2, half_even), "money(EUR)")`'),
        (Money("USD"), Money("EUR"), "`x = convert(x, rate, EUR)`, with the rate's own column"),
        (DATE, BOOL, "compute bool some other way, or promise date: no cast leads from one to the other"),
        (Array(INT64), Array(FLOAT64), '`x = cast(x, "array(float64)")`'),
    ],
)
def test_seed0_s5a_any_other_type_is_e011_with_the_exact_cast(
    inferred: ValueType, promised: ValueType, fix: str
) -> None:
    result = check(output(column("x", inferred)), ContractField("x", promised))
    finding = only(result)
    assert (finding.code, finding.span) == ("E011", EXPRESSION)
    assert finding.message == f"`x` is {inferred}, but contract `Paid` promises {promised}"
    assert finding.fix == fix
    assert "" not in finding.notes
    assert dict(result.casts) == {}


def test_seed0_s1_mixed_currency_at_the_boundary_names_the_rate() -> None:
    finding = only(check(output(column("x", Money("USD"))), ContractField("x", Money("EUR"))))
    assert finding.notes == ("one currency becomes another only by a rate",)


@pytest.mark.parametrize("name", ["net amount", "from"])
def test_seed0_s5a_a_name_that_needs_quotes_has_them_in_the_fix(name: str) -> None:
    finding = only(check(output(column(name, FLOAT64)), ContractField(name, Decimal(9, 2))))
    assert finding.fix == f'``{name}` = cast(`{name}`, "decimal(9,2)")`'


def test_seed0_s5a_nullable_where_nonnull_is_promised_is_e012() -> None:
    finding = only(check(output(column("x", STRING, nullable=True)), ContractField("x", STRING, nullable=False)))
    assert (finding.code, finding.span) == ("E012", EXPRESSION)
    assert finding.message == "`x` can be none, but contract `Paid` promises nonnull"
    assert finding.fix == "keep the rows that have one (`filter x is not none`), or fill it in (`coalesce(x, …)`)"


def test_seed0_s5a_a_null_of_a_join_is_explained() -> None:
    orders = scan("orders", [column("customer", STRING)])
    customers = scan("customers", [column("id", STRING), column("email", STRING)])
    joined = join(JoinKind.LEFT, orders, customers, call("eq", ref(orders, "customer"), ref(customers, "id")))
    finding = only(check(joined.schema, ContractField("email", STRING, nullable=False)))
    assert finding.notes == (
        "customers.email came through a join: a left or full join gives none where no row matches",
    )


def test_seed0_s2_a_null_of_an_empty_aggregate_is_explained() -> None:
    orders = scan("orders", [column("amount", INT64)])
    total = aggregate_rows(orders, (), [AggregateItem("total", aggregate("sum", ref(orders, "amount"), grouped=False))])
    finding = only(check(total.schema, ContractField("total", INT64, nullable=False)))
    assert finding.notes == ("an aggregate is none where it sees no value (`count` is the exception)",)


def test_seed0_s5a_nonnull_is_proven_by_a_filter() -> None:
    orders = scan("orders", [column("email", STRING, nullable=True)])
    kept = filter_rows(orders, call("is_not_null", ref(orders, "email")))
    result = check(kept.schema, ContractField("email", STRING, nullable=False))
    assert explained(result)[1] == (
        "email: nonnull proven (type inference: string nonnull, carried from orders.email, after a filter on it)"
    )


def test_seed0_s3_primary_key_must_be_nonnull() -> None:
    result = check(output(column("id", STRING, nullable=True)), ContractField("id", STRING, primary_key=True))
    assert only(result).message == "`id` can be none, but contract `Paid` promises primary_key"


@pytest.mark.parametrize(
    ("field", "message"),
    [
        (
            ContractField("id", STRING, primary_key=True),
            "the output has no `id`, which is in the primary key of contract `Paid`",
        ),
        (
            ContractField("id", STRING, protected=True),
            "the output has no `id`, which is protected by contract `Paid`: consumers rely on it",
        ),
    ],
)
def test_seed0_s5a_missing_protected_or_key_column_is_e013(field: ContractField, message: str) -> None:
    finding = only(check(output(column("idd", STRING)), field))
    assert (finding.code, finding.message) == ("E013", message)
    assert finding.fix == "did you mean `idd`? Name it so: `id = idd`"


def test_seed0_s3_enum_subset_is_proven() -> None:
    schema = output(column("c", STRING, values={"ES", "MX"}))
    result = check(schema, ContractField("c", STRING, enum=("MX", "CO", "ES")))
    assert (result.diagnostics, result.assertions) == ((), ())
    assert explained(result)[1] == "c: enum proven (value set: its values are ES, MX)"


def test_seed0_s3_enum_is_proven_by_a_filter_against_its_literals() -> None:
    orders = scan("orders", [column("c", STRING, nullable=True)])
    kept = filter_rows(orders, call("in", ref(orders, "c"), literal("ES"), literal("MX")))
    result = check(kept.schema, ContractField("c", STRING, enum=("ES", "MX", "CO")))
    assert explained(result)[1] == "c: enum proven (value set: its values are ES, MX, after a filter on it)"


def test_seed0_s3_enum_not_proven_is_asserted_at_the_pin() -> None:
    result = check(output(column("c", STRING)), ContractField("c", STRING, enum=("ES", "MX")))
    assert result.assertions == (Within("c", ("ES", "MX")),)
    assert explained(result)[1] == (
        "c: enum asserted (measured at the write pin: its values are not known before the run)"
    )


def test_seed0_s3_values_outside_the_enum_are_e014_by_name() -> None:
    schema = output(column("status", STRING, values={"flown", "canceled", "lost"}))
    finding = only(check(schema, ContractField("status", STRING, enum=("flown", "cancelled"))))
    assert finding.code == "E014"
    assert finding.message == '`status` can be "canceled", "lost", outside the enum of contract `Paid`'
    assert finding.fix == (
        'keep what is promised (`filter status in ["flown", "cancelled"]`), map it with `case`, or extend the enum'
    )
    assert finding.notes == ('"canceled" is near "cancelled"',)


def test_many_values_outside_the_enum_are_not_all_listed() -> None:
    schema = output(column("c", STRING, values={f"v{i}" for i in range(20)}))
    finding = only(check(schema, ContractField("c", STRING, enum=("other",))))
    assert finding.label == 'can be "v0", "v1", "v10", "v11", "v12", "v13", "v14", "v15" and 12 more'


def test_seed0_s3_unique_is_proven_by_the_key_of_the_group() -> None:
    orders = scan("orders", [column("day", DATE), column("amount", INT64)])
    grouped = aggregate_rows(
        orders, [Item("day", ref(orders, "day"))], [AggregateItem("n", aggregate("count", grouped=True))]
    )
    result = check(grouped.schema, ContractField("day", DATE, unique=True))
    assert result.assertions == ()
    assert explained(result) == [
        "day: type proven (type inference: date nonnull, a key of the group, from orders.day)",
        "day: unique proven (key of the group: day)",
    ]


def test_seed0_s3_unique_is_proven_by_a_single_row() -> None:
    result = check(output(column("n", INT64), keys=frozenset({frozenset()})), ContractField("n", INT64, unique=True))
    assert explained(result)[1] == "n: unique proven (the output has at most one row)"


def test_seed0_s3_unique_not_proven_is_asserted_at_the_pin() -> None:
    result = check(output(column("id", STRING)), ContractField("id", STRING, unique=True))
    assert result.assertions == (Unique(("id",)),)
    assert explained(result)[1] == (
        "id: unique asserted (measured at the write pin: no known key of the output implies it)"
    )


def test_seed0_s3_composite_primary_key_is_one_rule() -> None:
    fields = (ContractField("a", STRING, primary_key=True), ContractField("b", STRING, primary_key=True))
    columns = (column("a", STRING), column("b", STRING))
    assert check(output(*columns), *fields).assertions == (Unique(("a", "b")),)
    smaller = check(output(*columns, keys=frozenset({frozenset({"b"})})), *fields)
    assert smaller.assertions == ()
    assert explained(smaller)[-1] == "a, b: primary key proven (key: b)"


def test_seed0_s3_freshness_becomes_a_question_of_the_instant() -> None:
    contract = TableContract(
        "C",
        (
            ContractField("placed", TIMESTAMP, freshness=timedelta(days=1)),
            ContractField("day", DATE),
        ),
        Freshness(timedelta(days=2), "day"),
    )
    result = conform(output(column("placed", TIMESTAMP), column("day", DATE)), contract, MODEL, {})
    assert result.assertions == ()
    assert tuple(p.question(datetime(2024, 3, 10, 12, 30)) for p in result.asserted) == (
        NotOlder("placed", datetime(2024, 3, 9, 12, 30)),
        NotOlder("day", datetime(2024, 3, 8)),
    )


def test_seed0_s5c_nested_nulls_are_proven_with_the_type() -> None:
    type_ = Struct((StructField("a", INT64, nullable=False), StructField("b", Array(STRING, False))))
    result = check(output(column("x", type_)), ContractField("x", type_))
    assert [(p.field, p.rule, p.proven) for p in result.proofs] == [
        ("x", Rule.TYPE, True),
        ("x.a", Rule.NESTED, True),
        ("x.b.element", Rule.NESTED, True),
    ]


def test_nested_nulls_where_none_are_promised_are_e011_once() -> None:
    result = check(output(column("x", Array(INT64))), ContractField("x", Array(INT64, element_nullable=False)))
    assert only(result).message == "`x` is array(int64), but contract `Paid` promises array(int64 nonnull)"


def test_seed0_s3_classification_without_a_mask_is_w004() -> None:
    bare = ContractField("email", STRING, classification="pii", span=PROMISED)
    masked = ContractField("phone", STRING, classification="pii", mask=Mask(MaskRule.HASH))
    (finding,) = lint(TableContract("Paid", (bare, masked)))
    assert (finding.code, finding.severity, finding.span) == ("W004", Severity.WARNING, PROMISED)
    assert finding.message == "`email` is classified as `pii` but has no mask"
    assert finding.fix == "add a mask, such as `mask: hash` (or `null`, `drop`, `partial(4)`)"
    assert check(output(column("email", STRING)), bare).diagnostics == (finding,)


def test_a_closed_contract_allows_no_other_column() -> None:
    schema = output(column("id", STRING), column("x", INT64), column("y", INT64))
    finding = only(check(schema, ContractField("id", STRING), closed=True))
    assert (finding.code, finding.span) == ("E015", EXPRESSION)
    assert finding.message == "`x`, `y` are no fields of contract `Paid`, which is closed"
    assert finding.fix == "take it out of the `select`, or add it to the contract"
    assert explained(check(output(column("id", STRING)), ContractField("id", STRING), closed=True))[-1] == (
        "the table: closed proven (the output has exactly the contract's columns)"
    )


def test_unknown_columns_were_reported_and_raise_nothing_more() -> None:
    result = check(
        output(Column("id", Inferred(UNKNOWN, True)), Column("b", Inferred(UNKNOWN, True))),
        ContractField("id", STRING, primary_key=True, enum=("a",)),
        ContractField("b", INT64, primary_key=True),
    )
    assert (result.diagnostics, result.proofs, result.assertions) == ((), (), ())


def test_a_field_of_unknown_type_raises_nothing_more() -> None:
    result = check(output(column("id", STRING)), ContractField("id", UNKNOWN, nullable=False))
    assert (result.diagnostics, dict(result.casts)) == ((), {})


def test_proven_facts_are_those_that_the_pin_need_not_measure() -> None:
    result = check(output(column("id", STRING)), ContractField("id", STRING, primary_key=True))
    assert proven(result.proofs) == {Fact(Rule.TYPE, ("id",)), Fact(Rule.NONNULL, ("id",))}


TYPES = st.sampled_from([INT64, FLOAT64, STRING, DATE, Decimal(10, 2), Money("EUR"), UNKNOWN])
VALUES = st.none() | st.frozensets(st.sampled_from("abc"))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Schema, TableContract]:
    names = draw(st.lists(st.sampled_from("pqrs"), unique=True, min_size=1))
    columns = tuple(Column(n, Inferred(draw(TYPES), draw(st.booleans()), draw(VALUES))) for n in names)
    keys = draw(st.frozensets(st.frozensets(st.sampled_from(names)), max_size=2))
    fields = []
    for name in draw(st.lists(st.sampled_from("pqrs"), unique=True)):
        type_ = draw(TYPES)
        enum = draw(st.none() | st.just(("a", "b"))) if type_ == STRING else None
        fields.append(
            ContractField(name, type_, draw(st.booleans()), draw(st.booleans()), draw(st.booleans()), enum=enum)
        )
    return Schema(columns, keys), TableContract("C", tuple(fields), closed=draw(st.booleans()))


@settings(max_examples=200, deadline=None)
@given(cases())
def test_law_each_promise_is_proven_asserted_or_broken(case: tuple[Schema, TableContract]) -> None:
    schema, contract = case
    result = conform(schema, contract, None, {})
    unknown = {c.name for c in schema.columns if c.inferred.type == UNKNOWN} | set(contract.names) - set(schema.names)
    held = {p.fact for p in result.proofs}
    for promise in promises(contract):
        columns = set(promise.fact.columns)
        if columns & unknown or promise.fact.rule is Rule.CLOSED or contract_type_unknown(contract, promise.fact):
            continue
        broken = any(d.field_path == f"contracts.C.{promise.fact.columns[0]}" for d in result.diagnostics)
        assert promise.fact in held or broken
    assert {p.fact for p in result.asserted} == {p.fact for p in result.proofs if not p.proven}


def contract_type_unknown(contract: TableContract, fact: Fact) -> bool:
    return fact.rule is Rule.TYPE and contract[fact.columns[0]].type == UNKNOWN


def test_authoring_loads_nothing_heavy() -> None:
    program = (
        "import sys, strata_core.contract.authoring; "
        "print(*sorted({'pyarrow', 'duckdb', 'polars', 'sqlglot', 'rich', 'lark'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
