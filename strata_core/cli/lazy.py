"""A command group whose verbs are imported when they are used, so that `--help` and completion stay fast."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from ..frozen import dataclass


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb's module, relative to the package of its group, and the line that the overview shows."""

    module: str
    summary: str


class LazyGroup(click.Group):
    """A group that knows its verbs' names and summaries without importing them."""

    def __init__(self, *arguments: Any, verbs: Mapping[str, Verb], package: str, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.verbs, self.package = verbs, package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs in the order of a working day."""
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one verb."""
        verb = self.verbs.get(cmd_name)
        if verb is None:
            return None
        module = importlib.import_module(verb.module, self.package)
        command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's, which suggests only commands that are imported already."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(error.command_name, possibilities=self.verbs, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The overview, from the table."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, verb.summary) for name, verb in self.verbs.items()])
