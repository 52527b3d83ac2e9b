"""The entry point: a group whose verbs are imported when they are used, so that `strata --help` stays fast."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from dataclasses import dataclass

import click

from .exits import CLEAN, FAILED, INTERRUPTED

EXITS_HELP = (
    "Exit codes: 0 clean, 1 findings, 2 usage, 3 a write pin was violated (nothing published), "
    "4 the engine, a file or the store failed."
)


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb's module in this package and the line that the overview shows."""

    module: str
    summary: str


VERBS = {
    "check": Verb("check", "Check models and contracts without running anything."),
    "explain": Verb("explain", "Say what a code such as E012 means, with examples."),
    "fmt": Verb("fmt", "Lay out modules in the one canonical way."),
    "grammar": Verb("grammar", "Print the grammar for constrained decoding (GBNF)."),
    "lineage": Verb("lineage", "Show where a column comes from, or what depends on it."),
    "lineage-diff": Verb("lineage_diff", "Compare two Git revisions: what changed, and for whom."),
    "lsp": Verb("lsp", "Serve an editor: findings as one types, completion, rename and more."),
    "plan": Verb("plan", "Show which models are stale, and why."),
    "apply": Verb("apply", "Compute what is stale, pin it and publish it in one step."),
    "test": Verb("test", "Ask the expectations of `test` blocks of what is published."),
    "show": Verb("show", "Print the published rows of a model."),
    "history": Verb("history", "List the versions of an environment, newest first."),
    "rollback": Verb("history", "Make an earlier version of an environment live again."),
    "compile": Verb("compile", "Print what the engine will execute for a model."),
}


class LazyGroup(click.Group):
    """A group that knows its verbs' names and summaries without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs in the order of a working day."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one verb."""
        verb = VERBS.get(cmd_name)
        if verb is None:
            return None
        command = getattr(
            importlib.import_module(f".{verb.module}", __package__), f"{cmd_name.replace('-', '_')}_command"
        )
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The overview, from the table."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, verb.summary) for name, verb in VERBS.items()])


@click.group(cls=LazyGroup, epilog=EXITS_HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="strata-tables", prog_name="strata")
def strata() -> None:
    """Strata: a typed language for tables that refuses a broken model before it runs."""


def main() -> None:
    """Run the command; every way out has a documented exit code and no traceback."""
    # Arrow loads numpy, whose linear algebra starts a thread a core that spins for work that never comes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        code = strata.main(prog_name="strata", standalone_mode=False) or CLEAN
    except click.Abort:
        click.echo("interrupted: what was not told as live above was not published", err=True)
        code = INTERRUPTED
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except Exception as error:  # the last line of defence: a fault of ours is told without a traceback
        code = _own_fault(error)
    gc.disable()  # what is left goes with the process: to search it for garbage first takes longer than `check`
    sys.exit(code)


def _own_fault(error: Exception) -> int:
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="strata-", suffix=".log", delete=False) as log:
        traceback.print_exception(error, file=log)
    click.echo(f"strata failed: {type(error).__name__}: {error}", err=True)
    click.echo(f"This is a fault of Strata, not of your project; the details are in {log.name}", err=True)
    return FAILED
