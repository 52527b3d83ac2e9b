"""What an artifact's manifest says about how it was made, written by apply and read by plan."""

from __future__ import annotations

from collections.abc import Mapping

from ..analysis.compiled import CompiledProject
from ..contract.report import PinReport
from ..store.document import JSON
from ..store.environments import Pointer
from ..store.manifest import Manifest
from ..store.store import Store
from .plan import Applied, PlannedModel


def provenance_of(
    planned: PlannedModel,
    inputs: Mapping[str, str],
    project: CompiledProject,
    engine: str,
    report: PinReport,
    seconds: float,
) -> dict[str, JSON]:
    """The record of one computation: digests by upstream name, contracts of the sources read, what was promised and
    found, engine, time."""
    sources, contract = project.sources, project.models[planned.name].contract
    return {
        "own": planned.fingerprint.own,
        "contract": planned.fingerprint.contract,
        "local": planned.fingerprint.local,
        "fingerprint": planned.fingerprint.merkle,
        "inputs": dict(inputs),
        "source_contracts": {u: sources[u].contract.digest for u in inputs if u in sources},
        "engine": engine,
        "seconds": round(seconds, 6),
        "promises": contract.to_json() if contract else None,
        "pin": report.to_json(),
    }


def applied(store: Store, name: str, pointer: Pointer) -> Applied | None:
    """What a live artifact was made from, or `None` where its manifest is gone."""
    artifact = store.find(name, pointer.address)
    if artifact is None:
        return None
    note = artifact.manifest.provenance
    inputs = note.get("inputs")
    return Applied(
        str(note.get("own", "")),
        str(note.get("contract", "")),
        {str(k): str(v) for k, v in inputs.items()} if isinstance(inputs, Mapping) else {},
    )


def pin_of(manifest: Manifest) -> PinReport | None:
    """The pin report that an artifact was published with."""
    report = manifest.provenance.get("pin")
    return PinReport.from_json(report) if isinstance(report, Mapping) else None
