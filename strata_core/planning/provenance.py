"""What an artifact's manifest says about how it was made, written by apply and read by plan."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from ..analysis.compiled import CompiledProject, Source
from ..contract.encoding import contract_to_json, report_from_json, report_to_json
from ..contract.report import PinReport
from ..diagnostics import StrataError
from ..relation.form import Meaning
from ..store.artifacts import Artifact
from ..store.document import JSON
from ..store.environments import Pointer
from ..store.manifest import Manifest
from ..store.store import Store
from .fingerprints import Reading, data_digest, ground_digest
from .outlived import known_of
from .plan import Applied, PlannedModel
from .promised import promised
from .watermarks import Watermark, read_watermark

KeptDeclaration = tuple[str, str, str]
"""A source's name, the digest of rows, and the digest of the declaration that they were found to keep."""


PARTIAL = "partial"
"""Where a manifest says that its pieces are not known to be what an apply of the whole table would make."""


@dataclass(frozen=True, slots=True)
class Data:
    """What is known of the rows of one table that a model reads: their digest, and for those of another model the
    digests of the `columns` that are read, and the source data that it rests on (`ground_digest`)."""

    digest: str
    columns: Mapping[str, str] = field(default_factory=dict)
    ground: str | None = None


def data_of(artifact: Artifact, columns: Collection[str]) -> Data:
    """What is known of the rows of `artifact`, as one sees them who reads these `columns`."""
    read = {column: artifact.manifest.columns[column] for column in columns}
    return Data(data_digest(read), read, ground_of(artifact.manifest))


def provenance_of(
    planned: PlannedModel,
    inputs: Mapping[str, Data],
    project: CompiledProject,
    engine: str,
    report: PinReport,
    hidden: Set[str],
    seconds: float,
    watermark: Watermark | None = None,
    added_to: str | None = None,
) -> dict[str, JSON]:
    """The record of one computation, from which a later plan tells what changed (`Applied`).

    Beside it: contracts of the sources read, what was promised and found, the columns whose values are not shown (so
    that they stay hidden when the model is gone), what readers may rest on, engine, time; of an incremental model how
    far its table had come, and the digest of the rows that these were added to.
    """
    sources, contract = project.sources, promised(project.models[planned.name])
    meaning = planned.fingerprint.meaning
    return {
        "own": planned.fingerprint.own,
        "contract": planned.fingerprint.contract,
        "local": planned.fingerprint.local,
        "fingerprint": planned.fingerprint.merkle,
        "inputs": {name: data.digest for name, data in inputs.items()},
        "read": {name: dict(data.columns) for name, data in inputs.items() if name not in sources},
        "readings": {
            name: {"columns": [*reading.columns], "meaning": reading.meaning}
            for name, reading in planned.fingerprint.readings.items()
        },
        "grounds": {name: data.ground for name, data in inputs.items() if name not in sources},
        "ground": ground_digest({name: data.ground or data.digest for name, data in inputs.items()}, added_to),
        "meaning": {
            "rows": meaning.rows.hex(),
            "columns": {name: identity.hex() for name, identity in meaning.columns.items()},
        },
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


def sound_live(store: Store, name: str, pointer: Pointer | None) -> Artifact | None:
    """The artifact that is live of `name`, `None` where nothing is, or it is lost or visibly damaged."""
    return None if pointer is None else sound_artifact(store, name, pointer.address)


def taken_up(store: Store, name: str, address: str) -> Artifact | None:
    """`sound_artifact`, for one who is going to publish it: no collection removes it meanwhile."""
    artifact = sound_artifact(store, name, address)
    return artifact and store.use(artifact)


def applied(store: Store, name: str, pointer: Pointer) -> Applied | None:
    """What a live artifact was made from, or `None` where it is not there any more."""
    artifact = sound_live(store, name, pointer)
    if artifact is None:
        return None
    note = artifact.manifest.provenance
    return Applied(
        own=str(note.get("own", "")),
        contract=str(note.get("contract", "")),
        inputs=_texts(note.get("inputs")),
        read={name: _texts(columns) for name, columns in _mapping(note.get("read")).items()},
        readings={name: _reading(_mapping(one)) for name, one in _mapping(note.get("readings")).items()},
        grounds=_texts(note.get("grounds")),
        columns=artifact.manifest.columns,
        meaning=_meaning(_mapping(note.get("meaning"))),
        ground=ground_of(artifact.manifest),
        watermark=read_watermark(note.get("watermark")),
        partial=bool(note.get(PARTIAL)),
    )


def ground_of(manifest: Manifest) -> str:
    """The source data that an artifact rests on."""
    return str(manifest.provenance.get("ground", ""))


def _reading(note: Mapping[str, JSON]) -> Reading:
    columns = note.get("columns")
    return Reading(tuple(map(str, columns)) if isinstance(columns, Sequence) else (), str(note.get("meaning", "")))


def _meaning(note: Mapping[str, JSON]) -> Meaning:
    columns = {name: bytes.fromhex(identity) for name, identity in _texts(note.get("columns")).items()}
    return Meaning(bytes.fromhex(str(note.get("rows", ""))), columns)


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


def _mapping(note: JSON) -> Mapping[str, JSON]:
    return note if isinstance(note, Mapping) else {}


def _texts(note: JSON) -> dict[str, str]:
    return {str(k): str(v) for k, v in _mapping(note).items()}
