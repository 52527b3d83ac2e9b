"""`contract-engine status`: may I read this product, and is it healthy?"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from ...contract_engine.discover import discover
from ...contract_engine.pipeline import Setting, check, unread_contracts
from ...diagnostics.render import printable
from ..exits import CLEAN, FINDINGS
from ..options import format_option
from .shared import on_contracts, require_contract, require_known


@click.command("status")
@click.argument("products", nargs=-1, metavar="[PRODUCT]...")
@on_contracts
@click.option("--agent", metavar="NAME", help="Ask for an agent: what does the contract let it do?")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Where releases are (default: strata.toml)."
)
@format_option("text", "json")
def status_command(
    setting: Setting, products: tuple[str, ...], agent: str | None, out: Path | None, format_: str
) -> int:
    """Say how products stand (all of them by default), from the runtime views that are served.

    The exit code is 0 where all of them may be read: published, not blocked and not retired, and permitted to the
    agent that `--agent` names; else 1. Ages are told as of now; `as of` says how old everything else is.
    """
    from ...contract_engine.observations import utc_now
    from ...contract_engine.serving.standing import Standing, served_products, standing

    place = out or setting.root / setting.config.contract_engine.out
    inventory = discover(setting.tree, setting.config, setting.root)
    served = served_products(place)
    if not served:
        require_contract(setting, inventory)
    checked = check(setting, inventory)
    known = dict.fromkeys((*served, *(p.id for p in checked.products)))
    require_known(products, known, unread_contracts(inventory, (p.file for p in checked.products), checked.diagnostics))
    now = utc_now()
    found = [standing(place, product, now, agent) for product in products or sorted(known)]
    if format_ == "json":
        click.echo(json.dumps([asdict(one) for one in found], indent=2, ensure_ascii=False))
        return CLEAN if all(one.readable for one in found) else FINDINGS

    def line(one: Standing) -> str:
        version = f" {one.version}" if one.version else ""
        may = "may be read" if one.readable else "is not to be read"
        done = f" ({', '.join(one.actions)})" if one.actions else ""
        since = f", as of {one.as_of}" if one.as_of else ""
        return f"{one.product}{version}: {one.state}, {may}{done}{since}"

    for one in found:
        click.echo(printable(line(one)))
        for reason in one.reasons:
            click.echo(printable(f"  {f'{reason.asset}: ' if reason.asset else ''}{reason.message} ({reason.code})"))
    return CLEAN if all(one.readable for one in found) else FINDINGS
