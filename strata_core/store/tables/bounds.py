"""What a read asks of the three clocks, resolved against a table's declaration, and the echo that it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ... import instants
from ...instants import Bound, Literal
from ..instant import Instant, spell
from .errors import StoreError

if TYPE_CHECKING:
    from .declaration import TableDeclaration

VINTAGES = ("latest", "first", "all")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds given, each None where it was not."""

    as_of: Bound | None = None
    valid_as_of: Bound | None = None
    available_as_of: Bound | None = None

    def echo(self) -> Mapping[str, str | bool] | None:
        """Seed 1 *echo* and *bound-echo*: the bounds as RFC 3339 in UTC, or None for an unbounded read.

        One flag speaks for all: where inclusive and exclusive bounds meet, an exclusive one is told as the last
        nanosecond before it, which is the same bound.
        """
        given = {
            name: bound
            for name in ("as_of", "valid_as_of", "available_as_of")
            if (bound := getattr(self, name)) is not None
        }
        if not given:
            return None
        exclusive = not any(bound.inclusive for bound in given.values())
        told = {name: spell(bound.at if exclusive else bound.last) for name, bound in given.items()}
        return {**told, "inclusive": not exclusive}


def resolve(
    declared: TableDeclaration,
    as_of: Literal | None,
    valid_as_of: Literal | None,
    available_as_of: Literal | None,
    vintage: str,
) -> Bounds:
    """The bounds that literals mean for a table: availability in its declared zone, the other clocks in UTC.

    Errors: StoreBoundInvalid, StoreValidTimeUndeclared, StoreAvailableTimeUndeclared.
    """
    name, available = declared.name, declared.available_time
    if vintage not in VINTAGES:
        message = f"table {name}: there is no vintage {vintage!r}"
        raise StoreError("StoreBoundInvalid", name, message, "ask for latest, first or all")
    if valid_as_of is not None and declared.valid_time is None:
        message = f"table {name} declares no valid_time, so that nothing is valid as of an instant"
        fix = "declare [pipeline.tables.valid_time], or read without valid_as_of"
        raise StoreError("StoreValidTimeUndeclared", name, message, fix)
    if available is None and (available_as_of is not None or vintage == "first"):
        message = f"table {name} declares no available_time, so that nothing is known of when it was available"
        fix = "declare [pipeline.tables.available_time], or read without available_as_of and vintage"
        raise StoreError("StoreAvailableTimeUndeclared", name, message, fix)
    if vintage == "first" and not declared.is_vintage:
        message = f"table {name} has no primary_key, and so no vintages of which one could be the {vintage}"
        raise StoreError("StoreBoundInvalid", name, message, "read without vintage")
    return Bounds(
        _bound(name, "as_of", as_of, "UTC"),
        _bound(name, "valid_as_of", valid_as_of, "UTC"),
        _bound(name, "available_as_of", available_as_of, available.zone if available else "UTC"),
    )


def _bound(table: str, name: str, literal: Literal | None, zone: str) -> Bound | None:
    try:
        return None if literal is None else instants.bound(literal, zone)
    except ValueError as cause:
        why = str(cause).removesuffix(f": give {instants.ACCEPTED}")
        message = f"table {table}: {name}: {why}"
        raise StoreError("StoreBoundInvalid", table, message, f"give {instants.ACCEPTED}") from None


def instant_of(table: str, name: str, literal: Literal) -> Instant:
    """The last instant within a bound that is given by itself, as `hold` and `pin` take it."""
    bound = _bound(table, name, literal, "UTC")
    assert bound is not None
    return bound.last
