"""`contract-engine validate`: the checks of CI mode, or of promotion mode without publishing."""

from __future__ import annotations

from pathlib import Path

import click

from ...contract_engine.pipeline import Setting
from ..formats import FORMATS
from ..options import format_option
from .shared import on_contracts
from .validating import validate


@click.command("validate")
@on_contracts
@click.option("--contract", type=click.Path(path_type=Path), help="Show the findings of this contract alone.")
@click.option(
    "--mode",
    type=click.Choice(("ci", "promotion", "suggestion")),
    default="ci",
    show_default=True,
    help="What is asked: does it hold, could it be promoted now, or what could be suggested?",
)
@format_option(*FORMATS)
@click.option("--verbose", "-v", is_flag=True, help="Show notes that block nothing, and each product's verdict.")
def validate_command(setting: Setting, contract: Path | None, mode: str, format_: str, verbose: bool) -> int:
    """Check contracts, fragments and versions; publish nothing.

    All contracts are read, since they refer to one another; `--contract` only chooses what is shown. With `--mode
    promotion` it is also asked whether everything could be promoted: the files are committed, views can be projected,
    no blocking test failed. With `--mode suggestion` everything is told that `suggest` would propose.
    """
    return validate(setting, contract, mode, format_, verbose)
