"""One model of an apply, whatever comes of it: a fault is a result too."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Set

from ...analysis.compiled import CompiledModel
from ...diagnostics import Diagnostic, StrataError
from ...frozen import replace
from ...relation.nodes import Scan, walk_relation
from ..artifact_relation import artifact_relation
from ..faults import located, relative, withheld
from ..plan import PlannedModel
from .compute import Input, Run, compute
from .piecewise import compute_pieces
from .results import ModelResult, Status

READS = frozenset({"E033", "E090"})
"""Codes under which engines tell of bytes that they cannot read."""
PIN_FAMILY = "E08"
"""A reader may say of a file what the pin would: that it breaks its source's promises."""


def attempt(run: Run, planned: PlannedModel, read: Callable[[str], Input]) -> ModelResult:
    """What becomes of `planned`; `read` gives what it reads by name. Nothing is raised for a file, a value or the
    store's disk."""
    started = time.perf_counter()
    model = run.workspace.compiled.models[planned.name]
    made = compute if model.periods is None else compute_pieces
    inputs: dict[str, Input] = {}
    try:
        inputs.update((name, read(name)) for name in planned.inputs)
        result = made(run, planned, model, inputs)
    except StrataError as error:
        shown = (withheld(d, _hidden_inputs(run, model)) for d in _damage(error, inputs) or error.diagnostics)
        here = (relative(d, run.workspace.project.root) for d in shown)
        found = tuple(located(d, f"model `{model.name}`", model.name_span) for d in here)
        broken = all(d.code.startswith(PIN_FAMILY) for d in found)
        result = ModelResult(planned.name, Status.VIOLATED if broken else Status.FAILED, planned, diagnostics=found)
    return replace(result, seconds=time.perf_counter() - started)


def _damage(error: StrataError, inputs: Mapping[str, Input]) -> tuple[Diagnostic, ...]:
    """E094 of the artifacts that were read, where a computation failed because a disk has changed one: an engine only
    says that it cannot go on."""
    if not any(d.code in READS for d in error.diagnostics):
        return ()
    read = [one.artifact for one in inputs.values() if one.artifact is not None]
    return tuple(d for artifact in read for d in (*artifact.drop_damaged_copies(), *artifact.verify()))


def _hidden_inputs(run: Run, model: CompiledModel) -> Set[str]:
    """The columns that `model` reads or makes and whose values are not shown."""
    scans = [node for node in walk_relation(artifact_relation(model)) if isinstance(node, Scan)]
    scans += [n for e in model.expectations for n in walk_relation(e.relation) if isinstance(n, Scan)]
    read = {f"{s.table}.{c}" for s in scans for c in s.schema.names if c in run.hidden[s.table]}
    return read | run.hidden[model.name]
