"""`strata promote` and `strata env`: what they print, and their exit codes."""

from __future__ import annotations


def test_a_model_that_an_environment_lacks_is_applied_there(cli):
    assert cli("apply", "--env", "dev").code == 0
    assert cli("env", "drop", "dev").code == 0
    ran = cli("show", "paid", "--env", "dev")
    assert (ran.code, ran.err) == (
        2,
        "error[E095]: `paid` is not published in dev\n  = help: run `strata apply paid --env dev`\n\n",
    )


def applied(cli, environment="pr_1"):
    assert cli("apply", "--env", environment).code == 0


def test_promote_tells_what_changes_and_publishes_it(cli):
    applied(cli)
    dry = cli("promote", "pr_1", "prod", "--dry-run")
    assert (dry.code, dry.out.splitlines()) == (
        0,
        ["paid    3 rows, new", "totals  2 rows, new", "prod: 2 models would go live; nothing was published"],
    )
    assert cli("history").code == 2, "nothing was published"
    done = cli("promote", "pr_1", "prod", "--format", "json")
    assert done.code == 0
    told = done.document
    assert (told["from"], told["from_version"], told["to"], told["before"], told["version"]) == (
        "pr_1",
        1,
        "prod",
        0,
        1,
    )
    assert [(m["name"], m["changed"], m["before"]) for m in told["models"]] == [
        ("paid", True, None),
        ("totals", True, None),
    ]


def test_promote_says_what_readers_will_notice(cli):
    applied(cli, "prod")
    cli.edit("models/totals.strata", "total = sum(amount)", "total = sum(amount) + sum(amount)")
    applied(cli)
    ran = cli("promote", "pr_1", "prod")
    assert (ran.code, ran.out.splitlines()) == (
        0,
        [
            "totals  2 rows, 2 before",
            "    computed otherwise: total",
            "prod: version 2 is live, with 1 model of pr_1",
        ],
    )


def test_promote_refuses_with_a_finding_and_exit_code_1(cli):
    applied(cli)
    cli.edit("models/totals.strata", "total = sum(amount)", "total = sum(amount) + sum(amount)")
    ran = cli("promote", "pr_1", "prod")
    assert ran.code == 1
    assert "error[E035]: `totals` of pr_1 would be stale in prod: own change" in ran.err
    ran = cli("promote", "pr_1", "prod", "--format", "json")
    assert (ran.code, [d["code"] for d in ran.document]) == (1, ["E035"])


def test_promote_takes_nothing_back_where_a_file_cannot_be_read(cli):
    """What an unreadable file declares is not known, so that nothing counts as gone."""
    applied(cli, "prod")
    applied(cli)
    cli.write("models/totals.strata", b"model totals { from paid } // caf\xe9\n")
    for arguments in ((), ("--dry-run",), ("paid",)):
        ran = cli("promote", "pr_1", "prod", *arguments)
        assert (ran.code, ran.out, ran.clean) == (1, "", True), arguments
        assert ran.err.startswith(
            "error[E002]: the file is not UTF-8: byte 0xe9 at offset 33\n --> models/totals.strata:1:34\n"
        )
    assert cli("show", "totals").out.count("\n") == 3
    assert [v["version"] for v in cli("history", "--format", "json").document] == [1]


def test_promote_of_what_is_not_there(cli):
    applied(cli)
    for arguments, code in (
        (("pr_1", "pr_1"), 2),
        (("nope", "prod"), 2),
        (("pr_1", "prod", "nope"), 2),
        (("../x", "prod"), 2),
        (("pr_1",), 2),
    ):
        ran = cli("promote", *arguments)
        assert (ran.code, ran.clean) == (code, True), arguments


def test_env_list_drop_and_collect(cli):
    assert cli("env", "list").out == "nothing is published: run `strata apply`\n"
    assert cli("env", "collect").out == "0 artifacts, 0 B removed\n"
    applied(cli)
    listed = cli("env", "list", "--format", "json").document
    assert [(e["name"], e["version"], e["models"]) for e in listed] == [("pr_1", 1, ["paid", "totals"])]
    assert cli("env", "collect", "--keep", "0s", "--grace", "0s").out == "0 artifacts, 0 B removed\n"
    dropped = cli("env", "drop", "pr_1")
    assert (dropped.code, dropped.out.splitlines()[0]) == (0, "pr_1: version 2 is without 2 models")
    assert cli("env", "drop", "pr_1").code == 2
    assert cli("env", "collect").out == "0 artifacts, 0 B removed\n", "a rollback may want it"
    listed = cli("env", "collect", "--keep", "0s", "--grace", "0s", "--dry-run", "--format", "json").document
    assert [o["table"] for o in listed] == ["paid", "totals"]
    done = cli("env", "collect", "--keep", "0s", "--grace", "0s")
    assert done.out.splitlines()[-1].startswith("2 artifacts, ")
    assert done.out.splitlines()[-1].endswith("kB removed")
    gone = cli("rollback", "1", "--env", "pr_1")
    assert (gone.code, gone.clean) == (4, True)
    assert "error[E094]" in gone.err
    applied(cli)
    assert cli("env", "collect", "--keep", "soon").code == 2
