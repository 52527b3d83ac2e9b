"""language.md, "Statements" and "Declarations": one test a form, as literal trees."""

# ruff: noqa: E501  (tables of literal expectations, one row a case)
from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("from t", "From(table=t)"),
        ("from t as a", "From(table=t alias=a)"),
        ("join_inner t on a == t.b", "Join(kind=inner table=t on=(a == t.b))"),
        ("join_left t as r on a == r.b", "Join(kind=left table=t alias=r on=(a == r.b))"),
        ("join_full t on a == r.b as r", "Join(kind=full table=t alias=r on=(a == r.b))"),
        ("join_semi t on a", "Join(kind=semi table=t on=a)"),
        ("join_anti t on a", "Join(kind=anti table=t on=a)"),
        ("join_cross t as r", "Join(kind=cross table=t alias=r)"),
        ("join_asof t at b", "AsofJoin(kind=left table=t at=b)"),
        (
            "join_asof_inner t as r on a == r.b at r.day <= at available_as_of: d within 7d",
            "AsofJoin(kind=inner table=t alias=r on=(a == r.b) at=(r.day <= at) available=d within=604800s)",
        ),
        ("join_asof t at at within 2h available_as_of: within", "AsofJoin(kind=left table=t at=at available=within within=7200s)"),
        ("join_left t on a expect one_to_one", "Join(kind=left table=t on=a expect=one_to_one)"),
        ("join_left t on a as r expect many_to_one", "Join(kind=left table=t alias=r on=a expect=many_to_one)"),
        ("join_inner t as r on a expect one_to_many", "Join(kind=inner table=t alias=r on=a expect=one_to_many)"),
        ("union t", "SetOperation(operator=union table=t)"),
        ("union all t", "SetOperation(operator=union all table=t)"),
        ("union all all", "SetOperation(operator=union all table=all)"),
        ("union `all`", "SetOperation(operator=union table=all)"),
        ("intersect all", "SetOperation(operator=intersect table=all)"),
        ("except except", "SetOperation(operator=except table=except)"),
        ("select { * except {a} } except t", "Select(items=[Star(excluded=[a])]); SetOperation(operator=except table=t)"),
        ("filter union == all union union", "Filter(condition=(union == all)); SetOperation(operator=union table=union)"),
        ("expand t.tags as tag", "Expand(array=t.tags name=tag)"),
        ("expand expand as as", "Expand(array=expand name=as)"),
        ("dedup", "Dedup()"),
        ("dedup by a, t.b", "Dedup(keys=[a, t.b])"),
        ("dedup by a sort { -b } sort { c }", "Dedup(keys=[a] sort=[SortKey(expr=b descending=True)]); Sort(keys=[SortKey(expr=c)])"),
        ("dedup sort { a }", "Dedup(); Sort(keys=[SortKey(expr=a)])"),
        ("dedup by by dedup", "Dedup(keys=[by]); Dedup()"),
        ("filter a", "Filter(condition=a)"),
        ("where a", "Filter(condition=a)"),
        ("let x = a + 1", "Let(name=x expr=(a + 1))"),
        ("derive { x = a, }", "Derive(items=[x = a])"),
        ("select { a, t.b, x = c, }", "Select(items=[a, t.b, x = c])"),
        ("select { * }", "Select(items=[Star()])"),
        ("select { t.*, x = 1 }", "Select(items=[Star(qualifier=t), x = 1])"),
        ("select { * except {a, b} }", "Select(items=[Star(excluded=[a, b])])"),
        ("select { t.* except {a,}, c }", "Select(items=[Star(qualifier=t excluded=[a]), c])"),
        ("select { }", "Select()"),
        ("aggregate { n = count() }", "Aggregate(items=[n = Call(function=count)])"),
        (
            "group { k } ( aggregate { n = count() } )",
            "Group(keys=[k] body=[Aggregate(items=[n = Call(function=count)])])",
        ),
        ("group { t.k, d = a % 2, a + 1, } ( take 1 )", "Group(keys=[t.k, d = (a % 2), (a + 1)] body=[Take(first=1 last=1)])"),
        (
            "group { k } (aggregate { k, s = sum(x) } filter s > 1 sort { -s } take 3)",
            "Group(keys=[k] body=[Aggregate(items=[k, s = Call(function=sum arguments=[x])]), "
            "Filter(condition=(s > 1)), Sort(keys=[SortKey(expr=s descending=True)]), Take(first=1 last=3)])",
        ),
        ("group { } ( aggregate { n = count() } )", "Group(body=[Aggregate(items=[n = Call(function=count)])])"),
        ("sort { a }", "Sort(keys=[SortKey(expr=a)])"),
        ("sort { a asc, b desc, -c, }", "Sort(keys=[SortKey(expr=a), SortKey(expr=b descending=True), SortKey(expr=c descending=True)])"),
        ("sort { -a asc, -b desc }", "Sort(keys=[SortKey(expr=(- a)), SortKey(expr=(- b) descending=True)])"),
        ("sort { lower(a) desc }", "Sort(keys=[SortKey(expr=Call(function=lower arguments=[a]) descending=True)])"),
        ("take 10", "Take(first=1 last=10)"),
        ("take 0", "Take(first=1 last=0)"),
        ("take 5..10", "Take(first=5 last=10)"),
        ("freshness <= 1d", "Freshness(limits=[86400s])"),
        ("freshness: 12h", "Freshness(limits=[43200s])"),
        ("freshness daily, 2d freshness_column: at", "Freshness(limits=[daily, 172800s] column=at)"),
        ('freshness "weekly"', "Freshness(limits=['weekly'])"),
        ("incremental { cursor: at }", "Incremental(strategy=append cursor=at)"),
        (
            "incremental { key: [a, b,], cursor: at, strategy: upsert, }",
            "Incremental(strategy=upsert keys=[a, b] cursor=at)",
        ),
        (
            "incremental merge_strategy: upsert merge_keys: [a] cdc_column: key",
            "Incremental(strategy=upsert keys=[a] cursor=key)",
        ),
        ("incremental filter key > cursor", "Incremental(strategy=append); Filter(condition=(key > cursor))"),
        ("partition_by [day, t.region]", "PartitionBy(columns=[day, t.region])"),
    ],
)  # fmt: skip
def test_statement(statements, text, tree):
    assert statements(text) == tree


def test_statements_end_where_the_next_keyword_begins(statements):
    assert statements("from t filter a - b let x = c sort { a }") == (
        "From(table=t); Filter(condition=(a - b)); Let(name=x expr=c); Sort(keys=[SortKey(expr=a)])"
    )


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("import finance.revenue", "Import(path=[finance, revenue])"),
        ("domain code = string", "Domain(name=code type=TypeExpr(name=string))"),
        ("contract C { }", "Contract(name=C)"),
        (
            "contract C { a: int64; b: string, c: bool,; d: date nonnull e: json }",
            "Contract(name=C fields=[FieldDecl(name=a type=TypeExpr(name=int64)), FieldDecl(name=b type=TypeExpr(name=string)), "
            "FieldDecl(name=c type=TypeExpr(name=bool)), FieldDecl(name=d type=TypeExpr(name=date) "
            "annotations=[Flag(word=nonnull)]), FieldDecl(name=e type=TypeExpr(name=json))])",
        ),
        (
            'source orders(ns: "crm") { columns: { id: int64 nonnull primary_key, } }',
            "Source(name=orders resource=[ns: 'crm'] columns=[FieldDecl(name=id type=TypeExpr(name=int64) "
            "annotations=[Flag(word=nonnull), Flag(word=primary_key)])])",
        ),
        ("source orders", "Source(name=orders)"),
        ("source orders()", "Source(name=orders)"),
        ('source o(csv: "o.csv", bom: true, skip: 1,)', "Source(name=o resource=[csv: 'o.csv', bom: True, skip: 1])"),
        (
            'source o(dbt: stg) { columns: {}; freshness: <= 1d, filter: a > 0 and b owner: "x", max_age: 2h }',
            "Source(name=o resource=[dbt: stg] freshness=Freshness(limits=[86400s]) filter=((a > 0) and b) "
            "properties=[owner: 'x', max_age: 7200s])",
        ),
        ("model m { }", "Model(name=m)"),
        ('model "m 1" -> contract C { from t }', "Model(name=m 1 contract=C statements=[From(table=t)])"),
        (
            'model m { owner: "f" from t reason: "r" take 1 staleness_ok: "s" }',
            "Model(name=m attributes=[owner: 'f', reason: 'r', staleness_ok: 's'] statements=[From(table=t), Take(first=1 last=1)])",
        ),
        ("test m { }", "Test(name=m)"),
        (
            "test m { expect row_count > 0; expect a in t.b expect not expect }",
            "Test(name=m expectations=[Expectation(condition=(row_count > 0)), Expectation(condition=In(operand=a values=t.b)), "
            "Expectation(condition=(not expect))])",
        ),
        ('test "a b" { expect x }', "Test(name=a b expectations=[Expectation(condition=x)])"),
        ("test test { expect test }", "Test(name=test expectations=[Expectation(condition=test)])"),
        (
            'extern fn f(a: int64, b: array(string) nonnull,) -> json nonnull deterministic { duckdb: "x"; spark: "y", }',
            "Extern(name=f parameters=[TypeField(name=a type=TypeExpr(name=int64)), TypeField(name=b type=TypeExpr("
            "name=array arguments=[TypeExpr(name=string)] nonnull=True))] returns=TypeExpr(name=json) nonnull=True "
            "deterministic=True bindings=[duckdb: 'x', spark: 'y'])",
        ),
        (
            'extern // why\nfn f(`a b`: int64)\n-> json\n{ duckdb: "x" }',
            "Extern(name=f parameters=[TypeField(name=a b type=TypeExpr(name=int64))] returns=TypeExpr(name=json) "
            "bindings=[duckdb: 'x'])",
        ),
        ("extern fn deterministic() -> bool {}", "Extern(name=deterministic returns=TypeExpr(name=bool))"),
        (
            'test m "t" { given a { | x | y | | 1 | -2.50 | | none | given | } expect { | x | }; expect x > 0 }',
            "Test(name=m title=t expectations=[Expectation(condition=(x > 0))] given=[Given(table=a "
            "rows=LiteralTable(columns=[x, y] rows=[Row(cells=[1, -2.50]), Row(cells=[None, given])]))] "
            "expected=LiteralTable(columns=[x]))",
        ),
        (
            'test m { expect { | a | | 2024-01-31 | | 2024 - 01-31 10:00:00.5 | | [1, "|"] | | {a: none, "b": [],} | } }',
            "Test(name=m expected=LiteralTable(columns=[a] rows=[Row(cells=[Moment(text=2024-01-31)]), "
            "Row(cells=[Moment(text=2024-01-31 10:00:00.5)]), Row(cells=[ListCell(items=[1, '|'])]), "
            "Row(cells=[Record(members=[Member(name=a value=None), Member(name=b value=ListCell())])])]))",
        ),
        ("pipeline p { }", "Pipeline(name=p)"),
        (
            'pipeline p { env: prod, models: [a, "b c",], sources: { o: from(ns: "eu"), q, } }',
            "Pipeline(name=p env=prod models=[a, b c] sources=[SourceOverride(source=o resource=[ns: 'eu']), SourceOverride(source=q)])",
        ),
        ("pipeline p env: dev { models: [] }", "Pipeline(name=p env=dev)"),
    ],
)  # fmt: skip
def test_declaration(declaration, text, tree):
    assert declaration(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("int64", "TypeExpr(name=int64)"),
        ("code", "TypeExpr(name=code)"),
        ("decimal(10, 2)", "TypeExpr(name=decimal arguments=[10, 2])"),
        ("money", "TypeExpr(name=money)"),
        ("money(EUR)", "TypeExpr(name=money currency=EUR)"),
        ("array(string)", "TypeExpr(name=array arguments=[TypeExpr(name=string)])"),
        ("array<string nonnull>", "TypeExpr(name=array arguments=[TypeExpr(name=string nonnull=True)])"),
        ("array(array(money(USD)))", "TypeExpr(name=array arguments=[TypeExpr(name=array arguments=[TypeExpr(name=money currency=USD)])])"),
        ("map(string, decimal(4,1))", "TypeExpr(name=map arguments=[TypeExpr(name=string), TypeExpr(name=decimal arguments=[4, 1])])"),
        (
            "struct<a: int64, b: string nonnull>",
            "TypeExpr(name=struct arguments=[TypeField(name=a type=TypeExpr(name=int64)), "
            "TypeField(name=b type=TypeExpr(name=string nonnull=True))])",
        ),
    ],
)  # fmt: skip
def test_type(declaration, text, tree):
    assert declaration(f"domain d = {text}") == f"Domain(name=d type={tree})"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("nonnull", "Flag(word=nonnull)"),
        ("unique", "Flag(word=unique)"),
        ("primary_key", "Flag(word=primary_key)"),
        ("protected", "Flag(word=protected)"),
        ("partition_by", "Flag(word=partition_by)"),
        ('enum {ES, "CO",}', "EnumOf(values=[ES, CO])"),
        ('classification: "pii"', "Classification(label=pii)"),
        ("classification: pii", "Classification(label=pii)"),
        ("mask: hash", "Mask(rule=hash)"),
        ("mask: partial(4)", "Mask(rule=partial arguments=[4])"),
        ("freshness: <= 1d", "Freshness(limits=[86400s])"),
    ],
)
def test_seed0_s3_annotation(declaration, text, tree):
    assert declaration(f"contract C {{ a: string {text} b: int64 }}") == (
        f"Contract(name=C fields=[FieldDecl(name=a type=TypeExpr(name=string) annotations=[{tree}]), "
        "FieldDecl(name=b type=TypeExpr(name=int64))])"
    )
