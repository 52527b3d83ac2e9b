"""The table that is published of a model with partitions of time: composed of pieces, new ones and those that stay.

It is *whole* where it is known to be what an apply of all of it would make: then a plan calls it fresh as any other.
Else it says that it is *partial*, which keeps the model stale until a piece makes it whole, or all of it is applied;
readers take it as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from ...contract.encoding import contract_to_json, report_to_json
from ...contract.report import PinReport
from ...diagnostics import Diagnostic, StrataError
from ...digests import hexdigest
from ...frozen import dataclass
from ...store.artifacts import Artifact
from ...store.document import JSON
from ..outlived import known_of
from ..partitions.composition import Piece, addresses_of, composed, other_columns
from ..partitions.pieces import COMPLETE, NOTE, NOTES, kind_of, made_whole
from ..plan import PlannedModel
from ..promised import promised
from ..provenance import PARTIAL, Data, provenance_of
from ..workspace import Workspace


@dataclass(frozen=True, slots=True)
class Table:
    """What a table is composed for: the model as it was planned, what it read (`data`), and by which engine."""

    workspace: Workspace
    planned: PlannedModel
    data: Mapping[str, Data]
    engine: str
    hidden: Set[str]
    pin: PinReport
    seconds: float


def composed_table(table: Table, pieces: Mapping[str, Piece], live: Artifact | None, where: str | None) -> Artifact:
    """The artifact of `pieces`, at `where` if it is whole. `live` is the table that the pieces which stay are of.

    Raises `StrataError` E037 where pieces have different columns.
    """
    store, name = table.workspace.store, table.planned.name
    model = table.workspace.compiled.models[name]
    assert model.periods is not None
    local = table.planned.fingerprint.local
    require_alike(name, pieces, local)
    note: dict[str, JSON] = {NOTE: kind_of(model.periods)}
    if where is not None:
        return composed(store, name, where, pieces, _provenance(table) | note, NOTES)
    told = addresses_of(pieces)
    before = _provenance(table) if live is None else dict(live.manifest.provenance)
    known = known_of(model)
    contract = promised(model)
    complete = live is not None and made_whole(live)
    after: dict[str, JSON] = {
        PARTIAL: True,
        COMPLETE: complete,
        "ground": hexdigest("composed ground", *told),
        "known": known if before.get("known") == known else {"columns": {}, "keys": []},
        "promises": contract_to_json(contract) if contract else None,
        "pin": report_to_json(table.pin),
        "hidden": sorted(table.hidden),
        "seconds": round(table.seconds, 6),
    }
    of_whole = ("complete", repr(before.get("inputs"))) if complete else ()
    there = hexdigest("composed", local, *told, *of_whole)
    return composed(store, name, there, pieces, before | note | after, NOTES)


def require_alike(name: str, pieces: Mapping[str, Piece], local: str) -> None:
    """Raises `StrataError` E037 where `pieces` have different columns; `local` is what the model means now."""
    newest = next((pieces[key].artifact for key in sorted(pieces) if pieces[key].local == local), None)
    if newest is not None and (key := other_columns(pieces, newest)) is not None:
        raise StrataError(_other_columns(name, key))


def _provenance(table: Table) -> dict[str, JSON]:
    return provenance_of(
        table.planned, table.data, table.workspace.compiled, table.engine, table.pin, table.hidden, table.seconds
    )


def piece_provenance(
    local: str, key: str, inputs: Mapping[str, str], engine: str, pin: PinReport, seconds: float
) -> dict[str, JSON]:
    """What the manifest of one piece says."""
    return {
        "local": local,
        "period": key,
        "inputs": dict(inputs),
        "engine": engine,
        "pin": report_to_json(pin),
        "seconds": round(seconds, 6),
    }


def _other_columns(name: str, key: str) -> Diagnostic:
    message = f"the partition {key} has the columns of before the model changed"
    return Diagnostic("E037", message, fix=f"apply all of it once: `strata apply {name}`")
