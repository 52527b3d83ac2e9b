"""`contract-engine suggest`: suggestion mode."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ...contract_engine.candidate import Candidate
from ...contract_engine.pipeline import Checked, Setting, examine, open_setting
from ...diagnostics import Diagnostic, StrataError
from ..exits import CLEAN
from ..progress import Progress
from ..report import plural
from .shared import named, on_contracts

TOKEN = "CONTRACT_ENGINE_TOKEN"


@click.command("suggest")
@on_contracts
@click.option("--product", "products", multiple=True, help="Suggest for this product (default: for all).")
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
    checked = examine(setting)
    chosen = named(checked, products)
    if branch is not None and len(chosen) != 1:
        raise StrataError(Diagnostic("E073", "`--branch` is for one product", fix="name it with `--product`"))
    with Progress("making suggestions") as progress:
        for candidate in chosen:
            progress.set(f"making suggestions for {candidate.id}")
            if candidate.sound:
                name = branch or f"contract-engine/suggest/{candidate.id}"
                progress.say(_suggest(checked, candidate, name, base, remote, into, dry_run))
            else:
                progress.say(f"{candidate.id} is no sound contract: see `contract-engine validate`")
    return CLEAN


def _suggest(
    checked: Checked, candidate: Candidate, name: str, base: str, remote: str | None, into: str, dry_run: bool
) -> str:
    """Make the suggestion, and say what came of it."""
    from ...contract_engine.suggest import branch as branches
    from ...contract_engine.suggest.body import body, title
    from ...contract_engine.suggest.edits import edited
    from ...contract_engine.suggest.hosting import pull_request
    from ...contract_engine.suggest.proposals import proposals

    setting = checked.setting
    branches.require_unprotected(name, setting.config.contract_engine.protected_branches)
    text = (setting.root / candidate.file).read_bytes().decode()
    proposed = proposals(checked, candidate)
    changed, made = edited(text, [p.edit for p in proposed])
    if not made:
        return f"nothing to suggest for {candidate.id}"
    kept = tuple(p for p in proposed if p.edit in made)
    heading = title(candidate.id, kept)

    def message(folder: Path) -> str:
        """What is said of the changed files in `folder`."""
        after = examine(open_setting(folder, setting.today))
        again = after.collated.by_id[candidate.id]
        found = [d for d in after.diagnostics if d.span is not None and d.span.file in again.inputs]
        contract = again.contract if again.sound else candidate.contract
        return f"{heading}\n\n{body(contract, kept, found, _verdict(after, again), _verdict(checked, candidate))}"

    if dry_run:
        click.echo(f"{heading}\n\n{body(candidate.contract, kept, (), *[_verdict(checked, candidate)] * 2)}", nl=False)
        return f"{plural(len(kept), 'suggestion')} for {candidate.id}: nothing is written"
    branches.require_committed(setting.root, [candidate.file])
    branch, said = branches.suggest_on(setting.root, name, base, {candidate.file: changed}, message)
    told = f"{plural(len(kept), 'suggestion')} for {candidate.id} on {branch.name}"
    told += "" if branch.fresh else " (as before)"
    if remote is not None:
        branches.push(setting.root, remote, name)
        api, token = setting.config.contract_engine.pull_requests, os.environ.get(TOKEN)
        if api and token:
            text = said.partition("\n\n")[2]
            request = pull_request(api, token, head=name, base=into, title=heading, body=text)
            told += f", {'opened' if request.opened else 'updated'} {request.url}"
    return told


def _verdict(checked: Checked, candidate: Candidate) -> str:
    found = checked.validated.compatibility.get(candidate.id)
    return found.verdict.value if found else "not classified"
