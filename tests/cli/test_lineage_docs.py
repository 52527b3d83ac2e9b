"""docs/lineage.md is run, and its table is the program's."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from strata_core.contract.changes import RULES
from strata_core.lineage.rules import MEANINGS, STEPS

from .repositories import commit
from .test_docs import substituted

TEXT = (Path(__file__).parents[2] / "docs" / "lineage.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w./]+)`:\n```\w+\n(.*?)```", TEXT, re.DOTALL | re.MULTILINE))
COMMANDS = re.findall(r"^\$ (.+)\n((?:(?!\$ |```).*\n)*)", TEXT, re.MULTILINE)


def test_every_command_of_the_page_does_what_it_says(empty):
    assert sorted(FILES) == ["models/shop.strata", "strata.toml"]
    for path, text in FILES.items():
        empty.write(path, text)
    commit(empty.root, "first")
    codes = []
    for command, output in COMMANDS:
        if command.startswith("sed"):
            substituted(empty, command)
            continue
        name, *arguments = shlex.split(command)
        assert name == "strata"
        ran = empty(*arguments)
        assert ran.out + ran.err == output, command
        codes.append(ran.code)
    assert codes == [0, 0, 0, 0, 0, 1, 1, 1, 2]
    assert (empty.root / "diff.html").stat().st_size > 10_000


def test_the_table_of_changes_is_the_programs():
    rows = [
        f"| `{rule.id}` | {rule.impact}{f' + {rule.demand}' if rule.demand else ''} "
        f"| {rule.says}{f'; {rule.unless}' if rule.unless else ''} |"
        for rule in (*RULES.values(), *MEANINGS.values(), *STEPS.values())
    ]
    table = TEXT.partition("| rule | impact | what |\n|---|---|---|\n")[2].splitlines()
    assert table == rows
