"""`select` and `exclude` in the syntax of dbt, and Dagster's own selections."""

from __future__ import annotations

import dagster as dg
import pytest

from strata_dagster import DagsterStrataTranslator
from strata_dagster.assets import strata_asset_specs

CHAIN = """
model a { owner: "core"  from rates select { country, rate } }
model b { from a }
model c { from b }
model d { from b join_inner paid on b.country == paid.country select { b.country, paid.order_id } }
"""
EVERYTHING = {"paid", "by_country", "rate", "a", "b", "c", "d"}


@pytest.fixture
def names(shop):
    shop.write("models/chain/abc.strata", CHAIN)
    project, translator = shop.project, DagsterStrataTranslator()

    def found(select=None, exclude=()) -> set[str]:
        specs = strata_asset_specs(project, translator, select, exclude)
        return {spec.key.to_user_string() for spec in specs}

    return found


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("b", {"b"}),
        ("b rate", {"b", "rate"}),
        ("+b", {"a", "b"}),
        ("b+", {"b", "c", "d"}),
        ("+b+", {"a", "b", "c", "d"}),
        ("1+c", {"b", "c"}),
        ("a+1", {"a", "b"}),
        ("a+0", {"a"}),
        ("2+c", {"a", "b", "c"}),
        ("@b", {"a", "b", "c", "d", "paid"}),
        ("?", {"a", "b", "c", "d"}),
        ("*a*e*", {"rate"}),
        ("p*", {"paid"}),
        ("+d,+c", {"a", "b"}),
        ("path:models/sales", {"paid", "by_country"}),
        ("path:models/sales/", {"paid", "by_country"}),
        ("path:models/rates.strata", {"rate"}),
        ("path:models/*/abc.strata", {"a", "b", "c", "d"}),
        ("path:models/sales,paid+", {"paid", "by_country"}),
        ("tag:classification/pii", {"paid"}),
        ("tag:strata/contract=ByCountry", {"by_country"}),
        ("tag:classification/pii+", {"paid", "by_country", "d"}),
        ("source:orders", set()),
        ("source:orders+", {"paid", "by_country", "d"}),
        ("source:orders+1", {"paid"}),
        (["a", "b c"], {"a", "b", "c"}),
        ([], set()),
        (None, EVERYTHING),
        (dg.AssetSelection.assets("b").downstream(), {"b", "c", "d"}),
        (dg.AssetSelection.groups("sales") - dg.AssetSelection.assets("paid"), {"by_country"}),
        (dg.AssetSelection.from_string('owner:"team:core" or key:"c"'), {"a", "c"}),
    ],
)
def test_what_a_selection_names(names, select, expected) -> None:
    assert names(select) == expected
    assert names(None, select or ()) == (EVERYTHING - expected if select is not None else EVERYTHING)


def test_what_is_excluded_is_taken_from_what_is_selected(names) -> None:
    assert names("+d", "+b") == {"d", "paid"}
    assert names("+d", dg.AssetSelection.assets("paid")) == {"a", "b", "d"}


@pytest.mark.parametrize(
    ("select", "message", "fix"),
    [
        ("payed", "there is no model `payed`", "did you mean `paid`?"),
        ("+payed+", "there is no model `payed`", "did you mean `paid`?"),
        ("x*", "there is no model `x*`", "models are a, b, by_country, c, d, paid, rate"),
        (
            "tag:classification/pie",
            "there is no tag `classification/pie`",
            "did you mean `classification/pii`?",
        ),
        (
            "path:models/sails",
            "there is no path `models/sails`",
            "paths are models/chain/abc.strata, models/rates.strata, models/sales/orders.strata",
        ),
        ("source:order+", "there is no source `order`", "did you mean `orders`?"),
        ("tags:x", "`tags:` is no method of selection", "did you mean `tag`?"),
        (
            "config.materialized:view",
            "`config.materialized:` is no method of selection",
            "methods are tag, path, source",
        ),
        ("+", "`+` is no selection", "write `model`, `+model`, `model+`, `tag:…`, `path:…`"),
        ("a,", "`` is no selection", "write `model`, `+model`, `model+`, `tag:…`, `path:…`"),
        ("a++b", "`a++b` is no selection", "write `model`, `+model`, `model+`, `tag:…`, `path:…`"),
    ],
)
def test_a_selection_that_names_nothing_says_what_there_is(names, select, message, fix) -> None:
    with pytest.raises(dg.DagsterInvalidDefinitionError) as refused:
        names(select)
    assert str(refused.value) == f"error[E027]: {message}\n  = help: {fix}\n\n"


def test_a_translator_chooses_the_tags_and_keys_that_selections_see(shop) -> None:
    class Mine(DagsterStrataTranslator):
        def get_asset_key(self, project, model):
            return super().get_asset_key(project, model).with_prefix("shop")

        def get_tags(self, project, model):
            return {"nightly": ""} if model.name == "rate" else {}

    def found(select) -> list[str]:
        return [s.key.to_user_string() for s in strata_asset_specs(shop.project, Mine(), select)]

    assert found("tag:nightly") == ["shop/rate"]
    assert found("rate") == ["shop/rate"]
    assert found(dg.AssetSelection.key_prefixes("shop") & dg.AssetSelection.assets("shop/paid")) == ["shop/paid"]
