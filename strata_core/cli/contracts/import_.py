"""`contract-engine import`: a contract of another standard."""

from __future__ import annotations

from pathlib import Path

import click

from ...contract_engine.pipeline import Setting, examine
from ...diagnostics import Diagnostic, Span, StrataError
from ..exits import CLEAN, FINDINGS, exit_code
from .answering import tell
from .shared import on_contracts, place_contract


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE")
@on_contracts
@click.option("--from", "standard", type=click.Choice(("odcs",)), required=True, help="The standard.")
@click.option("--product", metavar="DOMAIN.PRODUCT", help="Its id here (default: as the file says).")
@click.option("--layer", default="bronze", show_default=True, help="Its layer, where the file says none.")
def import_command(setting: Setting, file: Path, standard: str, product: str | None, layer: str) -> int:
    """Make a contract of FILE, a document of the Open Data Contract Standard (3.0 to 3.2).

    It is written to its place below `contracts/`; a contract that is there already is left alone. What contracts have
    no field for is kept under `extensions.odcs`, for the way back, and is told.
    """
    from ...contract_engine.draft import taken
    from ...contract_engine.odcs.read import contract_of
    from ...contract_engine.yaml_dump import yaml_text
    from ...contract_engine.yaml_text import read_yaml

    shown = file.resolve()
    name = shown.relative_to(setting.root).as_posix() if shown.is_relative_to(setting.root) else str(file)
    found: list[Diagnostic] = []
    document = read_yaml(name, file.read_bytes(), found.append)
    if document is None and not found:
        message = "this is empty, not a contract of the standard"
        fix = "write its fields, `apiVersion: v3.1.0` and `kind: DataContract` first"
        found.append(Diagnostic("E170", message, Span(name, 1, 1, 1, 1), fix=fix))
    contract = contract_of(document, product, layer, found.append) if document is not None else None
    tell(found, setting.root, "text", err=True)
    if contract is None:
        return exit_code(found) or FINDINGS
    there = next((c for c in examine(setting).collated.candidates if c.id == contract.id), None)
    if there is not None:
        raise StrataError(taken(contract.id, there.file))
    path = place_contract(setting, contract.id, yaml_text(contract.plain(defaults=False)))
    click.echo(f"imported {path}: now `contract-engine validate --contract {path}`")
    return CLEAN
