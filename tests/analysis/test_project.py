"""Whole projects: order, broken models among good ones, sources, pipelines, and the cost of many models."""

from __future__ import annotations

import pickle
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from strata_core.analysis import CompiledProject, Resource, compile_project
from strata_core.contract.assertions import Unique
from strata_core.contract.model import Freshness
from strata_core.language.parser import parse_module, read_module
from strata_core.relation.expressions import conjuncts
from strata_core.relation.nodes import Filter, Scan, tables, walk_relation

from ..counting import steps
from .programs import model, project

ROOT = Path(__file__).parents[2]


def test_models_come_after_what_they_read_whatever_the_order_of_files() -> None:
    compiled = project("model c { from b } model b { from a }", "model a { from customers }")
    assert list(compiled.models) == ["a", "b", "c"]
    assert compiled.models["c"].upstream == ("b",)
    assert compiled.broken == frozenset()


def test_a_broken_model_breaks_its_readers_quietly_and_no_other() -> None:
    text = """
    contract A { id: int64, name: string nonnull }
    model a -> contract A { from customers select { id = customer_id, name = emial } }
    model b { from a filter name is not none derive { x = other + 1, y = upper(name) } select { * } }
    model c { from b join_left a on b.z == a.id select { b.q, a.name } }
    model d { from customers select { email } }
    model e { from a select { id, wrong = id + name } }
    """
    compiled = project(text)
    errors = [(d.code, d.message) for d in compiled.diagnostics if d.blocks]
    assert errors == [("E021", "no column `emial`"), ("E050", "`+` cannot combine int64 and string")]
    assert compiled.broken == {"a", "b", "c", "e"}
    assert list(compiled.models) == ["d"]


def test_models_on_a_cycle_break_those_behind_them_and_are_still_checked() -> None:
    compiled = project("model a { from b filter 1 } model b { from a } model c { from b select { x } }")
    assert [d.code for d in compiled.diagnostics if d.blocks] == ["E026", "E053"]
    assert compiled.broken == {"a", "b", "c"}


def test_declarations_that_do_not_parse_are_known_by_name() -> None:
    parsed = parse_module(
        "model a { from customers selct { x } }\ncontract C { x int64 }\n"
        "model b -> contract C { from a select { y } }\n"
        'source s(csv: "s") { columns: { a } }\nmodel d { from s select { z } }\npipeline p { models: [a, b] }',
        "a.strata",
    )
    compiled = compile_project([parsed.module])
    assert parsed.diagnostics
    assert [d for d in compiled.diagnostics if d.blocks] == []
    assert compiled.broken == {"a", "b", "d"}


def test_a_broken_source_breaks_its_readers_quietly() -> None:
    compiled = project(
        'source s(csv: "s") { columns: { a: int46, b: int64 } } model m { from s select { x = a + 1, b } }'
    )
    assert [d.code for d in compiled.diagnostics if d.blocks] == ["E072"]
    assert compiled.broken == {"m"}
    assert "s" not in compiled.sources


def test_sources_say_where_they_are() -> None:
    text = """
    source a(csv: "x.csv", null_text: "NA") { columns: { i: int64 } }
    source b(duckdb: "x.db", table: "t") { columns: { i: int64 } }
    source c(dbt: "stg_c") { columns: { i: int64 } description: "staged" freshness: <= 12h }
    source d(ns: "crm", dataset: "ds") { columns: { i: int64 } }
    source e { columns: { i: int64 } }
    pipeline prod env: prod { models: [], sources: { a: from(csv: "y.csv"), b } }
    """
    compiled = project(text)
    found = {name: source.resource for name, source in compiled.sources.items() if len(name) == 1}
    assert found == {
        "a": Resource("csv", "x.csv", {"null_text": "NA"}),
        "b": Resource("duckdb", "x.db", {"table": "t"}),
        "c": Resource("dbt", "stg_c", {}),
        "d": Resource("table", "ds", {"ns": "crm", "dataset": "ds"}),
        "e": Resource("table", "e", {}),
    }
    assert compiled.sources["c"].description == "staged"
    assert compiled.sources["c"].freshness == Freshness(timedelta(hours=12))
    assert compiled.pipelines["prod"].sources == {"a": Resource("csv", "y.csv", {})}
    assert compiled.pipelines["prod"].env == "prod"


def test_a_source_filter_is_in_every_model_that_reads_it() -> None:
    sources = 'source s(csv: "s") { columns: { id: int64 primary_key, n: int64 } filter: n > 0 }'
    compiled = model("from s join_left s as other on s.id == other.id select { id, n, m = other.n }", sources=sources)
    assert sum(isinstance(node, Filter) for node in walk_relation(compiled.relation)) == 2
    assert [str(c.inferred) for c in compiled.relation.schema.columns] == ["int64 nonnull", "int64 nonnull", "int64"]
    assert [str(c.inferred) for c in project("", sources=sources).sources["s"].columns] == ["int64 nonnull", "int64"]


def test_attributes_freshness_and_the_final_order_are_kept() -> None:
    compiled = model(
        'owner: "me" description: "all of it" from customers sort { since desc, upper(email) } '
        "select { e = email, since } "
        "freshness <= 1d freshness_column: since"
    )
    assert compiled.attributes == {"owner": "me", "description": "all of it"}
    assert compiled.freshness == Freshness(timedelta(days=1), "since")
    assert [k.descending for k in compiled.order] == [True, False]
    assert "name='e'" in str(compiled.order[1].expr)


def test_an_implicit_widening_becomes_a_cast_and_keeps_lineage() -> None:
    compiled = model("from orders select { order_id, w = order_id }", contract="order_id: decimal(21,2), w: float64")
    columns = compiled.relation.schema.by_name
    assert [str(c.inferred.type) for c in columns.values()] == ["decimal(21,2)", "float64"]
    assert [o.transform.value for c in columns.values() for o in c.origins] == ["passthrough", "passthrough"]
    assert compiled.relation.schema.keys == {frozenset({"order_id"})}


def test_a_literal_takes_the_promised_type_where_nothing_is_lost() -> None:
    compiled = model(
        "from customers select { rate = 0.5, whole = 3, gone = none }",
        contract="rate: decimal(3,2), whole: decimal(5,1), gone: date",
    )
    assert [str(c.inferred.type) for c in compiled.relation.schema.columns] == ["decimal(3,2)", "decimal(5,1)", "date"]


def test_what_is_proven_needs_no_assertion() -> None:
    compiled = model("from customers", contract="customer_id: int64 primary_key, email: string nonnull unique")
    assert compiled.assertions == (Unique(("email",)),)
    assert [(p.field, p.rule.value, p.proven) for p in compiled.proofs] == [
        ("customer_id", "type", True),
        ("customer_id", "nonnull", True),
        ("customer_id", "primary key", True),
        ("email", "type", True),
        ("email", "nonnull", True),
        ("email", "unique", False),
    ]


def test_readers_see_what_the_pin_holds_besides_what_is_proven() -> None:
    text = """
    contract Visit { page: string primary_key, country: string enum {ES, MX} }
    model v -> contract Visit { from visits select { page, country } }
    model w { from v filter country != "ES" }
    """
    compiled = project(text)
    relation = compiled.models["w"].relation
    assert relation.schema["country"].inferred.values == {"MX"}
    assert relation.schema.keys == {frozenset({"page"})}


def test_two_primary_key_fields_are_one_composite_key() -> None:
    sources = 'source s(csv: "s") { columns: { a: int64 primary_key, b: int64 primary_key, c: int64 } }'
    assert model("from s", sources=sources).relation.schema.keys == {frozenset({"a", "b"})}


def test_the_result_can_be_pickled() -> None:
    compiled = project("model m { from orders sort { placed } take 3 derive { x = upper(note) } }")
    again = pickle.loads(pickle.dumps(compiled))
    assert isinstance(again, CompiledProject)
    assert again.models["m"].relation == compiled.models["m"].relation


def test_the_demo_compiles_without_a_finding() -> None:
    modules = [read_module(path, path.name).module for path in sorted((ROOT / "models").glob("*.strata"))]
    compiled = compile_project(modules)
    assert compiled.diagnostics == ()
    assert len(compiled.models) >= 6


def test_checking_loads_no_heavy_package() -> None:
    code = (
        "import sys, strata_core.analysis, strata_core.relation.canonical; "
        "print(sorted(m for m in ('pyarrow', 'duckdb', 'polars', 'sqlglot', 'lark', 'click') if m in sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert shown.stdout == "[]\n"


def chain(count: int) -> str:
    links = (f"model m{i} {{ from m{i - 1} derive {{ n = n + {i} }} filter n > {i} }}" for i in range(1, count))
    # Last first, so that the order has to be found.
    return "\n".join([*list(links)[::-1], "model m0 { from orders select { order_id, n = order_id } }"])


def cost(count: int) -> int:
    parsed = parse_module(chain(count), "chain.strata").module
    sources = parse_module('source orders(csv: "o") { columns: { order_id: int64 primary_key } }', "s.strata").module
    compiled: list[CompiledProject] = []
    taken = steps(lambda: compiled.append(compile_project([sources, parsed])))
    assert len(compiled[0].models) == count
    return taken


def test_the_cost_of_a_chain_of_models_is_linear() -> None:
    cost(10)  # what is made once is made
    assert cost(400) < 4.3 * cost(100)


def test_a_chain_of_two_thousand_models_compiles() -> None:
    assert len(project(chain(2000)).models) == 2000


def test_a_cycle_of_two_thousand_models_is_one_finding() -> None:
    text = "\n".join(f"model m{i} {{ from m{(i + 1) % 2000} }}" for i in range(2000))
    (one,) = [d for d in project(text).diagnostics if d.blocks]
    assert one.code == "E026"


def test_a_model_of_many_statements_takes_no_recursion() -> None:
    lets = " ".join(f"let x{i} = {f'x{i - 1}' if i else 'order_id'} + 1" for i in range(400))
    compiled = model(f"from orders {lets} select {{ x = x399 }}")
    assert tables(compiled.relation) == {"orders"}
    assert pickle.loads(pickle.dumps(compiled)) == compiled
    assert sum(isinstance(node, Scan) for node in walk_relation(compiled.relation)) == 1


def test_a_model_of_many_filters_takes_no_recursion() -> None:
    compiled = model("from orders " + " ".join(f"filter order_id != {i}" for i in range(150)))
    (only,) = [node for node in walk_relation(compiled.relation) if isinstance(node, Filter)]
    assert len(conjuncts(only.predicate)) == 150
    assert pickle.loads(pickle.dumps(compiled)) == compiled


@pytest.mark.parametrize("name", ["../../x", "é", "a b", "m" * 129])
def test_e070_a_name_that_is_no_folder_names_no_model(name: str) -> None:
    found = [d for d in project(f"model `{name}` {{ from orders }}").diagnostics if d.blocks]
    assert [(d.code, d.message, d.fix) for d in found] == [
        (
            "E070",
            f"`{name}` cannot name a model, since its rows lie in a folder of that name",
            "use a letter or _, then letters, digits and _, 128 characters at most",
        )
    ]


def test_a_model_name_may_have_128_characters() -> None:
    assert list(project(f"model {'m' * 128} {{ from orders }}").models) == ["m" * 128]
