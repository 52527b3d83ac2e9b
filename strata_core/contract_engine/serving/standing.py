"""How a product stands, for who is about to read it: may I, and is it healthy? Answered from the runtime view that is
served; ages are told at the moment of the question, since a view that nobody renewed grows old silently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from ...diagnostics import Diagnostic, StrataError
from ...frozen import dataclass
from ...regular_files import read_regular
from ...store.document import from_text
from .ages import age_state, age_told
from .publish import CURRENT

State = Literal["healthy", "degraded", "blocked", "not published"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a product is not healthy, or may not be read."""

    code: str
    message: str
    asset: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """The answer. `readable`: it is published, not retired and not blocked, and the agent that was named may do
    something with it. `as_of` is the moment that the view was made at; `actions` are what that agent may do."""

    product: str
    state: State
    readable: bool
    reasons: tuple[Reason, ...] = ()
    version: str | None = None
    status: str | None = None
    as_of: str | None = None
    actions: tuple[str, ...] = ()


def served_products(out: Path) -> tuple[str, ...]:
    """The products that are published in `out`. Raises `StrataError` E160 where the index cannot be read."""
    place = out / CURRENT / "index.json"
    match _read(place):
        case None:
            return ()
        case {"products": [*products]} if all(isinstance(p, dict) and isinstance(p.get("id"), str) for p in products):
            return tuple(p["id"] for p in products)
        case _:
            raise _unreadable(place, "it is no index of products")


def served_view(out: Path, product: str) -> Any | None:
    """The runtime view that is served of a product, as JSON; None where none is. Raises `StrataError` E160."""
    return _read(_place(out, product))


def _place(out: Path, product: str) -> Path:
    return out / CURRENT / "views" / f"{product.replace('.', '/')}.json"


def standing(out: Path, product: str, now: datetime, agent: str | None = None) -> Standing:
    """How `product` stands at `now` (UTC), to `agent` where one is named. Raises `StrataError` E160."""
    view = served_view(out, product)
    if view is None:
        told = Reason("not-published", "no version of it was promoted and published here")
        return Standing(product, "not published", False, (told,))
    try:
        return _told(product, view, now, agent)
    except (KeyError, TypeError, AttributeError, ValueError):  # of another release, or of another program
        raise _unreadable(_place(out, product), "it is no runtime view") from None


def _told(product: str, view: Mapping[str, Any], now: datetime, agent: str | None) -> Standing:
    contract, stands = view["contract"], view["status"]
    reasons = [Reason(r["code"], r["message"], r.get("asset")) for r in stands["reasons"]]
    late = list(_grown_old(view, now))
    state: State = "degraded" if late and stands["state"] == "healthy" else stands["state"]
    refusals = list(_refusals(view, agent, now))
    return Standing(
        product,
        state,
        state != "blocked" and not refusals,
        (*refusals, *reasons, *late),
        view["version"],
        contract["status"],
        view["provenance"].get("projected_at"),
        tuple(action for p in _permitted(view, agent, now) for action in p["actions"]),
    )


def _grown_old(view: Mapping[str, Any], now: datetime) -> Iterator[Reason]:
    """Assets that were fresh when the view was made, and are late by now."""
    for age in view["freshness"]:
        latest, promised = age.get("latest"), age.get("expected")
        if age["state"] == "fresh" and latest and promised and age_state(latest, promised, now) == "stale":
            yield Reason("stale", age_told(latest, promised), age["asset"])


def _refusals(view: Mapping[str, Any], agent: str | None, now: datetime) -> Iterator[Reason]:
    if view["contract"]["status"] == "retired":
        yield Reason("retired", "the product is retired")
    if agent is not None and not _permitted(view, agent, now):
        yield Reason("not-permitted", f"the contract gives `{agent}` no permission")


def _permitted(view: Mapping[str, Any], agent: str | None, now: datetime) -> list[Mapping[str, Any]]:
    today = now.date().isoformat()
    given = [p for p in view["agent_permissions"] if p["agent"] == agent]
    return [p for p in given if p.get("expires") is None or p["expires"] >= today]


def _read(path: Path) -> dict[str, Any] | None:
    """What stands in a file of the release; None where there is none."""
    try:
        content = read_regular(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, str(error.strerror)) from None
    try:
        return from_text(content)
    except ValueError as error:
        raise _unreadable(path, str(error)) from None


def _unreadable(path: Path, why: str) -> StrataError:
    fix = "publish again: `contract-engine publish`"
    return StrataError(Diagnostic("E160", f"`{path}` cannot be read: {why}", fix=fix))
