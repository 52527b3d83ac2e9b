"""Names of models that compile-time functions make: they stand at the template."""

from __future__ import annotations

import pytest

from strata_core.analysis import compile_project
from strata_core.analysis.editing.index import build_index
from strata_core.analysis.editing.rename import RenameRefusedError, nameable, rename
from strata_core.analysis.editing.symbols import Kind, Symbol
from strata_core.diagnostics.edits import applied
from strata_core.language.parser import parse_module

PROJECT = """\
source orders(csv: "o.csv") { columns: { id: int64 primary_key, country: string nonnull, amount: int64 } }
fn by_country(cs: List<Str>) -> List<Model> {
  [ model "orders_${c}" { from orders as o  filter o.country == c  select { id, doubled = amount * 2 } } for c in cs ]
}
by_country(["ES", "MX"])
model spanish { from orders_ES  filter doubled > 1  select { id, doubled } }
pipeline p { models: [spanish, by_country(["CO"])] }
"""
INDEX = build_index([parse_module(PROJECT, "m.strata").module])


def test_the_project_holds_together() -> None:
    compiled = compile_project([parse_module(PROJECT, "m.strata").module])
    assert [d for d in compiled.diagnostics if d.blocks] == []
    assert sorted(compiled.models) == ["orders_CO", "orders_ES", "orders_MX", "spanish"]


def at(marked: str) -> list:
    wanted = marked.replace("‸", "")
    line = next(n for n, text in enumerate(PROJECT.splitlines(), 1) if wanted in text)
    column = PROJECT.splitlines()[line - 1].index(wanted) + marked.index("‸") + 1
    return INDEX.at("m.strata", line, column)


def shown(places: list) -> list[str]:
    return [f"{o.span.line}:{o.span.column}" for o in places]


def test_a_generated_model_is_declared_at_its_template() -> None:
    assert shown(INDEX.definitions(at("from orders_‸ES")[0].symbol)) == ["3:11"]
    assert shown(INDEX.definitions(at("filter dou‸bled")[0].symbol)) == ["3:81"]
    assert shown(INDEX.definitions(at('by_cou‸ntry(["ES"')[0].symbol)) == ["2:4"]
    assert list(INDEX.columns["orders_MX"]) == ["id", "doubled"]


def test_a_place_in_a_template_means_what_the_first_of_its_models_means() -> None:
    assert at("doub‸led = amount")[0].symbol == Symbol(Kind.COLUMN, "doubled", "orders_ES")
    assert shown(INDEX.definitions(at("= amo‸unt")[0].symbol)) == ["1:90"]
    assert at("[ mo‸del") == []


def test_references_reach_from_the_template_to_the_readers() -> None:
    found = INDEX.references(at("doub‸led = amount")[0].symbol)
    assert sorted({*shown(found)}) == ["3:81", "6:40", "6:66"]


def renamed(marked: str, name: str) -> list[str]:
    renaming = rename(nameable(at(marked)[0], INDEX).symbol, name, INDEX, {"m.strata": PROJECT}.get)
    after = applied(PROJECT, renaming.edits["m.strata"])
    compiled = compile_project([parse_module(after, "m.strata").module])
    assert [d for d in compiled.diagnostics if d.blocks] == []
    return [b for a, b in zip(PROJECT.splitlines(), after.splitlines(), strict=True) if a != b]


def test_a_column_is_renamed_in_the_template_and_all_that_read_its_models() -> None:
    template, reader = renamed("doub‸led = amount", "twice")
    assert "select { id, twice = amount * 2 } } for c in cs ]" in template
    assert reader == "model spanish { from orders_ES  filter twice > 1  select { id, doubled = twice } }"


def test_a_column_of_a_source_is_renamed_in_the_template() -> None:
    (source, template) = renamed("primary_key, coun‸try", "land")
    assert "land: string nonnull" in source
    assert "filter o.land == c" in template


def test_the_function_is_renamed_with_its_calls() -> None:
    assert renamed("fn by_cou‸ntry", "per_country") == [
        "fn per_country(cs: List<Str>) -> List<Model> {",
        'per_country(["ES", "MX"])',
        'pipeline p { models: [spanish, per_country(["CO"])] }',
    ]


def test_what_a_function_names_is_not_renamed_by_hand() -> None:
    with pytest.raises(RenameRefusedError, match="`orders_ES` is named by a compile-time function"):
        nameable(at("from orders_‸ES")[0], INDEX)
