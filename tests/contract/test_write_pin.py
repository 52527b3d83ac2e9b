"""Phase C: one test for each rule of Seed 0 §5 C, over Arrow, Parquet and CSV, and what the report shows of it.

`Rows` answers from Python lists, so that the expected values owe nothing to a real engine; the inputs go through
the reference engine.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.contract.assertions import (
    Assertion,
    Assessment,
    Holds,
    Measurement,
    NotNull,
    NotOlder,
    Unique,
    Within,
)
from strata_core.contract.authoring import Proof, conform
from strata_core.contract.encoding import report_from_json, report_to_json
from strata_core.contract.model import ContractField, Freshness, Mask, MaskRule, TableContract
from strata_core.contract.report import MASKED, PinReport, RuleResult, Sample, Status
from strata_core.contract.rules import Fact, Rule
from strata_core.contract.write_pin import CODES_OF_MEASURED, FIXES, MEASURED, judge, pin, questions, sample_key
from strata_core.diagnostics import CODES, Diagnostic, Span, StrataError
from strata_core.engines.protocol import ArrowTable, CsvTable, ParquetTable
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.relation.expressions import ColumnRef, Expr, call, columns_read, literal
from strata_core.relation.schema import Column, Schema
from strata_core.types import DATE, FLOAT64, INT64, STRING, TIMESTAMP, Inferred, parse_type
from strata_core.types.physical import arrow_type

NOW = datetime(2024, 3, 10, 12, 0)
SPAN = Span("m.strata", 3, 3, 3, 30)


@dataclass
class Rows:
    """Answers from Python lists; `asked` remembers the questions."""

    asked: tuple[Assertion, ...] = ()
    refuses: bool = False

    def physical_schema(self, table: pa.Table) -> pa.Schema:
        return table.schema

    def assess(self, table: pa.Table, assertions: Sequence[Assertion], key: Sequence[str] = ()) -> Assessment:
        self.asked = tuple(assertions)
        if self.refuses:
            raise StrataError(Diagnostic("E033", "the file is torn"))
        rows = table.to_pylist()
        return Assessment(len(rows), tuple(self._answer(a, rows, key) for a in assertions))

    def _answer(self, question: Assertion, rows: list[dict[str, object]], key: Sequence[str]) -> Measurement:
        columns: tuple[str, ...] = ()
        match question:
            case NotNull():
                columns = (question.column,)
                bad = [r for r in rows if any(v is None for v in inside([r[question.column]], question.path))]
            case Within():
                columns = (question.column,)
                bad = [r for r in rows if r[question.column] not in (None, *question.values)]
            case Unique():
                columns = question.columns
                seen: Counter[tuple[object, ...]] = Counter()
                bad = []
                for r in rows:
                    value = tuple(r[c] for c in columns)
                    seen[value] += 1
                    if None not in value and seen[value] > 1:
                        bad.append(r)
            case NotOlder():
                columns = (question.column,)
                latest = max((r[question.column] for r in rows if r[question.column] is not None), default=None)
                at = datetime(latest.year, latest.month, latest.day) if type(latest) is date else latest
                bad = [] if at is None or at >= question.instant else [{question.column: latest}]
                return Measurement(question, len(bad), tuple(bad))
            case Holds():
                columns = tuple(sorted(columns_read(question.predicate)))
                bad = [r for r in rows if r[columns[0]] is not None and not r[columns[0]] > 0]
        return Measurement(question, len(bad), tuple({c: r[c] for c in (*key, *columns)} for r in bad))


def inside(values: list[object], path: tuple[str, ...]) -> list[object]:
    for step in path:
        present = [v for v in values if v is not None]
        if step == "element":
            values = [e for v in present for e in v]
        elif step == "value":
            values = [e for v in present for _, e in v]
        else:
            values = [v[step] for v in present]
    return values


def contract(*fields: ContractField, closed: bool = False, freshness: Freshness | None = None) -> TableContract:
    return TableContract("Paid", fields, freshness, closed)


def run(table: pa.Table, *fields: ContractField) -> PinReport:
    return pin(Rows(), table, contract(*fields), now=NOW)


def only(report: PinReport) -> Diagnostic:
    assert not report.passed
    (finding,) = report.diagnostics()
    return finding


ID = ContractField("id", STRING, primary_key=True)


def test_every_rule_that_is_measured_has_code_fix_and_words() -> None:
    measured = set(Rule) - {Rule.TYPE, Rule.CLOSED}
    assert set(CODES_OF_MEASURED) == set(FIXES) == set(MEASURED) == measured
    assert set(CODES_OF_MEASURED.values()) | {"E080", "E084", "E088"} <= set(CODES)


def test_seed0_s5c_data_that_keeps_its_contract_passes() -> None:
    table = pa.table({"id": ["a", "b"], "country": ["ES", None], "more": [1, 2]})
    report = run(table, ID, ContractField("country", STRING, enum=("ES", "MX")))
    assert (report.passed, report.rows, report.diagnostics()) == (True, 2, ())
    assert [(r.field, r.rule.value, r.status.value) for r in report.rules] == [
        ("id", "type", "checked"),
        ("id", "nonnull", "checked"),
        ("id", "primary key", "checked"),
        ("country", "type", "checked"),
        ("country", "enum", "checked"),
    ]


def test_an_empty_table_keeps_all_promises() -> None:
    table = pa.table({"id": pa.array([], pa.string()), "placed": pa.array([], pa.timestamp("us"))})
    assert run(table, ID, ContractField("placed", TIMESTAMP, freshness=timedelta(days=1))).passed


def test_seed0_s5c_types_e080() -> None:
    field = ContractField("amount", parse_type("decimal(10,2)"), nullable=False, span=SPAN)
    finding = only(run(pa.table({"amount": [1, 2]}), field))
    assert (finding.code, finding.span, finding.field_path) == ("E080", SPAN, "contracts.Paid.amount")
    assert finding.message == "`amount` is int64 in the data, but contract `Paid` promises decimal(10,2)"
    assert finding.fix == "cast it to decimal(10,2) where the data is made: accepted is decimal128(10, 2), exactly"


def test_seed0_s5c_missing_column_e084() -> None:
    finding = only(run(pa.table({"id": ["a"]}), ID, ContractField("amount", INT64)))
    assert finding.code == "E084"
    assert finding.message == "the data has no column `amount`, which contract `Paid` promises as int64"
    assert finding.fix == "write `amount` into the data, or take it out of the contract"


def test_seed0_s5c_nullability_e081() -> None:
    table = pa.table({"id": ["a", "b", "c"], "email": ["x", None, None]})
    finding = only(run(table, ID, ContractField("email", STRING, nullable=False, span=SPAN)))
    assert (finding.code, finding.span) == ("E081", SPAN)
    assert finding.message == "2 rows have a null in `email`, which contract `Paid` promises nonnull"
    assert finding.notes == ("for instance id = b, email = none; id = c, email = none",)
    assert finding.fix == "repair these rows where the data is made, leave them out, or drop the promise"


def test_seed0_s5c_enum_membership_e082() -> None:
    table = pa.table({"id": ["a", "b", "c"], "country": ["ES", "XX", None]})
    finding = only(run(table, ID, ContractField("country", STRING, enum=("ES", "MX"))))
    assert finding.code == "E082"
    assert finding.message == "1 row has a value of `country` outside what contract `Paid` promises: enum {ES, MX}"
    assert finding.notes == ("for instance id = b, country = XX",)
    assert finding.fix == "map the value to a promised one where the data is made, or add it to the enum"


def test_seed0_s5c_uniqueness_e083() -> None:
    table = pa.table({"id": ["a", "b"], "email": ["x", "x"]})
    finding = only(run(table, ID, ContractField("email", STRING, unique=True)))
    assert finding.code == "E083"
    assert finding.message == "1 row repeats a value of `email`, which contract `Paid` promises unique"
    assert finding.notes == ("for instance id = b, email = x",)
    assert finding.fix == "keep one row for each value (`group` by it), or drop the promise"


def test_seed0_s3_unique_lets_nulls_repeat() -> None:
    table = pa.table({"id": ["a", "b"], "email": pa.array([None, None], pa.string())})
    assert run(table, ID, ContractField("email", STRING, unique=True)).passed


def test_seed0_s5c_primary_key_e083() -> None:
    finding = only(run(pa.table({"id": ["a", "a", "a"]}), ID))
    assert finding.message == "2 rows repeat a value of `id`, which contract `Paid` promises primary_key"
    assert finding.fix == "keep one row for each key (`group` by it), or make the key of more columns"


def test_seed0_s5c_composite_key_e083() -> None:
    fields = (ContractField("a", STRING, primary_key=True), ContractField("b", INT64, primary_key=True))
    assert run(pa.table({"a": ["x", "x"], "b": [1, 2]}), *fields).passed
    finding = only(run(pa.table({"a": ["x", "x"], "b": [1, 1]}), *fields))
    assert finding.message == "1 row repeats a value of `a, b`, which contract `Paid` promises primary_key (a, b)"
    assert finding.notes == ("for instance a = x, b = 1",)


@pytest.mark.parametrize(
    ("spelled", "good", "bad", "path"),
    [
        ("array(int64 nonnull)", [1, 2], [1, None], "x.element"),
        ("array(array(int64 nonnull))", [[1], None], [[1, None]], "x.element.element"),
        ("map(string, int64 nonnull)", [("k", 1)], [("k", None)], "x.value"),
        ("struct<a: int64 nonnull, b: int64>", {"a": 1, "b": None}, {"a": None, "b": 1}, "x.a"),
    ],
)
def test_seed0_s5c_nested_optionality_e081(spelled: str, good: object, bad: object, path: str) -> None:
    type_ = parse_type(spelled)
    loose = arrow_type(parse_type(spelled.replace(" nonnull", "")))
    assert run(pa.table({"x": pa.array([good, None], loose)}), ContractField("x", type_)).passed
    finding = only(run(pa.table({"x": pa.array([good, bad], loose)}), ContractField("x", type_)))
    assert finding.code == "E081"
    assert finding.message == f"1 row has a null in `{path}`, which contract `Paid` promises {spelled}"
    assert finding.fix == "repair these rows where the data is made, or let the contract's type have nulls inside"


def test_seed0_s5c_freshness_e085() -> None:
    field = ContractField("placed", TIMESTAMP, freshness=timedelta(days=1))
    old, edge = datetime(2024, 3, 9, 11, 59), datetime(2024, 3, 9, 12, 0)
    assert run(pa.table({"placed": [old, edge]}), field).passed
    finding = only(run(pa.table({"placed": [old, None]}), field))
    assert finding.code == "E085"
    assert finding.message == (
        "the latest `placed` is 2024-03-09 11:59:00, but contract `Paid` promises freshness <= 1d"
    )
    assert finding.fix == "find out why no later rows came, or let the contract's freshness be longer"


def test_seed0_s5c_a_date_is_fresh_to_the_end_of_its_day() -> None:
    field = ContractField("day", DATE, freshness=timedelta(days=1))
    assert run(pa.table({"day": [date(2024, 3, 9)]}), field).passed
    assert not run(pa.table({"day": [date(2024, 3, 8)]}), field).passed


def test_the_instant_of_the_pin_may_have_a_zone() -> None:
    field = ContractField("t", TIMESTAMP, freshness=timedelta(hours=1))
    madrid = datetime(2024, 3, 10, 13, 0, tzinfo=timezone(timedelta(hours=1)))
    expected = (NotOlder("t", datetime(2024, 3, 10, 11, 0)),)
    assert questions(contract(field), now=madrid) == expected
    assert questions(contract(field), now=NOW.replace(tzinfo=UTC)) == expected


def test_the_stricter_of_two_freshnesses_of_a_column_counts() -> None:
    field = ContractField("t", TIMESTAMP, freshness=timedelta(days=3))
    both = contract(field, freshness=Freshness(timedelta(days=2), "t"))
    assert questions(both, now=NOW) == (NotOlder("t", datetime(2024, 3, 8, 12, 0)),)


def test_a_freshness_without_a_column_is_no_question_about_the_rows() -> None:
    assert questions(contract(freshness=Freshness(timedelta(days=2))), now=NOW) == ()


def positive() -> Holds:
    amount: Expr = ColumnRef("amount", Inferred(INT64, True))
    return Holds(call("gt", amount, literal(0)), "amount > 0")


def test_further_assertions_e086() -> None:
    table = pa.table({"id": ["a", "b", "c"], "amount": [1, -1, None]})
    own = contract(ID, ContractField("amount", INT64))
    report = pin(Rows(), table, own, now=NOW, also=[positive()])
    finding = only(report)
    assert finding.code == "E086"
    assert finding.message == "1 row breaks the assertion `amount > 0` of contract `Paid`"
    assert finding.notes == ("for instance id = b, amount = -1",)
    assert finding.fix == "repair these rows where the data is made, or change the assertion"
    assert finding.field_path == "contracts.Paid"


def test_further_columns_of_a_closed_contract_e088() -> None:
    report = pin(Rows(), pa.table({"id": ["a"], "x": [1]}), contract(ID, closed=True), now=NOW)
    finding = only(report)
    assert finding.code == "E088"
    assert finding.message == "the data has columns that closed contract `Paid` does not name: `x`"
    assert finding.fix == "leave them out of the data, or promise them in the contract"


# --- what is asked --------------------------------------------------------------------------------------

EVERYTHING = contract(
    ContractField("id", STRING, primary_key=True),
    ContractField("c", STRING, nullable=False, enum=("ES",)),
    ContractField("tags", parse_type("array(string nonnull)")),
    ContractField("t", TIMESTAMP, freshness=timedelta(days=1)),
)


def test_seed0_s5c_untrusted_data_is_asked_everything() -> None:
    assert questions(EVERYTHING, now=NOW) == (
        NotNull("id"),
        Unique(("id",)),
        NotNull("c"),
        Within("c", ("ES",)),
        NotNull("tags", ("element",)),
        NotOlder("t", datetime(2024, 3, 9, 12, 0)),
    )


def test_a_candidate_of_our_own_is_asked_what_is_not_proven_and_nulls() -> None:
    columns = (
        Column("id", Inferred(STRING, False)),
        Column("c", Inferred(STRING, False, frozenset({"ES"}))),
        Column("tags", Inferred(parse_type("array(string nonnull)"), True)),
        Column("t", Inferred(TIMESTAMP, True)),
    )
    proofs = conform(Schema(columns, frozenset({frozenset({"id"})})), EVERYTHING, None, {}).proofs
    assert questions(EVERYTHING, proofs=proofs, now=NOW) == (
        NotNull("id"),
        NotNull("c"),
        NotOlder("t", datetime(2024, 3, 9, 12, 0)),
    )
    table = pa.table({"id": ["a"], "c": ["ES"], "tags": pa.array([["x"]]), "t": [NOW]})
    report = pin(Rows(), table, EVERYTHING, now=NOW, proofs=proofs)
    assert [(r.field, r.rule.value, r.status.value) for r in report.rules] == [
        ("id", "type", "checked"),
        ("id", "nonnull", "proven"),
        ("id", "primary key", "proven"),
        ("c", "type", "checked"),
        ("c", "nonnull", "proven"),
        ("c", "enum", "proven"),
        ("tags", "type", "checked"),
        ("tags.element", "nested nonnull", "proven"),
        ("t", "type", "checked"),
        ("t", "freshness", "checked"),
    ]


def test_a_proof_does_not_outweigh_what_was_measured() -> None:
    proof = Proof(Fact(Rule.NONNULL, ("x",)), True, "type inference")
    table = pa.table({"x": pa.array([None], pa.int64())})
    report = pin(Rows(), table, contract(ContractField("x", INT64, nullable=False)), now=NOW, proofs=[proof])
    assert only(report).code == "E081"


def test_rows_are_named_by_primary_key_else_by_a_unique_column_else_by_the_first_that_are_shown() -> None:
    a, b = ContractField("a", STRING, primary_key=True), ContractField("b", STRING, unique=True)
    assert sample_key(contract(b, a)) == ("a",)
    assert sample_key(contract(b, a), frozenset({"a"})) == ("b",)
    assert sample_key(contract(b, ContractField("c", STRING))) == ("b",)
    hidden = ContractField("h", STRING, classification="pii", mask=Mask(MaskRule.HASH))
    plain = [ContractField(name, STRING) for name in "cdef"]
    assert sample_key(contract(hidden, *plain)) == ("c", "d", "e")
    assert sample_key(contract(hidden)) == ()


def test_columns_that_are_not_as_promised_are_not_asked_about_and_nothing_passes() -> None:
    engine = Rows()
    table = pa.table({"id": ["a", "a"], "amount": [1, 2]})
    own = contract(ID, ContractField("amount", FLOAT64, nullable=False))
    report = pin(engine, table, own, now=NOW, also=[positive()])
    assert engine.asked == (NotNull("id"), Unique(("id",)))
    assert [(r.field, r.rule.value, r.status.value) for r in report.rules if not r.holds] == [
        ("id", "primary key", "violated"),
        ("amount", "type", "violated"),
        ("amount", "nonnull", "skipped"),
        ("the table", "assertion", "skipped"),
    ]
    assert [d.code for d in report.diagnostics()] == ["E083", "E080"]


def test_rows_that_cannot_be_read_because_of_their_columns_still_give_the_report() -> None:
    report = pin(Rows(refuses=True), pa.table({"x": [1]}), contract(ID), now=NOW)
    assert report.rows is None
    assert [r.status for r in report.rules] == [Status.VIOLATED, Status.SKIPPED, Status.SKIPPED]
    assert "rows unknown" in report.markdown()


def test_rows_that_cannot_be_read_for_another_reason_are_the_engine_s_error() -> None:
    with pytest.raises(StrataError, match="E033: the file is torn"):
        pin(Rows(refuses=True), pa.table({"id": ["a"]}), contract(ID), now=NOW)


def test_the_pin_never_passes_what_it_did_not_look_at() -> None:
    asked = questions(contract(ID), now=NOW)
    with pytest.raises(ValueError, match="nothing was measured of id: nonnull"):
        judge(contract(ID), (), asked, Assessment(0, ()))
    with pytest.raises(ValueError, match="nothing was measured of id: nonnull"):
        judge(contract(ID), (), asked, None)
    with pytest.raises(ValueError, match="nothing was measured of id: nonnull"):
        judge(contract(ID), (), (), Assessment(0, ()))


# --- inputs, through the reference engine ---------------------------------------------------------------

BATCH = pa.table(
    {
        "id": ["a", "b", "b"],
        "country": ["ES", "XX", "ES"],
        "amount": pa.array([Decimal("1.50"), None, Decimal("2.00")], pa.decimal128(3, 2)),
    }
)
BATCH_CONTRACT = contract(
    ID,
    ContractField("country", STRING, nullable=False, enum=("ES", "MX")),
    ContractField("amount", parse_type("decimal(3,2)"), nullable=False),
)
BATCH_CODES = ["E083", "E082", "E081"]


def columns_of(own: TableContract) -> tuple[Column, ...]:
    return tuple(Column(f.name, Inferred(f.type, f.nullable)) for f in own.fields)


def pin_csv(path: Path, own: TableContract) -> PinReport:
    table = CsvTable(path, columns_of(own))
    raw = replace(table, columns=tuple(Column(n, Inferred(STRING, True)) for n in own.names))
    return pin(ReferenceEngine(), table, own, now=NOW, raw=raw)


def test_seed0_s5c_arrow_input() -> None:
    report = pin(ReferenceEngine(), ArrowTable(BATCH, columns_of(BATCH_CONTRACT)), BATCH_CONTRACT, now=NOW)
    assert [d.code for d in report.diagnostics()] == BATCH_CODES


def test_seed0_s5c_parquet_input(tmp_path: Path) -> None:
    pq.write_table(BATCH, tmp_path / "batch.parquet")
    table = ParquetTable((tmp_path / "batch.parquet",), columns_of(BATCH_CONTRACT))
    report = pin(ReferenceEngine(), table, BATCH_CONTRACT, now=NOW)
    assert [d.code for d in report.diagnostics()] == BATCH_CODES


def test_seed0_s5c_csv_input(tmp_path: Path) -> None:
    path = tmp_path / "batch.csv"
    path.write_text("id,country,amount\na,ES,1.50\nb,XX,\nb,ES,2.00\n")
    assert [d.code for d in pin_csv(path, BATCH_CONTRACT).diagnostics()] == BATCH_CODES
    path.write_text("id,country,amount\na,ES,1.50\nb,MX,1.60\n")
    report = pin_csv(path, BATCH_CONTRACT)
    assert (report.passed, report.rows) == (True, 2)


def test_seed0_s5c_csv_text_that_is_no_value_of_its_type_e080(tmp_path: Path) -> None:
    path = tmp_path / "batch.csv"
    path.write_text("id,country,amount\na,ES,150\nb,MX,x\nc,MX,\nd,MX,1.50\n")
    finding = next(d for d in pin_csv(path, BATCH_CONTRACT).diagnostics() if d.code == "E080")
    assert finding.message == (
        "2 rows have text that is no decimal(3,2) in `amount`, but contract `Paid` promises decimal(3,2)"
    )
    assert finding.notes == ("for instance id = a, amount = 150; id = b, amount = x",)
    assert finding.fix == "write values of decimal(3,2) where the data is made, or promise what the text holds"


def test_seed0_s5c_csv_with_another_header_e084(tmp_path: Path) -> None:
    path = tmp_path / "batch.csv"
    path.write_text("id,land,amount\na,ES,1.50\n")
    report = pin_csv(path, BATCH_CONTRACT)
    assert [(d.code, d.message) for d in report.diagnostics()] == [
        ("E084", "the data has no column `country`, which contract `Paid` promises as string")
    ]
    assert not report.passed


def test_csv_text_of_a_classified_column_is_masked(tmp_path: Path) -> None:
    path = tmp_path / "batch.csv"
    path.write_text("id,pin\na,4711x\n")
    report = pin_csv(path, contract(ID, ContractField("pin", INT64, classification="pii")))
    assert only(report).notes == ("for instance id = a, pin = ‹masked›",)
    assert "4711" not in report.markdown() + repr(report)


def test_a_csv_file_that_cannot_be_read_is_the_engine_s_error(tmp_path: Path) -> None:
    path = tmp_path / "batch.csv"
    path.write_text("id,country,amount\na,ES\n")
    with pytest.raises(StrataError, match="E033"):
        pin_csv(path, BATCH_CONTRACT)


# --- what is shown --------------------------------------------------------------------------------------


def test_markdown_snapshot() -> None:
    table = pa.table(
        {"id": ["a", "b", "b"], "country": ["ES", "X|X", "ES"], "email": ["p@q", None, "r@s"], "n": [1, 2, 3]}
    )
    own = contract(
        ID,
        ContractField("country", STRING, nullable=False, enum=("ES", "MX")),
        ContractField("email", STRING, nullable=False, classification="pii", mask=Mask(MaskRule.HASH)),
        ContractField("n", parse_type("decimal(10,2)"), nullable=False),
    )
    proofs = [Proof(Fact(Rule.NONNULL, ("country",)), True, "type inference: string nonnull, carried from crm.country")]
    assert pin(Rows(), table, own, now=NOW, proofs=proofs).markdown() == SNAPSHOT


SNAPSHOT = """\
Contract `Paid`, **violated**: 4 of 10 promises, 1 not asked (3 rows)

| field | rule | promised | result | how | offenders | samples |
|---|---|---|---|---|---:|---|
| id | primary key | primary\\_key | **violated** E083 | repeats counted | 1 | id = b |
| country | enum | enum {ES, MX} | **violated** E082 | values compared | 1 | id = b, country = X\\|X |
| email | nonnull | nonnull | **violated** E081 | nulls counted | 1 | id = b, email = ‹masked› |
| n | type | decimal(10,2) | **violated** E080 | types and columns compared: int64 |  |  |
| n | nonnull | nonnull | skipped | not asked: the data's columns are not as promised |  |  |
| id | type | string | checked | types and columns compared |  |  |
| id | nonnull | primary\\_key | checked | nulls counted |  |  |
| country | type | string | checked | types and columns compared |  |  |
| email | type | string | checked | types and columns compared |  |  |
| country | nonnull | nonnull | proven | type inference: string nonnull, carried from crm.country |  |  |
"""


def test_markdown_of_a_table_that_keeps_its_contract() -> None:
    assert run(pa.table({"id": ["a"]}), ID).markdown().splitlines()[0] == "Contract `Paid`, kept: 3 promises (1 row)"


def test_markdown_names_the_source_as_it_is_written() -> None:
    """A code span shows backslashes, so that nothing in it is escaped."""
    report = PinReport("fuel_prices", (), 1, source=True)
    assert report.markdown().splitlines()[0] == "Source `fuel_prices`, kept: 0 promises (1 row)"


SECRET = "hunter2-secret"


@pytest.mark.parametrize("rule", list(MaskRule))
def test_masked_samples_never_leak(rule: MaskRule) -> None:
    secret = ContractField("email", STRING, primary_key=True, enum=("known",), classification="pii", mask=Mask(rule))
    nested = ContractField("tags", parse_type("array(string nonnull)"), classification="pii")
    table = pa.table(
        {
            "email": [SECRET, SECRET, None],
            "tags": pa.array([[SECRET, None]] * 3),
            "country": ["XX", "YY", "ZZ"],
            "amount": [-1, -2, -3],
        }
    )
    own = contract(secret, nested, ContractField("country", STRING, enum=("ES",)))
    derived = Holds(call("eq", ref("email"), literal("known")), 'email == "known"')

    class Naming(Rows):
        """An engine that names the values of an assertion in its own way."""

        def _answer(self, question: Assertion, rows: list[dict[str, object]], key: Sequence[str]) -> Measurement:
            if isinstance(question, Holds | NotNull):
                samples = tuple(
                    {**{k: r[k] for k in key}, "value of it": r["email"], "tags.element": SECRET} for r in rows
                )
                return Measurement(question, len(rows), samples)
            return super()._answer(question, rows, key)

    report = pin(Naming(), table, own, now=NOW, also=[derived])
    assert {r.code for r in report.violations} == {"E081", "E082", "E083", "E086"}
    everything = [report.markdown(), json.dumps(report_to_json(report)), repr(report), repr(report.diagnostics())]
    assert all("hunter2" not in text and "secret" not in text for text in everything)
    assert all(MASKED in text for text in (report.markdown(), repr(report.diagnostics())))
    assert "country = XX" in report.markdown()


def ref(name: str) -> Expr:
    return ColumnRef(name, Inferred(STRING, True))


def test_columns_masked_by_the_caller_do_not_leak_either() -> None:
    table = pa.table({"id": [SECRET, SECRET]})
    report = pin(Rows(), table, contract(ID), now=NOW, masked=frozenset({"id"}))
    assert "hunter2" not in report.markdown() + repr(report)


def test_samples_are_few_short_and_one_line() -> None:
    table = pa.table({"id": [f"k{i}\n{'x' * 500}" for i in range(50)], "c": ["bad"] * 50})
    report = run(table, ID, ContractField("c", STRING, enum=("good",)))
    (violation,) = report.violations
    assert (violation.offenders, len(violation.samples)) == (50, 5)
    assert violation.samples[0] == {"id": "k0\\n" + "x" * 55 + "…", "c": "bad"}
    assert len(report.markdown().splitlines()) == 4 + len(report.rules)


TEXT = st.text(max_size=6)
SAMPLES: st.SearchStrategy[Sample] = st.dictionaries(TEXT, TEXT, max_size=2)
RESULTS = st.builds(
    RuleResult,
    st.builds(
        Fact, st.sampled_from(Rule), st.lists(TEXT, max_size=2).map(tuple), st.lists(TEXT, max_size=2).map(tuple)
    ),
    TEXT,
    st.sampled_from(Status),
    TEXT,
    st.integers(0, 2**60),
    st.lists(SAMPLES, max_size=3).map(tuple),
    st.none() | st.sampled_from(["E080", "E083"]),
    st.none() | TEXT,
    st.none() | TEXT,
    st.none() | st.just(SPAN),
)
REPORTS = st.builds(PinReport, TEXT, st.lists(RESULTS, max_size=4).map(tuple), st.none() | st.integers(0, 2**60))


@settings(max_examples=150, deadline=None)
@given(REPORTS)
def test_report_json_round_trip(report: PinReport) -> None:
    assert report_from_json(json.loads(json.dumps(report_to_json(report)))) == report


@settings(max_examples=150, deadline=None)
@given(REPORTS)
def test_markdown_law_one_line_a_promise_whatever_the_data_holds(report: PinReport) -> None:
    lines = report.markdown().splitlines()
    assert len(lines) == 4 + len(report.rules)
    assert all(line.replace("\\\\", "").replace("\\|", "").count("|") == 8 for line in lines[4:])


def test_violations_of_one_table_do_not_change_with_the_order_of_its_promises() -> None:
    own = BATCH_CONTRACT
    turned = replace(own, fields=own.fields[::-1])
    one, other = (pin(Rows(), BATCH, c, now=NOW).diagnostics() for c in (own, turned))
    assert sorted(d.message for d in one) == sorted(d.message for d in other)
