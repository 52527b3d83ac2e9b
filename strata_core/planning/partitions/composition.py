"""A table that is composed of pieces, each an artifact of its own: as its manifest tells of them, and as it is made.

The pieces of a model are its partitions of time (`pieces.py`), those of a guarded table the partitions that its maker
has (`guarded/partitions.py`). The manifest of the table says all that is known of each, so that another is put beside
them without a look at their own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ...frozen import dataclass, field
from ...store.artifacts import Artifact
from ...store.document import JSON
from ...store.environments import EnvironmentVersion, Pointer
from ...store.manifest import ARTIFACT, ColumnStatistics, Manifest, Part, with_notes
from ...store.names import is_address
from ...store.store import Store


@dataclass(frozen=True, slots=True)
class Piece:
    """One partition of a table: the address of its artifact, the digest of its rows, how many there are, and what they
    were made by or held to: the `local` fingerprint of a model, the fingerprint of a contract.

    `artifact` holds these rows. Read from a composed table, its manifest says all of its own but how it was made.
    """

    address: str
    digest: str
    rows: int
    local: str
    artifact: Artifact = field(repr=False, compare=False)


def piece_of(artifact: Artifact, local: str) -> Piece:
    """The piece whose rows are `artifact`, made by what meant `local`."""
    return Piece(artifact.address, artifact.manifest.digest, artifact.manifest.rows, local, artifact)


def composed(
    store: Store, name: str, where: str, pieces: Mapping[str, Piece], provenance: Mapping[str, JSON], at: Sequence[str]
) -> Artifact:
    """The table `name` of `pieces`, in the order of their keys, at the address `where`; its manifest tells of them
    under the keys `at` of its provenance. Errors as `Store.compose`."""
    ordered = {key: pieces[key] for key in sorted(pieces)}
    notes = {key: _note(piece) for key, piece in ordered.items()}
    artifacts = {key: piece.artifact for key, piece in ordered.items()}
    return store.compose(name, where, artifacts, with_notes(provenance, at, notes), tuple(at))


def addresses_of(pieces: Mapping[str, Piece]) -> tuple[str, ...]:
    """The key and the address of each, in their order: what the address of a table of them is made of."""
    return tuple(text for key in sorted(pieces) for text in (key, pieces[key].address))


def other_columns(pieces: Mapping[str, Piece], like: Artifact) -> str | None:
    """The first piece that has other columns than `like`, beside which it cannot stand in one table."""
    schema = like.manifest.schema
    return next((key for key in sorted(pieces) if pieces[key].artifact.manifest.schema != schema), None)


def untouched(ours: Mapping[str, Piece], before: Mapping[str, Piece], live: Mapping[str, Piece]) -> bool:
    """Whether what is `live` by now of the partitions that are `ours` is what it was `before`, or ours already."""
    return all(live.get(key) in (before.get(key), piece) for key, piece in ours.items())


def seen_anew(base: EnvironmentVersion, head: EnvironmentVersion, names: Collection[str]) -> dict[str, Pointer]:
    """What a publication planned on `base` has seen that has looked again at the tables `names` in `head`."""
    kept = {name: pointer for name, pointer in base.models.items() if name not in names}
    return kept | {name: head.models[name] for name in names if name in head.models}


def read_pieces(table: Artifact, notes: Mapping[str, JSON]) -> dict[str, Piece] | None:
    """The pieces that `table` is composed of, as its manifest tells of them in `notes`; None where it does not tell
    what is known of each. No other manifest is read."""
    parts: dict[str | None, list[Part]] = {}
    for part in table.manifest.parts:
        parts.setdefault(part.artifact, []).append(part)
    found = {str(key): _piece(note, table, parts) for key, note in notes.items()}
    pieces = {key: piece for key, piece in found.items() if piece is not None}
    return pieces if len(pieces) == len(found) else None


def _piece(note: JSON, table: Artifact, parts: Mapping[str | None, Collection[Part]]) -> Piece | None:
    match note:
        case {"address": str(address), "digest": str(digest), "local": str(local), "columns": dict(columns)} if (
            is_address(address)
        ):
            told = {str(name): _column(one) for name, one in columns.items()}
        case _:
            return None
    own = tuple(parts.get(address, ()))
    known = Manifest(
        id=table.manifest.id,
        kind=ARTIFACT,
        table=table.manifest.table,
        parts=own,
        schema=table.manifest.schema,
        rows=sum(part.rows for part in own),
        digest=digest,
        columns={name: one for name, (one, _) in told.items()},
        created_at=table.manifest.created_at,
        statistics={name: one for name, (_, one) in told.items()},
        provenance={},
    )
    return piece_of(Artifact(table.directory.parent / address, address, known, table.files), local)


def _column(note: JSON) -> tuple[str, ColumnStatistics]:
    match note:
        case [str(digest), int(nulls), least, most]:
            return digest, ColumnStatistics(nulls, least, most)
        case _:
            return "", ColumnStatistics(0)


def _note(piece: Piece) -> JSON:
    known = piece.artifact.manifest
    statistics = known.statistics
    columns: dict[str, JSON] = {
        name: [digest, (one := statistics[name]).null_count, one.minimum, one.maximum]
        for name, digest in known.columns.items()
    }
    return {"address": piece.address, "digest": piece.digest, "local": piece.local, "columns": columns}
