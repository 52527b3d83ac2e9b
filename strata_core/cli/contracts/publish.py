"""`contract-engine publish`: promotion mode."""

from __future__ import annotations

import getpass
from importlib.metadata import version
from pathlib import Path

import click

from ...contract_engine.pipeline import Checked, Setting, examine
from ...diagnostics import Diagnostic, StrataError
from ..exits import CLEAN
from ..progress import Progress
from ..report import plural
from .shared import on_contracts


@click.command("publish")
@click.argument("products", nargs=-1, metavar="[PRODUCT]...")
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
    from ...contract_engine.publish import TARGETS, Provenance, publish
    from .observed import moment, observed

    with Progress("publishing") as progress:
        checked = examine(setting)
        commit = commit or _commit(checked)
        provenance = Provenance(by or getpass.getuser(), commit, version("strata-tables"), moment())
        place = out or setting.root / setting.config.contract_engine.out
        published = publish(checked, products, observed(checked), provenance, TARGETS, place)
        for promotion in published.promoted:
            progress.say(f"promoted {promotion.product} {promotion.version} ({promotion.verdict})")
    if not published.promoted:
        click.echo("nothing new to promote: every product is as it was promoted", err=True)
    click.echo(f"{plural(len(published.files), 'file')} in {place / 'current'}", err=True)
    if published.promoted:
        record = setting.config.contract_engine.promotions
        click.echo(f"commit the promotion record: git add {record}", err=True)
    return CLEAN


def _commit(checked: Checked) -> str:
    """The commit that is checked out; E160 where it does not have the files as they are."""
    from ...contract_engine.git_state import changed, checked_out

    root = checked.setting.root
    commit = checked_out(root)
    if commit is None:
        fix = "commit the contracts, or name the commit with `--commit`"
        raise StrataError(
            Diagnostic("E160", "nobody can tell later where this comes from: there is no commit", fix=fix)
        )
    files = {path for c in checked.collated.candidates for path in c.inputs if (root / path).is_file()}
    if dirty := changed(root, sorted(files)):
        listed = ", ".join(dirty[:5]) + (f" and {len(dirty) - 5} more" if len(dirty) > 5 else "")
        message = f"what is promoted is not what is committed: {listed}"
        raise StrataError(Diagnostic("E160", message, fix="commit it first, or name its commit with `--commit`"))
    return commit
