"""`contract-engine project`: runtime views as files, without promotion."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import click

from ...contract_engine.pipeline import Setting, examine
from ...diagnostics import Diagnostic, StrataError
from ..exits import CLEAN
from ..progress import Progress
from ..report import plural
from .shared import exit_code, on_contracts, tell


@click.command("project")
@on_contracts
@click.option("--contract", type=click.Path(path_type=Path), help="Project this contract alone.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where the views go (default: printed).")
def project_command(setting: Setting, contract: Path | None, out: Path | None) -> int:
    """Write the runtime views of products whose contracts hold, as they would be published now."""
    from ...contract_engine.project import Known, document, project, view_faults
    from .observed import moment, observed

    with Progress("projecting runtime views"):
        checked = examine(setting)
        chosen = [c for c in checked.collated.candidates if contract is None or _is(c.file, contract, setting)]
        if not chosen:
            fix = "`contract-engine discover` lists contracts"
            raise StrataError(Diagnostic("E073", f"`{contract}` is no contract of this project", fix=fix))
        inputs = frozenset(path for c in chosen for path in c.inputs)
        blocking = [d for d in checked.diagnostics if d.blocks and (d.span is None or d.span.file in inputs)]
        tell(blocking, setting.root, "text", err=True)
        known = Known(checked.parsed, observed(checked, moment(), {c.id for c in chosen}), checked.collated.candidates)
        for candidate in chosen:
            if not checked.validated.passed(candidate):
                continue
            promotion = checked.promotions.get(candidate.id)
            view = project(candidate, known, promotion, version("strata-tables"), moment())
            blocking += view_faults(view, candidate)
            text = json.dumps(document(view), indent=2, ensure_ascii=False) + "\n"
            if out is None:
                click.echo(text, nl=False)
            else:
                _write(out / f"{candidate.id.replace('.', '/')}.json", text)
    if out is not None:
        click.echo(f"{plural(len(chosen), 'view')} below {out}", err=True)
    return exit_code(blocking) if blocking else CLEAN


def _is(file: str, contract: Path, setting: Setting) -> bool:
    return (setting.root / file).resolve() == contract.resolve()


def _write(path: Path, text: str) -> None:
    """The file as a whole, or as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)
