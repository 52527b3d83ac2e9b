"""What an artifact's manifest says about how it was made, written by apply and read by plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from ..analysis.compiled import CompiledProject, Source
from ..contract.encoding import contract_to_json, report_from_json, report_to_json
from ..contract.report import PinReport
from ..diagnostics import StrataError
from ..store.artifacts import Artifact
from ..store.document import JSON
from ..store.environments import Pointer
from ..store.manifest import Manifest
from ..store.store import Store
from .increments import Watermark, read_watermark
from .outlived import known_of
from .plan import Applied, PlannedModel
from .promised import promised

KeptDeclaration = tuple[str, str, str]
"""A source's name, the digest of rows, and the digest of the declaration that they were found to keep."""


def provenance_of(
    planned: PlannedModel,
    inputs: Mapping[str, str],
    project: CompiledProject,
    engine: str,
    report: PinReport,
    hidden: Set[str],
    seconds: float,
    watermark: Watermark | None = None,
    added_to: str | None = None,
) -> dict[str, JSON]:
    """The record of one computation: digests by upstream name, contracts of the sources read, what was promised and
    found, the columns whose values are not shown (so that they stay hidden when the model is gone), what readers may
    rest on, engine, time; of an incremental model how far its table had come, and the digest of the rows that these
    were added to."""
    sources, contract = project.sources, promised(project.models[planned.name])
    return {
        "own": planned.fingerprint.own,
        "contract": planned.fingerprint.contract,
        "local": planned.fingerprint.local,
        "fingerprint": planned.fingerprint.merkle,
        "inputs": dict(inputs),
        "source_contracts": {u: sources[u].contract.digest for u in inputs if u in sources},
        "engine": engine,
        "seconds": round(seconds, 6),
        "hidden": sorted(hidden),
        "known": known_of(project.models[planned.name]),
        "promises": contract_to_json(contract) if contract else None,
        "pin": report_to_json(report),
        **({"watermark": watermark.to_json(), "added_to": added_to} if watermark is not None else {}),
    }


def sound_artifact(store: Store, name: str, address: str) -> Artifact | None:
    """The artifact at `address`, or `None` where it is not there or visibly damaged: then it is made again."""
    try:
        artifact = store.find(name, address)
    except StrataError:
        return None
    return None if artifact is None or artifact.verify(contents=False) else artifact


def applied(store: Store, name: str, pointer: Pointer) -> Applied | None:
    """What a live artifact was made from, or `None` where it is not there any more."""
    artifact = sound_artifact(store, name, pointer.address)
    if artifact is None:
        return None
    note = artifact.manifest.provenance
    own, contract = str(note.get("own", "")), str(note.get("contract", ""))
    watermark = read_watermark(note.get("watermark"))
    return Applied(own, contract, _texts(note.get("inputs")), _texts(note.get("source_contracts")), watermark)


def kept_declaration(source: Source, digest: str) -> KeptDeclaration:
    """That rows of `digest` keep what `source` declares."""
    return source.name, digest, source.contract.digest


def kept_declarations(manifest: Manifest) -> Iterator[KeptDeclaration]:
    """What was found out about the sources that an artifact was made from, before it was made."""
    inputs, contracts = (_texts(manifest.provenance.get(key)) for key in ("inputs", "source_contracts"))
    return ((name, inputs[name], contract) for name, contract in contracts.items() if name in inputs)


def pin_of(manifest: Manifest) -> PinReport | None:
    """The pin report that an artifact was published with."""
    report = manifest.provenance.get("pin")
    return report_from_json(report) if isinstance(report, Mapping) else None


def hidden_of(manifest: Manifest) -> frozenset[str]:
    """The columns that were hidden when an artifact was published."""
    note = manifest.provenance.get("hidden")
    return frozenset(map(str, note)) if isinstance(note, Sequence) else frozenset()


def _texts(note: JSON) -> dict[str, str]:
    return {str(k): str(v) for k, v in note.items()} if isinstance(note, Mapping) else {}
