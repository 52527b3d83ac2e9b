"""What `contract-engine validate` does with a project, however it was asked for."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from ...contract_engine.pipeline import Outcome, Setting, check, examine
from ...diagnostics import Diagnostic, Severity, StrataError
from ...diagnostics.wording import plural
from ..exits import CLEAN, exit_code
from ..progress import Progress
from .answering import answered_for, tell


def validate_here(format_: str) -> int:
    """Check the project of this folder, and tell."""
    return answered_for(lambda setting: validate(setting, None, "ci", format_, False), None, format_)


def validate(setting: Setting, contract: Path | None, mode: str, format_: str, verbose: bool) -> int:
    """Tell the findings of `mode` on `setting`, of `contract` alone where there is one; gives the exit code."""
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
        print(f"{counted}: {told} ({time.perf_counter() - started:.2f} s)", file=sys.stderr)
    return exit_code(shown) if shown else CLEAN


def _obstacles(setting: Setting, contract: Path | None, outcome: Outcome) -> tuple[Diagnostic, ...]:
    """What keeps the products from promotion besides findings."""
    from .promotion import prepared

    products = [p.id for p in outcome.products if contract is None or (setting.root / p.file) == contract.resolve()]
    try:
        prepared(examine(setting), products, by="whoever promotes")
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
        from ...diagnostics.suggest import did_you_mean

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
        print(f"{product.id:<{width}}  {product.version}  {product.layer}  {product.verdict}{against}")
