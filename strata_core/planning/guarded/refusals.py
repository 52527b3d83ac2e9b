"""Refusals: which candidates of guarded tables broke their contract, when and why, kept in the store.

A refused candidate is not kept, and what is live of its table stays (Seed 0 §5 C). That there was one is kept: who
reads the table is to know that newer rows exist, and why they are not live. Sound rows end it, for the latest verdict
counts: those that a guard makes live take it out of what is kept, so that neither a rollback nor a drop brings it back;
those that come from another environment are later than it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...diagnostics import Diagnostic, StrataError
from ...frozen import dataclass
from ...store.environments import EnvironmentVersion
from ...store.instant import Instant, next_instant, parse, spell
from ...store.log import Entry, LogConflictError
from ...store.store import Store


@dataclass(frozen=True, slots=True)
class Refusal:
    """The latest candidate of a table that was refused: the `contract` that it was held to, where the rows lay, and
    what was wrong with them, in a line without values of hidden columns."""

    at: Instant
    contract: str
    place: str
    why: str


def record_refusals(
    store: Store, environment: str, refused: Mapping[str, tuple[str, str, str]], live: Collection[str] = ()
) -> None:
    """Keep that candidates of the tables `refused` were, as of now: by table the contract, the place and the reason;
    and no longer what was refused of those of which sound rows went `live`. Raises `StrataError` E092, E094."""
    log = store.refusals(environment)
    while True:
        head = log.head()
        known = _decode(log.read(head)) if head else {}
        now = next_instant(max((one.at for one in known.values()), default=0))
        made = {name: one for name, one in known.items() if name not in live}
        made |= {name: Refusal(now, *told) for name, told in refused.items()}
        if made == known:
            return
        try:
            log.append("refusal", {"tables": {n: _encode(r) for n, r in made.items()}}, expected=head)
            return
        except LogConflictError:
            continue


def standing_refusals(store: Store, version: EnvironmentVersion, environment: str) -> tuple[int, Mapping[str, Refusal]]:
    """A number that grows with each refusal in `environment`, and by table the refusals later than what `version` has
    live of it. Raises `StrataError` E092, E094."""
    log = store.refusals(environment)
    head = log.head()
    known = _decode(log.read(head)) if head else {}

    def published(name: str) -> Instant:
        pointer = version.models.get(name)
        return 0 if pointer is None else pointer.published_at or version.at

    return head, {name: one for name, one in known.items() if one.at > published(name)}


def _encode(one: Refusal) -> Mapping[str, str]:
    return {"at": spell(one.at), "contract": one.contract, "place": one.place, "why": one.why}


def _decode(entry: Entry) -> Mapping[str, Refusal]:
    found: dict[str, Refusal] = {}
    match entry.payload:
        case {"tables": dict(tables)}:
            for name, told in tables.items():
                match told:
                    case {"at": str(at), "contract": str(contract), "place": str(place), "why": str(why)}:
                        found[name] = Refusal(parse(at), contract, place, why)
                    case _:
                        raise StrataError(_damaged(entry))
            return found
        case _:
            raise StrataError(_damaged(entry))


def _damaged(entry: Entry) -> Diagnostic:
    message = f"entry {entry.number} of the refusals is none ({entry.kind})"
    fix = "remove the store's folder `refusals`: what a guard refuses from now on is told"
    return Diagnostic("E094", message, fix=fix)
