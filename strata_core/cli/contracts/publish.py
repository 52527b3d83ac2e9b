"""`contract-engine publish`: promotion mode."""

from __future__ import annotations

from pathlib import Path

import click

from ...contract_engine.discover import discover
from ...contract_engine.pipeline import Setting, examine
from ...diagnostics.wording import plural
from ..exits import CLEAN
from ..progress import Progress
from .shared import on_contracts, product_names, require_contract


@click.command("publish")
@click.argument("products", nargs=-1, metavar="[PRODUCT]...", shell_complete=product_names)
@on_contracts
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Where releases go (default: strata.toml)."
)
@click.option("--by", help="Who promotes (default: the user of this machine).")
@click.option("--commit", help="The commit that the contracts are of, where this folder is no clone of it.")
def publish_command(
    setting: Setting, products: tuple[str, ...], out: Path | None, by: str | None, commit: str | None
) -> int:
    """Promote products (all of them by default): record it, publish views and index, all or none.

    The contracts and all that they are made of must be committed, so that the record can name where they come from.
    """
    from ...contract_engine.serving.publish import CURRENT, TARGETS, publish, publishing
    from .promotion import prepared

    with Progress("publishing") as progress:
        named = out or Path(setting.config.contract_engine.out)
        place = out or setting.root / named
        require_contract(setting, discover(setting.tree, setting.config, setting.root))
        with publishing(place):
            # Checked when nobody else publishes: versions are held against what was promoted last.
            published = publish(prepared(examine(setting), products, by, commit), TARGETS, place)
        for promotion in published.promoted:
            progress.say(f"promoted {promotion.product} {promotion.version} ({promotion.verdict})")
    if not published.promoted:
        click.echo("nothing new to promote: every product is as it was promoted", err=True)
    click.echo(f"{plural(len(published.files), 'file')} in {named / CURRENT}", err=True)
    if published.promoted:
        record = setting.config.contract_engine.promotions
        click.echo(f"commit the promotion record: git add {record}", err=True)
    return CLEAN
