"""Pins and holds. A pin is a build's upper bound on a table's transaction time; a hold keeps a state from collection.

Each is one entry that carries the whole map, so that a reader needs one entry. Neither resolves to what retention
has removed (StoreAsOfUnretained).
"""

from __future__ import annotations

import re
from types import MappingProxyType

from ...instants import Literal
from ..instant import Instant
from .bounds import instant_of
from .entries import Hold, Holds, Pins, TableEntry
from .errors import StoreError
from .frontier import Frontier, as_of
from .history import History

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:=/-]{0,127}")


def hold(history: History, name: str, bound: Literal | None) -> Hold:
    """Keeps the state as of `bound` (now without one) under `name`, until `release`."""
    _check(history, name)

    def held(head: TableEntry) -> Holds:
        at, frontier = _at(history, bound, head)
        made = Hold(min(at, head.at), frontier.snapshot, frontier.runs)
        return Holds(MappingProxyType({**history.holds(head).holds, name: made}))

    return history.holds(history.commit_newest(held)).holds[name]


def release(history: History, name: str) -> None:
    """Ends a hold; StoreHoldUnknown when there is none of that name."""

    def released(head: TableEntry) -> Holds:
        holds = dict(history.holds(head).holds)
        if holds.pop(name, None) is None:
            raise _unknown("StoreHoldUnknown", history, "hold", name, tuple(holds))
        return Holds(MappingProxyType(holds))

    history.commit_newest(released)


def pin(history: History, name: str, bound: Literal | None) -> Instant:
    """Records the upper bound of the build `name` on this table (now without one), and returns it."""
    _check(history, name)

    def pinned_at(head: TableEntry) -> Pins:
        at, _ = _at(history, bound, head)
        return Pins(MappingProxyType({**history.pins(head).pins, name: at}))

    return history.pins(history.commit_newest(pinned_at)).pins[name]


def pinned(history: History, head: TableEntry, name: str) -> Instant:
    """The bound of a pin; StorePinUnknown when it names no instant of this table."""
    pins = history.pins(head).pins
    if name not in pins:
        raise _unknown("StorePinUnknown", history, "pin", name, tuple(pins))
    return pins[name]


def _at(history: History, bound: Literal | None, head: TableEntry) -> tuple[Instant, Frontier]:
    """The instant that a bound means, now without one, and what is answered as of it."""
    history.declared(head)
    at = head.at if bound is None else instant_of(history.name, "as_of", bound)
    return at, as_of(history, at, head)


def _check(history: History, name: str) -> None:
    if not _LABEL.fullmatch(name):
        fix = "use letters, digits and . _ : = / - (128 characters at most, a letter or digit first)"
        raise StoreError("StoreBoundInvalid", history.name, f"{name!r} cannot name a pin or a hold", fix)


def _unknown(code: str, history: History, kind: str, name: str, known: tuple[str, ...]) -> StoreError:
    fix = f"there are {', '.join(sorted(known))}" if known else f"make one with `strata store {kind}`"
    return StoreError(code, history.name, f"table {history.name} has no {kind} {name}", fix)
