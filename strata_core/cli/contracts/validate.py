"""`contract-engine validate`: the checks of CI mode, or of promotion mode without publishing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import click

from ...contract_engine.pipeline import Outcome, Setting, check, examine
from ...diagnostics import Diagnostic, Severity, StrataError
from ...diagnostics.suggest import did_you_mean
from ..exits import CLEAN
from ..options import format_option
from ..progress import Progress
from ..report import FORMATS, plural
from .shared import exit_code, on_contracts, tell


@click.command("validate")
@on_contracts
@click.option("--contract", type=click.Path(path_type=Path), help="Show the findings of this contract alone.")
@click.option(
    "--mode",
    type=click.Choice(("ci", "promotion", "suggestion")),
    default="ci",
    show_default=True,
    help="What is asked: does it hold, could it be promoted now, or what could be suggested?",
)
@format_option(*FORMATS)
@click.option("--verbose", "-v", is_flag=True, help="Show notes that block nothing, and each product's verdict.")
def validate_command(setting: Setting, contract: Path | None, mode: str, format_: str, verbose: bool) -> int:
    """Check contracts, fragments and versions; publish nothing.

    All contracts are read, since they refer to one another; `--contract` only chooses what is shown. With `--mode
    promotion` it is also asked whether everything could be promoted: the files are committed, views can be projected,
    no blocking test failed. With `--mode suggestion` everything is told that `suggest` would propose.
    """
    started = time.perf_counter()
    with Progress("validating contracts", quiet=format_ != "text"):
        outcome = check(setting)
    shown = outcome.diagnostics if contract is None else _of(contract, setting, outcome)
    if mode == "promotion" and not any(d.blocks for d in shown):
        shown = (*shown, *_obstacles(setting, contract, outcome))
    if not verbose and format_ == "text":
        shown = tuple(d for d in shown if d.severity is not Severity.INFO)
    if mode == "suggestion":
        shown = (*shown, *_suggestions(setting, contract))
    files = [p.file for p in outcome.products]
    tell(shown, setting.root, format_, files=files)
    if format_ == "text":
        if verbose:
            _verdicts(outcome)
        errors = sum(d.severity is Severity.ERROR for d in shown)
        warnings = sum(d.severity is Severity.WARNING for d in shown)
        told = f"{plural(errors, 'error')}, {plural(warnings, 'warning')}"
        counted = f"{plural(len(outcome.products), 'contract')}, {plural(outcome.files, 'input')}"
        click.echo(f"{counted}: {told} ({time.perf_counter() - started:.2f} s)", err=True)
    return exit_code(shown) if shown else CLEAN


def _obstacles(setting: Setting, contract: Path | None, outcome: Outcome) -> tuple[Diagnostic, ...]:
    """What keeps the products from promotion besides findings."""
    from .promotion import prepared

    products = [p.id for p in outcome.products if contract is None or (setting.root / p.file) == contract.resolve()]
    try:
        prepared(examine(setting), products)
    except StrataError as error:
        return error.diagnostics
    return ()


def _suggestions(setting: Setting, contract: Path | None) -> Iterator[Diagnostic]:
    """What suggestion mode would propose for each sound contract."""
    from ...contract_engine.suggest.known import known_around
    from ...contract_engine.suggest.suggested import findings, suggested

    checked = examine(setting)
    known = known_around(checked)
    for candidate in checked.collated.candidates:
        if candidate.sound and (contract is None or (setting.root / candidate.file) == contract.resolve()):
            yield from findings(suggested(checked, candidate, known))


def _of(contract: Path, setting: Setting, outcome: Outcome) -> tuple[Diagnostic, ...]:
    """The findings in a contract and in what it was made of."""
    resolved = contract.resolve()
    path = resolved.relative_to(setting.root).as_posix() if resolved.is_relative_to(setting.root) else str(contract)
    chosen = next((p for p in outcome.products if p.file == path or p.id == str(contract)), None)
    named = [d for d in outcome.diagnostics if d.span is not None and d.span.file == path]
    if chosen is None and not named:
        fix = did_you_mean(path, [p.file for p in outcome.products], "`contract-engine discover` lists contracts")
        raise StrataError(Diagnostic("E073", f"`{contract}` is no contract of this project", fix=fix))
    inputs = frozenset(chosen.inputs if chosen else (path,))
    return tuple(
        d
        for d in outcome.diagnostics
        if d.span is None or d.span.file in inputs or any(r.span.file == path for r in d.related)
    )


def _verdicts(outcome: Outcome) -> None:
    width = max((len(p.id) for p in outcome.products), default=0)
    for product in outcome.products:
        against = f", {plural(product.changes, 'change')} since {product.against}" if product.against else ""
        click.echo(f"{product.id:<{width}}  {product.version}  {product.layer}  {product.verdict}{against}")
