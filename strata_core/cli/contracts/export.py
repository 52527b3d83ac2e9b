"""`contract-engine export`: a contract in another standard."""

from __future__ import annotations

from pathlib import Path

import click

from ...contract_engine.pipeline import Setting
from ..exits import CLEAN, exit_code
from .answering import tell
from .shared import examined, named, on_contracts, product_names, write


@click.command("export")
@click.argument("product", metavar="PRODUCT", shell_complete=product_names)
@on_contracts
@click.option("--to", "standard", type=click.Choice(("odcs",)), required=True, help="The standard.")
@click.option(
    "--standard-version",
    type=click.Choice(("3.1", "3.2")),
    default="3.2",
    show_default=True,
    help="The version of the standard.",
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="The file (default: printed).")
def export_command(setting: Setting, product: str, standard: str, standard_version: str, out: Path | None) -> int:
    """Write the effective contract of PRODUCT in the Open Data Contract Standard.

    What the standard has no field for goes into custom properties `strata.…`, and is told.
    """
    from ...contract_engine.odcs.write import notes, odcs
    from ...contract_engine.yaml_dump import yaml_text

    checked = examined(setting)
    (candidate,) = named(checked, [product])
    blocking = checked.blocking(candidate)
    if blocking or not candidate.sound:
        tell(blocking, setting.root, "text", err=True)
        return exit_code(blocking)
    document = odcs(candidate.contract, standard_version)
    text = yaml_text(document)
    if out is None:
        click.echo(text, nl=False)
    else:
        write(out, text.encode())
    tell(tuple(notes(document)), setting.root, "text", err=True)
    return CLEAN
