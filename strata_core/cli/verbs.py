"""The group of verbs, which are imported when they are used, so that `strata --help` stays fast."""

from __future__ import annotations

import sys

import click

from .ending import end_with
from .exits import CLEAN, UNREAD, exits_help
from .lazy import LazyGroup, Verb

VERBS = {
    "check": Verb(".check", "Check models and contracts without running anything."),
    "lint": Verb(".lint", "Show what compiles and is likely not what was meant."),
    "explain": Verb(".explain", "Say what a code such as E012 means, with examples."),
    "fmt": Verb(".fmt", "Lay out modules in the one canonical way."),
    "grammar": Verb(".grammar", "Print the grammar for constrained decoding (GBNF) or for editors (TextMate)."),
    "lineage": Verb(".lineage", "Show where a column comes from, or what depends on it."),
    "lineage-diff": Verb(".lineage_diff", "Compare two Git revisions: what changed, and for whom."),
    "lsp": Verb(".lsp", "Serve an editor: findings as one types, completion, rename and more."),
    "plan": Verb(".plan", "Show which models are stale, and why."),
    "apply": Verb(".apply", "Compute what is stale, pin it and publish it in one step."),
    "guard": Verb(".guard", "Hold tables that others made against their contracts; keep what is sound."),
    "test": Verb(".test", "Ask the expectations of `test` blocks of what is published."),
    "show": Verb(".show", "Print the published rows of a model."),
    "history": Verb(".history", "List the versions of an environment, newest first."),
    "rollback": Verb(".history", "Make an earlier version of an environment live again."),
    "promote": Verb(".promote", "Make live in one environment what another has, as it is."),
    "env": Verb(".env", "List environments, drop one, collect what none needs any more."),
    "store": Verb(".store", "Land and read tables with three clocks; fold, keep and verify them."),
    "compile": Verb(".compile", "Print what the engine will execute for a model, or write the compiled manifest."),
}


@click.group(
    cls=LazyGroup,
    verbs=VERBS,
    package=__package__,
    epilog=exits_help(),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="strata-tables", prog_name="strata")
def strata() -> None:
    """Strata: a typed language for tables that refuses a broken model before it runs."""


def run(command: click.Command, name: str, interrupted: str) -> None:
    """Run `command` as the program `name` and exit; `interrupted` is what Ctrl-C says."""

    out = sys.stdout

    def answer() -> int:
        try:
            return command.main(prog_name=name, standalone_mode=False) or CLEAN
        except click.Abort:
            raise KeyboardInterrupt from None
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except SystemExit:
            if sys.stdout is out:
                raise
            return UNREAD  # click has put another in its place: nobody reads this one any more

    end_with(answer, name, interrupted)
