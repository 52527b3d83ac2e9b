"""`contract-engine init`: a first contract, from what tools know."""

from __future__ import annotations

from collections.abc import Iterator

import click

from ...contract_engine.discover import InputKind
from ...contract_engine.pipeline import Checked, Setting, examine
from ...diagnostics import Diagnostic, StrataError
from ...diagnostics.listing import listed
from ...diagnostics.render import printable
from ..exits import CLEAN
from ..progress import Progress
from .shared import on_contracts, place_contract

_TOOLS = (InputKind.DBT_MANIFEST, InputKind.DBT_CATALOG, InputKind.DLT_SCHEMA)
_SHOWN = 6


@click.command("init")
@click.argument("product", metavar="DOMAIN.PRODUCT")
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@on_contracts
@click.option("--layer", default="bronze", show_default=True, help="The layer of the product.")
def init_command(setting: Setting, product: str, tables: tuple[str, ...], layer: str) -> int:
    """Draft a contract of DOMAIN.PRODUCT with the TABLEs: Strata models, dbt models, dlt resources.

    It is written to its place below `contracts/`; a contract that is there already is left alone.
    """
    from ...contract_engine.draft import Around, draft
    from ...contract_engine.levels import Levels
    from ...contract_engine.validate.inheritance import Sensitivity
    from ...contract_engine.validate.profiles import profiles

    with Progress("drafting a contract"):
        checked = examine(setting)
        layers = profiles(setting.config, lambda _: None)
        levels, sensitivity = Levels(setting.config.classification), Sensitivity(checked.collated, checked.parsed)
        around = Around(
            checked.parsed.generated,
            checked.collated.candidates,
            layers,
            tuple(_looked_at(checked)),
            lambda table, column: sensitivity.inherited(table, column, levels),
        )
        try:
            drafted = draft(product, tables, around, layer)
        except StrataError as error:
            raise StrataError(*_unread(checked), *error.diagnostics) from None
    shown = place_contract(setting, product, drafted.text)
    for note in drafted.notes:
        click.echo(printable(f"note: {note}"), err=True)
    click.echo(f"drafted {shown}: fill in what is TODO, then `contract-engine validate --contract {shown}`")
    return CLEAN


def _unread(checked: Checked) -> list[Diagnostic]:
    """What keeps the files of tools from saying what they know."""
    files = {i.path for i in checked.inventory.of_kind(*_TOOLS)}
    return [d for d in checked.diagnostics if d.blocks and d.span is not None and d.span.file in files]


def _looked_at(checked: Checked) -> Iterator[str]:
    """Where tools were listened to: mostly it is one that has not spoken yet that knows a table."""
    found = [f"{i.path} ({i.kind.value})" for i in checked.inventory.of_kind(*_TOOLS, InputKind.STRATA)]
    folders = listed([f"`{place}`" for place in checked.setting.config.models], _SHOWN)
    nothing = f"nothing: no file of dbt or dlt is there, and no Strata model in {folders} (`[project] models`)"
    yield f"looked at: {listed(found, _SHOWN) or nothing}"
    manifest = checked.setting.config.dbt.manifest
    if not checked.setting.tree.exists(manifest):
        yield f"dbt's manifest `{manifest}` is not there: run `dbt parse`, or say in `[dbt] manifest` where it is"
    if checked.inventory.of_kind(InputKind.STRATA):
        yield "of Strata models that do not compile nothing is known: `strata check` tells"
