"""`strata lineage` as people run it."""

from __future__ import annotations


def test_a_column_upwards(cli):
    ran = cli("lineage", "totals.total")
    assert ran.out.splitlines() == [
        "totals.total  money(EUR) nonnull",
        "└─ aggregated  paid.amount  money(EUR) nonnull",
        "   └─ passthrough  sales.amount  money(EUR) nonnull",
        "rows of totals",
        "└─ grouped  paid.country",
    ]
    assert ran.code == 0


def test_a_column_downwards(cli):
    ran = cli("lineage", "sales.amount", "--down", "--format", "json")
    assert [(v["to"]["table"], v["to"]["column"], v["kind"]) for v in ran.document["values"]] == [
        ("paid", "amount", "passthrough"),
        ("totals", "total", "aggregated"),
    ]
    assert [(r["to"]["table"], r["role"]) for r in ran.document["rows"]] == [("paid", "filter")]
    assert [t["to"]["table"] for t in ran.document["rows_through"]] == ["totals"]


def test_without_a_model_all_models_one_hop_each(cli):
    ran = cli("lineage")
    assert "paid.amount  money(EUR) nonnull\n└─ passthrough  sales.amount" in ran.out
    assert "totals.total  money(EUR) nonnull\n└─ aggregated  paid.amount" in ran.out
    events = cli("lineage", "--format", "openlineage").document
    assert [e["job"]["name"] for e in events] == ["paid", "totals"]


def test_what_is_not_there_is_a_fault_of_usage(cli):
    ran = cli("lineage", "total")
    assert ran.code == 2
    assert "did you mean `totals`?" in ran.err
    ran = cli("lineage", "totals.sum")
    assert ran.code == 2
    assert "E021" in ran.err


def test_models_with_errors_are_named_and_the_rest_is_shown(cli):
    cli.edit("models/totals.strata", "sum(amount)", "sum(amuont)")
    ran = cli("lineage", "paid.amount")
    assert ran.code == 0
    assert "sales.amount" in ran.out
    assert ran.err == "left out, for they have errors (`strata check`): totals\n"
