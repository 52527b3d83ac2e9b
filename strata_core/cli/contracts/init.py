"""`contract-engine init`: a first contract, from what tools know."""

from __future__ import annotations

import click

from ...contract_engine.pipeline import Setting, examine
from ...diagnostics import Diagnostic, StrataError
from ..exits import CLEAN
from .shared import on_contracts


@click.command("init")
@click.argument("product", metavar="DOMAIN.PRODUCT")
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@on_contracts
@click.option("--layer", default="bronze", show_default=True, help="The layer of the product.")
def init_command(setting: Setting, product: str, tables: tuple[str, ...], layer: str) -> int:
    """Draft a contract of DOMAIN.PRODUCT with the TABLEs: Strata models, dbt models, dlt resources.

    It is written to its place below `contracts/`; a contract that is there already is left alone.
    """
    from ...contract_engine.draft import draft

    checked = examine(setting)
    owners = {a.ref or a.id: c.id for c in checked.collated.candidates if c.sound for a in c.contract.assets}
    text = draft(product, tables, checked.parsed, owners, layer)
    root = setting.config.contracts[0] if setting.config.contracts else "contracts"
    place = setting.root / root / product.replace(".", "/") / "contract.yaml"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with open(place, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        fix = "edit it; `contract-engine suggest` proposes what it lacks"
        raise StrataError(Diagnostic("E073", f"`{product}` has a contract already: {place}", fix=fix)) from None
    except OSError as error:
        raise StrataError(Diagnostic("E073", f"`{place}` cannot be written: {error.strerror}")) from None
    shown = place.relative_to(setting.root).as_posix()
    click.echo(f"drafted {shown}: fill in what is TODO, then `contract-engine validate --contract {shown}`")
    return CLEAN
