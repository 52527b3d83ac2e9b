"""`strata check --explain`: what holds up each promise of a model's contract, a proof or a measurement at the pin."""

from __future__ import annotations

import json
from typing import Any

import click

from ..analysis.compiled import CompiledModel, JoinExpectation
from ..contract.authoring import Proof
from ..diagnostics.wording import plural
from ..planning.plan import sound_model
from ..planning.project import Project, compile_
from .exits import CLEAN

MEASURED = "measured at the write pin: the keys do not prove it"
"""Why the `expect` of a join is asserted."""


def explain_model(project: Project, name: str, *, as_json: bool) -> int:
    """Print what holds up the promises of `name`. Raises its errors where it has some, E027 where there is none."""
    model = sound_model(name, compile_(project))
    click.echo(json.dumps(_document(model), indent=2) if as_json else "\n".join(_lines(model)))
    return CLEAN


def _lines(model: CompiledModel) -> list[str]:
    if model.contract is None and not model.expectations:
        return [f"model {model.name} has no contract: it promises nothing"]
    rows = [(p.field, str(p.rule), _how(p.proven), p.by) for p in model.proofs]
    rows += [("the table", e.text, _how(False), MEASURED) for e in model.expectations]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    promised = f" -> contract {model.contract.name}" if model.contract else ""
    asserted = sum(row[2] == _how(False) for row in rows)
    return [
        f"model {model.name}{promised}",
        *(f"  {'  '.join(c.ljust(w) for c, w in zip(row, widths, strict=False))}  {row[3]}" for row in rows),
        f"{plural(len(rows), 'promise')}: {len(rows) - asserted} proven, {asserted} asserted at the write pin",
    ]


def _how(proven: bool) -> str:
    return "proven" if proven else "asserted"


def _document(model: CompiledModel) -> dict[str, Any]:
    """The shape is stable. `columns` is empty and `rule` the text of an `expect` where a join expects something."""
    return {
        "model": model.name,
        "contract": model.contract.name if model.contract else None,
        "promises": [*map(_promise, model.proofs), *map(_expectation, model.expectations)],
    }


def _promise(proof: Proof) -> dict[str, Any]:
    return {
        "columns": list(proof.fact.columns),
        "path": list(proof.fact.path),
        "rule": str(proof.rule),
        "proven": proof.proven,
        "by": proof.by,
    }


def _expectation(expectation: JoinExpectation) -> dict[str, Any]:
    return {"columns": [], "path": [], "rule": expectation.text, "proven": False, "by": MEASURED}
