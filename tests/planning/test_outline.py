"""The outline: what is known of a project without running it, kept by the content of its files."""

from __future__ import annotations

import pytest

from strata_core.planning.kept import outlining
from strata_core.planning.kept.outline import ColumnOutline, outline
from strata_core.planning.kept.outlining import module_name


def test_it_tells_models_in_topological_order_with_their_fingerprints(shop) -> None:
    found = outline(shop.project).models
    assert next(iter(found)) == "enriched"
    assert list(found).index("by_country") < list(found).index("top")
    assert {name: m.fingerprint for name, m in found.items()} == {
        name: shop.fingerprint(name).merkle for name in ("enriched", "by_country", "by_day", "top")
    }


def test_a_model_has_its_contract_columns_and_where_they_come_from(shop) -> None:
    model = outline(shop.project).models["enriched"]
    assert (model.contract, model.module, model.upstream) == ("Order", "enriched", ("orders", "customers"))
    assert (model.span.file, model.span.line) == ("models/enriched.strata", 8)
    columns = {c.name: c for c in model.columns}
    assert columns["order_id"] == ColumnOutline(
        "order_id", "int64", nullable=False, unique=True, primary_key=True, origins=(("orders", "order_id"),)
    )
    assert columns["email"] == ColumnOutline(
        "email", "string", nullable=True, classification="pii", origins=(("customers", "email"),)
    )
    assert columns["country"].enum == ("ES", "MX", "CO")


def test_a_source_has_its_place_and_its_columns(shop) -> None:
    source = outline(shop.project).sources["customers"]
    assert (source.kind, source.location) == ("csv", "customers.csv")
    assert [(c.name, c.type, c.classification, c.origins) for c in source.columns] == [
        ("customer_id", "int64", None, ()),
        ("email", "string", "pii", ()),
    ]


def test_models_with_errors_are_left_out_and_their_findings_told(shop) -> None:
    shop.edit("models/by_day.strata", "group { placed }", "group { placd }")
    found = outline(shop.project)
    assert "by_day" not in found.models
    assert "by_country" in found.models
    assert "E021" in {d.code for d in found.diagnostics}


def test_an_unchanged_project_is_not_compiled_again(shop, monkeypatch) -> None:
    first = outline(shop.project)
    monkeypatch.setattr(outlining, "compile_", lambda _project: pytest.fail("compiled again"))
    assert outline(shop.project) == first


def test_an_edit_is_seen(shop) -> None:
    before = outline(shop.project).models["by_day"].fingerprint
    shop.edit("models/by_day.strata", "from enriched", "from enriched\n  filter amount > 1")
    assert outline(shop.project).models["by_day"].fingerprint != before


@pytest.mark.parametrize(
    ("file", "roots", "name"),
    [
        ("models/sales/orders.strata", ["models"], "sales.orders"),
        ("models/orders.strata", ["models/"], "orders"),
        ("a/b/orders.strata", ["a", "a/b"], "orders"),
        ("models_too/orders.strata", ["models"], "models_too.orders"),
        ("orders.strata", ["orders.strata"], "orders"),
    ],
)
def test_a_module_is_named_below_its_folder_of_models(file: str, roots: list[str], name: str) -> None:
    assert module_name(file, roots) == name
