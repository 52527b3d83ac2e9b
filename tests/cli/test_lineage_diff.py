"""`strata lineage-diff` on real Git repositories: bare, shallow, dirty, and what is not there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from .conftest import PAID
from .repositories import commit, git


@pytest.fixture
def repo(cli):
    """The project, committed."""
    commit(cli.root, "first")
    return cli


def test_nothing_changed(repo):
    ran = repo("lineage-diff", "HEAD")
    assert (ran.code, ran.out, ran.err) == (0, "no change of meaning\n", "")


def test_a_dirty_tree_is_compared_with_a_revision(repo):
    repo.edit("models/totals.strata", "total = sum(amount)", "total = max(amount)")
    for written in ("HEAD", "HEAD..", "main"):
        ran = repo("lineage-diff", written)
        assert ran.out.splitlines() == [
            "1 change of 1 table: 1 to review",
            "",
            "totals",
            "  ? review      total  computed otherwise: sum(amount) → max(amount)  [value-changed]",
        ]
        assert ran.code == 0
    assert git(repo.root, "status", "--porcelain") == "M models/totals.strata"


def test_two_revisions_are_compiled_once(repo, monkeypatch):
    # Texts of this test alone: what other tests compiled is kept each by itself.
    repo.edit("models/totals.strata", "total = sum(amount)", "total = sum(amount) /* of two revisions */")
    commit(repo.root, "all")
    repo.edit("models/totals.strata", "total = sum(amount)", "total = max(amount)")
    commit(repo.root, "the largest")
    first = repo("lineage-diff", "HEAD~1..HEAD")
    for name in ("first_revision", "compile_"):
        monkeypatch.setattr(f"strata_core.planning.lineage.{name}", lambda *_: pytest.fail("compiled again"))
    assert "computed otherwise: sum(amount) → max(amount)" in first.out
    assert repo("lineage-diff", "HEAD~1..HEAD") == first


def test_a_breaking_change_exits_1_and_names_whom_it_reaches(repo):
    repo.edit("models/paid.strata", "amount: money(EUR) nonnull", "amount: money(EUR)")
    repo.edit("models/sales.strata", "amount: money(EUR) nonnull", "amount: money(EUR)")
    repo.edit("models/totals.strata", "total: money(EUR) nonnull", "total: money(EUR)")
    repo.edit("models/paid.strata", 'filter amount > cast(0, "money(EUR)")', "")
    commit(repo.root, "nulls")
    ran = repo("lineage-diff", "HEAD~1..HEAD")
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "4 changes of 3 tables: 2 breaking, 2 to review",
        "",
        "sales",
        "  ? review      amount  may be null now: nonnull → nullable  [nonnull-dropped]",
        "      → paid.amount     passthrough, changed too",
        "      → totals.total    aggregated, further down, changed too",
        "      → rows of paid    filtered by sales.amount, changed too",
        "      → rows of totals  reads paid, further down, changed too",
        "",
        "paid",
        "  ✗ breaking    amount  may be null now: nonnull → nullable, follows sales.amount  [nonnull-dropped]",
        '  ? review      filtered otherwise: was amount > cast(0, "money(EUR)")  [filter-changed]',
        "      → rows of totals  reads paid, changed too",
        "",
        "totals",
        "  ✗ breaking    total  may be null now: nonnull → nullable, follows paid.amount  [nonnull-dropped]",
    ]


def test_layout_and_files_that_moved_are_no_change(repo):
    shutil.move(repo.root / "models/paid.strata", repo.root / "models/other.strata")
    repo("fmt")
    repo.edit("models/totals.strata", "model totals", "# sums\nmodel totals")
    commit(repo.root, "moved")
    assert repo("lineage-diff", "HEAD~1..HEAD").out == "no change of meaning\n"


def test_a_file_that_is_gone_on_one_side(repo):
    (repo.root / "models/totals.strata").unlink()
    ran = repo("lineage-diff", "HEAD")
    assert "✗ breaking    removed: was totals  [model-removed]" in ran.out
    assert ran.code == 1
    commit(repo.root, "gone")
    ran = repo("lineage-diff", "HEAD..HEAD~1")
    assert "+ compatible  added: totals  [model-added]" in ran.out
    assert ran.code == 0


def test_a_side_that_does_not_compile_is_compared_as_far_as_it_does(repo):
    repo.edit("models/totals.strata", "sum(amount)", "sum(amuont)")
    repo.edit("models/paid.strata", "amount > cast(0,", "amount > cast(1,")
    ran = repo("lineage-diff", "HEAD")
    assert "[filter-changed]" in ran.out
    assert ran.out.endswith("not compared, for they have errors: totals (after)\n")
    assert "the working tree has errors; its sound models were compared:\nerror[E021]: no column `amuont`" in ran.err
    assert ran.code == 1
    commit(repo.root, "broken")
    repo.edit("models/totals.strata", "sum(amuont)", "sum(amount)")
    ran = repo("lineage-diff", "HEAD")
    assert ran.out.endswith("not compared, for they have errors: totals (before)\n")
    assert ran.code == 0


def test_text_that_does_not_parse_is_located_and_nothing_is_lost(repo):
    repo.write("models/totals.strata", "model totals -> {")
    ran = repo("lineage-diff", "HEAD")
    assert "E001" in ran.err
    assert ran.clean
    assert ran.code == 1
    assert "removed" not in ran.out.replace("not compared", "")


def test_three_dots_compare_with_where_it_branched_off(repo):
    git(repo.root, "checkout", "-q", "-b", "topic")
    repo.edit("models/totals.strata", "sum(amount)", "max(amount)")
    commit(repo.root, "topic")
    git(repo.root, "checkout", "-q", "main")
    repo.edit("models/paid.strata", "cast(0,", "cast(5,")
    commit(repo.root, "main goes on")
    assert "filter-changed" in repo("lineage-diff", "main..topic").out
    assert "filter-changed" not in repo("lineage-diff", "main...topic").out
    assert "value-changed" in repo("lineage-diff", "main...topic").out


def test_a_bare_repository_needs_no_files(repo, monkeypatch, tmp_path):
    repo.edit("models/totals.strata", "sum(amount)", "max(amount)")
    commit(repo.root, "second")
    git(tmp_path, "clone", "-q", "--bare", str(repo.root), "bare.git")
    monkeypatch.chdir(tmp_path / "bare.git")
    assert "value-changed" in repo("lineage-diff", "main~1..main").out
    monkeypatch.chdir(tmp_path)
    assert "value-changed" in repo("lineage-diff", "main~1..main", "--project", "bare.git").out
    ran = repo("lineage-diff", "main~1", "--project", "bare.git")
    assert (ran.code, "a bare repository has no working tree" in ran.err) == (2, True)


def test_a_project_below_the_top_of_its_repository(empty, project_files, monkeypatch):
    project_files(empty.root / "data" / "sales")
    commit(empty.root, "first")
    empty.edit("data/sales/models/totals.strata", "sum(amount)", "max(amount)")
    assert "value-changed" in empty("lineage-diff", "HEAD", "--project", "data/sales").out
    monkeypatch.chdir(empty.root / "data" / "sales" / "models")
    commit(empty.root, "second")
    assert "value-changed" in empty("lineage-diff", "HEAD~1..HEAD").out
    git(empty.root.parent, "clone", "-q", "--bare", str(empty.root), "bare.git")
    assert (
        "value-changed" in empty("lineage-diff", "HEAD~1..HEAD", "--project", str(empty.root.parent / "bare.git")).out
    )


def test_a_linked_module_is_read_through_the_link(repo):
    shutil.move(repo.root / "models/paid.strata", repo.root / "paid.strata")
    (repo.root / "models/paid.strata").symlink_to("../paid.strata")
    commit(repo.root, "linked")
    assert repo("lineage-diff", "HEAD~1..HEAD").out == "no change of meaning\n"


def test_what_is_not_there_is_a_fault_of_usage_with_the_way_out(repo, monkeypatch, tmp_path):
    ran = repo("lineage-diff", "nope..HEAD")
    assert ran.code == 2
    assert "error[E034]: there is no revision `nope`\n  = help: `git branch --all`" in ran.err
    assert repo("lineage-diff", "--", "--all..HEAD").code == 2
    commit(repo.root, "second")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo.root}", "shallow")
    monkeypatch.chdir(tmp_path / "shallow")
    ran = repo("lineage-diff", "HEAD~1..HEAD")
    assert (ran.code, "this clone is shallow: `git fetch --unshallow`" in ran.err) == (2, True)
    (tmp_path / "nowhere").mkdir()
    monkeypatch.chdir(tmp_path / "nowhere")
    ran = repo("lineage-diff", "HEAD")
    assert (ran.code, "is in no Git repository" in ran.err) == (2, True)
    ran = repo("lineage-diff", "HEAD", "--format", "json")
    assert ran.document[0]["code"] == "E034"


def test_a_revision_older_than_the_project_says_so(empty, project_files):
    empty.write("README", "nothing yet")
    commit(empty.root, "empty")
    project_files(empty.root)
    ran = empty("lineage-diff", "HEAD")
    assert ran.code == 2
    assert "there is no project at `HEAD`: neither a `strata.toml` nor a `.strata` file" in ran.err


def test_a_configuration_that_is_not_valid_at_a_revision_is_told(repo):
    repo.edit("strata.toml", 'name = "sales"', 'nmae = "sales"')
    commit(repo.root, "typo")
    repo.edit("strata.toml", 'nmae = "sales"', 'name = "sales"')
    ran = repo("lineage-diff", "HEAD")
    assert (ran.code, "unknown key `nmae`" in ran.err) == (2, True)


def test_json_for_programs(repo):
    repo.edit("models/totals.strata", "sum(amount)", "max(amount)")
    document = repo("lineage-diff", "HEAD", "--format", "json").document
    assert {k: document[k] for k in ("project", "breaking", "not_compared")} == {
        "project": "sales",
        "breaking": False,
        "not_compared": {},
    }
    assert document["before"] == {"name": "HEAD", "commit": git(repo.root, "rev-parse", "HEAD")}
    assert document["after"] == {"name": "the working tree", "commit": ""}
    (change,) = document["changes"]
    assert re.fullmatch("[0-9a-f]{64}", change.pop("fingerprint"))
    assert change == {
        "rule": "value-changed",
        "table": "totals",
        "table_after": "totals",
        "column": "total",
        "impact": "review",
        "breaking": False,
        "says": "computed otherwise",
        "before": "sum(amount)",
        "after": "max(amount)",
        "protected": False,
        "demand": None,
        "before_at": "models/totals.strata:5:1",
        "after_at": "models/totals.strata:5:1",
        "follows": [],
        "reaches": [],
    }


def test_markdown_for_a_pull_request(repo):
    repo.edit("models/paid.strata", "cast(0,", "cast(1,")
    ran = repo("lineage-diff", "HEAD", "--format", "markdown")
    assert ran.out.splitlines() == [
        "### Lineage: HEAD → the working tree, no consumer breaks",
        "",
        "1 change of 1 table: 1 to review",
        "",
        "| | table | column | change | reaches |",
        "|---|---|---|---|---|",
        '| ? review | `paid` |  | filtered otherwise: amount > cast(0, "money(EUR)") → amount > cast(1, "money(EUR)") '
        "| `rows of totals` |",
    ]


class Page(HTMLParser):
    """What a page loads, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.text: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.loads += [value or "" for name, value in attrs if name in ("src", "href", "data")]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_a_page_that_needs_no_network_and_no_script_to_be_read(repo):
    repo.edit("models/paid.strata", "cast(0,", "cast(1,")
    ran = repo("lineage-diff", "HEAD", "--format", "html", "--out", "diff.html")
    assert (ran.code, ran.out) == (0, "")
    text = (repo.root / "diff.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert page.loads == []
    assert page.scripts == 2
    assert "default-src 'none'" in text
    assert "{{" not in text
    assert "filtered otherwise" in "".join(page.text)


def test_names_cannot_break_out_of_the_page(repo):
    evil = '</script><script>alert("x")</script>{{data}}'
    repo.write("models/paid.strata", PAID.replace("model paid", f"# {evil}\nmodel paid"))
    repo.edit(
        "models/totals.strata",
        "total = sum(amount)",
        f'total = sum(amount), n = if(count() > 1, {json.dumps(evil)}, "b")',
    )
    repo.edit("models/totals.strata", "  total: money(EUR) nonnull\n", "  total: money(EUR) nonnull\n  n: string\n")
    commit(repo.root, "evil")
    repo.edit("models/totals.strata", ', "b")', ', "c")')
    repo("lineage-diff", "HEAD", "--format", "html", "--out", "diff.html")
    text = (repo.root / "diff.html").read_text(encoding="utf-8")
    assert "alert" in text
    page = Page()
    page.feed(text)
    assert page.scripts == 2
    assert json.dumps(evil) in "".join(page.text)


@pytest.mark.browser
def test_a_browser_draws_the_graph_and_reports_no_fault(repo):
    repo.edit("models/paid.strata", "cast(0,", "cast(1,")
    repo("lineage-diff", "HEAD", "--format", "html", "--out", "diff.html")
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--enable-logging=stderr")
    command = [shutil.which("chromium"), *flags, "--dump-dom", (repo.root / "diff.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert re.findall(r'aria-label="((?:table|column) [^"]+)"', done.stdout)[:2] == ["table paid", "column paid.id"]
    assert 'class="value"' in done.stdout
    assert "CONSOLE" not in done.stderr


def test_a_file_that_cannot_be_written_is_told(repo):
    ran = repo("lineage-diff", "HEAD", "--out", "no/such/folder.html", "--format", "html")
    assert ran.code != 0
    assert "`no/such/folder.html` cannot be written" in ran.err
    assert ran.clean


def test_names_cannot_steer_a_terminal(empty):
    text = 'source s(csv: "s.csv") { columns: { `a\x1b[31m`: int64 } }\nmodel m { from s }\nmodel r { from m }\n'
    empty.write("m.strata", text)
    commit(empty.root, "first")
    empty.write("m.strata", text.replace("int64", "string"))
    for arguments in (("lineage-diff", "HEAD"), ("lineage", "m"), ("lineage", "s", "--down")):
        ran = empty(*arguments)
        assert "a␛[31m" in ran.out
        assert "\x1b" not in ran.out


def test_json_names_each_column_of_the_tables_whose_rows_change(repo):
    repo.edit("models/paid.strata", "cast(0,", "cast(1,")
    (change,) = repo("lineage-diff", "HEAD", "--format", "json").document["changes"]
    assert change["reaches"] == [
        {
            "project": "sales",
            "table": "totals",
            "column": None,
            "columns": ["country", "total"],
            "impact": "rows",
            "how": "reads paid",
            "direct": True,
            "owner": None,
            "state": "untouched",
        }
    ]


def test_a_change_reaches_dbt_models_that_read_the_table(repo):
    report = {
        "resource_type": "model",
        "name": "report",
        "compiled_code": 'select total * 2 as twice from "db"."main"."totals"',
        "depends_on": {"nodes": ["source.p.strata.totals"]},
        "meta": {"owner": "board"},
    }
    totals = {
        "resource_type": "source",
        "name": "totals",
        "source_name": "strata",
        "relation_name": '"db"."main"."totals"',
    }
    manifest = {
        "metadata": {
            "adapter_type": "duckdb",
            "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
        },
        "nodes": {"model.p.report": report},
        "sources": {"source.p.strata.totals": totals},
    }
    repo.write("dbt_project/target/manifest.json", json.dumps(manifest))
    repo.edit("models/totals.strata", "sum(amount)", "max(amount)")
    ran = repo("lineage-diff", "HEAD")
    assert ran.out.splitlines()[-2:] == [
        "      → dbt:strata.totals.total  passthrough",
        "      → dbt:report.twice         derived, further down, owner board",
    ]
    assert (ran.code, ran.err) == (0, "")
    report["compiled_code"] = "select from"
    repo.write("dbt_project/target/manifest.json", json.dumps(manifest))
    ran = repo("lineage-diff", "HEAD")
    assert "rows of dbt:report" in ran.out
    assert "warning[W030]" in ran.err
