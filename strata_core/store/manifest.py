"""The manifest: what one immutable set of Parquet parts holds, and where it came from.

Artifacts of models have one, and so have runs and snapshots of tables (Seed 1).
File lists come from manifests, never from globbing. A manifest is written before the folder that it
describes becomes visible, so a folder at its final address always has one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic, StrataError
from .document import JSON, from_text, to_text, too_new
from .instant import Instant, parse, spell
from .names import is_address

if TYPE_CHECKING:
    from .files import Files

FORMAT = 1
COMPOSED = 2
"""The format of a manifest whose parts lie in other artifacts, which a release that knows format 1 must not read."""
GROUPED = 3
"""The format of a manifest that says of its pieces only in which groups they are, each with a manifest of its own."""
NAME = "_manifest.json"
ARTIFACT = "artifact"
"""The kind of a model's output."""
_RELATIVE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.=-]*(/[A-Za-z0-9_][A-Za-z0-9_.=-]*)*")


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file: `path` relative to the manifest, its rows, its bytes and their SHA-256.

    `partition` holds, in a table that is laid out by columns, the one value that each of them has in this part, as a
    JSON scalar (decimals, dates and instants as text). `artifact` is the address of the artifact of the same table that
    holds the file, where that is another one.
    """

    path: str
    rows: int
    bytes: int
    sha256: str
    partition: Mapping[str, JSON] | None = None
    artifact: str | None = None

    def __post_init__(self) -> None:
        if not _RELATIVE.fullmatch(self.path):
            raise ValueError(f"part path {self.path!r} leaves its folder or has odd characters")


@dataclass(frozen=True, slots=True)
class Field:
    """One column of the Arrow schema in JSON terms; `arrow_schema.py` spells and reads `type`."""

    name: str
    type: JSON
    nullable: bool
    metadata: Mapping[str, str]

    @property
    def strata_type(self) -> str | None:
        """The type as Strata spells it; None of a table that keeps Arrow's alone."""
        return self.metadata.get("strata.type")  # `types.physical.TYPE_KEY`, which loads Arrow


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """Nulls, and the smallest and largest value as JSON scalars (decimals, dates and instants as text).

    The range is None where there is none (only nulls, nested types) or where it would be long (text
    over 256 characters). NaN is outside the range.
    """

    null_count: int
    minimum: JSON = None
    maximum: JSON = None


@dataclass(frozen=True, slots=True)
class Groups:
    """The artifacts, by `addresses`, whose parts are those of a table of many pieces, in their order. What its
    provenance says of each piece, under the keys `at`, is in theirs."""

    at: tuple[str, ...]
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """See the module. `digest` is the content digest over canonical rows, `columns` holds that of each column;
    `provenance` is what planning knew: fingerprint, address, inputs (name to digest), contract, pin findings, duration,
    engine. With `groups` its file holds neither parts nor what is known of each piece: reading puts them together."""

    id: str
    kind: str
    table: str
    parts: tuple[Part, ...]
    schema: tuple[Field, ...]
    rows: int
    digest: str
    columns: Mapping[str, str]
    created_at: Instant
    statistics: Mapping[str, ColumnStatistics]
    provenance: Mapping[str, JSON]
    groups: Groups | None = None

    def __post_init__(self) -> None:
        if self.rows != sum(part.rows for part in self.parts):
            raise ValueError(f"manifest {self.id}: {self.rows} rows, but its parts have another sum")

    @property
    def pieces(self) -> tuple[str, ...]:
        """The addresses of the artifacts that it is made of: those that hold its parts, where these are others, and
        its groups."""
        groups = () if self.groups is None else self.groups.addresses
        return (*groups, *dict.fromkeys(part.artifact for part in self.parts if part.artifact is not None))

    @property
    def bytes(self) -> int:
        """Bytes of all parts on disk."""
        return sum(part.bytes for part in self.parts)


def _encoded(part: Part) -> JSON:
    document: dict[str, JSON] = {"path": part.path, "rows": part.rows, "bytes": part.bytes, "sha256": part.sha256}
    if part.partition is not None:
        document["partition"] = dict(part.partition)
    return document if part.artifact is None else document | {"artifact": part.artifact}


def encode(manifest: Manifest) -> bytes:
    """The JSON text of `manifest`."""
    groups, provenance = manifest.groups, dict(manifest.provenance)
    parts: list[JSON] = [] if groups else [_encoded(part) for part in manifest.parts]
    schema: list[JSON] = [field_document(f) for f in manifest.schema]
    statistics: dict[str, JSON] = {
        name: {"null_count": s.null_count, "minimum": s.minimum, "maximum": s.maximum}
        for name, s in manifest.statistics.items()
    }
    composed = COMPOSED if any(part.artifact for part in manifest.parts) else FORMAT
    document: dict[str, JSON] = {
        "format": GROUPED if groups else composed,
        "id": manifest.id,
        "kind": manifest.kind,
        "table": manifest.table,
        "parts": parts,
        "schema": schema,
        "rows": manifest.rows,
        "digest": manifest.digest,
        "columns": dict(manifest.columns),
        "created_at": spell(manifest.created_at),
        "statistics": statistics,
        "provenance": with_notes(provenance, groups.at, {}) if groups else provenance,
    }
    if groups:
        document["groups"] = {"at": [*groups.at], "addresses": [*groups.addresses]}
    return to_text(document).encode()


def notes_at(provenance: Mapping[str, JSON], at: Sequence[str]) -> Mapping[str, JSON]:
    """What a provenance says of each piece, under the keys `at`; `ValueError` where that is something else."""
    found: JSON = dict(provenance)
    for key in at:
        found = found.get(key) if isinstance(found, Mapping) else None
    if not isinstance(found, Mapping):
        raise ValueError(f"nothing is told of pieces at {'.'.join(at)}")
    return found


def with_notes(provenance: Mapping[str, JSON], at: Sequence[str], notes: Mapping[str, JSON]) -> dict[str, JSON]:
    """`provenance`, saying this of each piece."""
    key, *below = at
    inner = provenance.get(key)
    own = dict(notes) if not below else with_notes(inner if isinstance(inner, Mapping) else {}, below, notes)
    return {**provenance, key: own}


def field_document(field: Field) -> dict[str, JSON]:
    """A field as JSON."""
    return {"name": field.name, "type": field.type, "nullable": field.nullable, "metadata": dict(field.metadata)}


def read(path: PurePath, files: Files) -> Manifest | None:
    """The manifest at `path`, None when there is no such file; E094 when it, or a group of it, is damaged, E092 when
    too new."""
    text = files.read(path)
    if text is None:
        return None
    try:
        document = from_text(text)
        if isinstance(version := document.get("format"), int) and version > GROUPED:
            raise StrataError(too_new(path, version, GROUPED))
        groups = _groups(document)
        return _decode(
            document if groups is None else _put_together(document, groups, path.parent.parent, files), groups
        )
    except (ValueError, KeyError, TypeError) as cause:
        raise StrataError(
            Diagnostic(
                "E094",
                f"manifest {path} is damaged ({type(cause).__name__}: {cause})",
                fix=f"remove the folder {path.parent} and apply again, or restore it from a backup",
            )
        ) from cause


def _groups(document: Mapping[str, JSON]) -> Groups | None:
    match document.get("groups"):
        case None:
            return None
        case {"at": list(at), "addresses": list(addresses)} if at and all(map(is_address, map(str, addresses))):
            return Groups(tuple(map(str, at)), tuple(map(str, addresses)))
        case _:
            raise ValueError("its groups are not told")


def _put_together(document: Mapping[str, JSON], groups: Groups, folder: PurePath, files: Files) -> dict[str, JSON]:
    """A document whose pieces are in `groups` of the same `folder`, with all that it says of them."""
    from .files import side_by_side  # which knows manifests

    def read_group(address: str) -> dict[str, JSON]:
        text = files.read(folder / address / NAME)
        if text is None:
            raise ValueError(f"its group {address} is gone")
        return from_text(text)

    parts: list[JSON] = []
    notes: dict[str, JSON] = {}
    for group in side_by_side(files, read_group, groups.addresses):
        own, provenance = group["parts"], group["provenance"]
        if not isinstance(own, list) or not isinstance(provenance, Mapping):
            raise ValueError("one of its groups has no parts")
        parts += own
        notes.update(notes_at(provenance, groups.at))
    before = document["provenance"]
    told = with_notes(before if isinstance(before, Mapping) else {}, groups.at, notes)
    return {**document, "parts": parts, "provenance": told}


def _decode(document: Mapping[str, JSON], groups: Groups | None) -> Manifest:
    match document:
        case {
            "id": str(id_),
            "kind": str(kind),
            "table": str(table),
            "parts": list(parts),
            "schema": list(schema),
            "rows": int(rows),
            "digest": str(digest),
            "columns": dict(columns),
            "created_at": str(created_at),
            "statistics": dict(statistics),
            "provenance": dict(provenance),
        }:
            return Manifest(
                id=id_,
                kind=kind,
                table=table,
                parts=tuple(_part(p) for p in parts),
                schema=tuple(field_of(f) for f in schema),
                rows=rows,
                digest=digest,
                columns=MappingProxyType({name: str(of_column) for name, of_column in columns.items()}),
                created_at=parse(created_at),
                statistics=MappingProxyType({name: _statistics(s) for name, s in statistics.items()}),
                provenance=MappingProxyType(provenance),
                groups=groups,
            )
        case _:
            raise ValueError("a field is missing or has another type")


def _part(document: JSON) -> Part:
    match document:
        case {"path": str(path), "rows": int(rows), "bytes": int(size), "sha256": str(sha256), **rest}:
            partition = rest.get("partition")
            if not (partition is None or isinstance(partition, Mapping)):
                raise ValueError(f"not a partition: {partition!r}")
            known = None if partition is None else MappingProxyType({**partition})
            return Part(path, rows, size, sha256, known, _holder(rest.get("artifact")))
        case _:
            raise ValueError(f"not a part: {document!r}")


def _holder(artifact: object) -> str | None:
    if artifact is None or (isinstance(artifact, str) and is_address(artifact)):
        return artifact
    raise ValueError(f"not an address: {artifact!r}")


def field_of(document: JSON) -> Field:
    """The field that `field_document` wrote; `ValueError` for anything else."""
    match document:
        case {"name": str(name), "type": type_, "nullable": bool(nullable), "metadata": dict(metadata)}:
            return Field(name, type_, nullable, MappingProxyType({k: str(v) for k, v in metadata.items()}))
        case _:
            raise ValueError(f"not a field: {document!r}")


def _statistics(document: JSON) -> ColumnStatistics:
    match document:
        case {"null_count": int(null_count), "minimum": minimum, "maximum": maximum}:
            return ColumnStatistics(null_count, minimum, maximum)
        case _:
            raise ValueError(f"not column statistics: {document!r}")
