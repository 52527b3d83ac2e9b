"""The layers of validation (Seed 2, "Validate")."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from strata_core.contract_engine.compatibility.verdict import Verdict

from .projects import ORDERS, PLACE, checked, told
from .test_publish import promoted

AT = PLACE


def test_seed2_layer_profiles_ask_for_more_the_higher_the_layer(tmp_path: Path) -> None:
    bare = ORDERS.replace("layer: bronze", "layer: gold").replace(", primary_key: true", "")
    found = {d.message for d in checked(tmp_path, {PLACE: bare}).diagnostics}
    assert found == {
        "`purpose` is missing, which the layer `gold` requires",
        "column `orders.order_id` has no description, which the layer `gold` requires",
        "column `orders.amount` has no description, which the layer `gold` requires",
        "asset `orders` has no key, which the layer `gold` requires",
        "`usage` does not say both what is intended and what is prohibited, which the layer `gold` requires",
        "`freshness` is missing, which the layer `gold` requires",
        "`semantics.grain` is missing, which the layer `gold` requires",
        "no test is blocking, which the layer `gold` requires",
        "`agent_permissions` is missing, which the layer `gold` requires",
    }


def test_layers_are_added_or_replaced_in_the_configuration(tmp_path: Path) -> None:
    platinum = '[layers.platinum]\nextends = "bronze"\nrequires = ["classification"]\n'
    contract = ORDERS.replace("layer: bronze", "layer: platinum")
    assert told(tmp_path / "a", {PLACE: contract}, platinum) == [f"E120 {AT}:1:1 governance.classification"]
    own = '[layers.raw]\nrequires = ["owner_contact"]\n'
    assert told(tmp_path / "b", {PLACE: ORDERS}, own) == [f"E121 {AT}:7:8 layer"]
    raw = ORDERS.replace("layer: bronze", "layer: raw")
    assert told(tmp_path / "c", {PLACE: raw}, own) == [f"E120 {AT}:9:8 owner.contact"]


@pytest.mark.parametrize(
    ("toml", "field"),
    [
        ('[layers.a]\nextends = "b"\n', "layers.a.extends"),
        ('[layers.a]\nextends = "b"\n[layers.b]\nextends = "a"\n', "layers.a.extends"),
        ('[layers.a]\nrequires = ["purpos"]\n', "layers.a.requires"),
    ],
)
def test_layers_that_cannot_be(tmp_path: Path, toml: str, field: str) -> None:
    found = checked(tmp_path, {PLACE: ORDERS.replace("layer: bronze", "layer: a")}, toml).diagnostics
    told_at = {d.field_path: d.span.line for d in found if d.code == "E073" and d.span}
    assert told_at[field] == 4


def with_test(kind: str) -> str:
    return f"tests: [{{id: t, severity: blocking, asset: orders, {kind}}}]\n"


@pytest.mark.parametrize(
    "sql",
    [
        "select * from orders where amount < 0",
        "with bad as (select order_id from orders where amount is null) select * from bad",
        "select a.order_id from orders a join orders b on a.order_id = b.order_id and a.amount <> b.amount",
        "select 1 from orders union all select 2 from orders",
        "from orders where amount < 0",
        "with a as (from orders), b as (from a) select * from (select * from b)",
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 3) select * from n, orders",
        "-- comment; with a semicolon\nselect ';' from orders;",
    ],
)
def test_seed2_sql_tests_that_are_one_read_only_query(tmp_path: Path, sql: str) -> None:
    assert told(tmp_path, {PLACE: ORDERS + with_test(f"kind: sql, sql: {json.dumps(sql)}")}) == []


@pytest.mark.parametrize(
    "sql",
    [
        "select 1 from orders; select 2 from orders",
        "insert into orders select * from orders",
        "update orders set amount = 0",
        "create table x as select * from orders",
        "with gone as (delete from orders returning *) select * from gone",
        "select * into x from orders",
        "copy orders to 'x.csv'",
        "attach 'x.db'",
        "pragma database_list",
        "set memory_limit = '1GB'",
        "call x()",
        "select * from 'file.parquet'",
        "select * from read_parquet('x')",
        "select * from main.carts",
        "select (select max(price) from prices) from orders",
        "with pg_tables as (select * from pg_tables) select * from pg_tables",
        "with b as (from a), a as (from orders) select * from b",
        "select * from (with pg_tables as (select 1 as a) select * from pg_tables) q, pg_tables",
        "selec 1",
        "select",
        "select from orders",
        "select (",
        "",
    ],
)
def test_seed2_sql_tests_that_are_not(tmp_path: Path, sql: str) -> None:
    found = told(tmp_path, {PLACE: ORDERS + with_test(f"kind: sql, sql: {json.dumps(sql or ';')}")})
    assert {f.split()[0] for f in found} == {"E140"}


@pytest.mark.parametrize(
    ("expectation", "place"),
    [
        ("{type: not_null, columns: [order_id]}", None),
        ("{type: not_null, columns: [odrer_id]}", "columns[0]"),
        ("{type: unique, columns: [order_id, amount]}", None),
        ("{type: accepted_values, column: order_id, values: [1, 2]}", None),
        ("{type: accepted_values, column: order_id, values: [1, a]}", "values[1]"),
        ("{type: range, column: amount, min: 0}", None),
        ("{type: range, column: amount}", ""),
        ("{type: range, column: amount, min: 2, max: 1}", "min"),
        ("{type: range, column: amount, min: a}", "min"),
        ("{type: range, column: day, min: '2020-01-01'}", None),
        ("{type: range, column: day, max: 3}", "max"),
        ("{type: regex, column: country, pattern: '[A-Z]{2}'}", None),
        ("{type: regex, column: country, pattern: '['}", "pattern"),
        ("{type: regex, column: amount, pattern: a}", "column"),
        ("{type: regex, column: country, pattern: '(?!XX)[A-Z]{2}'}", "pattern"),
        (r"{type: regex, column: country, pattern: '([A-Z])\1'}", "pattern"),
        (r"{type: regex, column: country, pattern: '\\\\1(?:a|b)'}", None),
        ("{type: row_count, min: 1}", None),
        ("{type: row_count}", ""),
        ("{type: row_count, min: 3, max: 1}", "min"),
        ("{type: freshness, column: day, max_age: 24h}", None),
        ("{type: freshness, column: amount, max_age: 24h}", "column"),
        ("{type: referential, columns: [country], to: [orders.country]}", None),
        ("{type: referential, columns: [country, day], to: [orders.country]}", "to"),
        ("{type: custom, expression: 'amount > 0 and country is not none'}", None),
        ("{type: custom, expression: 'amont > 0'}", "expression"),
        ("{type: custom, expression: 'amount + 1'}", "expression"),
        ("{type: custom, expression: 'amount > '}", "expression"),
        ("{type: custom, expression: 'amount > 0 } model x { from checked_rows'}", "expression"),
        ("{type: custom, expression: 'amount > 0 take 1'}", "expression"),
        ("{type: custom, expression: 'amount > 0 expect amount > 1'}", "expression"),
        (
            "{type: custom, expression: 'amount > 0 } test asset { given asset { | amount | | 1 | } expect 1 > 0'}",
            "expression",
        ),
        ("{type: custom, expression: 'amount in rows_of_asset.amount'}", "expression"),
        ("{type: custom, expression: 'row_count > 3 and sum(amount) > 0'}", None),
        ("{type: custom, expression: '`from` < day and `model` > 0 and `unit price` > 0'}", None),
        ("{type: custom, expression: '`from` < day and `model` > country'}", "expression"),
    ],
)
def test_seed2_expectations_fit_their_columns(tmp_path: Path, expectation: str, place: str | None) -> None:
    columns = "      - {name: country, type: string}\n      - {name: day, type: date}\n"
    for name, kind in (("from", "date"), ("model", "int64"), ("unit price", "float64")):
        columns += f"      - {{name: {name}, type: {kind}}}\n"
    found = told(tmp_path, {PLACE: ORDERS + columns + with_test(f"kind: expectation, expectation: {expectation}")})
    where = f"tests[t].expectation{'.' + place if place else ''}"
    assert [f.split(" ", 2)[::2] for f in found] == ([] if place is None else [["E142", where]])


MANIFEST = json.dumps(
    {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
        "nodes": {
            "test.p.unique_orders_id.abc": {
                "resource_type": "test",
                "name": "unique_orders_id",
                "unique_id": "test.p.unique_orders_id.abc",
            }
        },
    }
)


def test_seed2_dbt_tests_are_those_of_the_manifest(tmp_path: Path) -> None:
    toml = '[dbt]\nmanifest = "manifest.json"\n'
    for ref in ("unique_orders_id", "test.p.unique_orders_id.abc"):
        files = {PLACE: ORDERS + with_test(f"kind: dbt, ref: {ref}"), "manifest.json": MANIFEST}
        assert told(tmp_path, files, toml) == []
    files = {PLACE: ORDERS + with_test("kind: dbt, ref: uniqe_orders_id"), "manifest.json": MANIFEST}
    (found,) = checked(tmp_path, files, toml).diagnostics
    assert (found.code, found.fix) == ("E141", "did you mean `unique_orders_id`?")


@pytest.mark.parametrize(("setting", "blocks"), [("warning", False), ("error", True)])
def test_seed2_unsupported_executors_warn_or_block_as_configured(tmp_path: Path, setting: str, blocks: bool) -> None:
    toml = f'[contract_engine]\nunsupported_executors = "{setting}"\n'
    contract = ORDERS + with_test("kind: sql, dialect: snowflake, sql: select 1 from orders")
    (found,) = checked(tmp_path / "a", {PLACE: contract}, toml).diagnostics
    assert (found.code, found.blocks) == ("E143", blocks)
    (found,) = checked(tmp_path / "b", {PLACE: ORDERS + with_test("kind: dbt, ref: x")}, toml).diagnostics
    assert (found.code, found.blocks) == ("E143", blocks)


AGENT = "agent_permissions: [{{agent: a, actions: [read], {}}}]\n"


@pytest.mark.parametrize(
    ("agents", "message"),
    [
        ("agent_permissions: [{agent: a, actions: [read]}, {agent: a, actions: [query]}]\n", "`a` has two permissions"),
        (AGENT.format("expires: '2026-11-29'"), "the permission of `a` ended on 2026-11-29"),
        (AGENT.format("expires: '2026-02-30'"), "`2026-02-30` is no day of the calendar"),
        (
            AGENT.format("purpose: Scoring") + "usage: {prohibited: [scoring]}\n",
            "the purpose of `a` is a prohibited usage of the product",
        ),
        (
            AGENT.format("constraints: {max_classification: internal}"),
            "`a` may see up to `internal`, but reads `orders.email`, which is `restricted`",
        ),
        ("agent_permissions: [{agent: '*', actions: [query]}]\n", "every agent may read classified columns unmasked"),
        (AGENT.format("expires: '2026-11-30'"), None),
        (AGENT.format("constraints: {max_classification: internal, columns: [orders.amount]}"), None),
        ("agent_permissions: [{agent: '*', actions: [discover, aggregate]}]\n", None),
    ],
)
def test_seed2_agent_permissions_that_cannot_be_meant(tmp_path: Path, agents: str, message: str | None) -> None:
    email = "      - {name: email, type: string, classification: restricted}\n"
    found = checked(tmp_path, {PLACE: ORDERS + email + agents}).diagnostics
    assert [(d.code, d.message) for d in found] == ([] if message is None else [("E152", message)])


@pytest.mark.parametrize(
    ("governance", "expected"),
    [
        ("{classification: confidential}", "E151 governance.classification"),
        ("{classification: restricted}", None),
        ("{masking: [{column: orders.email, rule: 'null'}]}", "E151 governance.masking[orders.email].rule"),
        ("{masking: [{column: orders.email, rule: hash}]}", None),
        (
            "{masking: [{column: orders.amount, rule: hash}, {column: orders.amount, rule: drop}]}",
            "E151 governance.masking[orders.amount]",
        ),
        (
            "{masking: [{column: orders.amount, rule: partial}]}",
            "E151 governance.masking[orders.amount].rule",
        ),
        ("{masking: [{column: orders.mail, rule: hash}]}", "E122 governance.masking[orders.mail].column"),
        ("{classification: odd}", "W153 governance.classification"),
    ],
)
def test_seed2_governance_intent_holds_together(tmp_path: Path, governance: str, expected: str | None) -> None:
    email = "      - {name: email, type: string, classification: restricted, mask: hash}\n"
    found = checked(tmp_path, {PLACE: ORDERS + email + f"governance: {governance}\n"}).diagnostics
    assert [f"{d.code} {d.field_path}" for d in found] == ([] if expected is None else [expected])


# -- classification inheritance --

STRATA = """\
source people(csv: "people.csv") {
  columns: { id: int64 nonnull, email: string classification: "pii" mask: hash }
}

contract Mail { id: int64 nonnull, address: string MARK }

model mail -> contract Mail {
  from people
  select { id, address = lower(email) }
}
"""
MAIL = ORDERS[: ORDERS.index("assets:")] + "assets:\n  - {id: mail, kind: strata_model}\n"


def test_seed2_classification_is_inherited_through_compiled_models(tmp_path: Path) -> None:
    strata = {"models/mail.strata": STRATA.replace(" MARK", "")}
    (found,) = checked(tmp_path / "a", {PLACE: MAIL, **strata}).diagnostics
    assert (found.code, found.field_path) == ("E150", "assets[mail].columns[address]")
    assert [str(r.span) for r in found.related] == ["models/mail.strata:1:1"]
    marked = {"models/mail.strata": STRATA.replace("MARK", 'classification: "pii" mask: hash')}
    assert told(tmp_path / "b", {PLACE: MAIL, **marked}) == []


DERIVED = """\
      - name: hashed
        type: string
        derived_from: {columns: [orders.email], %s}
      - {name: email, type: string, classification: restricted, mask: hash}
"""


@pytest.mark.parametrize(
    ("declared", "fix"),
    [
        ("transformation: hash", "write `classification: restricted`, or declare an approved transformation"),
        ("lowers_classification: true", "say by what it is lowered"),
        ("lowers_classification: true, transformation: hash", "let an approver allow it"),
        ("lowers_classification: true, transformation: hash, approved_by: me", "let `head-of-orders` approve it"),
        ("lowers_classification: true, transformation: hash, approved_by: head-of-orders", None),
    ],
)
def test_seed2_only_an_approved_transformation_lowers_a_classification(
    tmp_path: Path, declared: str, fix: str | None
) -> None:
    found = checked(tmp_path, {PLACE: ORDERS + DERIVED % declared}).diagnostics
    assert [d.code for d in found] == ([] if fix is None else ["E150"])
    assert all((d.fix or "").startswith(fix or "") for d in found)


def test_seed2_nobody_lowers_a_classification_by_making_himself_an_approver(tmp_path: Path) -> None:
    lowered = "lowers_classification: true, transformation: hash, approved_by: {}"
    nobody = ORDERS.replace(", approvers: [head-of-orders]", "")
    (found,) = checked(tmp_path / "a", {PLACE: nobody + DERIVED % lowered.format("me")}).diagnostics
    assert (found.code, found.fix) == ("E150", "let `orders` approve it")
    assert told(tmp_path / "a", {PLACE: nobody + DERIVED % lowered.format("orders")}) == []
    promoted(checked(tmp_path / "b", {PLACE: ORDERS}))
    mine = ORDERS.replace("[head-of-orders]", "[me]").replace("0.1.0", "0.2.0")
    (found,) = checked(tmp_path / "b", {PLACE: mine + DERIVED % lowered.format("me")}).diagnostics
    assert (found.code, found.fix) == ("E150", "let `head-of-orders` approve it")


def test_seed2_classification_is_inherited_across_products(tmp_path: Path) -> None:
    source = ORDERS + "      - {name: email, type: string, classification: restricted, mask: hash}\n"
    reader = (
        ORDERS.replace("shop.orders", "shop.mails").replace("- id: orders", "- id: mails")
        + "      - {name: mail, type: string, derived_from: {columns: [shop.orders/orders.email]}}\n"
    )
    place = "contracts/shop/mails/contract.yaml"
    (found,) = checked(tmp_path, {PLACE: source, place: reader}).diagnostics
    assert (found.code, found.span.file if found.span else "") == ("E150", place)


def test_a_product_that_was_never_promoted_is_a_draft_or_a_first_version(tmp_path: Path) -> None:
    first = ORDERS.replace("version: 0.1.0", "version: 1.0.0")
    assert checked(tmp_path / "a", {PLACE: ORDERS}).validated.compatibility["shop.orders"].verdict is Verdict.DRAFT
    assert checked(tmp_path / "b", {PLACE: first}).validated.compatibility["shop.orders"].verdict is Verdict.FIRST


def test_seed2_classification_is_inherited_from_the_dbt_model_that_a_source_reads(tmp_path: Path) -> None:
    staged = ORDERS.replace("kind: table", "kind: dbt_model") + (
        "      - {name: email, type: string, classification: restricted, mask: hash}\n"
    )
    strata = """\
    source raw(dbt: "orders") { columns: { order_id: int64 nonnull, email: string } }
    model mail { from raw select { address = lower(email) } }
    """
    place = "contracts/shop/mails/contract.yaml"
    files = {PLACE: staged, place: MAIL.replace("shop.orders", "shop.mails"), "models/m.strata": strata}
    (found,) = [d for d in checked(tmp_path, files).diagnostics if d.code.startswith("E15")]
    assert (found.code, found.field_path) == ("E150", "assets[mail].columns[address]")
    assert [str(r.span.file) for r in found.related] == [PLACE]


def test_seed2_a_change_names_the_consumers_that_it_reaches(tmp_path: Path) -> None:
    """Through the lineage of compiled models, and through what other contracts declare."""
    from strata_core.contract_engine.collation.collate import collate
    from strata_core.contract_engine.compatibility.compare import compare
    from strata_core.contract_engine.levels import Levels
    from strata_core.contract_engine.validate.consumers import Consumers

    strata = """\
    source people(csv: "p.csv") { columns: { id: int64 nonnull, email: string } }
    model mail { from people select { id, address = lower(email) } }
    model domain_of { from mail select { id, host = upper(address) } }
    model counted { from mail aggregate { n = count() } }
    """
    columns = "columns: [{name: id, type: int64}, {name: address, type: string}]"
    mail = MAIL.replace("kind: strata_model", f"kind: strata_model, {columns}")
    reader = ORDERS.replace("shop.orders", "shop.letters") + (
        "      - {name: sent_to, type: string, derived_from: {columns: [shop.orders/mail.address]}}\n"
        "lineage: {upstream: [{product: shop.orders}]}\n"
    )
    files = {PLACE: mail, "contracts/shop/letters/contract.yaml": reader, "models/m.strata": strata}
    found = checked(tmp_path, files)
    before = found.collated.by_id["shop.orders"]
    after = checked(tmp_path, {**files, PLACE: mail.replace(", {name: address, type: string}", "")})
    changes = compare(before, after.collated.by_id["shop.orders"], Levels(after.setting.config.classification))
    consumers = Consumers(found.parsed, collate(found.parsed))
    (change,) = consumers.reached(changes, before)
    assert (change.rule.id, change.consumers) == ("column-removed", ("domain_of.host", "shop.letters/orders.sent_to"))


def test_seed2_classification_is_inherited_through_the_sql_of_dbt_models(tmp_path: Path) -> None:
    """Also through a model that no contract and no YAML names a column of."""

    def node(name: str, sql: str, *upstream: str) -> dict[str, object]:
        return {
            "resource_type": "model",
            "name": name,
            "unique_id": f"model.p.{name}",
            "compiled_code": sql,
            "raw_code": sql,
            "columns": {},
            "depends_on": {"nodes": [f"model.p.{u}" for u in upstream]},
            "schema": "main",
            "alias": name,
            "database": "db",
            "relation_name": f'"db"."main"."{name}"',
        }

    nodes = [
        node("people", "select 1 as id, 'x' as email"),
        node("between", 'select id, lower(email) as address from "db"."main"."people"', "people"),
        node(
            "letters", 'select id, address as sent_to, count(*) as n from "db"."main"."between" group by all', "between"
        ),
    ]
    manifest = json.dumps(
        {
            "metadata": {
                "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
                "adapter_type": "duckdb",
            },
            "nodes": {n["unique_id"]: n for n in nodes},
            "sources": {},
        }
    )
    head = ORDERS[: ORDERS.index("assets:")]
    people = head + "assets: [{id: people, kind: dbt_model, columns: [{name: email, type: string, %s}]}]\n"
    letters = head.replace("shop.orders", "shop.letters") + (
        "assets: [{id: letters, kind: dbt_model, columns: [{name: sent_to, type: string}, {name: n, type: int64}]}]\n"
    )
    place, toml = "contracts/shop/letters/contract.yaml", '[dbt]\nmanifest = "manifest.json"\n'
    files = {PLACE: people % "classification: restricted", place: letters, "manifest.json": manifest}
    (found,) = checked(tmp_path / "a", files, toml).diagnostics
    assert (found.code, found.field_path) == ("E150", "assets[letters].columns[sent_to]")
    assert told(tmp_path / "b", {**files, PLACE: people % "nullable: true"}, toml) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("deprecation: {announced: 2026-02-30, sunset: 2026-04-30}", "E107 compatibility.deprecation.announced"),
        ("deprecation: {announced: 2026-04-30, sunset: 2026-04-30}", "E107 compatibility.deprecation.sunset"),
        (
            "approvals: [{kind: owner, by: a, at: 2026-13-01, changes: [9f86d081884c]}]",
            "E107 compatibility.approvals[0].at",
        ),
        ("deprecation: {announced: 2026-04-30, sunset: 2026-06-30}", None),
    ],
)
def test_days_are_those_of_the_calendar(tmp_path: Path, text: str, expected: str | None) -> None:
    found = checked(tmp_path, {PLACE: ORDERS + f"compatibility: {{{text}}}\n"}).diagnostics
    assert [f"{d.code} {d.field_path}" for d in found] == ([] if expected is None else [expected])


def test_two_measures_of_one_name(tmp_path: Path) -> None:
    measures = "semantics: {measures: [{name: a, unit: m}, {name: a, unit: km}]}\n"
    assert told(tmp_path, {PLACE: ORDERS + measures}) == [f"E023 {PLACE}:16:51 semantics.measures[a].name"]
