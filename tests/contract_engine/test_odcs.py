"""The Open Data Contract Standard: nothing is lost on the way there and back, and what is written has its shape."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from strata_core.contract_engine.authored import AuthoredContract
from strata_core.contract_engine.authored_tests import ExpectationTest
from strata_core.contract_engine.documents import Document
from strata_core.contract_engine.odcs.ages import age_of
from strata_core.contract_engine.odcs.read import contract_of
from strata_core.contract_engine.odcs.rest import difference, laid_upon
from strata_core.contract_engine.odcs.write import notes, odcs
from strata_core.contract_engine.pipeline import examine, open_setting
from strata_core.contract_engine.schemas import AUTHORED
from strata_core.contract_engine.shapes import valid
from strata_core.contract_engine.yaml_dump import yaml_text
from strata_core.contract_engine.yaml_text import read_yaml
from strata_core.diagnostics import Diagnostic

from .projects import PLACE, TODAY, write
from .test_cli import run
from .test_documentation import FULL

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = {"3.0": "odcs-3.0.2", "3.1": "odcs-3.1.0", "3.2": "odcs-3.2.0"}


@cache
def _validator(version: str) -> Any:
    text = (ROOT / "tests" / "data" / "odcs" / f"{SCHEMAS[version]}.schema.json").read_text(encoding="utf-8")
    return jsonschema_rs.validator_for(json.loads(text))


def faults(document: dict[str, Any], version: str) -> list[str]:
    """What the published schema says against a document."""
    return [f"{list(e.instance_path)}: {e.message}" for e in _validator(version).iter_errors(document)]


def read(document: dict[str, Any], **more: Any) -> tuple[AuthoredContract | None, list[Diagnostic]]:
    found: list[Diagnostic] = []
    made = contract_of(
        Document("odcs.yaml", document, {}, {}), more.get("product"), more.get("layer", "bronze"), found.append
    )
    return made, found


def loaded(text: str) -> dict[str, Any]:
    """The data of a YAML text."""
    found: list[Diagnostic] = []
    document = read_yaml("x.yaml", text.encode(), found.append)
    assert document is not None
    assert found == []
    data: dict[str, Any] = document.data
    return data


def again(contract: AuthoredContract, version: str) -> AuthoredContract | None:
    """The contract, written and read, through the text of a file."""
    return read(loaded(yaml_text(odcs(contract, version))))[0]


@pytest.mark.parametrize("version", ["3.1", "3.2"])
def test_the_contracts_of_this_repository_survive_the_way_there_and_back(version: str) -> None:
    found = examine(open_setting(ROOT, TODAY))
    assert len(found.collated.candidates) == 6
    for candidate in found.collated.candidates:
        assert faults(odcs(candidate.contract, version), version) == []
        assert again(candidate.contract, version) == candidate.contract


@pytest.mark.parametrize("version", ["3.1", "3.2"])
def test_a_full_contract_survives(version: str) -> None:
    contract = AuthoredContract.of(loaded(FULL))
    assert faults(odcs(contract, version), version) == []
    assert again(contract, version) == contract


def test_what_both_can_say_stands_in_the_fields_of_the_standard() -> None:
    document = odcs(AuthoredContract.of(loaded(FULL)))
    assert document["description"] == {"purpose": "Every paid order.", "usage": "billing", "limitations": "advertising"}
    assert document["team"] == {"name": "order-team", "members": [{"username": "head-of-orders", "role": "approver"}]}
    assert document["support"] == [{"channel": "#orders"}]
    assert document["slaProperties"] == [
        {"property": "freshness", "value": 24, "unit": "h", "element": "orders"},
        {"property": "retention", "value": 52, "unit": "w"},
    ]
    (table,) = document["schema"]
    assert table["dataGranularityDescription"] == "one row per order"
    by_name = {c["name"]: c for c in table["properties"]}
    assert by_name["order_id"] == {
        "name": "order_id",
        "logicalType": "integer",
        "physicalType": "int64",
        "description": "Number of the order.",
        "primaryKey": True,
        "primaryKeyPosition": 1,
    }
    assert (by_name["amount"]["required"], by_name["amount"]["logicalType"]) == (True, "number")
    assert by_name["country"]["enum"] == [{"value": "DE"}, {"value": "NO"}]
    assert by_name["email"]["classification"] == "restricted"
    assert [(q["name"], q["type"], q["severity"]) for q in table["quality"]] == [
        ("amounts_are_positive", "custom", "error"),
        ("no_orphans", "sql", "warning"),
        ("secret_trial", "sql", "info"),
    ]
    assert "3.2" not in json.dumps(odcs(AuthoredContract.of(loaded(FULL)), "3.1")["apiVersion"])


def test_what_the_standard_has_no_field_for_is_told() -> None:
    told = [d.message for d in notes(odcs(AuthoredContract.of(loaded(FULL))))]
    assert "the standard has no field for `agent_permissions`: it is in the custom property " in told[-1]
    assert {m.split("`")[1] for m in told} == {
        "protected", "mask", "kind", "layer", "semantics", "governance", "agent_permissions"
    }  # fmt: skip


FOREIGN: dict[str, Any] = {
    "apiVersion": "v3.1.0",
    "kind": "DataContract",
    "id": "fa1c2d3e-0000",
    "name": "Sellers",
    "version": "1.2",
    "status": "production",
    "domain": "Seller Payments",
    "dataProduct": "payments",
    "tenant": "Acme",
    "tags": ["finance"],
    "description": {"purpose": "Views of\npayments.", "usage": "reports\n\nforecasts", "limitations": "no pricing"},
    "servers": [{"server": "prod", "type": "postgres", "host": "db", "port": 5432, "database": "d", "schema": "s"}],
    "schema": [
        {
            "name": "payments table",
            "physicalName": "pay_1",
            "physicalType": "table",
            "businessName": "Payments",
            "dataGranularityDescription": "one row per payment",
            "authoritativeDefinitions": [{"url": "https://example.com", "type": "businessDefinition"}],
            "properties": [
                {
                    "name": "id",
                    "logicalType": "integer",
                    "physicalType": "BIGINT",
                    "primaryKey": True,
                    "primaryKeyPosition": 1,
                    "required": True,
                    "quality": [{"metric": "nullValues", "mustBe": 0, "description": "always there"}],
                },
                {
                    "name": "amount",
                    "logicalType": "number",
                    "physicalType": "NUMERIC(12,2)",
                    "logicalTypeOptions": {"minimum": 0},
                    "examples": [1, 2],
                    "quality": [{"type": "text", "description": "looks right"}],
                },
                {"name": "place", "logicalType": "object", "properties": [{"name": "city", "logicalType": "string"}]},
                {"name": "kind", "logicalType": "string", "classification": "restricted", "transformLogic": "upper(k)"},
            ],
            "quality": [
                {"name": "enough rows", "metric": "rowCount", "mustBeGreaterOrEqualTo": 11, "severity": "warning"},
                {"type": "sql", "query": "SELECT count(*) FROM ${table}", "mustBeLessThan": 5},
            ],
        }
    ],
    "price": {"priceAmount": 9.95, "priceCurrency": "USD"},
    "team": [{"username": "ann", "role": "Data Steward"}, {"username": "bob", "role": "Owner"}],
    "roles": [{"role": "reader", "access": "read"}],
    "slaProperties": [
        {"property": "freshness", "value": 1, "unit": "day"},
        {"property": "latency", "value": 4, "unit": "d", "element": "tab1.txn_ref_dt"},
    ],
    "support": [{"channel": "#help", "tool": "slack", "url": "https://example.com"}],
    "customProperties": [{"property": "refRulesetName", "value": "gcsc"}],
    "contractCreatedTs": "2022-11-15T02:59:43+00:00",
}


def leaves(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every single value with its place; items of lists without their number."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*at, key))
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, (*at, "[]"))
    else:
        yield (*at, json.dumps(value))


def test_a_document_of_others_becomes_a_valid_contract() -> None:
    assert faults(FOREIGN, "3.1") == []
    made, found = read(FOREIGN)
    assert made is not None
    plain = made.plain(defaults=False)
    assert valid(plain, AUTHORED)
    assert (made.id, made.name, made.version, made.status, made.layer, made.owner.team, made.owner.contact) == (
        "seller_payments.payments", "Sellers", "1.2.0", "active", "bronze", "bob", "#help",
    )  # fmt: skip
    assert plain["usage"] == {"intended": ["reports", "forecasts"], "prohibited": ["no pricing"]}
    assert plain["freshness"] == {"max_age": "1d"}
    (asset,) = plain["assets"]
    assert (asset["id"], asset["ref"]) == ("payments_table", "pay_1")
    assert [(c["name"], c.get("type")) for c in asset["columns"]] == [
        ("id", "int64"), ("amount", "decimal(12,2)"), ("place", "struct<city: string>"), ("kind", "string"),
    ]  # fmt: skip
    assert plain["tests"] == [
        {
            "id": "enough_rows",
            "kind": "expectation",
            "severity": "degrading",
            "asset": "payments_table",
            "expectation": {"type": "row_count", "min": 11},
        },
        {
            "id": "payments_table_id_nullValues",
            "kind": "expectation",
            "severity": "blocking",
            "asset": "payments_table",
            "expectation": {"type": "not_null", "columns": ["id"]},
            "description": "always there",
        },
        {
            "id": "payments_table_amount_range",
            "kind": "expectation",
            "severity": "blocking",
            "asset": "payments_table",
            "expectation": {"type": "range", "column": "amount", "min": 0},
        },
    ]
    assert {d.code for d in found} == {"W170"}
    assert any("`servers` is kept under `extensions.odcs`" in d.message for d in found)


def test_nothing_of_a_document_of_others_is_lost_on_the_way_back() -> None:
    made, _ = read(FOREIGN)
    assert made is not None
    back = odcs(made, "3.1")
    assert faults(back, "3.1") == []
    assert set(leaves(FOREIGN)) - set(leaves(back)) == set()
    assert [len(back["schema"][0]["quality"])] == [2]
    assert [len(c.get("quality", ())) for c in back["schema"][0]["properties"]] == [1, 1, 0, 0]
    once_more, _ = read(back)
    assert once_more is not None
    assert sorted(leaves(once_more.plain())) == sorted(leaves(made.plain()))


def test_checks_without_a_name_are_all_kept_each_at_its_place() -> None:
    checks: list[dict[str, Any]] = [
        {"type": "library", "metric": "rowCount", "mustBeGreaterThan": 1000},
        {"type": "library", "metric": "duplicateValues", "mustBe": 0, "arguments": {"properties": ["id", "line"]}},
        {"type": "sql", "query": "SELECT count(*) FROM ${table} WHERE id < 0", "mustBe": 0},
        {"type": "text", "description": "Somebody looks at it."},
        {"type": "text", "description": "Somebody else does."},
    ]
    table = {"name": "orders", "quality": checks, "properties": [{"name": "id"}, {"name": "line"}]}
    document = {**FOREIGN, "schema": [table]}
    made, found = read(document)
    assert made is not None
    assert [t.expectation.type for t in made.tests if isinstance(t, ExpectationTest)] == ["unique"]
    told = [d.field_path for d in found if d.field_path and "quality" in d.field_path]
    assert told == [f"schema[orders].quality[{n}]" for n in (0, 2, 3, 4)]
    (written,) = loaded(yaml_text(odcs(made, "3.1")))["schema"]
    assert len(written["quality"]) == len(checks)
    bare = [{k: v for k, v in c.items() if k in checks[1]} if "name" in c else c for c in written["quality"]]
    assert [c for c in checks if c not in bare] == []


def test_who_changes_the_contract_after_an_import_has_the_last_word() -> None:
    made, _ = read(FOREIGN)
    assert made is not None
    plain = made.plain(defaults=False)
    plain["usage"]["intended"] = ["audits"]
    plain["assets"][0]["columns"][1]["type"] = "decimal(20,4)"
    del plain["assets"][0]["columns"][3]
    back = odcs(AuthoredContract.of(plain), "3.1")
    assert faults(back, "3.1") == []
    assert back["description"]["usage"] == "audits"
    columns = {c["name"]: c for c in back["schema"][0]["properties"]}
    assert columns["amount"]["physicalType"] == "decimal(20,4)"
    assert columns["amount"]["examples"] == [1, 2]
    assert "kind" not in columns


def test_fields_that_only_the_newer_version_has_are_left_out_of_the_older() -> None:
    newer = {**FOREIGN, "apiVersion": "v3.2.0", "context": "Ask for sums alone."}
    newer["schema"] = [{**FOREIGN["schema"][0], "synonyms": [{"synonym": "payouts"}]}]
    assert faults(newer, "3.2") == []
    made, _ = read(newer)
    assert made is not None
    assert odcs(made, "3.2")["context"] == "Ask for sums alone."
    assert faults(odcs(made, "3.1"), "3.1") == []


def test_a_document_of_version_3_0_is_read() -> None:
    older = {k: v for k, v in FOREIGN.items() if k != "schema"} | {"apiVersion": "v3.0.2"}
    table = {k: v for k, v in FOREIGN["schema"][0].items() if k != "quality"}
    columns = [{k: v for k, v in c.items() if k != "quality"} for c in table["properties"]]
    older["schema"] = [{**table, "properties": columns}]
    assert faults(older, "3.0") == []
    made, _ = read(older)
    assert made is not None
    assert set(leaves(older)) - set(leaves(odcs(made, "3.1"))) == {("apiVersion", '"v3.0.2"')}


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ([], "this is a list, not a contract of the standard"),
        ({"kind": "Other", "apiVersion": "v3.1.0", "schema": [{"name": "t"}]}, "`kind` is `Other`, not `DataContract`"),
        ({"kind": "DataContract", "apiVersion": "v2.2.2", "schema": [{"name": "t"}]}, "version `v2.2.2` is not read"),
        ({"apiVersion": "v3.1.0", "schema": [{"name": "t"}]}, "there is no `kind`"),
        ({"kind": "DataContract", "schema": [{"name": "t"}]}, "there is no `apiVersion`"),
        ({"kind": "DataContract", "apiVersion": 3.1, "schema": [{"name": "t"}]}, "version `3.1` is not read"),
        ({"kind": "DataContract", "apiVersion": "v3.1.0"}, "there is no `schema`"),
        (
            {"kind": "DataContract", "apiVersion": "v3.1.0", "schema": {"t": {}}},
            "`schema` is a mapping of fields, where a list is expected",
        ),
        (
            {"kind": "DataContract", "apiVersion": "v3.1.0", "schema": [{"name": "t", "properties": {"a": 1}}]},
            "`properties` is a mapping of fields, where a list is expected",
        ),
        ({"kind": "DataContract", "apiVersion": "v3.1.0", "schema": [{"x": 1}]}, "this table has no name"),
        ({"kind": "DataContract", "apiVersion": "v3.1.0", "schema": ["t"]}, "this table has no name"),
        (
            {"kind": "DataContract", "apiVersion": "v3.1.0", "schema": [{"name": "t", "properties": [{}]}]},
            "this property has no name",
        ),
    ],
)
def test_what_is_no_document_of_the_standard_is_told(document: Any, says: str) -> None:
    made, found = read(document)
    assert made is None
    assert {d.code for d in found} == {"E170"}
    assert says in found[0].message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


HEAD = "id name version status domain dataProduct description team support slaProperties customProperties tags servers"
head = st.fixed_dictionaries(
    {"kind": st.just("DataContract"), "apiVersion": st.just("v3.1.0")},
    optional=dict.fromkeys(HEAD.split(), json_values),
)
FIELDS = "logicalType physicalType logicalTypeOptions relationships items properties map required enum quality tags"
logical_types = st.sampled_from(["array", "object", "map", "string", "number", "date"]) | json_values
fields = st.fixed_dictionaries(
    {"name": st.text(min_size=1, max_size=5)},
    optional={**dict.fromkeys(FIELDS.split(), json_values), "logicalType": logical_types},
)
tables = st.lists(
    st.fixed_dictionaries(
        {"name": st.text(min_size=1, max_size=5)},
        optional={
            **dict.fromkeys(["quality", "tags", "description", "physicalName", "relationships"], json_values),
            "properties": json_values | st.lists(fields, max_size=2),
        },
    ),
    min_size=1,
    max_size=2,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(head, tables)
def test_whatever_a_document_holds_it_is_read_or_told(head: dict[str, Any], tables: list[dict[str, Any]]) -> None:
    made, found = read({**head, "schema": tables})
    assert made is not None or any(d.code == "E170" for d in found)


def said(whole: Any, back: Any) -> bool:
    """Whether `back` says all that `whole` says, and perhaps more."""
    if isinstance(whole, dict) and isinstance(back, dict):
        return all(k in back and said(v, back[k]) for k, v in whole.items())
    if isinstance(whole, list) and isinstance(back, list):
        return all(any(said(item, other) for other in back) for item in whole)
    return bool(whole == back)


@given(json_values, json_values)
@example({"": {}}, {"": {"": None}})
def test_the_difference_laid_upon_the_part_says_the_whole(whole: Any, part: Any) -> None:
    if isinstance(whole, dict) and isinstance(part, dict):
        back = laid_upon(part, list(difference(whole, part)))
        assert said(whole, back)
        assert {k for k in part if k not in whole} <= back.keys()


text = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).filter(str.strip)
name = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,8}", fullmatch=True)
age = st.from_regex(r"[1-9][0-9]{0,3}(s|min|h|d|w)", fullmatch=True) | st.sampled_from(["hourly", "daily", "monthly"])
types = st.sampled_from(
    (
        *("int64", "float64", "string", "bool", "date", "timestamp", "uuid", "json", "decimal(10,2)", "money(EUR)"),
        *("array(string)", "map(string, int64)", "struct<a: int64, b: string>"),
    )
)
flag = st.booleans()


def optional(required: dict[str, Any], more: dict[str, Any]) -> Any:
    return st.fixed_dictionaries(required, optional=more)


columns = st.lists(
    optional(
        {"name": text},
        {
            "type": types, "description": text, "nullable": flag, "unique": flag, "primary_key": flag,
            "protected": flag, "partition_by": flag, "enum": st.lists(text, min_size=1, max_size=3),
            "classification": st.sampled_from(["internal", "pii"]), "mask": st.sampled_from(["hash", "partial(4)"]),
            "freshness": age,
            "derived_from": optional(
                {"columns": st.just(["orders.a"])},
                {"transformation": text, "lowers_classification": flag, "approved_by": text},
            ),
        },
    ),
    max_size=3,
    unique_by=lambda c: c["name"],
)  # fmt: skip
assets = st.lists(
    optional(
        {"id": name, "kind": st.sampled_from(["table", "strata_model", "dbt_model"])},
        {
            "ref": text, "description": text, "documentation": text, "tags": st.lists(st.just("t1"), min_size=1),
            "location": text, "closed": flag, "columns": columns, "freshness": optional({"max_age": age}, {}),
        },
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda a: a["id"],
)  # fmt: skip
expectations = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["not_null", "unique"]), "columns": st.lists(text, min_size=1)}),
    st.fixed_dictionaries({"type": st.just("regex"), "column": text, "pattern": text}),
    st.fixed_dictionaries(
        {"type": st.just("accepted_values"), "column": text, "values": st.lists(text | st.integers(), min_size=1)}
    ),
    st.fixed_dictionaries(
        {"type": st.just("row_count")}, optional={"min": st.integers(0, 99), "max": st.integers(0, 99)}
    ).filter(lambda e: len(e) > 1),
    st.fixed_dictionaries({"type": st.just("range"), "column": text, "min": st.integers() | text}),
    st.fixed_dictionaries({"type": st.just("custom"), "expression": text}),
)


@st.composite
def contracts(draw: st.DrawFn) -> dict[str, Any]:
    found = draw(assets)
    ids = st.sampled_from([a["id"] for a in found])
    severity = st.sampled_from(["blocking", "degrading", "informational", "experimental"])
    tests = st.lists(
        optional(
            {"id": name, "kind": st.just("sql"), "severity": severity, "sql": text},
            {"asset": ids, "description": text, "dialect": st.just("snowflake")},
        )
        | optional({"id": name, "kind": st.just("dbt"), "severity": severity, "ref": text}, {"asset": ids})
        | optional(
            {
                "id": name,
                "kind": st.just("expectation"),
                "severity": severity,
                "asset": ids,
                "expectation": expectations,
            },
            {"description": text},
        ),
        max_size=4,
        unique_by=lambda t: t["id"],
    )
    masks = st.lists(st.just({"column": "orders.a", "rule": "hash"}), min_size=1, max_size=1)
    governance = optional(
        {},
        {
            "classification": st.just("internal"),
            "retention": optional({"period": age}, {"basis": text}),
            "masking": masks,
            "residency": st.just(["EU"]),
            "lawful_basis": st.just("consent"),
            "availability": st.sampled_from([99.5, 100, 1]),
        },
    ).filter(bool)
    made: dict[str, Any] = draw(
        optional(
            {
                "apiVersion": st.just("strata/v0"), "kind": st.just("DataProductContract"),
                "id": st.just("shop.orders"),
                "name": text, "version": st.sampled_from(["0.1.0", "1.2.3-rc.1"]), "layer": st.just("gold"),
                "status": st.sampled_from(["draft", "active", "retired"]), "domain": st.just("shop"),
                "owner": optional({"team": text}, {"contact": text, "approvers": st.lists(text, min_size=1)}),
                "assets": st.just(found),
            },
            {
                "purpose": text, "tests": tests, "governance": governance,
                "usage": optional({}, {
                    "intended": st.lists(text, min_size=1), "prohibited": st.lists(text, min_size=1),
                }).filter(bool),
                "semantics": optional({}, {"grain": text, "meaning": text}).filter(bool),
                "freshness": optional({"max_age": age}, {"schedule": text}),
                "lineage": st.just({"upstream": [{"product": "a.b"}]}),
                "agent_permissions": st.just([{"agent": "x", "actions": ["read"]}]),
                "extensions": st.dictionaries(text, json_values, max_size=2).map(
                    lambda e: {k: v for k, v in e.items() if k != "odcs"}
                ),
            },
        )
    )  # fmt: skip
    return made


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(contracts(), st.sampled_from(["3.1", "3.2"]))
def test_every_contract_survives_the_way_there_and_back(plain: dict[str, Any], version: str) -> None:
    contract = AuthoredContract.of(plain)
    document = odcs(contract, version)
    assert faults(document, version) == []
    made, found = read(document)
    assert made == contract
    assert found == []


PARTS: dict[str, Any] = {
    "apiVersion": "v3.1.0",
    "kind": "DataContract",
    "id": "shop.orders",
    "version": "1.0.0",
    "status": "active",
    "team": {"name": "orders"},
    "schema": [
        {
            "name": "orders",
            "properties": [
                {"name": "id", "logicalType": "integer", "logicalTypeOptions": {"minimum": 1, "format": "i64"}},
                {
                    "name": "customer",
                    "logicalType": "integer",
                    "relationships": [{"to": "customers.id"}, {"type": "foreignKey", "to": "https://x/y.yaml#/a/b"}],
                },
                {"name": "paid", "logicalType": "date", "logicalTypeOptions": {"minimum": "2020-01-01"}},
                {"name": "rate", "logicalType": "number", "logicalTypeOptions": {"exclusiveMinimum": 0, "maximum": 1}},
                {"name": "land", "logicalType": "string", "logicalTypeOptions": {"pattern": "^[A-Z]{2}$"}},
                {"name": "note", "logicalType": "string", "logicalTypeOptions": {"pattern": "a|b", "maxLength": 9}},
                {"name": "tags", "logicalType": "array", "items": {"logicalType": "string", "required": True}},
                {
                    "name": "lines",
                    "logicalType": "array",
                    "logicalTypeOptions": {"minItems": 1},
                    "items": {
                        "logicalType": "object",
                        "properties": [
                            {"name": "sku", "logicalType": "string", "description": "What is sold."},
                            {"name": "price", "logicalType": "number", "physicalType": "NUMERIC(10,2)"},
                        ],
                    },
                },
            ],
            "relationships": [
                {"from": ["orders.customer", "orders.land"], "to": ["customers.id", "customers.land"]},
            ],
        },
        {
            "name": "customers",
            "properties": [{"name": "id", "logicalType": "integer"}, {"name": "land", "logicalType": "string"}],
        },
    ],
}


def test_constraints_of_columns_are_tests_and_items_are_types() -> None:
    assert faults(PARTS, "3.1") == []
    made, found = read(PARTS)
    assert made is not None
    plain = made.plain(defaults=False)
    assert {c["name"]: c["type"] for c in plain["assets"][0]["columns"]} == {
        "id": "int64", "customer": "int64", "paid": "date", "rate": "float64", "land": "string", "note": "string",
        "tags": "array(string nonnull)", "lines": "array(struct<sku: string, price: decimal(10,2)>)",
    }  # fmt: skip
    assert {t["severity"] for t in plain["tests"]} == {"blocking"}
    assert [(t["id"], t["expectation"]) for t in plain["tests"]] == [
        (
            "orders_customer_land_in_customers_id_land",
            {"type": "referential", "columns": ["customer", "land"], "to": ["customers.id", "customers.land"]},
        ),
        ("orders_id_range", {"type": "range", "column": "id", "min": 1}),
        (
            "orders_customer_in_customers_id",
            {"type": "referential", "columns": ["customer"], "to": ["customers.id"]},
        ),
        ("orders_paid_range", {"type": "range", "column": "paid", "min": "2020-01-01"}),
        ("orders_rate_range", {"type": "range", "column": "rate", "max": 1}),
        ("orders_land_regex", {"type": "regex", "column": "land", "pattern": "[A-Z]{2}"}),
    ]
    told = {d.field_path for d in found}
    assert told == {
        "schema[orders].properties[id].logicalTypeOptions.format",
        "schema[orders].properties[customer].relationships[1]",
        "schema[orders].properties[rate].logicalTypeOptions.exclusiveMinimum",
        "schema[orders].properties[note].logicalTypeOptions",
        "schema[orders].properties[lines].logicalTypeOptions",
        "schema[orders].properties[lines].items.properties[sku].description",
        "schema[orders].properties[lines].items.properties[price].physicalType",
    }
    back = odcs(made, "3.1")
    assert faults(back, "3.1") == []
    assert set(leaves(PARTS)) - set(leaves(back)) == set()
    assert not any("quality" in column for table in back["schema"] for column in table["properties"])
    once_more, _ = read(back)
    assert once_more is not None
    assert sorted(leaves(once_more.plain())) == sorted(leaves(made.plain()))


def test_a_test_that_says_more_than_a_constraint_is_a_check() -> None:
    made, _ = read(PARTS)
    assert made is not None
    plain = made.plain(defaults=False)
    range_, pattern = plain["tests"][1], plain["tests"][5]
    range_["severity"], pattern["description"] = "degrading", "Two letters."
    contract = AuthoredContract.of(plain)
    back = odcs(contract, "3.2")
    assert faults(back, "3.2") == []
    by_name = {c["name"]: c for c in back["schema"][0]["properties"]}
    assert by_name["id"]["logicalTypeOptions"] == {"format": "i64"}
    assert by_name["land"]["quality"][0]["name"] == "orders_land_regex"
    assert by_name["rate"]["logicalTypeOptions"] == {"maximum": 1, "exclusiveMinimum": 0}
    once_more = again(contract, "3.2")
    assert once_more is not None
    assert (once_more.tests, odcs(once_more, "3.2")) == (contract.tests, back)


def test_a_bound_that_version_3_0_excludes_is_one_of_the_later_versions() -> None:
    column = {
        "name": "rate",
        "logicalType": "number",
        "logicalTypeOptions": {"minimum": 0, "exclusiveMinimum": True, "maximum": 1, "exclusiveMaximum": False},
    }
    older = {**PARTS, "apiVersion": "v3.0.2", "schema": [{"name": "orders", "properties": [column]}]}
    del older["team"]
    assert faults(older, "3.0") == []
    made, _ = read(older)
    assert made is not None
    assert [t.plain()["expectation"] for t in made.tests] == [{"type": "range", "column": "rate", "max": 1}]
    back = odcs(made, "3.1")
    assert faults(back, "3.1") == []
    assert back["schema"][0]["properties"][0]["logicalTypeOptions"] == {"maximum": 1, "exclusiveMinimum": 0}


def test_a_map_of_version_3_2_is_a_map() -> None:
    value = {"logicalType": "integer", "required": True}
    column = {"name": "m", "logicalType": "map", "map": {"key": {"logicalType": "string"}, "value": value}}
    newer = {**PARTS, "apiVersion": "v3.2.0", "schema": [{"name": "orders", "properties": [column]}]}
    column["relationships"] = [{"id": "r1", "to": "orders.m"}]
    assert faults(newer, "3.2") == []
    made, found = read(newer)
    assert made is not None
    found = [d for d in found if "relationships" not in (d.field_path or "")]
    assert (made.assets[0].columns[0].type, found) == ("map(string, int64 nonnull)", [])
    for version in ("3.1", "3.2"):
        assert faults(odcs(made, version), version) == []
        once_more = again(made, version)
        assert once_more is not None
        assert (once_more.assets, once_more.tests) == (made.assets, made.tests)
    assert set(leaves(newer)) - set(leaves(odcs(made, "3.2"))) == set()


bound = st.integers(-9, 9) | st.sampled_from([0.5, 1.25])
numeric = st.fixed_dictionaries(
    {}, optional={"minimum": bound, "maximum": bound, "exclusiveMinimum": bound, "multipleOf": st.just(2)}
)
simple = st.one_of(
    optional({"logicalType": st.sampled_from(["integer", "number"])}, {"logicalTypeOptions": numeric}),
    optional(
        {"logicalType": st.just("string")},
        {
            "logicalTypeOptions": st.fixed_dictionaries(
                {},
                optional={
                    "pattern": st.sampled_from(
                        ["^a$", "a", "^(?:a|b)$", "^a|b$", "^(a|b)$", "^a\\$", "^(?:a)(?:b)$", "^(?=a)b$", "^[$", "^$"]
                    ),
                    "minLength": st.just(1),
                },
            ),
            "physicalType": st.sampled_from(["VARCHAR(9)", "uuid", "hstore"]),
        },
    ),
    optional(
        {"logicalType": st.sampled_from(["date", "timestamp"])},
        {
            "logicalTypeOptions": st.fixed_dictionaries(
                {}, optional={n: st.sampled_from(["2020-01-01", "soon"]) for n in ("minimum", "maximum")}
            )
        },
    ),
)


def optional_part(inner: Any) -> Any:
    """A part of a type, which may be required."""
    return st.tuples(inner, st.sampled_from([{}, {"required": True}, {"description": "d"}])).map(
        lambda pair: {**pair[0], **pair[1]}
    )


nested = st.recursive(
    simple,
    lambda inner: (
        optional({"logicalType": st.just("array")}, {"items": optional_part(inner), "physicalType": st.just("ARRAY")})
        | st.fixed_dictionaries(
            {
                "logicalType": st.just("object"),
                "properties": st.lists(
                    st.tuples(st.sampled_from(["a", "b", "odd name"]), optional_part(inner)).map(
                        lambda pair: {"name": pair[0], **pair[1]}
                    ),
                    max_size=3,
                    unique_by=lambda c: c["name"],
                ),
            }
        )
    ),
    max_leaves=4,
)


references = st.sampled_from(["orders.a", "orders.b", "lines.a", "lines.c", "nowhere.a", "other.yaml#/x/y"])
pointing = st.lists(optional({"to": references}, {"type": st.just("foreignKey")}), max_size=2)
paired = optional(
    {
        "from": st.lists(references, min_size=1, max_size=2),
        "to": st.lists(references, min_size=1, max_size=2),
    },
    {"type": st.just("foreignKey")},
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    schema: list[dict[str, Any]] = []
    for table in ("orders", "lines"):
        columns: list[dict[str, Any]] = []
        for column in draw(st.lists(st.sampled_from(["a", "b", "c", "odd name"]), min_size=1, unique=True)):
            more = draw(st.fixed_dictionaries({}, optional={"relationships": pointing}))
            columns.append({"name": column, **draw(nested), **more})
        own = draw(st.fixed_dictionaries({}, optional={"relationships": st.lists(paired, max_size=2)}))
        schema.append({"name": table, "properties": columns, **own})
    return {**PARTS, "schema": schema}


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents())
def test_nothing_of_the_constraints_and_parts_of_a_document_is_lost(document: dict[str, Any]) -> None:
    assert faults(document, "3.1") == []
    made, _ = read(document)
    assert made is not None
    assert valid(made.plain(defaults=False), AUTHORED)
    back = odcs(made, "3.1")
    assert faults(back, "3.1") == []
    assert set(leaves(document)) - set(leaves(back)) == set()
    once_more, _ = read(back)
    assert once_more is not None
    assert once_more.tests == made.tests
    assert once_more.assets == made.assets
    assert odcs(once_more, "3.1") == back


def test_a_document_without_a_team_is_told() -> None:
    bare = {"kind": "DataContract", "apiVersion": "v3.1.0", "id": "a.b", "version": "1.0.0", "schema": [{"name": "t"}]}
    made, found = read(bare)
    assert made is not None
    assert (made.owner.team, made.status, made.name) == ("TODO", "draft", "a.b")
    assert [(d.severity.value, d.message) for d in found] == [
        ("warning", "the document names no team: `owner.team` is `TODO`")
    ]


def test_durations() -> None:
    assert [
        age_of(level)
        for level in (
            {"value": 24, "unit": "h"}, {"value": 2, "unit": "Days"}, {"value": "3h"}, {"value": "daily"},
            {"value": 1.5, "unit": "h"}, {"value": 2, "unit": "y"}, {"value": 0, "unit": "d"},
            {"value": True, "unit": "d"},
        )
    ] == ["24h", "2d", "3h", "daily", None, None, None, None]  # fmt: skip


@pytest.mark.parametrize("content", ["", "\ufeff", "---\n", "# nothing\n"])
def test_an_empty_document_is_told(tmp_path: Path, content: str) -> None:
    write(tmp_path, {"strata.toml": '[project]\nname = "p"\n', "o.yaml": content.encode()})
    code, _, err = run("import", "--from", "odcs", str(tmp_path / "o.yaml"), "--project", str(tmp_path))
    assert code == 1
    assert err.startswith("error[E170]: this is empty, not a contract of the standard\n --> o.yaml:")


def test_export_and_import_on_the_command_line(tmp_path: Path) -> None:
    write(tmp_path, {"strata.toml": '[project]\nname = "p"\n', PLACE: FULL})
    code, out, err = run("export", "shop.orders", "--to", "odcs", "--project", str(tmp_path))
    assert code == 0
    assert faults(loaded(out), "3.2") == []
    assert "info[W170]: the standard has no field for `agent_permissions`" in err
    there = tmp_path / "there"
    write(there, {"strata.toml": '[project]\nname = "q"\n', "orders.odcs.yaml": out})
    code, out, err = run("import", str(there / "orders.odcs.yaml"), "--from", "odcs", "--project", str(there))
    assert (code, err) == (0, "")
    assert out == f"imported {PLACE}: now `contract-engine validate --contract {PLACE}`\n"
    assert AuthoredContract.of(loaded((there / PLACE).read_text())) == AuthoredContract.of(loaded(FULL))
    code, _, err = run("import", str(there / "orders.odcs.yaml"), "--from", "odcs", "--project", str(there))
    assert (code, "`shop.orders` has a contract already" in err) == (2, True)
    (there / "bad.yaml").write_text("kind: DataContract\napiVersion: v3.1.0\nschema:\n  - description: x\n")
    code, _, err = run("import", str(there / "bad.yaml"), "--from", "odcs", "--project", str(there))
    assert code == 1
    assert "bad.yaml:4:5" in err
    code, _, err = run("export", "shop.order", "--to", "odcs", "--project", str(tmp_path))
    assert (code, "did you mean `shop.orders`?" in err) == (2, True)


@given(st.recursive(st.text(max_size=6) | st.integers(), lambda inner: st.lists(inner, max_size=3), max_leaves=4))
def test_yaml_that_is_written_is_read_as_it_was_meant(value: Any) -> None:
    assert loaded(yaml_text({"a": value}))["a"] == value


@pytest.mark.parametrize(
    "text", ["NO", "1e3", "0o7", "012", "1:30", "~", "null", ".5", "1.10", "2026-11-30", "yes", "0x1F"]
)
def test_yaml_quotes_texts_that_look_like_something_else(text: str) -> None:
    assert loaded(yaml_text({"a": text})) == {"a": text}


def test_minutes_are_written_so_that_nobody_takes_them_for_months() -> None:
    contract = AuthoredContract.of({**loaded(FULL), "freshness": {"max_age": "90m"}})
    levels = [level for level in odcs(contract)["slaProperties"] if level.get("unit") in ("m", "min")]
    assert [(level["value"], level["unit"]) for level in levels] == [(90, "min")]
