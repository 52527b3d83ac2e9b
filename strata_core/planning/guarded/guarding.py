"""Tables that were made elsewhere, guarded: held against a contract and, where they keep it, kept in the store.

A dbt model, a file, a frame of Python: whoever makes the rows, what is kept of them is an artifact like that of a model
(Seed 0 §5 C): content-addressed, in canonical order, with its contract and its pin in the manifest, published in an
environment, so that `strata show`, `history`, `rollback` and sources of kind `table:` work on it. Rows that break the
contract are not kept; what was kept before stays live.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pyarrow as pa

from ...analysis.tables import promised_keys
from ...contract.assertions import Assertion, Assessment
from ...contract.encoding import contract_to_json, report_to_json
from ...contract.model import ContractError, ContractField, TableContract
from ...contract.physical import check_physical
from ...contract.published import published_contract
from ...contract.report import PinReport
from ...contract.write_pin import judge, pin, questions
from ...diagnostics import Diagnostic, StrataError
from ...digests import hexdigest
from ...engines.protocol import CsvTable, DuckDBTable, Engine, ParquetTable, TableInput, as_text
from ...frozen import dataclass, replace
from ...relation.build import project, ref, scan, sort_rows, total_order
from ...relation.canonical import canonical
from ...relation.expressions import SortKey
from ...relation.nodes import Item, Relation
from ...relation.schema import Column
from ...store.artifacts import Artifact, FetchedPaths
from ...store.document import JSON
from ...store.environments import EnvironmentVersion, Pointer
from ...store.instant import next_instant
from ...store.store import Store
from ...types import STRING, UNKNOWN, Inferred, ValueType
from ...types.physical import arrow_type, value_type
from ..artifact_relation import stored_columns
from ..faults import withheld
from ..file_digests import stamp
from ..inputs.sources import changed_meanwhile
from ..partitions.composition import Piece, piece_of
from ..provenance import sound_artifact, sound_live

VERSION = "strata-guard-1"
NOTE = "guarded"
"""Where a manifest says that its rows were made elsewhere: by which contract, and where they lay."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Rows as they are read: the table in the types that it is kept in, the contract with the types that it leaves open
    filled in (`open`), and the columns that are not kept, for the language has no type or no name of theirs and nothing
    is promised."""

    table: TableInput
    contract: TableContract
    columns: tuple[Column, ...]
    open: Mapping[str, ValueType]
    left_out: tuple[str, ...]


def fitted(engine: Engine, table: TableInput, contract: TableContract) -> Fitted:
    """Both as they fit each other. Raises `StrataError` E030, E033 where the rows cannot be read."""
    schema = engine.physical_schema(table)
    columns: list[Column] = []
    left_out: list[str] = []
    for field in schema:
        promised = contract[field.name].type if field.name in contract else UNKNOWN
        found = STRING if isinstance(table, CsvTable) else value_type(field.type)
        type_ = found if promised == UNKNOWN else promised
        if type_ is None or not field.name or schema.names.count(field.name) > 1:
            left_out += [field.name] if field.name not in left_out else []
        else:
            columns.append(Column(field.name, Inferred(type_, nullable=True)))
    full = filled(contract, {c.name: c.inferred.type for c in columns})
    open_ = {f.name: full[f.name].type for f in contract.fields if f.type != full[f.name].type}
    return Fitted(replace(table, columns=tuple(columns)), full, tuple(columns), open_, tuple(left_out))


def filled(contract: TableContract, types: Mapping[str, ValueType]) -> TableContract:
    """`contract`, the types that it leaves open as the rows have them."""
    return replace(contract, fields=tuple(_with_type(f, types) for f in contract.fields))


@dataclass(frozen=True, slots=True)
class _Widened:
    """An engine that reads columns of which no type is promised in the type that they are kept in."""

    engine: Engine
    open: Mapping[str, ValueType]

    def physical_schema(self, table: TableInput) -> pa.Schema:
        """The schema of the data, the open columns widened."""
        schema = self.engine.physical_schema(table)
        for i, field in enumerate(schema):
            if field.name in self.open:
                schema = schema.set(i, field.with_type(arrow_type(self.open[field.name])))
        return schema

    def assess(self, table: TableInput, assertions: Sequence[Assertion], key: Sequence[str] = ()) -> Assessment:
        """As the engine."""
        return self.engine.assess(table, assertions, key)


def _with_type(field: ContractField, types: Mapping[str, ValueType]) -> ContractField:
    if field.type != UNKNOWN or field.name not in types:
        return field
    try:
        return replace(field, type=types[field.name])
    except ContractError:  # such as an enum of what is no text: the pin says that the type is not known
        return field


def pin_rows(engine: Engine, rows: Fitted, now: datetime) -> PinReport:
    """The verdict on rows that somebody else made: everything is asked. No message names a value of a hidden column;
    raises `StrataError` where the rows cannot be read, E084 where they have no column to read."""
    if not rows.columns:
        findings = check_physical(engine.physical_schema(rows.table), rows.contract)
        if findings:
            return judge(rows.contract, findings, questions(rows.contract, now=now), None)
        fix = "write the promised columns into the data"
        raise StrataError(Diagnostic("E084", "the table has no column of a type that the language has", fix=fix))
    try:
        return pin(_Widened(engine, rows.open), rows.table, rows.contract, now=now, raw=as_text(rows.table))
    except StrataError as error:
        raise StrataError(*(withheld(d, rows.contract.hidden) for d in error.diagnostics)) from None


def stamps_of(table: TableInput) -> tuple[str, ...]:
    """What changes when the files of `table` are written; nothing of rows in memory. Raises E033."""
    return tuple(stamp(path) for path in _files(table))


def require_unchanged(table: TableInput, before: tuple[str, ...]) -> None:
    """Raises `StrataError` E033 where a file was written since `before`: what would be kept is not what was pinned."""
    for path, then in zip(_files(table), before, strict=True):
        if stamp(path) != then:
            raise changed_meanwhile(path)


def _files(table: TableInput) -> Sequence[Path]:
    match table:
        case ParquetTable(paths=FetchedPaths()):
            return ()  # copies of immutable parts, checked by digest
        case ParquetTable(paths=paths):
            return paths
        case CsvTable(path=path) | DuckDBTable(path=path):
            return (path,)
        case _:
            return ()


@dataclass(frozen=True, slots=True)
class Note:
    """What a manifest says of rows that were made elsewhere: the name of the `contract` that they are held to, where
    they lay, the model of dbt's that makes them, and whose they are."""

    contract: str
    place: str
    dbt_model: str | None = None
    owner: str | None = None


def note_of(artifact: Artifact) -> Note:
    """The note of a guarded table. Raises `StrataError` E094 where its manifest has none."""
    match artifact.manifest.provenance.get(NOTE):
        case {"contract": str(contract), "place": str(place), **more}:
            found = (more.get("dbt_model"), more.get("owner"))
            return Note(contract, place, *(value if isinstance(value, str) else None for value in found))
        case _:
            message = f"`{artifact.manifest.table}` is no guarded table"
            raise StrataError(Diagnostic("E094", message, fix="guard it anew (`strata guard`)"))


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one partition of a table: its key, its artifact, and the contract of the whole without open types."""

    key: str
    artifact: Artifact
    contract: TableContract

    @property
    def piece(self) -> Piece:
        """As one of the pieces that the table is composed of."""
        return piece_of(self.artifact, str(self.artifact.manifest.provenance["fingerprint"]))


@dataclass(frozen=True, slots=True)
class Kept:
    """Rows that are in the store, and what their readers may rest on; `reused` says that the same ones were there
    before. `artifact` is the whole table; `parts` the rows that were judged, where these are partitions of it."""

    artifact: Artifact
    offered: TableContract
    reused: bool
    parts: tuple[Part, ...] = ()

    @property
    def judged(self) -> Artifact:
        """The rows that were judged: those of the one partition, else the whole table."""
        return self.parts[0].artifact if len(self.parts) == 1 else self.artifact


def keep(store: Store, engine: Engine, name: str, rows: Fitted, report: PinReport, note: Note) -> Kept:
    """Put rows that passed their pin into the store under `name`, where nobody sees them before they are published.

    Raises `StrataError` E090 to E092 where a value, the engine or the disk refuses.
    """
    started = time.perf_counter()
    contract = rows.contract
    columns = tuple(
        Column(c.name, Inferred(c.inferred.type, c.name not in contract or contract[c.name].nullable))
        for c in rows.columns
    )
    relation = _in_order(name, columns, contract)
    try:
        with closing(engine.execute(relation, {name: replace(rows.table, columns=columns)})) as reader:
            candidate = store.stage(name, reader.schema, reader)
    except StrataError as error:
        raise StrataError(*(withheld(d, contract.hidden) for d in error.diagnostics)) from None
    try:
        address = hexdigest(VERSION, note.contract, contract.digest, candidate.digest)
        reused = sound_artifact(store, name, address) is not None
        told: dict[str, JSON] = {"contract": note.contract, "place": note.place, "left_out": list(rows.left_out)}
        told |= {"dbt_model": note.dbt_model, "owner": note.owner}
        provenance: dict[str, JSON] = {
            NOTE: told,
            "fingerprint": fingerprint(note.contract, contract),
            "engine": engine.name,
            "seconds": round(time.perf_counter() - started, 6),
            "hidden": sorted(contract.hidden),
            "promises": contract_to_json(contract),
            "pin": report_to_json(report),
        }
        return Kept(store.adopt(candidate, address, provenance), _offered(name, columns, contract), reused)
    finally:
        candidate.sweep()


def offered(name: str, artifact: Artifact, contract: TableContract) -> TableContract:
    """What readers of the guarded table `name` may rest on: all its columns, and of those in `contract` the promise."""
    return _offered(name, stored_columns(artifact), contract)


def _offered(name: str, columns: Iterable[Column], contract: TableContract) -> TableContract:
    by_name = sorted(columns, key=lambda column: column.name)
    return published_contract(name, by_name, contract, contract.span)


def _in_order(name: str, columns: tuple[Column, ...], contract: TableContract) -> Relation:
    """Columns by name; rows by the promised key, else by all columns: equal rows give equal artifacts, however they
    came."""
    relation = scan(name, columns, promised_keys(contract))
    by_name = project(relation, [Item(c, ref(relation, c)) for c in sorted(relation.schema.names)])
    keys = tuple(SortKey(ref(by_name, c)) for c in contract.key)
    return canonical(sort_rows(by_name, total_order(keys, by_name.schema)))


def fingerprint(reference: str, contract: TableContract) -> str:
    """What a guarded table means: the contract that it is held to."""
    return hexdigest(VERSION, reference, contract.digest)


def publish(
    store: Store,
    environment: str,
    base: EnvironmentVersion,
    kept: Mapping[str, Artifact],
    *,
    message: str,
    tags: Mapping[str, str],
) -> EnvironmentVersion:
    """Make `kept` live in one step: also rows that were live already, which are known to be sound as of now.

    Raises `StrataError` E093 where another published other rows of them since `base`, E092.
    """
    now = next_instant(0)
    pointers = {
        name: Pointer(a.address, a.manifest.digest, str(a.manifest.provenance["fingerprint"]), now)
        for name, a in kept.items()
    }
    return store.environment(environment).publish(base, pointers, message=message, tags=tags)


def require_free(name: str, models: Collection[str], store: Store, live: EnvironmentVersion) -> None:
    """Raises `StrataError` E036 where `name` is that of something else than a guarded table."""
    pointer = live.models.get(name)
    if name in models:
        taken = "a model of this project"
    elif name in store.tables.names():
        taken = "a declared table of the store"
    elif pointer is not None and not _guarded(store, name, pointer):
        taken = "a published model"
    else:
        return
    fix = "give the asset of the contract another `ref` or `id`"
    raise StrataError(Diagnostic("E036", f"`{name}` is {taken}: its rows cannot be kept under this name", fix=fix))


def _guarded(store: Store, name: str, pointer: Pointer) -> bool:
    artifact = sound_live(store, name, pointer)
    return artifact is None or NOTE in artifact.manifest.provenance
