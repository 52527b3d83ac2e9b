"""The manifest: what one immutable set of Parquet parts holds, and where it came from.

Artifacts of models have one, and so have runs and snapshots of tables (Seed 1).
File lists come from manifests, never from globbing. A manifest is written before the folder that it
describes becomes visible, so a folder at its final address always has one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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
class Manifest:
    """See the module. `digest` is the content digest over canonical rows, `columns` holds that of each column;
    `provenance` is what planning knew: fingerprint, address, inputs (name to digest), contract, pin findings, duration,
    engine."""

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

    def __post_init__(self) -> None:
        if self.rows != sum(part.rows for part in self.parts):
            raise ValueError(f"manifest {self.id}: {self.rows} rows, but its parts have another sum")

    @property
    def pieces(self) -> tuple[str, ...]:
        """The addresses of the artifacts that hold its parts, where these are others."""
        return tuple(dict.fromkeys(part.artifact for part in self.parts if part.artifact is not None))

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
    parts: list[JSON] = [_encoded(part) for part in manifest.parts]
    schema: list[JSON] = [field_document(f) for f in manifest.schema]
    statistics: dict[str, JSON] = {
        name: {"null_count": s.null_count, "minimum": s.minimum, "maximum": s.maximum}
        for name, s in manifest.statistics.items()
    }
    document: dict[str, JSON] = {
        "format": COMPOSED if any(part.artifact for part in manifest.parts) else FORMAT,
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
        "provenance": dict(manifest.provenance),
    }
    return to_text(document).encode()


def field_document(field: Field) -> dict[str, JSON]:
    """A field as JSON."""
    return {"name": field.name, "type": field.type, "nullable": field.nullable, "metadata": dict(field.metadata)}


def read(path: PurePath, files: Files) -> Manifest | None:
    """The manifest at `path`, None when there is no such file; E094 when it is damaged, E092 when too new."""
    text = files.read(path)
    if text is None:
        return None
    try:
        document = from_text(text)
        if isinstance(version := document.get("format"), int) and version > COMPOSED:
            raise StrataError(too_new(path, version, COMPOSED))
        return _decode(document)
    except (ValueError, KeyError, TypeError) as cause:
        raise StrataError(
            Diagnostic(
                "E094",
                f"manifest {path} is damaged ({type(cause).__name__}: {cause})",
                fix=f"remove the folder {path.parent} and apply again, or restore it from a backup",
            )
        ) from cause


def _decode(document: Mapping[str, JSON]) -> Manifest:
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
