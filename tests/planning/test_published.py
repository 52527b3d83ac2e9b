"""The published rows, as consumers read them."""

from __future__ import annotations

import pytest

from strata_core.diagnostics import StrataError
from strata_core.planning.environments import published_environment
from strata_core.planning.live.published import published_rows
from strata_core.planning.project import compile_
from strata_core.store import manifest


def read(shop, model, environment="prod", version=None):
    found = published_rows(shop.project, compile_(shop.project), model, environment, version)
    with found.reader as reader:
        return found.columns, found.total, reader.read_all().to_pylist()


def fault(shop, *args):
    with pytest.raises(StrataError) as caught:
        read(shop, *args)
    (found,) = caught.value.diagnostics
    return found.code, found.message, found.fix


def test_columns_stand_in_the_order_of_the_model(shop):
    shop.apply()
    columns, total, rows = read(shop, "by_country")
    assert (columns, total, list(rows[0])) == (("country", "orders", "total"), 3, ["country", "orders", "total"])


def test_an_earlier_version_is_read_as_it_was(shop):
    shop.apply()
    shop.edit("models/by_day.strata", "count()", "count() + 1")
    shop.apply()
    assert [r["orders"] for r in read(shop, "by_day")[2]] == [2, 3, 2]
    assert [r["orders"] for r in read(shop, "by_day", "prod", 1)[2]] == [1, 2, 1]


def test_a_model_that_left_the_project_is_shown_while_it_is_published(shop):
    shop.apply()
    (shop.root / "models/top.strata").unlink()
    assert read(shop, "top")[1] == 1


def test_what_is_not_there_is_told(shop):
    assert fault(shop, "by_day") == (
        "E095",
        "nothing was published yet: there is no store at `.strata/store`",
        "run `strata apply`",
    )
    assert fault(shop, "by_dya")[:3] == ("E027", "there is no model `by_dya`", "did you mean `by_day`?")
    shop.apply("enriched")
    assert fault(shop, "by_day") == ("E095", "`by_day` is not published in prod", "run `strata apply by_day`")
    assert fault(shop, "by_dya")[0] == "E027"
    assert fault(shop, "enriched", "prd") == ("E095", "nothing was published in `prd` yet", "did you mean `prod`?")
    assert fault(shop, "enriched", "prod", 7)[:2] == ("E095", "environment prod has no version 7")


def test_e094_an_artifact_that_was_tampered_with(shop):
    shop.apply()
    (path,) = (shop.root / ".strata/store/tables/top").rglob(manifest.NAME)
    path.unlink()
    assert fault(shop, "top")[0] == "E094"


def test_an_environment_is_found(shop):
    shop.apply()
    assert published_environment(shop.project, "prod").head().number == 1
