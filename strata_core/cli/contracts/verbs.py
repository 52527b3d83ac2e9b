"""The group of verbs of `contract-engine`, which are imported when they are used."""

from __future__ import annotations

import click

from ..exits import exits_help
from ..lazy import LazyGroup, Verb

VERBS = {
    "discover": Verb(".discover", "List what says something about data products."),
    "validate": Verb(".validate", "Check contracts, fragments and versions; publish nothing."),
    "test": Verb(".test", "Run the tests of products on the rows that are in reach."),
    "project": Verb(".project", "Write the runtime views of products."),
    "docs": Verb(".docs", "Write the documentation of products: HTML, Markdown, JSON."),
    "publish": Verb(".publish", "Promote what is valid: views, docs and index, with a record."),
    "refresh": Verb(".refresh", "Publish what was promoted as it stands now; promote nothing."),
    "status": Verb(".status", "Say how products stand: may they be read, are they healthy."),
    "suggest": Verb(".suggest", "Propose what contracts lack, on a branch of its own."),
    "diff": Verb(".diff", "Show what changed between two Git revisions, and what it breaks."),
    "import": Verb(".import_", "Make a contract of one in another standard (ODCS)."),
    "export": Verb(".export", "Write a contract in another standard (ODCS)."),
    "init": Verb(".init", "Draft a contract from a Strata model or a dbt manifest."),
    "explain": Verb("..explain", "Say what a code such as E131 means, with examples."),
}


@click.group(
    cls=LazyGroup,
    verbs=VERBS,
    package=__package__,
    epilog=f"{exits_help()} Shell completion: docs/contract-engine.md.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="strata-tables", prog_name="contract-engine")
def contract_engine() -> None:
    """The contract engine: a compiler for data product contracts."""
