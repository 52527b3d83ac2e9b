"""`contract-engine docs`: documentation as files, without promotion."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import click

from ...contract_engine.collation.candidate import Candidate
from ...contract_engine.collation.merge_rules import canonical
from ...contract_engine.pipeline import Checked, Setting
from ...contract_engine.promotions import Promotion
from ...diagnostics.wording import plural
from ..exits import CLEAN, exit_code
from ..progress import Progress
from .answering import tell
from .shared import chosen, examined, on_contracts, write


@click.command("docs")
@on_contracts
@click.option("--contract", type=click.Path(path_type=Path), help="Write the page of this contract alone.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the site goes (default: .generated/docs in the project).",
)
def docs_command(setting: Setting, contract: Path | None, out: Path | None) -> int:
    """Write the documentation of products whose contracts hold: HTML, Markdown, JSON and llms.txt.

    It tells of the files as they are now. `publish` writes that of what was promoted.
    """
    from ...contract_engine.docs.documented import documented
    from ...contract_engine.docs.site import site
    from ...contract_engine.observations import utc_now
    from ...contract_engine.serving.observed import observed
    from ...contract_engine.serving.project import Known, project

    place = out or setting.root / ".generated" / "docs"
    with Progress("writing documentation") as progress:
        checked = examined(setting)
        known = checked.collated.candidates
        asked, blocking = chosen(checked, contract)
        tell(blocking, setting.root, "text", err=True)
        now, made_by = utc_now(), version("strata-tables")
        around = Known(checked.parsed, observed(checked, now), known)
        views = {
            c.id: project(c, around, _promotion(checked, c), made_by, now) for c in known if checked.validated.passed(c)
        }
        wanted = {c.id for c in asked}
        files = site([p for p in documented(checked, views) if p.view.id in wanted])
        for path, content in files.items():
            write(place / path, content)
        progress.say(f"{plural(len(wanted & views.keys()), 'product')} documented in {place / 'index.html'}")
    return exit_code(blocking) if blocking else CLEAN


def _promotion(checked: Checked, candidate: Candidate) -> Promotion | None:
    """The promotion of what the files say now; None where they say something else by now."""
    latest = checked.promotions.get(candidate.id)
    return latest if latest is not None and canonical(latest.contract) == canonical(candidate.data) else None
