"""Suggestion mode: what is proposed, that YAML stays as it was, and that nothing but its own branch is written (Seed 2,
"Generate Pull Requests")."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_core.contract_engine.collation.candidate import SuggestedEdit
from strata_core.contract_engine.git_state import changed, checked_out
from strata_core.contract_engine.parse.parsed import GeneratedAsset, GeneratedColumn, Origin
from strata_core.contract_engine.pipeline import Checked
from strata_core.contract_engine.suggest.branch import require_unprotected
from strata_core.contract_engine.suggest.edits import edited
from strata_core.contract_engine.suggest.evidence import evidence
from strata_core.contract_engine.suggest.hosting import PullRequest, pull_request
from strata_core.contract_engine.suggest.known import known_around
from strata_core.contract_engine.suggest.proposals import Proposal, proposals
from strata_core.contract_engine.yaml_text import read_yaml
from strata_core.diagnostics import Diagnostic, Span, StrataError
from strata_core.frozen import replace

from .projects import PLACE, checked, write
from .test_cli import committed, git, run

MODELS = """\
source raw(csv: "raw.csv") {
  columns: {
    id: int64 primary_key,
    amount: decimal(10,2) nonnull,
    country: string,
  }
}

model orders {
  from raw
  select { id, amount, country }
}
"""
CONTRACT = """\
# Orders, as they come.
apiVersion: strata/v0
kind: DataProductContract
id: shop.orders
name: "Orders"   # quotes stay
version: 0.1.0
status: draft
layer: bronze
domain: shop
owner: {team: orders, contact: '#orders', approvers: [ann]}

assets:
- id: orders
  kind: strata_model
  columns:
  # the key
  - {name: id,   type: int64, primary_key: true}
  - {name: amount, type: "decimal(10,2)"}    # gross
"""
BRANCH = "contract-engine/suggest/shop.orders"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    write(tmp_path, {"strata.toml": '[project]\nname = "p"\n', "models/m.strata": MODELS, PLACE: CONTRACT})
    committed(tmp_path)
    return tmp_path


def suggest(root: Path, *more: str) -> tuple[int, str, str]:
    return run("suggest", "--product", "shop.orders", "--project", str(root), *more)


def edit(path: tuple[str | int, ...], value: Any, replaces: Any = None) -> SuggestedEdit:
    return SuggestedEdit(PLACE, path, value, replaces, "because", Span("m", 1, 1, 1, 1))


def test_edits_leave_the_rest_of_the_text_as_it_is() -> None:
    text, made = edited(
        CONTRACT,
        [
            edit(("assets", 0, "columns", 2), {"name": "country", "type": "string"}),
            edit(("assets", 0, "columns", 1, "description"), "Gross: all in."),
            edit(("purpose",), "To bill."),
            edit(("tests", 0), {"id": "t", "columns": ["id"]}),
            edit(("version",), "0.2.0", "0.1.0"),
        ],
    )
    assert len(made) == 5
    before, after = CONTRACT.splitlines(), text.splitlines()
    assert [line for line in before if line not in after] == [
        "version: 0.1.0",
        '  - {name: amount, type: "decimal(10,2)"}    # gross',
    ]
    assert [line for line in after if line not in before] == [
        "version: 0.2.0",
        "  - {name: amount, type: \"decimal(10,2)\", description: 'Gross: all in.'} # gross",
        "  - {name: country, type: string}",
        "purpose: To bill.",
        "tests:",
        "- id: t",
        "  columns: [id]",
    ]


def test_line_ends_stay() -> None:
    text, _ = edited(CONTRACT.replace("\n", "\r\n"), [edit(("purpose",), "To bill.")])
    assert text == (CONTRACT + "purpose: To bill.\n").replace("\n", "\r\n")


def test_what_is_added_stands_before_the_end_wherever_that_is() -> None:
    added = edit(("purpose",), "To know.")
    for text, after in (
        ("id: a\nname: b", "id: a\nname: b\npurpose: To know.\n"),
        ("---\nid: a\n...\n", "---\nid: a\npurpose: To know.\n...\n"),
        ("id: a\n... # end\n\n# note\n", "id: a\npurpose: To know.\n... # end\n\n# note\n"),
        ("id: a # x", "id: a # x\npurpose: To know.\n"),
        ("\ufeffid: a\r\nname: b", "\ufeffid: a\r\nname: b\r\npurpose: To know.\r\n"),
    ):
        assert edited(text, [added])[0] == after


def test_tabs_before_comments_stay_and_those_within_a_text_are_its_own() -> None:
    for text in ("id: a\t# x\nname: b \t\n", 'id: "a\t#b"\nname: c\n'):
        assert edited(text, [edit(("purpose",), "p")])[0] == f"{text}purpose: p\n"


def test_a_text_that_cannot_be_edited_is_left_as_it_is() -> None:
    assert edited('id: "a\t#b"\t# x\n', [edit(("purpose",), "p")]) == ('id: "a\t#b"\t# x\n', ())


@given(st.sampled_from(["", "\n", "# end", "# end\n", "\n\n", "...", "...\n# end"]), st.booleans())
def test_law_an_edited_text_says_what_it_said_and_what_was_added(end: str, flow: bool) -> None:
    body = "assets: [{id: a, kind: table}]" if flow else "assets:\n- id: a\n  kind: table"
    text, made = edited(f"{body}\n{end}", [edit(("tests", 0), {"id": "t"}), edit(("purpose",), "p")])
    assert len(made) == 2
    document = read_yaml("c.yaml", text.encode(), lambda d: pytest.fail(str(d)))
    assert document is not None
    assert document.data == {"assets": [{"id": "a", "kind": "table"}], "tests": [{"id": "t"}], "purpose": "p"}


def test_an_edit_that_is_overtaken_is_left_out() -> None:
    for one in (
        edit(("version",), "0.3.0", "0.2.0"),
        edit(("name",), "Other"),
        edit(("assets", 7, "description"), "x"),
        edit(("name", "first"), "x"),
    ):
        assert edited(CONTRACT, [one]) == (CONTRACT, ())


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=30))
def test_whatever_text_is_written_is_read_again(value: str) -> None:
    text, made = edited(CONTRACT, [edit(("purpose",), value)])
    found: list[Diagnostic] = []
    document = read_yaml(PLACE, text.encode(), found.append)
    assert (len(made), found) == (1, [])
    assert document is not None
    assert document.data["purpose"] == value


def proposed(found: Checked) -> tuple[Proposal, ...]:
    """What is proposed for the contract of orders."""
    candidate = found.collated.by_id["shop.orders"]
    return proposals(found, candidate, evidence(found, candidate, known_around(found)))


def test_seed2_suggestions_come_from_what_was_seen(shop: Path) -> None:
    found = checked(shop, {})
    assert [(p.kind, p.edit.path, p.edit.value) for p in proposed(found)] == [
        ("drift", ("assets", 0, "columns", 2), {"name": "country", "type": "string"}),
        ("documentation", ("semantics", "grain"), "one row per id"),
        (
            "test",
            ("tests", 0),
            {
                "id": "orders_unique",
                "kind": "expectation",
                "severity": "informational",
                "asset": "orders",
                "expectation": {"type": "unique", "columns": ["id"]},
            },
        ),
        (
            "test",
            ("tests", 1),
            {
                "id": "orders_not_null",
                "kind": "expectation",
                "severity": "informational",
                "asset": "orders",
                "expectation": {"type": "not_null", "columns": ["amount"]},
            },
        ),
    ]


def table(name: str, *columns: GeneratedColumn) -> GeneratedAsset:
    return GeneratedAsset("strata_model", (name,), columns, (), Span("models/m.strata", 1, 1, 1, 1), compiled=True)


def test_a_column_without_description_is_offered_that_of_the_column_it_is_made_of(tmp_path: Path) -> None:
    contract = CONTRACT.replace("name: id,   type: int64, primary_key: true", "name: key, type: int64").replace(
        '  - {name: amount, type: "decimal(10,2)"}    # gross\n', ""
    )
    found = checked(tmp_path, {PLACE: contract})
    tables = (
        table("orders", GeneratedColumn("key", "int64", origins=(Origin("middle", "id", "renamed"),))),
        table("middle", GeneratedColumn("id", "int64", origins=(Origin("raw", "id", "passthrough"),))),
        table("raw", GeneratedColumn("id", "int64", description="Number of the order.")),
    )
    found = replace(found, parsed=replace(found.parsed, compiled=tables))
    (one,) = (p for p in proposed(found) if p.kind == "description")
    assert (one.edit.path, one.edit.value) == (("assets", 0, "columns", 0, "description"), "Number of the order.")
    assert one.edit.reason == "`key` has the values of `raw.id`, which is described so"


def test_seed2_a_breaking_change_is_offered_a_draft_of_migration_notes(tmp_path: Path) -> None:
    live = (
        CONTRACT.replace("0.1.0", "1.0.0").replace("status: draft", "status: active").replace("strata_model", "table")
    )
    write(tmp_path, {"strata.toml": '[project]\nname = "p"\n', PLACE: live})
    committed(tmp_path)
    assert run("publish", "--project", str(tmp_path), "--by", "ann")[0] == 0
    gone = live.replace("1.0.0", "2.0.0").replace('  - {name: amount, type: "decimal(10,2)"}    # gross\n', "")
    found = checked(tmp_path, {PLACE: gone})
    impact, notes = (p.edit for p in proposed(found) if p.kind == "migration")
    assert (impact.path, notes.path) == (("compatibility", "consumer_impact"), ("compatibility", "migration_notes"))
    assert impact.value == (
        "TODO: say what this does to readers of 1.0.0.\n- assets[orders].columns[amount]: nothing here reads it\n"
    )
    assert notes.value == (
        "TODO: say what readers of 1.0.0 have to do.\n- assets[orders].columns[amount]: removed (was `decimal(10,2)`)\n"
    )
    assert notes.reason == "1 change breaks readers of 1.0.0"


def test_a_version_that_does_not_cover_the_changes_is_offered_the_one_that_does(tmp_path: Path) -> None:
    live = (
        CONTRACT.replace("0.1.0", "1.4.2").replace("status: draft", "status: active").replace("strata_model", "table")
    )
    write(tmp_path, {"strata.toml": '[project]\nname = "p"\n', PLACE: live})
    committed(tmp_path)
    assert run("publish", "--project", str(tmp_path), "--by", "ann")[0] == 0
    more = live + "  - {name: country, type: string}\n"
    (one,) = (p.edit for p in proposed(checked(tmp_path, {PLACE: more})) if p.kind == "migration")
    assert (one.path, one.replaces, one.value) == (("version",), "1.4.2", "1.5.0")
    assert one.reason == "version 1.4.2 does not cover what changed since 1.4.2: this is minor-compatible"
    gone = live.replace('  - {name: amount, type: "decimal(10,2)"}    # gross\n', "")
    found = [p.edit for p in proposed(checked(tmp_path, {PLACE: gone})) if p.kind == "migration"]
    assert [e.value if e.path == ("version",) else e.path[-1] for e in found] == [
        "2.0.0",
        "consumer_impact",
        "migration_notes",
    ]


@pytest.mark.parametrize(
    ("options", "message", "fix", "code"),
    [
        (
            ("--base", "nosuch"),
            "error[E034]: there is no revision `nosuch`",
            "`git branch --all` and `git tag` list what there is; `git fetch` brings what others pushed",
            2,
        ),
        (
            ("--branch", "bad..name"),
            "error[E180]: `bad..name` cannot be the name of a branch",
            "write letters, digits, `-`, `_`, `.` and `/`, such as `suggestions/orders`",
            1,
        ),
        (
            ("--branch", "taken/more"),
            "error[E180]: `git update-ref` failed: ",
            "name another branch with `--branch`: one in its way is there, or was just written",
            1,
        ),
    ],
)
def test_a_base_or_a_branch_that_cannot_be_is_told_with_what_could(
    shop: Path, options: tuple[str, ...], message: str, fix: str, code: int
) -> None:
    git(shop, "branch", "taken")
    ended, _, err = suggest(shop, *options)
    assert (ended, err.startswith(message)) == (code, True)
    assert f"= help: {fix}\n" in err
    assert git(shop, "for-each-ref", "--format=%(refname:short)").split() == ["main", "taken"]


def test_suggestions_for_a_live_contract_come_with_the_version_that_covers_them(shop: Path) -> None:
    live = CONTRACT.replace("0.1.0", "1.4.2").replace("status: draft", "status: active")
    write(shop, {PLACE: live})
    committed(shop)
    assert run("publish", "--project", str(shop), "--by", "ann")[0] == 0
    committed(shop)
    assert suggest(shop)[::2] == (0, f"5 suggestions for shop.orders on {BRANCH}\n")
    body = git(shop, "log", "-1", "--format=%B", BRANCH)
    assert "### Version and migration notes\n\n- `version`: `1.4.2` becomes `1.5.0`" in body
    assert "with what is suggested here, the contract is minor-compatible with 1.4.2" in body
    assert "## Validation diagnostics\n\nNone: the changed contract is valid." in body
    assert git(shop, "show", f"{BRANCH}:{PLACE}").splitlines()[5] == "version: 1.5.0"
    assert suggest(shop)[2] == f"5 suggestions for shop.orders on {BRANCH} (as before)\n"
    code, out, _ = run("validate", "--mode", "suggestion", "--project", str(shop), "--format", "json")
    told = [d for d in json.loads(out) if d["code"] == "W180"]
    assert (code, len(told)) == (0, 5)
    (version,) = (d for d in told if d["field_path"] == "version")
    assert version["message"] == "with what is suggested here, the contract is minor-compatible with 1.4.2"
    assert version["fix"] == "`contract-engine suggest` writes it, for review: `version`: `1.4.2` becomes `1.5.0`"


def test_seed2_suggestions_are_a_commit_on_a_branch_of_their_own(shop: Path) -> None:
    head, files = git(shop, "rev-parse", "HEAD"), (shop / PLACE).read_text()
    code, out, err = suggest(shop)
    assert (code, out) == (0, "")
    assert err == f"4 suggestions for shop.orders on {BRANCH}\n"
    assert git(shop, "rev-parse", "HEAD") == head
    assert git(shop, "status", "--porcelain") == ""
    assert (shop / PLACE).read_text() == files
    assert git(shop, "worktree", "list", "--porcelain").count("worktree ") == 1
    assert git(shop, "rev-parse", f"{BRANCH}^") == head
    assert git(shop, "diff", "--name-only", "HEAD", BRANCH) == PLACE
    changed = git(shop, "show", f"{BRANCH}:{PLACE}")
    assert "  - {name: country, type: string}" in changed
    assert "# quotes stay" in changed
    body = git(shop, "log", "-1", "--format=%B", BRANCH)
    for said in (
        "Contract of shop.orders: 4 suggestions",
        "## Summary",
        "### Drift reconciled",
        "- `assets[orders].columns[country]`: `{name: country, type: string}` is added",
        "## Validation diagnostics\n\nNone: the changed contract is valid.",
        "## Observations that motivated it",
        "- the table has a column `country` (`models/m.strata:",
        "## Compatibility impact\n\ndraft-pre-1.0.",
        "- Owner: orders (\\#orders)",
        "- Approvers: ann",
        "Suggested-By: contract-engine",
    ):
        assert said in body, said


def test_seed2_a_second_run_is_the_same_branch(shop: Path) -> None:
    suggest(shop)
    first = git(shop, "rev-parse", BRANCH)
    assert suggest(shop)[2] == f"4 suggestions for shop.orders on {BRANCH} (as before)\n"
    assert git(shop, "rev-parse", BRANCH) == first
    (shop / "models/m.strata").write_text((shop / "models/m.strata").read_text().replace(", country }", " }"))
    committed(shop)
    assert suggest(shop)[2] == f"3 suggestions for shop.orders on {BRANCH}\n"
    assert git(shop, "rev-list", "--count", f"HEAD..{BRANCH}") == "1"


def test_a_machine_without_an_identity_suggests_as_the_engine(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"):
        monkeypatch.delenv(name, raising=False)
    assert suggest(shop)[0] == 0
    assert git(shop, "log", "-1", "--format=%an <%ae>", BRANCH) == "contract-engine <contract-engine@localhost>"


def test_when_the_suggestions_are_taken_there_is_nothing_left(shop: Path) -> None:
    suggest(shop)
    git(shop, "merge", "--ff-only", BRANCH)
    assert suggest(shop)[2] == "nothing to suggest for shop.orders\n"


def test_a_branch_that_people_committed_to_is_left_alone(shop: Path) -> None:
    suggest(shop)
    git(shop, "checkout", "-q", BRANCH)
    (shop / "note.txt").write_text("mine")
    mine = committed(shop, "by hand")
    git(shop, "checkout", "-q", "main")
    code, _, err = suggest(shop)
    assert (code, git(shop, "rev-parse", BRANCH)) == (1, mine)
    assert "people have committed to" in err


def test_a_branch_that_is_checked_out_elsewhere_does_not_change_there(shop: Path) -> None:
    suggest(shop)
    first = git(shop, "rev-parse", BRANCH)
    git(shop, "worktree", "add", "-q", str(shop / ".wt"), BRANCH)
    (shop / "models/m.strata").write_text((shop / "models/m.strata").read_text().replace(", country }", " }"))
    git(shop, "commit", "-qam", "less")
    code, _, err = suggest(shop)
    assert (code, "is checked out" in err) == (1, True)
    assert git(shop, "rev-parse", BRANCH) == first


@pytest.mark.parametrize("branch", ["main", "MAIN", "release/1.0", "production"])
def test_seed2_protected_branches_are_refused(shop: Path, branch: str) -> None:
    head = git(shop, "rev-parse", "HEAD")
    code, _, err = suggest(shop, "--branch", branch)
    assert (code, "is a protected branch" in err) == (1, True)
    assert git(shop, "for-each-ref", "--format=%(refname) %(objectname)") == f"refs/heads/main {head}"


def test_protected_branches_are_configured() -> None:
    require_unprotected("suggestions", ["main", "live-*"])
    with pytest.raises(StrataError):
        require_unprotected("live-eu", ["main", "live-*"])


def test_what_is_not_committed_is_not_carried_along(shop: Path) -> None:
    (shop / PLACE).write_text(CONTRACT + "purpose: To bill.\n")
    code, _, err = suggest(shop)
    assert (code, "not as committed" in err) == (1, True)
    assert git(shop, "branch", "--list", BRANCH) == ""


def test_without_git_on_the_machine_suggestions_are_told_how_to_go_on(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(shop))
    code, _, err = suggest(shop)
    assert (code, err.splitlines()[0]) == (2, "error[E034]: there is no `git` on this machine")
    assert changed(shop, [PLACE]) == ()
    assert checked_out(shop) is None


def test_what_changed_is_asked_without_the_lock_of_those_who_commit(shop: Path) -> None:
    index = shop / ".git/index"
    for path in (shop / PLACE, shop / "models/m.strata"):
        path.touch()  # whose stat Git would write back to its index
    before = index.read_bytes()
    assert changed(shop, [PLACE]) == ()
    assert suggest(shop, "--dry-run")[0] == 0
    assert index.read_bytes() == before


def test_a_dry_run_writes_nothing(shop: Path) -> None:
    code, out, err = suggest(shop, "--dry-run")
    assert (code, err) == (0, "4 suggestions for shop.orders: nothing is written\n")
    assert out.startswith("Contract of shop.orders: 4 suggestions\n\n## Summary\n")
    assert git(shop, "branch", "--list", BRANCH) == ""


Request = tuple[str, str, str | None, Any]


class Hosting:
    """A hosting service on the loopback interface that keeps pull requests and records what it is asked."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.open: list[dict[str, Any]] = []
        self.answers = 201
        self.says: dict[str, bytes] = {}
        service = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                given_ = json.loads(self.rfile.read(size)) if size else None
                service.requests.append((self.command, self.path, self.headers.get("Authorization"), given_))
                if self.command == "POST" and service.answers == 201:
                    service.open.append({"number": 7, "head": {"ref": given_["head"]}})
                listed: Any = service.open if self.command == "GET" else {"html_url": f"{service.address}/7"}
                self.send_response(service.answers if self.command == "POST" else 200)
                self.end_headers()
                self.wfile.write(service.says.get(self.command, json.dumps(listed).encode()))

            do_GET = do_POST = do_PATCH = answer  # noqa: N815

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/api/repos/acme/data"


@pytest.fixture
def hosting() -> Iterator[Hosting]:
    service = Hosting()
    thread = threading.Thread(target=service.server.serve_forever, daemon=True)
    thread.start()
    yield service
    service.server.shutdown()
    service.server.server_close()
    thread.join()


def test_seed2_the_pull_request_is_opened_once_and_then_brought_up_to_date(
    shop: Path, hosting: Hosting, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = tmp_path_factory.mktemp("remote")
    git(remote, "init", "-q", "--bare")
    git(shop, "remote", "add", "origin", str(remote))
    toml = f'[project]\nname = "p"\n[contract_engine]\npull_requests = "{hosting.address}"\n'
    (shop / "strata.toml").write_text(toml)
    committed(shop)
    assert suggest(shop, "--push", "origin")[0] == 0
    assert hosting.requests == []  # without a token nobody is asked
    assert git(remote, "rev-parse", BRANCH) == git(shop, "rev-parse", BRANCH)
    monkeypatch.setenv("CONTRACT_ENGINE_TOKEN", "secret-token")
    told = suggest(shop, "--push", "origin")[2]
    assert told == f"4 suggestions for shop.orders on {BRANCH} (as before), opened {hosting.address}/7\n"
    told = suggest(shop, "--push", "origin")[2]
    assert told == f"4 suggestions for shop.orders on {BRANCH} (as before), updated {hosting.address}/7\n"
    assert [(method, path.partition("?")[0]) for method, path, _, _ in hosting.requests] == [
        ("GET", "/api/repos/acme/data/pulls"),
        ("POST", "/api/repos/acme/data/pulls"),
        ("GET", "/api/repos/acme/data/pulls"),
        ("PATCH", "/api/repos/acme/data/pulls/7"),
    ]
    assert {token for _, _, token, _ in hosting.requests} == {"Bearer secret-token"}
    opened = hosting.requests[1][3]
    assert (opened["head"], opened["base"], opened["title"]) == (
        BRANCH,
        "main",
        "Contract of shop.orders: 4 suggestions",
    )
    assert opened["body"].startswith("## Summary\n")
    assert "head=acme%3Acontract-engine%2Fsuggest%2Fshop.orders" in hosting.requests[0][1]


def test_a_hosting_service_that_refuses_is_told_without_the_token(hosting: Hosting) -> None:
    hosting.answers = 403
    texts = {"head": "b", "base": "main", "title": "t", "body": "b"}
    for api in (hosting.address, "http://127.0.0.1:1/repos/a/b", "file:///etc/repos/a"):
        with pytest.raises(StrataError) as told:
            pull_request(api, "secret-token", **texts)
        assert told.value.diagnostics[0].code == "E180"
        assert "secret-token" not in str(told.value.diagnostics)


TEXTS = {"head": "b", "base": "main", "title": "t", "body": "b"}


@pytest.mark.parametrize(
    ("answers", "says", "told"),
    [
        (401, b'{"message": "Bad credentials"}', "answers 401 to POST of pull requests: Bad credentials"),
        (404, b"<html>not here</html>", "answers 404 to POST of pull requests"),
        (
            422,
            b'{"message": "Validation\\nFailed", "errors": [{"message": "No commits between main and b"}]}',
            "answers 422 to POST of pull requests: Validation Failed: No commits between main and b",
        ),
        (403, b'{"message": "no right for secret-token\\u001b[31m"}', "POST of pull requests: no right for …␛[31m"),
        (500, b"", "answers 500 to POST of pull requests"),
        (302, b"", "answers 302 to POST of pull requests"),
        (201, b"<html>please log in</html>", "answers POST of pull requests with no JSON"),
        (201, b"[" * 100_000, "answers POST of pull requests with no JSON"),
        (201, b"\xff", "answers POST of pull requests with no JSON"),
    ],
)
def test_whatever_a_hosting_service_answers_is_told_in_a_line(
    hosting: Hosting, answers: int, says: bytes, told: str
) -> None:
    hosting.answers, hosting.says = answers, {"POST": says}
    with pytest.raises(StrataError) as caught:
        pull_request(hosting.address, "secret-token\n", **TEXTS)
    (found,) = caught.value.diagnostics
    assert found.code == "E180"
    assert found.message.endswith(told)
    assert "secret-token" not in str(found)


@pytest.mark.parametrize(
    ("listed", "answer", "url"),
    [
        (b"{}", b"[]", None),
        (b"null", b'{"html_url": 7}', None),
        (b'[{"head": {"ref": "b"}}, {"number": "7", "head": {"ref": "b"}}, 7]', b"null", None),
        (b"[]", b'{"html_url": "https://x/\\u001b[31m"}', "https://x/␛[31m"),
    ],
)
def test_an_answer_of_another_shape_is_made_the_best_of(
    hosting: Hosting, listed: bytes, answer: bytes, url: str | None
) -> None:
    hosting.says = {"GET": listed, "POST": answer}
    assert pull_request(hosting.address, "secret-token", **TEXTS) == PullRequest(url or hosting.address, True)


@pytest.mark.parametrize("token", ["", "a\nb", "\u2026", "a\0"])
def test_a_token_that_cannot_be_sent_is_not_shown(hosting: Hosting, token: str) -> None:
    with pytest.raises(StrataError, match="the token has characters that no token has") as caught:
        pull_request(hosting.address, token, **TEXTS)
    assert hosting.requests == []
    assert not token or token not in str(caught.value)


@pytest.mark.parametrize(
    "api", ["x", "http://", "http://[", "http://a:b/x", "http://a b/c", "https://ä\u2028/x", "ftp://a"]
)
def test_an_address_that_is_none_is_told(api: str) -> None:
    with pytest.raises(StrataError, match="the address of the hosting service is no web address"):
        pull_request(api, "secret-token", **TEXTS)


def test_a_service_that_speaks_no_http_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(b"SSH-2.0-x\r\n\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        with pytest.raises(StrataError, match=r"the hosting service does not answer: SSH-2\.0-x"):
            pull_request(f"http://127.0.0.1:{server.getsockname()[1]}/a/b", "secret-token", **TEXTS)
        thread.join()


def test_a_branch_is_named_without_refs(shop: Path) -> None:
    code, _, err = suggest(shop, "--branch", "refs/heads/main")
    assert code == 1
    assert "error[E180]: `refs/heads/main` cannot be the name of a branch" in err
