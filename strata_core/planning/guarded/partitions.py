"""Guarded tables that are made in partitions: each is judged and published alone, beside the others as they are.

A partition is what its maker says it is (a day, a country): rows that come together, in the place of those that came
under the same key before. Each is an artifact of its own, and the table is composed of them without copying a row. What
only the whole table can tell, keys that two partitions may share and how old the newest row is, is asked of the whole
before it goes live (Seed 0 §5 C).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ...contract.encoding import contract_to_json
from ...contract.model import TableContract
from ...contract.report import PinReport
from ...contract.write_pin import pin
from ...diagnostics import Diagnostic, StrataError
from ...digests import hexdigest
from ...engines.protocol import Engine, ParquetTable
from ...frozen import replace
from ...relation.schema import Column
from ...store.artifacts import Artifact
from ...store.document import JSON
from ...store.environments import EnvironmentVersion, Pointer
from ...store.store import Store
from ...types import Inferred, parse_type
from ..promised import ages
from .guarding import VERSION, Kept, Part, fingerprint, note_of, offered

ANEW = (
    "make all partitions anew as another table (the `ref` of the contract's asset is its name), or take this one back "
    "first (`strata env drop`)"
)
NOTE = "partitions"
"""Where a manifest says of which artifacts a table is composed, by the key of the partition."""


def of_partition(contract: TableContract) -> TableContract:
    """What is promised of each partition: not how old the newest row of the table is."""
    return replace(contract, fields=tuple(replace(f, freshness=None) for f in contract.fields), freshness=None)


def composed(store: Store, name: str, parts: Sequence[Part], version: EnvironmentVersion) -> Artifact:
    """The table `name` of `version` with `parts`, at least one, in the place of the rows that it has of their
    partitions.

    Raises `StrataError` E037 where what is live is not made in partitions, or is of other columns, E094 where a part is
    gone.
    """
    one = parts[0]
    pieces = partitions_of(store, name, version) | {part.key: part.artifact for part in parts}
    for key, piece in pieces.items():
        if piece.manifest.schema != one.artifact.manifest.schema:
            message = f"the partition {key} of `{name}` has other columns than {one.key}"
            raise StrataError(Diagnostic("E037", message, fix=ANEW))
    note, contract = note_of(one.artifact), one.contract
    addresses = tuple(text for key in sorted(pieces) for text in (key, pieces[key].address))
    where = hexdigest("partitioned", VERSION, note.contract, contract.digest, *addresses)
    told: dict[str, JSON] = {
        key: {"address": p.address, "digest": p.manifest.digest, "rows": p.manifest.rows} for key, p in pieces.items()
    }
    provenance: dict[str, JSON] = {
        **one.artifact.manifest.provenance,
        "fingerprint": fingerprint(note.contract, contract),
        "promises": contract_to_json(contract),
        NOTE: told,
    }
    return store.compose(name, where, {key: pieces[key] for key in sorted(pieces)}, provenance, (NOTE,))


def partitions_of(store: Store, name: str, version: EnvironmentVersion) -> dict[str, Artifact]:
    """The partitions of the table `name` of `version`, by key; none where it is not published. Raises `StrataError`
    E037 where it is not made in partitions, E094 where rows are gone."""
    pointer = version.models.get(name)
    if pointer is None:
        return {}
    found = partitions_in(store, store.artifact(name, pointer))
    if found is None:
        message = f"`{name}` is live as a whole, and not in partitions"
        raise StrataError(Diagnostic("E037", message, fix=ANEW))
    return found


def live_whole(store: Store, name: str, version: EnvironmentVersion) -> bool:
    """Whether the table `name` of `version` was published in one, and not in partitions. Raises `StrataError` E094."""
    pointer = version.models.get(name)
    return pointer is not None and partitions_in(store, store.artifact(name, pointer)) is None


def partitions_in(store: Store, table: Artifact) -> dict[str, Artifact] | None:
    """The partitions that `table` is composed of, by key; None where it is in one. Raises `StrataError` E094 where rows
    are gone."""
    name, note = table.manifest.table, table.manifest.provenance.get(NOTE)
    if not isinstance(note, Mapping):
        return None
    found: dict[str, Artifact] = {}
    for key, told in note.items():
        match told:
            case {"address": str(address), "digest": str(digest), "rows": int(rows)}:
                if rows or store.find(name, address) is not None:  # nothing needs the artifact of no rows
                    found[str(key)] = store.artifact(name, Pointer(address, digest, ""))
    return found


def pin_whole(
    engine: Engine, store: Store, whole: Artifact, parts: Sequence[Part], version: EnvironmentVersion, now: datetime
) -> PinReport | None:
    """The report on the whole table that `parts` go into. None where nothing is promised that only the whole can tell,
    and the other partitions of `version` were held to the same contract."""
    contract, held = parts[0].contract, parts[0].artifact.manifest.provenance.get("fingerprint")
    keys = {part.key for part in parts}
    live = partitions_of(store, whole.manifest.table, version)
    others = (artifact for key, artifact in live.items() if key not in keys)
    alike = all(other.manifest.provenance.get("fingerprint") == held for other in others)
    if alike and not ages(contract) and not any(f.unique or f.primary_key for f in contract.fields):
        return None
    return pin(engine, rows_of_whole(whole), contract, now=now)


def rows_of_whole(whole: Artifact) -> ParquetTable:
    """The rows of an artifact, with the types that they are kept in."""
    stored = ((f.name, f.strata_type or "string", f.nullable) for f in whole.manifest.schema)
    columns = tuple(Column(name, Inferred(parse_type(type_), nullable)) for name, type_, nullable in stored)
    return ParquetTable(whole.paths, columns)


def rebased(
    engine: Engine,
    store: Store,
    kept: Mapping[str, Kept],
    base: EnvironmentVersion,
    head: EnvironmentVersion,
    now: datetime,
) -> tuple[dict[str, Kept], EnvironmentVersion] | None:
    """`kept`, partitions beside those that another published between `base` and `head`, and the version to publish it
    on; None where that is none of them, or another has published the same partition.

    Raises `StrataError` E080 to E085 where both together break the contract of the whole.
    """
    found: dict[str, Kept] = {}
    for name, one in kept.items():
        if not one.parts or _addresses(store, name, one.parts, base) != _addresses(store, name, one.parts, head):
            continue
        whole = composed(store, name, one.parts, head)
        report = pin_whole(engine, store, whole, one.parts, head, now)
        if report is not None and not report.passed:
            raise StrataError(*report.diagnostics())
        found[name] = replace(one, artifact=whole, offered=offered(name, whole, one.parts[0].contract))
    if not found:
        return None
    others = {name: pointer for name, pointer in base.models.items() if name not in found}
    seen = {name: head.models[name] for name in found if name in head.models}
    return {**kept, **found}, replace(head, models={**others, **seen})


def _addresses(store: Store, name: str, parts: Sequence[Part], version: EnvironmentVersion) -> list[str | None]:
    live = partitions_of(store, name, version)
    return [live[part.key].address if part.key in live else None for part in parts]
