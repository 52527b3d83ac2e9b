"""`contract-engine refresh`: the views and the documentation of what was promoted, as it stands now."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import click

from ...contract_engine.pipeline import Setting
from ...diagnostics.wording import plural
from ..exits import CLEAN
from ..options import environment_of
from ..progress import Progress
from .shared import examined, on_contracts


@click.command("refresh")
@on_contracts
@environment_of("Whose published models are looked at.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Where releases go (default: strata.toml)."
)
def refresh_command(setting: Setting, environment: str, out: Path | None) -> int:
    """Publish the views and the documentation of what was promoted with what is seen now; promote nothing.

    Tests are run again. What contracts say by now waits for `publish`, and does not keep anybody from seeing the state
    of what is served. A Dagster sensor does this by itself (docs/dagster.md).
    """
    from ...contract_engine.observations import utc_now
    from ...contract_engine.serving.publish import CURRENT
    from ...contract_engine.serving.refresh import refresh

    named = out or Path(setting.config.contract_engine.out)
    place = out or setting.root / named
    with Progress("refreshing views") as progress:
        done = refresh(examined(setting), place, utc_now, version("strata-tables"), environment=environment)
        for id_, view in done.views.items():
            progress.say(f"{id_} {view.version}: {view.status.state}")
    if not done.views:
        click.echo("nothing was promoted yet: `contract-engine publish` does that", err=True)
    else:
        click.echo(f"{plural(len(done.views), 'view')} in {named / CURRENT}", err=True)
    return CLEAN
