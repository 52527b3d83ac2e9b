"""`contract-engine suggest`: suggestion mode."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from ...contract_engine.pipeline import Setting, open_setting
from ...diagnostics import Diagnostic, StrataError
from ...diagnostics.wording import plural
from ..exits import CLEAN
from ..progress import Progress
from .shared import examined, named, on_contracts, product_names

if TYPE_CHECKING:  # other verbs do without
    from ...contract_engine.suggest.suggested import Suggested

TOKEN = "CONTRACT_ENGINE_TOKEN"


@click.command("suggest")
@on_contracts
@click.option(
    "--product",
    "products",
    multiple=True,
    shell_complete=product_names,
    help="Suggest for this product (default: for all).",
)
@click.option("--base", default="HEAD", show_default=True, help="The commit that the branch is made on.")
@click.option("--branch", help="The branch (default: contract-engine/suggest/PRODUCT); for one product.")
@click.option("--push", "remote", help="Push the branch to this remote, and open its pull request if configured.")
@click.option("--into", default="main", show_default=True, help="The branch that the pull request is for.")
@click.option("--dry-run", is_flag=True, help="Print what would be suggested; write nothing.")
def suggest_command(
    setting: Setting,
    products: tuple[str, ...],
    base: str,
    branch: str | None,
    remote: str | None,
    into: str,
    dry_run: bool,
) -> int:
    """Propose what contracts lack, each product on a branch of its own; what is checked out is not touched."""
    from ...contract_engine.suggest.known import known_around
    from ...contract_engine.suggest.suggested import idle_declines, suggested

    checked = examined(setting)
    chosen = named(checked, products)
    if branch is not None and len(chosen) != 1:
        raise StrataError(Diagnostic("E073", "`--branch` is for one product", fix="name it with `--product`"))
    with Progress("making suggestions") as progress:
        known = known_around(checked)
        for candidate in chosen:
            progress.set(f"making suggestions for {candidate.id}")
            if candidate.sound:
                name = branch or f"contract-engine/suggest/{candidate.id}"
                made = suggested(checked, candidate, known)
                progress.say(_suggest(made, name, base, remote, into, dry_run))
                for idle in idle_declines(made):
                    progress.say(f"{candidate.id}: {idle.message}")
            else:
                progress.say(f"{candidate.id} is no sound contract: see `contract-engine validate`")
    return CLEAN


def _suggest(made: Suggested, name: str, base: str, remote: str | None, into: str, dry_run: bool) -> str:
    """Write the suggestion, and say what came of it."""
    from ...contract_engine.suggest import branch as branches
    from ...contract_engine.suggest.hosting import pull_request
    from ...contract_engine.suggest.suggested import changed_setting, told

    setting, product = made.checked.setting, made.candidate.id
    branches.require_unprotected(name, setting.config.contract_engine.protected_branches)
    left_out = f" ({len(made.declined)} declined)" if made.declined else ""
    if not made.proposals:
        return f"nothing to suggest for {product}{left_out}"
    count = f"{plural(len(made.proposals), 'suggestion')} for {product}{left_out}"
    if dry_run:
        click.echo(f"{made.title}\n\n{told(made, changed_setting(made))}", nl=False)
        return f"{count}: nothing is written"
    branches.require_committed(setting.root, sorted(made.texts))
    branch, text = branches.suggest_on(
        setting.root, name, base, made.texts, made.title, lambda folder: told(made, open_setting(folder, setting.today))
    )
    done = f"{count} on {branch.name}{'' if branch.fresh else ' (as before)'}"
    if remote is not None:
        branches.push(setting.root, remote, name)
        api, token = setting.config.contract_engine.pull_requests, os.environ.get(TOKEN)
        if api and token:
            request = pull_request(api, token, head=name, base=into, title=made.title, body=text)
            done += f", {'opened' if request.opened else 'updated'} {request.url}"
    return done
