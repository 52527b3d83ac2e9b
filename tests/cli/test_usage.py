"""What was asked wrongly: one error that says what to do, and the exit code of its family."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata_core.cli.ending import end_with

NO_STORE = (
    "error[E095]: nothing was published yet: there is no store at `.strata/store`\n  = help: run `strata apply`\n\n"
)


@pytest.mark.parametrize("arguments", [("show", "paid"), ("history",), ("rollback", "1")], ids=lambda a: a[0])
def test_before_anything_was_published(cli, arguments):
    ran = cli(*arguments)
    assert (ran.code, ran.out, ran.err) == (2, "", NO_STORE)
    assert not (cli.root / ".strata").exists()


USAGE = {
    "unknown verb": (("aply",), "No such command 'aply'. Did you mean 'apply'?"),
    "unknown verb of a group": (("env", "lsit"), "No such command 'lsit'. Did you mean 'list'?"),
    "unknown option": (("plan", "--al"), "No such option '--al'"),
    "no model": (("show",), "Missing argument 'MODEL'"),
    "a version that is no number": (("rollback", "one"), "'one' is not a valid integer range"),
    "a version below one": (("show", "paid", "--version", "0"), "0 is not in the range x>=1"),
    "unknown format": (("show", "paid", "--format", "xml"), "'xml' is not one of 'table', 'csv', 'json'"),
    "a path that is not there": (("check", "nope.strata"), "Path 'nope.strata' does not exist"),
    "a project that is not there": (("plan", "--project", "nope"), "Path 'nope' does not exist"),
    "an environment outside": (("apply", "--env", "../x"), "'../x' cannot name an environment: use a letter or _"),
    "an environment without a name": (("history", "--env", ""), "'' cannot name an environment"),
    "an environment in hidden characters": (("plan", "--env", "a\nb"), "'a\\nb' cannot name an environment"),
}


@pytest.mark.parametrize(("arguments", "told"), USAGE.values(), ids=USAGE)
def test_a_command_that_cannot_be_is_usage(cli, arguments, told):
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert ran.err.startswith("Usage: strata")


ABSENT = {
    "unknown model to show": (("show", "pid"), "error[E027]: there is no model `pid`\n  = help: did you mean `paid`?"),
    "unknown model to plan": (("plan", "totls"), "did you mean `totals`?"),
    "unknown model to apply": (("apply", "x"), "error[E027]: there is no model `x`\n  = help: models are paid, totals"),
    "unknown model to compile": (("compile", "x"), "error[E027]: there is no model `x`"),
    "unknown version": (("rollback", "9"), "error[E095]: environment prod has no version 9"),
    "unknown version to show": (("show", "paid", "--version", "9"), "error[E095]: environment prod has no version 9"),
    "unknown environment": (
        ("history", "--env", "prd"),
        "error[E095]: nothing was published in `prd` yet\n"
        "  = note: published environments are prod\n  = help: did you mean `prod`?",
    ),
    "a path that is no module": (("check", "sales.csv"), "error[E073]: `sales.csv` is no `.strata` file"),
    "a project that is no module": (("plan", "--project", "sales.csv"), "`sales.csv` is no `.strata` file"),
    "the configuration of a project": (
        ("plan", "--project", "strata.toml"),
        "error[E073]: `strata.toml` is no `.strata` file\n  = help: give its folder, `.`\n",
    ),
    "a folder without modules": (("check", "notes"), "`notes` holds no module of the project `sales`"),
}


@pytest.mark.parametrize(("arguments", "told"), ABSENT.values(), ids=ABSENT)
def test_what_is_not_there_is_usage_with_what_is(cli, arguments, told):
    cli("apply")
    (cli.root / "notes").mkdir()
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err


def test_a_file_outside_the_project_that_was_named(cli, tmp_path):
    (tmp_path / "other.strata").write_text("model x { from y }")
    ran = cli("check", str(tmp_path / "other.strata"), "--project", ".")
    assert ran.code == 2
    assert "holds no module of the project `sales`" in ran.err


def test_as_json_a_refusal_is_json(cli):
    ran = cli("plan", "nope", "--format", "json")
    assert (ran.code, ran.err, [d["code"] for d in ran.document]) == (2, "", ["E027"])


def test_a_fault_of_strata_toml_is_shown_with_its_line(cli):
    cli.edit("strata.toml", "[engine]", "[engin]")
    ran = cli("check")
    assert (ran.code, ran.out) == (2, "")
    assert (
        ran.err
        == """\
error[E073]: unknown section `engin`
 --> strata.toml:3:1
  |
3 | [engin]
  | ^^^^^^^
  |
  = help: did you mean `engine`?

"""
    )


def test_a_folder_that_is_no_project(empty):
    ran = empty("check")
    assert ran.code == 2
    assert "holds no `strata.toml` and no `.strata` file" in ran.err


@pytest.mark.parametrize("verb", ["plan", "apply", "compile"])
def test_a_project_with_errors_is_refused_before_anything_runs(cli, verb):
    cli.edit("models/paid.strata", "from sales", "from sale")
    ran = cli(verb, *(["paid"] if verb == "compile" else []))
    assert (ran.code, ran.out) == (1, "")
    assert "error[E020]: no source or model `sale`\n --> models/paid.strata:7:8\n" in ran.err
    assert not (cli.root / ".strata").exists()


def test_a_model_that_a_pipeline_names_in_vain_is_a_finding_in_its_text(cli):
    cli.write("models/p.strata", "pipeline p { env: prod, models: [pid] }\n")
    ran = cli("check")
    assert ran.code == 1
    assert "error[E027]: no model `pid`" in ran.out


def test_a_project_without_models_says_so(empty):
    empty.write("strata.toml", '[project]\nname = "p"\n')
    empty.write("models/m.strata", "")
    ran = empty("show", "x")
    assert (ran.code, ran.err) == (2, "error[E027]: there is no model `x`\n  = help: the project has no models\n\n")


class Panic(BaseException):
    """As a library in Rust ends: no `Exception`."""


@pytest.mark.parametrize("fault", [ValueError("odd"), Panic("odd")])
def test_a_fault_of_ours_is_told_without_a_traceback(fault, capsys):
    def answer():
        raise fault

    with pytest.raises(SystemExit) as ended:
        end_with(answer, "strata", "interrupted")
    assert ended.value.code == 4
    first, second = capsys.readouterr().err.splitlines()
    assert first == f"strata failed: {type(fault).__name__}: odd"
    log = Path(second.removeprefix("This is a fault of Strata, not of your project; the details are in "))
    assert "Traceback" in log.read_text()
    log.unlink()


def test_an_exit_keeps_its_code():
    with pytest.raises(SystemExit) as ended:
        end_with(lambda: (_ for _ in ()).throw(SystemExit(7)), "strata", "interrupted")
    assert ended.value.code == 7
