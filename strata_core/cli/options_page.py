"""The page of all verbs and their options, as the parsers have them: `python -m strata_core.cli.options_page` prints
docs/cli-options.md."""

from __future__ import annotations

from collections.abc import Iterator

import click

from .contracts.verbs import contract_engine
from .report import CONTRACT_ENGINE, STRATA
from .verbs import strata

COMMANDS: dict[str, click.Command] = {STRATA: strata, CONTRACT_ENGINE: contract_engine}
_HEAD = """\
# All verbs and options

What `strata` and `contract-engine` understand. [cli.md](cli.md) and [contract-engine.md](contract-engine.md) say what
it is for, with examples. This page is printed from the program (`python -m strata_core.cli.options_page`).
"""


def options_page() -> str:
    """The page as Markdown."""
    return "\n".join([_HEAD, *(line for name, group in COMMANDS.items() for line in _group(name, group))])


def verbs(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """The verbs of `command`, which is called `name`: each by its whole name, groups by what is in them."""
    if not isinstance(command, click.Group):
        yield name, command
        return
    context = click.Context(command)
    for inner in command.list_commands(context):
        found = command.get_command(context, inner)
        if found is not None:
            yield from verbs(f"{name} {inner}", found)


def _group(name: str, group: click.Command) -> Iterator[str]:
    yield f"## {name}\n"
    for called, verb in verbs(name, group):
        context = click.Context(verb, info_name=called)
        yield f"### {called}\n"
        yield f"`{' '.join([called, *verb.collect_usage_pieces(context)])}`\n"
        yield f"{_sentence(verb.get_short_help_str(10_000))}\n"
        options = (option for option in verb.params if isinstance(option, click.Option))
        rows = [row for option in options if (row := option.get_help_record(context)) is not None]
        if rows:
            yield "| option | |\n|---|---|"
            yield from (f"| `{_cell(option)}` | {_cell(says)} |" for option, says in rows)
            yield ""


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    print(options_page(), end="")
