"""docs/cli.md is run: each command of the page, in its order, gives the output that stands there."""

from __future__ import annotations

import re
from pathlib import Path

import click

from strata_core.cli.contracts.verbs import contract_engine
from strata_core.cli.exits import MEANINGS, exit_code, exits_help
from strata_core.cli.options_page import COMMANDS as PROGRAMS
from strata_core.cli.options_page import options_page, verbs
from strata_core.cli.verbs import strata
from strata_core.diagnostics import Diagnostic, Span
from strata_core.planning.applying.results import Status
from strata_core.planning.config import ENVIRONMENT_KEYS, SECTIONS
from strata_core.planning.plan import Reason

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "cli.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w./]+)`:\n```\w+\n(.*?)```", TEXT, re.DOTALL | re.MULTILINE))
COMMAND = re.compile(r"^\$ (.+)\n((?:(?!\$ |```).*\n)*)", re.MULTILINE)
COMMANDS = COMMAND.findall(TEXT)

PLACE = Span("shop.strata", 1, 1, 1, 1)
UNSTABLE = ((re.compile(r" *\d+\.\d\d s\b"), " _ s"), (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ"), "_"))


def stable(text: str) -> list[str]:
    """The lines without times; the two streams are told apart by a terminal only."""
    for pattern, replacement in UNSTABLE:
        text = pattern.sub(replacement, text)
    return sorted(text.splitlines())


def substituted(cli, command):
    """`sed -i 's/old/new/' file`, which every system spells in its own way."""
    old, new, path = re.fullmatch(r"sed -i 's/(.*)/(.*)/' (\S+)", command).groups()
    cli.edit(path, old, new)


def test_every_command_of_the_page_does_what_it_says(empty):
    contract = "contracts/shop/payments/contract.yaml"
    assert sorted(FILES) == [contract, "models/shop.strata", "orders.csv", "payments.csv", "strata.toml"]
    for path, text in FILES.items():
        empty.write(path, text)
    assert len(COMMANDS) > 15
    for command, output in COMMANDS:
        if command.startswith("sed"):
            substituted(empty, command)
            continue
        name, *arguments = command.split()
        assert name == "strata"
        ran = empty(*arguments)
        if arguments[0] == "compile":
            assert "GROUP BY" in ran.out
            continue
        assert stable(ran.out + ran.err) == stable(output), command
        told = re.findall(r"error\[(E\d+)\][^\n]*\n( *-->)?", output)
        found = exit_code(Diagnostic(code, "", PLACE if place else None) for code, place in told)
        assert ran.code == max(found, "would change" in output), command


def test_what_deploy_md_does_with_the_environment_of_a_branch(empty):
    for path, text in FILES.items():
        empty.write(path, text)
    commands = COMMAND.findall((DOCS / "deploy.md").read_text(encoding="utf-8"))
    assert len(commands) == 5
    for command, output in commands:
        ran = empty(*command.removeprefix("strata ").split())
        assert (stable(ran.out + ran.err), ran.code) == (stable(output), 0), command


def test_every_page_with_commands_is_run():
    """cli.md and deploy.md here; editor.md installs an extension, which is made and tested in editors/vscode."""
    elsewhere = {"contract-engine.md": "contract_engine", "lineage.md": "cli", "store.md": "cli"}
    shown = {page.name for page in DOCS.glob("*.md") if "```console" in page.read_text(encoding="utf-8")}
    assert shown == {"cli.md", "deploy.md", "editor.md", *elsewhere}
    for page, tests in elsewhere.items():
        assert any(page in test.read_text(encoding="utf-8") for test in (DOCS.parent / "tests" / tests).glob("*.py"))


def test_both_commands_end_with_the_codes_of_one_table():
    table = TEXT.partition("| exit code | meaning |\n|---|---|\n")[2].partition("\n\n")[0]
    assert [int(row.split("|")[1]) for row in table.splitlines()] == list(MEANINGS)
    for group in (strata, contract_engine):
        assert str(group.epilog).startswith(exits_help())


def test_the_page_of_options_is_the_programs():
    page = (DOCS / "cli-options.md").read_text(encoding="utf-8")
    assert page == options_page(), "run `python -m strata_core.cli.options_page > docs/cli-options.md`"
    for option in ("--filter EXPR", "--principal NAME", "--by TEXT", "--commit TEXT", "--into TEXT", "--layer TEXT"):
        assert f"| `{option}` | " in page


def test_each_verb_is_told_of_and_each_of_its_options_says_what_it_is_for():
    told = TEXT + (DOCS / "contract-engine.md").read_text(encoding="utf-8")
    unhelped = []
    for program, group in PROGRAMS.items():
        for name, verb in verbs(program, group):
            alone = name.rpartition(" ")[2]
            assert any(text in told for text in (name, f"`{alone}", f"## {alone}", f"| {alone} ")), name
            options = (option for option in verb.params if isinstance(option, click.Option))
            unhelped += [f"{name} {option.name}" for option in options if not option.help and option.name != "format_"]
    assert unhelped == []


def test_each_key_reason_and_status_stands_on_the_page():
    keys = [f"`{section}.{key}`" for section, keys in SECTIONS.items() for key in keys if section != "lint"]
    keys.append("`lint.CODE`")
    keys += [f"`environments.NAME.{key}`" for key in ENVIRONMENT_KEYS]
    assert [key for key in keys if f"| {key} |" not in TEXT] == []
    assert [status for status in Status if f"| `{status}` |" not in TEXT] == []
    assert [reason for reason in Reason if f"| `{reason}" not in TEXT] == []
