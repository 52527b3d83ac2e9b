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
from ...contract.report import PinReport
from ...contract.write_pin import pin
from ...diagnostics import Diagnostic, StrataError
from ...digests import hexdigest
from ...engines.protocol import Engine, ParquetTable
from ...frozen import replace
from ...store.artifacts import Artifact
from ...store.document import JSON
from ...store.environments import EnvironmentVersion
from ...store.store import Store
from ..artifact_relation import stored_columns
from ..partitions.composition import (
    Piece,
    addresses_of,
    composed,
    other_columns,
    read_pieces,
    seen_anew,
    untouched,
)
from ..partitions.whole_table import ages, keys_of_whole, pin_whole
from .guarding import VERSION, Kept, Part, fingerprint, note_of, offered

ANEW = (
    "make all partitions anew as another table (the `ref` of the contract's asset is its name), or take this one back "
    "first (`strata env drop`)"
)
NOTE = "partitions"
"""Where a manifest says of which partitions a table is composed."""


def with_parts(store: Store, name: str, parts: Sequence[Part], version: EnvironmentVersion) -> Artifact:
    """The table `name` of `version` with `parts`, at least one, in the place of the rows that it has of their
    partitions.

    Raises `StrataError` E037 where what is live is not made in partitions, or is of other columns.
    """
    one = parts[0]
    pieces = partitions_of(store, name, version) | {part.key: part.piece for part in parts}
    if (key := other_columns(pieces, one.artifact)) is not None:
        message = f"the partition {key} of `{name}` has other columns than {one.key}"
        raise StrataError(Diagnostic("E037", message, fix=ANEW))
    note, contract = note_of(one.artifact), one.contract
    where = hexdigest("partitioned", VERSION, note.contract, contract.digest, *addresses_of(pieces))
    provenance: dict[str, JSON] = {
        **one.artifact.manifest.provenance,
        "fingerprint": fingerprint(note.contract, contract),
        "promises": contract_to_json(contract),
    }
    return composed(store, name, where, pieces, provenance, (NOTE,))


def partitions_of(store: Store, name: str, version: EnvironmentVersion) -> dict[str, Piece]:
    """The partitions of the table `name` of `version`, by key; none where it is not published. Raises `StrataError`
    E037 where it is not made in partitions, E094 where it is gone."""
    pointer = version.models.get(name)
    if pointer is None:
        return {}
    found = partitions_in(store.artifact(name, pointer))
    if found is None:
        message = f"`{name}` is live as a whole, and not in partitions"
        raise StrataError(Diagnostic("E037", message, fix=ANEW))
    return found


def live_whole(store: Store, name: str, version: EnvironmentVersion) -> bool:
    """Whether the table `name` of `version` was published in one, and not in partitions. Raises `StrataError` E094."""
    pointer = version.models.get(name)
    return pointer is not None and partitions_in(store.artifact(name, pointer)) is None


def partitions_in(table: Artifact) -> dict[str, Piece] | None:
    """The partitions that `table` is composed of, by key; None where it is in one."""
    notes = table.manifest.provenance.get(NOTE)
    return read_pieces(table, notes) if isinstance(notes, Mapping) else None


def pin_with_parts(
    engine: Engine, store: Store, whole: Artifact, parts: Sequence[Part], version: EnvironmentVersion, now: datetime
) -> PinReport | None:
    """The report on the whole table that `parts` go into: on what only the whole can tell, or on all, where other
    partitions of `version` were held to another contract. None where there is nothing to ask."""
    contract, rows = parts[0].contract, rows_of_whole(whole)
    keys = {part.key for part in parts}
    others = (piece for key, piece in partitions_of(store, whole.manifest.table, version).items() if key not in keys)
    if any(other.local != parts[0].piece.local for other in others):
        return pin(engine, rows, contract, now=now)
    asked = [*keys_of_whole(contract), *ages(contract, now)]
    return pin_whole(engine, contract, asked, rows, contract.hidden) if asked else None


def rows_of_whole(whole: Artifact) -> ParquetTable:
    """The rows of an artifact, with the types that they are kept in."""
    return ParquetTable(whole.paths, stored_columns(whole))


def laid_on(
    engine: Engine,
    store: Store,
    kept: Mapping[str, Kept],
    base: EnvironmentVersion,
    head: EnvironmentVersion,
    now: datetime,
) -> tuple[EnvironmentVersion, dict[str, Kept]] | None:
    """`kept`, partitions beside those that another published between `base` and `head`, and the version that it is
    planned on then; None where that is none of them, or another has published the same partition.

    Raises `StrataError` E080 to E085 where both together break the contract of the whole.
    """
    found: dict[str, Kept] = {}
    for name, one in kept.items():
        ours = {part.key: part.piece for part in one.parts}
        if not ours or not untouched(ours, *(partitions_of(store, name, version) for version in (base, head))):
            continue
        whole = with_parts(store, name, one.parts, head)
        report = pin_with_parts(engine, store, whole, one.parts, head, now)
        if report is not None and not report.passed:
            raise StrataError(*report.diagnostics())
        found[name] = replace(one, artifact=whole, offered=offered(name, whole, one.parts[0].contract))
    if not found:
        return None
    return replace(head, models=seen_anew(base, head, found.keys())), {**kept, **found}
