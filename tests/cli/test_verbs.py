"""What each verb prints and returns on a project that is in order."""

from __future__ import annotations

import json
import os
import re

import pytest

CHECKED = re.compile(r"2 models in 3 files: 0 errors, 0 warnings \(\d+\.\d\d s\)\n")
SECONDS = re.compile(r" +\d+\.\d\d s\n")


def test_check(cli):
    ran = cli("check")
    assert (ran.code, ran.out) == (0, "")
    assert CHECKED.fullmatch(ran.err)


def test_check_as_json(cli):
    ran = cli("check", "--format", "json")
    assert (ran.code, ran.document, ran.err) == (0, [], "")


def test_check_of_a_file_shows_its_findings_alone(cli):
    cli.edit("models/paid.strata", "from sales", "from sale")
    cli.write("models/deep/other.strata", "model other { from nowhere }")
    assert [d["code"] for d in cli("check", "--format", "json").document] == ["E020", "E020"]
    for path, found in (
        ("models/paid.strata", ["E020"]),
        ("models/deep", ["E020"]),
        ("models/totals.strata", []),
        (".", ["E020", "E020"]),
    ):
        ran = cli("check", path, "--format", "json")
        assert [d["code"] for d in ran.document] == found
        assert ran.code == (1 if found else 0)


def test_check_shows_the_line_and_the_fix(cli):
    cli.edit("models/paid.strata", "from sales", "from sale")
    ran = cli("check")
    assert ran.code == 1
    assert (
        ran.out
        == """\
error[E020]: no source or model `sale`
 --> models/paid.strata:7:8
  |
7 |   from sale
  |        ^^^^ did you mean `sales`?
  |
  = help: write `sales`

"""
    )


def test_plan_and_apply(cli):
    ran = cli("plan")
    assert (ran.code, ran.out, ran.err) == (
        0,
        "   model   why      how        input  last took\n1  paid    missing  compute    59 B\n"
        "2  totals  missing  as needed\nprod: 2 models stale, 0 fresh\n",
        "",
    )
    assert not (cli.root / ".strata").exists(), "a plan changes nothing"
    ran = cli("apply")
    assert (ran.code, ran.out) == (0, "prod: version 1 is live (2 computed)\n")
    assert SECONDS.sub("\n", ran.err) == "computed  paid    3 rows\ncomputed  totals  2 rows\n"
    assert cli("plan").out == "prod: nothing to do, 2 models fresh\n"
    ran = cli("apply")
    assert (ran.code, ran.out, ran.err) == (0, "prod: nothing to do (2 fresh)\n", "")


def test_plan_and_apply_of_one_model(cli):
    assert cli("plan", "paid").out.splitlines()[1:] == [
        "1  paid   missing  compute  59 B",
        "prod: 1 model stale, 0 fresh",
    ]
    assert cli("apply", "paid").out == "prod: version 1 is live (1 computed)\n"
    assert cli("plan", "totals").out.splitlines()[1].startswith("1  totals  missing  compute  1.4 kB, 3 rows")
    assert cli("plan", "paid", "--force").out.splitlines()[1].startswith("1  paid   forced  compute  59 B")


@pytest.mark.parametrize(
    ("selected", "planned"),
    [
        (["paid+"], ["paid", "totals"]),
        (["source:sales+1"], ["paid"]),
        (["t*"], ["paid", "totals"]),  # with the stale models that it reads
        (["tag:strata/contract=Paid"], ["paid"]),
        (["path:models/paid.strata,paid+"], ["paid"]),
        (["paid totals"], ["paid", "totals"]),
    ],
)
def test_a_selection_names_models_for_plan_apply_and_test(cli, selected, planned):
    found = cli("plan", *selected, "--format", "json").document["models"]
    assert [model["name"] for model in found] == planned
    applied = cli("apply", *selected, "--format", "json").document
    assert applied["published"] == planned
    assert cli("test", *selected).code == 0


@pytest.mark.parametrize(
    ("selected", "message"),
    [
        ("payd+", "there is no model `payd`"),
        ("source:sales", "`source:sales` names no model"),  # which is not to mean all of them
        ("paid,totals", "`paid,totals` names no model"),
        ("tags:x", "`tags:` is no method of selection"),
        ("paid,", "`` is no selection"),
    ],
)
@pytest.mark.parametrize("verb", ["plan", "apply", "test"])
def test_a_selection_of_nothing_is_refused(cli, verb, selected, message):
    ran = cli(verb, selected)
    assert (ran.code, f"error[E027]: {message}" in ran.err) == (2, True)
    assert not (cli.root / ".strata" / "store" / "environments").exists()


def test_what_is_no_model_any_more_is_told_where_a_plan_of_some_models_leaves_it_live(cli):
    cli("apply")
    cli.edit("models/totals.strata", "model totals", "model sums")
    told = "totals: no model of the project any more, stays live until an apply of all"
    assert f"  {told}\n" in cli("plan", "sums").out
    assert cli("plan", "sums", "--format", "json").document["outlived"] == ["totals"]
    ran = cli("apply", "sums")
    assert (ran.code, ran.err.splitlines()[0]) == (0, told)
    assert cli("apply", "sums", "--format", "json").document["outlived"] == ["totals"]
    assert "totals: no model of the project any more, will be unpublished" in cli("plan").out
    cli("apply")
    assert cli("plan", "sums").out == "prod: nothing to do, 1 model fresh\n"


def test_an_apply_that_keeps_going_applies_what_compiles_and_leaves_the_rest_live(cli):
    cli("apply")
    cli.edit("models/paid.strata", "model paid", "model other { from sales }\nmodel paid")
    cli.edit("models/totals.strata", "sum(amount)", "sum(amuont)")
    assert cli("apply").code == 1
    for verb in ("plan", "apply"):
        ran = cli(verb, "--keep-going")
        assert (ran.code, "error[E021]" in ran.err) == (1, True)
        document = cli(verb, "--keep-going", "--format", "json").document
        assert [(d["code"], d["span"]["file"]) for d in document["diagnostics"]] == [("E021", "models/totals.strata")]
    assert cli("history", "--format", "json").document[0]["changed"] == ["other"]
    assert cli("show", "totals").code == 0  # in which nothing is wrong: what is live stays
    named = cli("apply", "totals", "other", "--keep-going")
    assert (named.code, named.out) == (1, "prod: nothing to do (1 fresh)\n")
    cli.write("models/totals.strata", "model totals {{")
    assert "unpublished" not in cli("plan", "--keep-going").out  # of which nobody knows whether it is still declared


def test_a_plan_that_would_break_what_is_protected(cli):
    cli.edit("models/totals.strata", "total: money(EUR) nonnull", "total: money(EUR) nonnull protected")
    cli("apply")
    cli.edit("models/totals.strata", "total: money(EUR) nonnull protected", "sold: money(EUR) nonnull protected")
    cli.edit("models/totals.strata", "total = sum", "sold = sum")
    ran = cli("plan")
    assert ran.code == 1
    assert "total: renamed (total → sold), breaking" in ran.out
    assert "error[E031]: `totals.total`: renamed to `sold`, and it is protected" in ran.err
    ran = cli("apply")
    assert (ran.code, ran.out) == (1, "")
    assert "publish it without `protected` first" in ran.err
    assert cli("history").out.count("publish") == 1


def test_plan_as_json(cli):
    cli("apply")
    cli.edit("models/totals.strata", "sum(amount)", "max(amount)")
    ran = cli("plan", "--format", "json")
    document = ran.document
    assert (document["environment"], document["version"]) == ("prod", 1)
    assert [(m["name"], m["stale"], m["reasons"]) for m in document["models"]] == [
        ("paid", False, []),
        ("totals", True, [{"reason": "own change", "upstream": []}]),
    ]


def test_apply_as_json(cli):
    document = cli("apply", "--format", "json").document
    assert (document["environment"], document["version"], document["published"]) == ("prod", 1, ["paid", "totals"])
    assert [(m["name"], m["status"], m["reasons"], m["rows"], m["diagnostics"]) for m in document["models"]] == [
        ("paid", "computed", ["missing"], 3, []),
        ("totals", "computed", ["missing"], 2, []),
    ]
    assert document["models"][0]["digest"]
    again = cli("apply", "--format", "json").document
    assert [(m["status"], m["live"]) for m in again["models"]] == [("fresh", m["digest"]) for m in document["models"]]


def test_show(cli):
    cli("apply")
    ran = cli("show", "totals")
    assert (ran.code, ran.out, ran.err) == (
        0,
        "country  total\nES       15.25\nMX        2.50\n",
        "2 rows\n",
    )


def test_show_what_was_live_as_of_an_instant(cli):
    cli("apply")
    first = json.loads(cli("history", "--format", "json").out)[0]["at"]
    cli.write("sales.csv", "id,country,amount\n1,ES,7.00\n")
    cli("apply")
    shown = cli("show", "paid", "--as-of", first, "--format", "csv")
    assert shown.code == 0
    assert "7.00" not in shown.out
    bounds, live = shown.err.splitlines()
    assert json.loads(bounds.removeprefix("bounds: ")) == {"as_of": first, "inclusive": True}
    assert live.startswith(f"version 1, live since {first}, artifact ")
    assert "7.00" in cli("show", "paid", "--as-of", "2199-01-01", "--format", "csv").out
    before = cli("show", "paid", "--as-of", "2001-01-01")
    assert before.code == 2
    assert "error[E096]: StoreAsOfUnretained: paid in prod: nothing of it was published yet" in before.err + before.out
    assert f"ask for {first} or later" in before.err + before.out
    assert "'soon' is no instant" in cli("show", "paid", "--as-of", "soon").err
    assert "E027" in cli("show", "payed", "--as-of", first).err
    both = cli("show", "paid", "--as-of", first, "--version", "1")
    assert "give one of them" in both.err


def test_show_as_csv_and_json(cli):
    cli("apply")
    assert cli("show", "totals", "--format", "csv").out == "country,total\nES,15.25\nMX,2.50\n"
    assert cli("show", "totals", "--format", "json").out == (
        '{"country": "ES", "total": "15.25"}\n{"country": "MX", "total": "2.50"}\n'
    )


def test_show_some_rows_and_another_version(cli):
    cli("apply")
    cli.edit("sales.csv", "2.50", "3.50")
    cli("apply")
    assert cli("show", "totals", "--limit", "1").err == "2 rows, the first 1 shown\n"
    assert cli("show", "totals", "--limit", "0", "--format", "csv").out == "country,total\n"
    assert cli("show", "totals", "--format", "csv").out == "country,total\nES,15.25\nMX,3.50\n"
    assert cli("show", "totals", "--format", "csv", "--version", "1").out == "country,total\nES,15.25\nMX,2.50\n"


def test_history_and_rollback(cli):
    cli("apply")
    cli.edit("sales.csv", "2.50", "3.50")
    cli("apply")
    assert cli("rollback", "1").out == "prod: version 3 is live, with the 2 models of version 1\n"
    told = [line.split(maxsplit=3) for line in cli("history").out.splitlines()]
    assert [(number, rest) for number, _, _, rest in told] == [
        ("3", "rollback to 1  paid, totals"),
        ("2", "publish        paid, totals"),
        ("1", "publish        paid, totals"),
    ]
    assert len(cli("history", "--limit", "1").out.splitlines()) == 1
    document = cli("history", "--format", "json").document
    assert [(v["version"], v["cause"], v["restores"], v["changed"]) for v in document] == [
        (3, "rollback", 1, ["paid", "totals"]),
        (2, "publish", None, ["paid", "totals"]),
        (1, "publish", None, ["paid", "totals"]),
    ]
    assert cli("show", "totals", "--format", "csv").out == "country,total\nES,15.25\nMX,2.50\n"


def test_environments_are_apart(cli):
    cli("apply")
    assert cli("plan", "--env", "dev").out.endswith("dev: 2 models stale (2 reused), 0 fresh\n")
    assert cli("apply", "--env", "dev").out == "dev: version 1 is live (2 reused)\n"
    assert cli("show", "totals", "--env", "dev", "--format", "csv").out == cli("show", "totals", "--format", "csv").out


def test_each_model_is_published_by_itself_where_the_environment_says_so(cli):
    cli.edit("strata.toml", "[engine]", '[environments.prod]\npublish = "each"\n[engine]')
    assert cli("apply").out == "prod: version 2 is live (2 computed)\n"


def test_compile_prints_what_is_executed(cli):
    ran = cli("compile", "totals")
    assert (ran.code, ran.err) == (0, "")
    assert "scan (" in ran.out
    assert not (cli.root / ".strata").exists()


def test_a_project_from_elsewhere(cli, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert cli("apply", "--project", str(cli.root)).code == 0
    assert cli("show", "totals", "--project", "work", "--format", "csv").out.startswith("country,total\n")
    monkeypatch.chdir(cli.root / "models")
    assert cli("history").code == 0


def test_a_single_file_is_a_project(empty):
    empty.write("one.strata", 'source s(csv: "s.csv") { columns: { a: int64 nonnull } }\nmodel m { from s }\n')
    empty.write("s.csv", "a\n1\n")
    assert empty("check", "one.strata").code == 0
    assert "1 model in 1 file: 0 errors, 1 warning" in empty("check", "one.strata").err
    assert "1  m      missing  compute" in empty("plan", "--project", "one.strata").out
    assert empty("check").code == 0


@pytest.mark.parametrize("verb", ["check", "plan", "apply", "show", "history", "rollback", "compile"])
def test_every_verb_has_help(empty, verb):
    ran = empty(verb, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: strata {verb} [OPTIONS]")
    assert "--project DIR" in ran.out


@pytest.mark.parametrize("engine", ["reference", "duckdb"])
def test_compile_needs_neither_files_nor_a_store(cli, engine):
    cli.edit("strata.toml", "reference", engine)
    (cli.root / "sales.csv").unlink()
    for model, reads in (("paid", "sales"), ("totals", "paid")):
        ran = cli("compile", model)
        assert (ran.code, ran.err) == (0, "")
        assert engine == "reference" or f'FROM "{reads}"' in ran.out
    cli.write("sales.csv", "id,country,amount\n1,ES,1.00\n")
    cli("apply")
    assert engine == "reference" or "READ_PARQUET" in cli("compile", "totals").out


def test_what_a_killed_apply_left_is_removed_a_day_later(cli):
    cli("apply")
    left = cli.root / ".strata/store/staging/paid-0123456789abcdef"
    left.mkdir()
    assert cli("apply").err == ""
    assert left.exists(), "it may be at work"
    os.utime(left, (1, 1))
    assert cli("apply").err == "removed 1 candidate of killed applies\n"
    assert not left.exists()


SECRET = "x@secret.example"


def test_a_classified_value_is_shown_nowhere(cli):
    """Not by show in any format, nor by a violation or a document about it, nor when the model is gone."""
    cli.write(
        "models/mails.strata",
        'source mails(csv: "mails.csv") {\n'
        '  columns: { id: int64 nonnull, mail: string classification: "pii" mask: hash }\n}\n'
        "contract Mails { id: int64 nonnull  name: string unique }\n"
        "model names -> contract Mails { from mails select { id, name = lower(mail) } }\n",
    )
    cli.write("mails.csv", f"id,mail\n1,{SECRET}\n2,\n")
    assert cli("apply").code == 0
    shown = {form: cli("show", "names", "--format", form) for form in ("table", "csv", "json")}
    assert shown["csv"].out == "id,name\n1,‹masked›\n2,\n"
    assert shown["csv"].err == "masked by contract: name\n"
    cli.write("mails.csv", f"id,mail\n1,{SECRET}\n2,{SECRET}\n")
    told = [*shown.values(), cli("apply"), cli("apply", "--format", "json")]
    (cli.root / "models/mails.strata").unlink()
    told.append(cli("show", "names"))
    assert [ran.code for ran in told] == [0, 0, 0, 3, 3, 0]
    assert all(SECRET not in ran.out + ran.err for ran in told)


def test_the_plan_names_the_declared_functions_that_a_model_calls(cli):
    cli.write("models/extern.strata", 'extern fn f(a: string) -> string deterministic { duckdb: "upper($a)" }\n')
    cli.edit("models/paid.strata", "  from sales\n", '  from sales\n  filter f(country) != "x"\n')
    ran = cli("plan")
    assert "1  paid    missing (calls extern f)" in ran.out
    assert [m["externs"] for m in cli("plan", "--format", "json").document["models"]] == [["f"], []]
    ran = cli("apply")
    assert (ran.code, "error[E066]: model `paid`: `f` has no translation for reference" in ran.err) == (4, True)
