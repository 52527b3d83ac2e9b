"""`contract-engine discover`: the inventory."""

from __future__ import annotations

import json

import click

from ...contract_engine.discover import discover, without_contract
from ...contract_engine.pipeline import Setting
from ...diagnostics.wording import plural
from ..exits import exit_code
from ..options import format_option
from .answering import tell
from .shared import on_contracts


@click.command("discover")
@on_contracts
@format_option("text", "json")
def discover_command(setting: Setting, format_: str) -> int:
    """List what says something about data products: contracts, fragments, generated metadata."""
    inventory = discover(setting.tree, setting.config, setting.root)
    if format_ == "json":
        listed = [{"path": i.path, "kind": i.kind.value, "sha256": i.digest, "bytes": i.size} for i in inventory.inputs]
        click.echo(json.dumps(listed, indent=2))
    else:
        width = max((len(i.kind) for i in inventory.inputs), default=0)
        for one in inventory.inputs:
            click.echo(f"{one.kind.value:<{width}}  {one.path}")
        click.echo(plural(len(inventory.inputs), "input"), err=True)
    found = (*without_contract(inventory, setting.config, setting.tree, setting.root), *inventory.diagnostics)
    tell(found, setting.root, "text", err=True)
    return exit_code(found)
