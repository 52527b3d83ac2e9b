"""`contract-engine project`: runtime views as files, without promotion."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import click

from ...contract_engine.pipeline import Setting
from ...diagnostics.wording import plural
from ..exits import CLEAN, exit_code
from ..progress import Progress
from .answering import tell
from .shared import chosen, examined, on_contracts, write


@click.command("project")
@on_contracts
@click.option("--contract", type=click.Path(path_type=Path), help="Project this contract alone.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where the views go (default: printed).")
def project_command(setting: Setting, contract: Path | None, out: Path | None) -> int:
    """Write the runtime views of products whose contracts hold, as they would be published now."""
    from ...contract_engine.observations import utc_now
    from ...contract_engine.serving.observed import observed
    from ...contract_engine.serving.project import Known, document, project, view_faults

    with Progress("projecting runtime views"):
        checked = examined(setting)
        wanted, blocking = chosen(checked, contract)
        tell(blocking, setting.root, "text", err=True)
        known = Known(checked.parsed, observed(checked, utc_now(), {c.id for c in wanted}), checked.collated.candidates)
        for candidate in wanted:
            if not checked.validated.passed(candidate):
                continue
            promotion = checked.promotions.get(candidate.id)
            view = project(candidate, known, promotion, version("strata-tables"), utc_now())
            faults = view_faults(view, candidate)
            tell(faults, setting.root, "text", err=True)
            blocking += faults
            text = json.dumps(document(view), indent=2, ensure_ascii=False) + "\n"
            if out is None:
                click.echo(text, nl=False)
            else:
                write(out / f"{candidate.id.replace('.', '/')}.json", text.encode())
    if out is not None:
        click.echo(f"{plural(len(wanted), 'view')} below {out}", err=True)
    return exit_code(blocking) if blocking else CLEAN
