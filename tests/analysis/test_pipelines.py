"""Pipelines (language.md, "Declarations"): models that are built together, and where their sources are there."""

from __future__ import annotations

from strata_core.planning.workspace import models_in

from .programs import marked, project

SOURCES = """
source orders(ns: "crm", dataset: "orders") { columns: { id: int64 nonnull } }
source files(csv: "a.csv", null_text: "NA") { columns: { id: int64 nonnull } }
model a { from orders }
model b { from files }
"""


def placed(pipeline: str, source: str = "orders"):
    found = project(pipeline, sources=SOURCES)
    assert [d for d in found.diagnostics if d.blocks] == []
    return found.pipelines["p"].sources[source]


def error(text: str):
    (one,) = [d for d in project(text, sources=SOURCES).diagnostics if d.blocks]
    return one.code, marked(text, one), one.message, one.fix


def test_an_override_that_names_no_other_place_changes_what_it_says():
    found = placed('pipeline p { env: eu, sources: { orders: from(ns: "crm_eu") } }')
    assert (found.kind, found.location, found.options) == ("table", "orders", {"ns": "crm_eu", "dataset": "orders"})
    assert placed('pipeline p { sources: { files: from(null_text: "-") } }', "files").options == {"null_text": "-"}
    assert placed('pipeline p { sources: { files: from(null_text: "-") } }', "files").location == "a.csv"


def test_an_override_that_names_another_place_says_all_of_it():
    found = placed('pipeline p { env: eu, sources: { files: from(parquet: "eu.parquet") } }', "files")
    assert (found.kind, found.location, found.options) == ("parquet", "eu.parquet", {})


def test_e020_e027_what_a_pipeline_names_in_vain():
    assert error("pipeline p { sources: { order: from(csv: \"x.csv\") } }") == (
        "E020", "order", "no source `order`", "write `orders`",
    )  # fmt: skip
    assert error("pipeline p { models: [a, bb] }")[:3] == ("E027", "bb", "no model `bb`")
    assert error('pipeline p { sources: { a: from(csv: "x.csv") } }')[:3] == ("E020", "a", "no source `a`")


def test_e070_what_no_resource_clause_says():
    assert error('pipeline p { sources: { orders: from(cvs: "x.csv") } }')[:3] == (
        "E070",
        "cvs",
        "a source has no `cvs:`",
    )


def test_e023_a_source_is_in_one_place_in_an_environment():
    twice = 'sources: { orders: from(ns: "a"), orders: from(ns: "b") }'
    assert error(f"pipeline p {{ {twice} }}")[:3] == ("E023", "orders", "the place of `orders` is given twice")
    one = 'pipeline p { env: eu, sources: { orders: from(ns: "a") } }\n'
    other = one.replace("pipeline p", "pipeline q")
    assert error(one + other)[:3] == ("E023", "orders", "the place of `orders` is given twice")
    assert [d for d in project(one + other.replace("eu", "us"), sources=SOURCES).diagnostics if d.blocks] == []


def test_the_pipelines_of_an_environment_say_what_is_built_there_with_what_it_reads():
    text = """
    model c { from a }
    model d { from c }
    pipeline p { env: eu, models: [b] }
    pipeline q { env: eu, models: [a, b] }
    pipeline s { env: cn, models: [c] }
    pipeline r { env: us, sources: { orders: from(ns: "us") } }
    """
    found = project(text, sources=SOURCES)
    assert models_in(found, "eu") == ("a", "b")
    assert models_in(found, "cn") == ("a", "c")
    assert models_in(found, "us") is None
    assert models_in(found, "prod") is None
