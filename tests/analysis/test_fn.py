"""Compile-time functions (language.md, "Declarations"): what they generate is as if it had been written by hand."""

from __future__ import annotations

import pytest

from strata_core.analysis import CompiledProject, compile_project
from strata_core.diagnostics import Diagnostic
from strata_core.language.parser import parse_module
from strata_core.planning.fingerprints import fingerprints

from .programs import marked, project

SOURCES = """
source paid(csv: "paid.csv") { columns: { id: int64 primary_key, country: string nonnull, amount: float64 nonnull } }
source paid_ES(csv: "es.csv") { columns: { id: int64 primary_key, country: string nonnull, amount: float64 nonnull } }
contract Paid { id: int64 primary_key, country: string nonnull, amount: float64 nonnull }
"""
BY_COUNTRY = """
fn by_country(names: List<Str>) -> List<Model> {
  [ model "orders_${c}" -> contract Paid { from paid filter country == c } for c in names ]
}
"""


def compiled(text: str, *more: str) -> CompiledProject:
    return project(text, *more, sources=SOURCES)


def errors(text: str) -> list[Diagnostic]:
    return [d for d in compiled(text).diagnostics if d.blocks]


def error(text: str) -> Diagnostic:
    (one,) = errors(text)
    return one


def fingerprint(text: str, model: str, *more: str) -> str:
    found = compiled(text, *more)
    assert model in found.models, found.diagnostics
    return fingerprints(found)[model].merkle


# --- a generated model is a model


def test_a_call_adds_its_models_and_others_read_them():
    found = compiled(
        BY_COUNTRY + 'by_country(["ES", "MX"])\nmodel all -> contract Paid { from orders_ES union all orders_MX }'
    )
    assert found.diagnostics == ()
    assert list(found.models) == ["orders_ES", "orders_MX", "all"]
    assert found.models["all"].upstream == ("orders_ES", "orders_MX")
    assert found.models["orders_ES"].contract is not None
    country = found.models["orders_ES"].relation.schema["country"]
    assert country.inferred.values == {"ES"}
    assert [(o.node, o.column) for o in country.origins] == [("paid", "country")]


BY_HAND = """
owner: "finance"
description: "what ES paid"
from paid
join_left paid_ES as other on paid.id == other.id
let least = 1.50
filter paid.country == "ES" and not paid.country in ["MX", "CO"] and paid.amount > least
derive { label = "of ES" }
group { country = paid.country, label } (
  aggregate { n = count(), total = sum(paid.amount), most = max(other.amount) }
  filter n > 3
)
derive { n_ES = n * 3 }
select { country, label, n_ES, total, most, here = true }
sort { -total, country }
take 5
"""


def templated(body: str) -> str:
    body = (
        body.replace('"ES"', "c")
        .replace("ES", "${c}")
        .replace("paid_${c}", "`paid_${c}`")
        .replace("n_${c}", "`n_${c}`")
    )
    body = body.replace('["MX", "CO"]', "others").replace("1.50", "least_amount").replace("n > 3", "n > few")
    return body.replace("n * 3", "n * few").replace("here = true", "here = yes")


TEMPLATE = templated(BY_HAND)
EVERY = """
fn made(c: Str, others: List<Str>, least_amount: Float, few: Int, yes: Bool) -> Model {{
  model "m_${{c}}" {{ {body} }}
}}
"""


def test_a_generated_model_has_the_fingerprint_of_the_same_model_written_by_hand():
    by_hand = fingerprint(f"model m_ES {{ {BY_HAND} }}", "m_ES")
    function = EVERY.format(body=TEMPLATE)
    call = 'made("ES", ["MX", "CO"], 1.50, 3, true)'
    assert fingerprint(f"{function}\n{call}", "m_ES") == by_hand
    assert fingerprint(f"{call}", "m_ES", f"\n\n\n{function}") == by_hand, "the function moved to another module"
    renamed = function.replace("made", "m").replace("c:", "land:").replace("${c}", "${land}")
    renamed = renamed.replace("== c ", "== land ")
    assert fingerprint(f"{renamed}\n{call.replace('made', 'm')}", "m_ES") == by_hand
    other = fingerprint(f"{function}\n{call.replace('1.50', '1.75')}", "m_ES")
    assert other != by_hand


def test_every_statement_may_stand_in_a_generated_model():
    body = """
      from paid join_inner `paid_${c}` as p on paid.id == p.id expect one_to_one
      where paid.amount > 0.5 let doubled = paid.amount * 2.0 derive { d = doubled }
      select { id = paid.id, country = paid.country, amount = d }
      union all `paid_${c}` except paid intersect paid union paid
      dedup by id sort { amount } dedup
      sort { id } take 1..10 partition_by [country] freshness 1d
    """
    text = f'fn made(c: Str) -> Model {{ model "m_${{c}}" -> contract Paid {{ {body} }} }}\nmade("ES")'
    by_hand = f"model m_ES -> contract Paid {{ {body.replace('${c}', 'ES')} }}"
    assert fingerprint(text, "m_ES") == fingerprint(by_hand, "m_ES")


def test_a_parameter_hides_the_column_of_its_name_unless_that_is_qualified():
    text = """
    fn made(country: Str) -> Model {
      model "m_${country}" { from paid filter paid.country == country select { id, country } }
    }
    made("ES")
    """
    by_hand = 'model m_ES { from paid filter paid.country == "ES" select { id, country = "ES" } }'
    assert fingerprint(text, "m_ES") == fingerprint(by_hand, "m_ES")


def test_parameters_in_attributes_lists_and_functions():
    text = """
    fn shout(s: Str) -> Str { concat(upper(s), "!") }
    fn made(c: Str, team: Str, wanted: List<Str>) -> Model {
      model "m_${c}" {
        owner: team
        description: "orders of ${c}"
        from paid
        filter country in wanted and country in [x for x in wanted if x != "MX"] and country != shout(c)
      }
    }
    made("es", "finance", wanted: ["ES", "MX"])
    """
    by_hand = 'model m_es { from paid filter country in ["ES", "MX"] and country in ["ES"] and country != "ES!" }'
    assert fingerprint(text, "m_es") == fingerprint(by_hand, "m_es")
    assert compiled(text).models["m_es"].attributes == {"owner": "finance", "description": "orders of es"}


def test_structs_and_maps_are_read_by_name():
    text = """
    fn markets() -> List<Struct<code: Str, least: Float>> {
      [struct("code", "ES", "least", 1.5), struct("code", "MX", "least", 2)]
    }
    fn labels() -> Map<Str, Str> { map("ES", "Spain", "MX", "Mexico") }
    fn made() -> List<Model> {
      [
        model "m_${m.code}" {
          from paid
          filter country == m.code and amount > m.least
          derive { label = map_name(m.code) }
        }
        for m in markets()
      ]
    }
    fn map_name(code: Str) -> Str map_get(labels(), code)
    made()
    """
    by_hand = 'model m_MX { from paid filter country == "MX" and amount > 2.0 derive { label = "Mexico" } }'
    assert fingerprint(text, "m_MX") == fingerprint(by_hand, "m_MX")


def test_comprehensions_nest_and_have_conditions():
    text = """
    fn pairs(xs: List<Str>, ns: List<Int>) -> List<Model> {
      [ model "m_${x}_${n}" { from paid filter country == x and id > n } for x in xs if x != "CO" for n in ns if n > 1 ]
    }
    pairs(["ES", "CO", "MX"], [1, 2, 3])
    """
    assert list(compiled(text).models) == ["m_ES_2", "m_ES_3", "m_MX_2", "m_MX_3"]
    nested = text.replace("-> List<Model> {\n      [ model", "-> List<List<Model>> {\n      [ [ model")
    nested = nested.replace(" for n in ns if n > 1 ]", " for n in ns if n > 1 ] for x in xs ]").replace(
        ' for x in xs if x != "CO" for n', " for n"
    )
    assert list(compiled(nested).models) == ["m_ES_2", "m_ES_3", "m_CO_2", "m_CO_3", "m_MX_2", "m_MX_3"]


def test_tests_and_models_name_generated_models():
    found = compiled(BY_COUNTRY + 'by_country(["ES"])\ntest orders_ES { expect row_count > 0 }')
    assert [(e.model, e.whole) for e in found.expectations] == [("orders_ES", True)]


# --- pipelines


def test_a_pipeline_adds_what_it_generates_and_shares_what_is_there():
    text = BY_COUNTRY + 'pipeline p { env: prod, models: [by_country(["MX", "CO"])] }\nby_country(["ES", "MX"])'
    found = compiled(text)
    assert found.diagnostics == ()
    assert sorted(found.models) == ["orders_CO", "orders_ES", "orders_MX"]
    assert found.pipelines["p"].models == ("orders_MX", "orders_CO")


def test_e023_a_pipeline_generates_another_model_of_a_name():
    other = BY_COUNTRY.replace("by_country", "big").replace("country == c", "country == c and amount > 1000.0")
    one = error(BY_COUNTRY + other + 'by_country(["ES"])\npipeline p { models: [big(["ES"])] }')
    assert (one.code, one.message) == ("E023", "the table `orders_ES` is given twice")


# --- names that are taken


def test_e023_a_generated_name_that_is_declared_is_told_at_the_call_the_template_and_the_declaration():
    text = (
        BY_COUNTRY + 'by_country(["ES", "MX", "CO"])\n'
        'model orders_MX -> contract Paid { from paid }\nsource orders_CO(csv: "x.csv") {}'
    )
    one = error(text)
    assert (one.code, one.message) == ("E023", "the table `orders_MX` is given twice")
    assert marked(text, one) == 'by_country(["ES", "MX", "CO"])'
    assert one.notes == ("so is `orders_CO`",)
    assert [r.message for r in one.related] == ['named here, by by_country(c = "MX")', "first here"]
    assert one.related[1].span.line == text.count("\n")


def test_e023_one_call_gives_a_name_twice():
    one = error(BY_COUNTRY + 'by_country(["ES", "ES"])')
    assert one.code == "E023"
    assert one.related[1].message == 'first by by_country(c = "ES"), in the same call'


def test_e023_two_calls_give_a_name():
    text = BY_COUNTRY + 'by_country(["ES"])\nby_country(["ES"])'
    one = error(text)
    assert (one.code, one.span.line, one.related[1].span.line) == ("E023", 6, 5)


# --- faults of a template


def test_a_fault_of_a_template_is_told_once_at_the_template_with_the_call_and_its_values():
    text = BY_COUNTRY.replace("country == c", "contry == c") + 'by_country(["ES", "MX", "CO", "PE", "CL", "AR", "UY"])'
    one = error(text)
    assert (one.code, marked(text, one), one.fix) == ("E021", "contry", "write `country`")
    assert one.related[0].message == 'generated by by_country(c = "ES")'
    assert one.related[0].span.line == 5
    assert one.notes[-1] == "likewise in `orders_MX`, `orders_CO`, `orders_PE`, `orders_CL`, `orders_AR` and 1 more"


def test_a_fault_of_some_copies_names_the_first_of_them():
    text = """
    fn made(cs: List<Str>) -> List<Model> { [model "m_${c}" -> contract Paid { from `paid_${c}` } for c in cs] }
    made(["ES", "MX"])
    """
    one = error(text)
    assert (one.code, marked(text, one)) == ("E020", "`paid_${c}`")
    assert one.message == "no source or model `paid_MX`"
    assert (one.fix, one.suggestions) == ("change the template, or the values that it is made with", ())
    assert one.related[0].message == 'generated by made(c = "MX")'
    assert list(compiled(text).models) == ["m_ES"]


def test_lints_of_a_template_are_told_once():
    text = 'fn made(cs: List<Str>) -> List<Model> { [model "m_${c}" { from paid } for c in cs] }\nmade(["ES", "MX"])'
    (one,) = compiled(text).diagnostics
    assert (one.code, one.notes) == ("W001", ("likewise in `m_MX`",))


def test_a_broken_call_is_no_reason_to_call_its_models_unknown():
    text = (
        BY_COUNTRY + 'by_country("ES")\nmodel all -> contract Paid { from orders_ES }\n'
        "test orders_ES { expect row_count > 0 }\npipeline p { models: [all, orders_MX] }"
    )
    assert [d.code for d in errors(text)] == ["E041"]
    broken = "fn by_country(names: List<Str>) -> List<Model> { [ model }\n" + text.split("}\n", 1)[1]
    parsed = [parse_module(t, "m") for t in (SOURCES, broken)]
    assert [d.code for p in parsed for d in p.diagnostics] == ["E001"]
    assert compile_project([p.module for p in parsed]).diagnostics == ()


def test_w010_a_function_that_nothing_calls():
    found = compiled(BY_COUNTRY + "fn other(n: Int) -> Int if(n == 0, 0, other(n - 1))\nby_country([])").diagnostics
    assert [(d.code, d.message) for d in found] == [("W010", "the function `other` is never called")]


@pytest.mark.parametrize("order", [lambda parts: parts, lambda parts: parts[::-1]])
def test_the_order_of_declarations_and_modules_does_not_matter(order):
    parts = [BY_COUNTRY, "by_country(codes())", 'fn codes() -> List<country> ["ES", "MX"]', "domain country = string"]
    assert sorted(compiled(*order(parts)).models) == ["orders_ES", "orders_MX"]
