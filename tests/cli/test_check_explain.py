"""`strata check --explain MODEL`: each promise, whether it is proven, and by what."""

from __future__ import annotations

JOINED = """\
source tags(csv: "tags.csv") {
  columns: { country: string, tag: string }
}
contract Tagged {
  id: int64 primary_key
  tag: string enum {a, b}
}
model tagged -> contract Tagged {
  from sales
  join_left tags on sales.country == tags.country expect many_to_one
  select { id, tags.tag }
}
"""


def test_a_proven_model(cli):
    ran = cli("check", "--explain", "totals")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "model totals -> contract Total\n"
        "  country  type         proven  type inference: string nonnull, a key of the group, from paid.country\n"
        "  country  nonnull      proven  type inference: string nonnull, a key of the group, from paid.country\n"
        "  country  primary key  proven  key of the group: country\n"
        "  total    type         proven  type inference: money(EUR) nonnull, computed from paid.amount\n"
        "  total    nonnull      proven  type inference: money(EUR) nonnull, computed from paid.amount\n"
        "5 promises: 5 proven, 0 asserted at the write pin\n"
    )


def test_what_is_not_proven_is_asserted(cli):
    cli.write("models/tagged.strata", JOINED)
    lines = cli("check", "--explain", "tagged").out.splitlines()
    assert [line for line in lines if " asserted " in line] == [
        "  tag        enum                               asserted  "
        "measured at the write pin: its values are not known before the run",
        "  the table  join_left tags expect many_to_one  asserted  measured at the write pin: the keys do not prove it",
        "6 promises: 4 proven, 2 asserted at the write pin",
    ]


def test_as_json(cli):
    cli.write("models/tagged.strata", JOINED)
    document = cli("check", "--explain", "tagged", "--format", "json").document
    assert (document["model"], document["contract"]) == ("tagged", "Tagged")
    assert [(p["columns"], p["rule"], p["proven"]) for p in document["promises"]] == [
        (["id"], "type", True),
        (["id"], "nonnull", True),
        (["id"], "primary key", True),
        (["tag"], "type", True),
        (["tag"], "enum", False),
        ([], "join_left tags expect many_to_one", False),
    ]
    assert document["promises"][2]["by"] == "key: id"


def test_a_model_without_a_contract(cli):
    cli.write("models/free.strata", "model free {\n  from paid\n}\n")
    ran = cli("check", "--explain", "free")
    assert (ran.code, ran.out) == (0, "model free has no contract: it promises nothing\n")


def test_no_such_model_and_a_broken_one(cli):
    ran = cli("check", "--explain", "total")
    assert ran.code == 2
    assert "error[E027]: there is no model `total`" in ran.err
    cli.edit("models/totals.strata", "sum(amount)", "sum(amuont)")
    ran = cli("check", "--explain", "totals")
    assert (ran.code, ran.out) == (1, "")
    assert "error[E021]: no column `amuont`" in ran.err
