"""`strata store`: docs/store.md is run, and bad input ends in a finding, an exit code and no half-written state."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from strata_core.cli.store import store_command

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "store.md").read_text(encoding="utf-8").split("# Tables with three clocks")[1]
FILES = dict(re.findall(r"`(\w+\.\w+)`:\n```\w+\n(.*?)```", PAGE, re.DOTALL))
COMMANDS = re.findall(r"^\$ strata (.+)\n((?:(?!\$ |```).*\n)*)", PAGE, re.MULTILINE)


@pytest.fixture
def shop(empty):
    for path, text in FILES.items():
        empty.write(path, text)
    return empty


def stable(text):
    text = re.sub(r"snapshot-\d{20}", "snapshot-00000000000000000000", text)
    return sorted(line.replace(str(Path.cwd()) + "/", "") for line in text.splitlines() if line)


def test_every_command_of_the_page_does_what_it_says(shop):
    assert sorted(FILES) == ["gdp.toml", "vintages.csv"]
    assert len(COMMANDS) > 8
    for command, output in COMMANDS:
        ran = shop(*command.split())
        assert stable(ran.out + ran.err) == stable(output), command
        assert ran.code == (2 if "error[" in output else 0)


def test_the_backtest_of_the_page_prints_what_it_says(shop, capsys):
    for command, _ in COMMANDS[:2]:
        shop(*command.split())
    programs = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", PAGE, re.DOTALL)
    assert len(programs) == 2
    names = {}
    for program, printed in programs:
        capsys.readouterr()
        exec(compile(program, "docs/store.md", "exec"), names)
        assert capsys.readouterr().out == printed


def test_every_verb_stands_on_the_page():
    assert f"`strata store {' | '.join(store_command.commands)}`" in (DOCS / "cli.md").read_text(encoding="utf-8")


def test_hold_pin_collect_and_history(shop):
    shop("store", "init", "gdp.toml")
    shop("store", "land", "gdp", "vintages.csv", "--run-id", "a")
    assert "held as of" in shop("store", "hold", "gdp", "audit").out
    assert "pinned at" in shop("store", "pin", "build-1").out
    assert "17016.0" in shop("store", "read", "gdp", "--pin", "build-1", "--format", "csv").out
    assert "everything is kept" in shop("store", "collect", "--grace", "0s").out
    commits = json.loads(shop("store", "history", "gdp", "--format", "json").out)
    assert [c["what"].split()[0] for c in commits] == ["pins:", "holds:", "run", "declared"]
    assert "run a: 3 rows" in shop("store", "history", "gdp").out
    assert "released" in shop("store", "hold", "gdp", "audit", "--release").out


def test_rows_in_every_format_with_their_nanoseconds(shop):
    shop("store", "init", "gdp.toml")
    shop("store", "land", "gdp", "vintages.csv")
    (row,) = [json.loads(line) for line in shop("store", "read", "gdp", "--format", "json").out.splitlines()]
    assert row == {
        "series": "gdp",
        "period_start": "2014-01-01T00:00:00",
        "published": "2014-06-26T04:00:00.000000000Z",
        "value": 17016.0,
        "content_hash": "c",
    }
    assert (
        shop("store", "read", "gdp", "--columns", "_commit_seq,value", "--format", "csv").out
        == "_commit_seq,value\n2,17016.0\n"
    )
    assert "the first 0 shown" in shop("store", "read", "gdp", "--limit", "0").err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["read", "nowhere"], 2, "there is no table nowhere\n  = help: declare it: `strata store init FILE`"),
        (["history", "gdpp"], 2, "StoreTableUndeclared: there is no table gdpp\n  = help: did you mean `gdp`?"),
        (["read", "gdp", "--columns", "x"], 2, "StoreColumnUnknown: table gdp has no column x"),
        (["read", "gdp", "--filter", "value >"], 2, "StoreFilterInvalid"),
        (["read", "gdp", "--pin", "x"], 2, "StorePinUnknown"),
        (["read", "gdp", "--attribute", "x"], 2, "write name=value"),
        (["land", "gdp", "gdp.toml"], 1, "StoreSourceInvalid"),
        (["land", "gdp", "vintage.csv"], 1, "table gdp: there is no file vintage.csv\n  = help: correct the path"),
        (["land", "gdp", "wrong.csv"], 1, "invalid value 'many'"),
        (["land", "gdp", "vintages.csv", "--run-id", "../x"], 1, "StoreRunInvalid"),
        (["init", "bad.toml"], 1, "StoreDeclarationInvalid: table gdp: primary_kye: there is no such key"),
        (["hold", "gdp", "x", "--release"], 2, "StoreHoldUnknown"),
        (["collect", "--grace", "soon"], 2, "give 0s, 30m, 1h or 7d"),
        (["verify", "--store", "elsewhere"], 2, "there is no store at elsewhere"),
    ],
)
def test_bad_input_is_said_and_changes_nothing(shop, arguments, code, says):
    shop("store", "init", "gdp.toml")
    shop("store", "land", "gdp", "vintages.csv")
    shop.write("bad.toml", FILES["gdp.toml"].replace("primary_key", "primary_kye"))
    shop.write("wrong.csv", "series,period_start,published,value,content_hash\ngdp,2014-01-01,2014-04-30,many,a\n")
    before = shop("store", "history", "gdp").out
    ran = shop("store", *arguments)
    assert (ran.code, says in ran.out + ran.err) == (code, True), ran.out + ran.err
    assert shop("store", "history", "gdp").out == before


def test_verify_names_what_is_damaged(shop):
    shop("store", "init", "gdp.toml")
    shop("store", "land", "gdp", "vintages.csv", "--run-id", "a")
    (part,) = (shop.root / ".strata/store/tables/gdp/data/runs/a").glob("*/part-*")
    part.write_bytes(part.read_bytes()[:-1])
    ran = shop("store", "verify")
    assert ran.code == 4
    assert "error[E094]: part" in ran.out
    assert "gdp: 2 commits, 1 run, 0 snapshots, 1 part: 1 finding" in ran.out
    assert shop("store", "read", "gdp").code == 4


def test_verify_reads_what_models_have_published(shop):
    shop.write("strata.toml", '[project]\nname = "p"\n')
    shop.write("a.csv", "x\n1\n2\n")
    source = 'source a(csv: "a.csv") { columns: { x: int64 nonnull } }\n'
    shop.write("models/m.strata", source + "model m { from a }\nmodel n { from m }\n")
    assert shop("apply").code == 0
    shop.write("a.csv", "x\n1\n3\n")
    assert shop("apply").code == 0
    ran = shop("store", "verify")
    assert (ran.code, ran.out) == (
        0,
        "m: 2 artifacts, 2 parts: sound\nn: 2 artifacts, 2 parts: sound\nenvironment prod: 2 versions: sound\n",
    )
    parts = sorted((shop.root / ".strata/store/tables/m").glob("data/artifacts/*/part-*"))
    parts[0].write_bytes(bytes(reversed(parts[0].read_bytes())))
    parts[1].unlink()
    ran = shop("store", "verify")
    assert ran.code == 4
    assert "m: 2 artifacts, 2 parts: 2 findings\nn: 2 artifacts, 2 parts: sound\n" in ran.out
    assert ran.out.count("= help: apply m again with --force") == 2
    assert shop("store", "verify", "n").out == "n: 2 artifacts, 2 parts: sound\n"
    ran = shop("store", "verify", "m", "--quick")  # the same size: only its bytes tell
    assert (ran.code, ran.out.splitlines()[0]) == (4, "m: 2 artifacts, 2 parts: 1 finding")


def test_verify_names_what_is_live_and_gone(shop):
    shop.write("strata.toml", '[project]\nname = "p"\n')
    shop.write("a.csv", "x\n1\n")
    source = 'source a(csv: "a.csv") { columns: { x: int64 nonnull } }\n'
    shop.write("models/m.strata", source + "model m { from a }\nmodel n { from m }\n")
    assert shop("apply").code == 0
    (manifest,) = (shop.root / ".strata/store/tables/m").glob("data/artifacts/*/_manifest.json")
    (other,) = (shop.root / ".strata/store/tables/n").glob("data/artifacts/*/_manifest.json")
    other.write_text("{")
    manifest.unlink()
    ran = shop("store", "verify")
    assert ran.code == 4
    assert "m: 0 artifacts, 0 parts: sound\nn: 0 artifacts, 0 parts: 1 finding\n" in ran.out
    assert "environment prod: 1 version: 2 findings\n" in ran.out


@pytest.mark.parametrize(
    ("clause", "shown"),
    [
        ('available_as_of: "2014-05-01"', ["17149.6"]),
        ('available_as_of: "2014-06-01"', ["17101.3"]),
        ('available_as_of: "2014-07-01"', ["17016.0"]),
        ('available_as_of: "2014-04-29"', []),
        ("vintage: first", ["17149.6"]),
    ],
)
def test_a_model_reads_the_table_of_the_page_within_bounds(shop, clause, shown):
    for command, _ in COMMANDS[:2]:
        shop(*command.split())
    shop.write("strata.toml", '[project]\nname = "eco"\n')
    source = f'source gdp(store: "gdp", {clause}) {{\n  columns: {{ value: float64 nonnull }},\n}}\n'
    shop.write(
        "models/known.strata",
        source + "contract C {\n  value: float64\n}\nmodel known -> contract C {\n  from gdp\n}\n",
    )
    assert shop("check").code == 0
    assert shop("plan").err == ""
    assert shop("apply").code == 0
    assert shop("show", "known", "--format", "csv").out.split()[1:] == shown
    assert "nothing to do" in shop("plan").out


def test_the_plan_tells_of_vintages_without_a_bound_and_of_a_clock_that_is_not_there(shop):
    for command, _ in COMMANDS[:2]:
        shop(*command.split())
    lint = '[project]\nname = "eco"\n[lint]\nW001 = "off"\n'
    shop.write("strata.toml", lint)
    source = 'source gdp(store: "gdp"%s) {\n  columns: { value: float64 nonnull },\n}\nmodel known {\n  from gdp\n}\n'
    shop.write("models/known.strata", source % "")
    ran = shop("plan")
    assert (ran.code, ran.err.splitlines()[0][:13]) == (0, "warning[W016]")
    shop.write("strata.toml", lint + 'W016 = "error"\n')
    assert shop("plan").code == 1
    shop("store", "init", *_declared(shop, '[[pipeline.tables]]\nname = "plain"\n'))
    shop.write("plain.csv", "value\n1.5\n")
    shop("store", "land", "plain", "plain.csv")
    shop.write("models/known.strata", (source % ', available_as_of: "2014-05-01"').replace('"gdp"', '"plain"'))
    for verb in ("plan", "apply"):
        ran = shop(verb)
        assert ran.code == 4
        assert ran.clean
        assert (
            "error[E096]: source `gdp`: StoreAvailableTimeUndeclared: table plain declares no available_time" in ran.err
        )


def _declared(shop, toml):
    shop.write("more.toml", toml)
    return ["more.toml"]


def test_what_a_disk_has_done_to_copies_is_not_laid_on_the_bucket(shop, tmp_path, monkeypatch):
    from tests.buckets import make_bucket

    url = make_bucket(monkeypatch, tmp_path / "cache") + "/prod"
    shop.write("strata.toml", f'[project]\nname = "p"\n[store]\nroot = "{url}"\n')
    shop.write("a.csv", "x\n1\n2\n")
    source = 'source a(csv: "a.csv") { columns: { x: int64 nonnull } }\n'
    shop.write("models/m.strata", source + "model m { from a }\n")
    assert shop("apply").code == 0
    for copy in (tmp_path / "cache/parts").iterdir():
        copy.write_bytes(bytes(reversed(copy.read_bytes())))
    shop.write("models/n.strata", "model n { from m filter x > 1 }\n")
    ran = shop("apply")
    assert (ran.code, "error[E094]: model `n`: the copy of part s3://" in ran.out + ran.err) == (4, True)
    assert "= help: run the same again: the part is fetched anew" in ran.out + ran.err
    assert shop("apply").code == 0
    assert shop("show", "n", "--format", "csv").out == "x\n2\n"


def test_a_project_whose_store_is_in_a_bucket(shop, tmp_path, monkeypatch):
    """Every verb takes the URL where it takes a folder, from `strata.toml` or from `--store`."""
    from tests.buckets import make_bucket
    from tests.cli.conftest import PROJECT

    url = make_bucket(monkeypatch, tmp_path / "cache") + "/prod"
    for path, text in {**PROJECT, **FILES}.items():
        shop.write(path, text)
    shop.write("strata.toml", f'[project]\nname = "sales"\n[store]\nroot = "{url}"\n')
    assert f"nothing was published yet: there is no store at `{url}`" in shop("show", "paid").err
    assert "prod: version 1 is live (2 computed)" in shop("apply").out
    assert "nothing to do, 2 models fresh" in shop("plan").out
    assert "ES" in shop("show", "totals").out
    shop.write("sales.csv", "id,country,amount\n1,ES,1.00\n")
    assert "prod: version 2 is live (2 computed)" in shop("apply").out
    assert shop("history").out.count("publish") == 2
    assert "prod: version 3 is live, with the 2 models of version 1" in shop("rollback", "1").out
    assert "15.25" in shop("show", "totals").out
    assert shop("store", "init", "gdp.toml").out == f"store at {url}: 1 table declared (gdp)\n"
    assert "3 rows landed as r1, commit 2" in shop("store", "land", "gdp", "vintages.csv", "--run-id", "r1").out
    assert "17101.3" in shop("store", "read", "gdp", "--available-as-of", "2014-06-01").out
    assert "holds 3 rows, commit 3" in shop("store", "fold").out
    assert shop("store", "verify").out == (
        "gdp: 3 commits, 1 run, 1 snapshot, 2 parts: sound\n"
        "paid: 2 artifacts, 2 parts: sound\ntotals: 2 artifacts, 2 parts: sound\n"
        "environment prod: 3 versions: sound\n"
    )
    assert not (shop.root / ".strata").exists()
    other = shop("store", "read", "gdp", "--store", url.replace("/prod", "/none"))
    assert (other.code, "there is no store at" in other.err) == (2, True)
    gone = shop("store", "read", "gdp", "--store", "s3://pond-of-nobody/prod")
    assert (gone.code, gone.clean) == (4, True)
    assert "error[E092]: cannot list s3://pond-of-nobody/prod: there is no such bucket" in gone.err
