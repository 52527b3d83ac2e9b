"""Ages against the freshness that contracts promise: of what was seen of an asset, and of what is live of one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from ...contract.ages import parse_age
from ...frozen import dataclass
from .observe import seen_in_store

if TYPE_CHECKING:
    from ..pin.covering import Covered
    from ..pipeline import Setting

_SECONDS = 19
AgeState = Literal["fresh", "stale", "unknown"]


def age_state(latest: str | None, promised: str, now: datetime) -> AgeState:
    """How the instant `latest` stands at `now` (UTC) against the age that is promised."""
    if latest is None:
        return "unknown"
    until = stale_after(latest, promised)
    return "fresh" if until is None or now <= until else "stale"


def age_told(latest: str, promised: str) -> str:
    """That something is late, in words."""
    return f"latest is {latest}, and at most {promised} old is promised"


def stale_after(latest: str, promised: str) -> datetime | None:
    """The last moment at which what is as old as `latest` keeps the promise."""
    limit: timedelta | None = parse_age(promised)
    return None if limit is None else _instant(latest) + limit


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text[:_SECONDS]).replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Age:
    """`latest` is the latest value of the column that freshness is told from, or when what is live was published;
    None where nothing is live, or the column has no value."""

    latest: datetime | None
    max_age: timedelta
    now: datetime

    @property
    def age(self) -> timedelta | None:
        """Since `latest`; never less than nothing."""
        return None if self.latest is None else max(timedelta(0), self.now - self.latest)

    @property
    def state(self) -> AgeState:
        """As runtime views say it."""
        if self.age is None:
            return "unknown"
        return "fresh" if self.age <= self.max_age else "stale"


def age_of(setting: Setting, covered: Covered, environment: str, now: datetime) -> Age | None:
    """The age of an asset at `now` (UTC) in the store; None where its contract promises no freshness."""
    if covered.max_age is None:
        return None
    seen = seen_in_store(setting, covered.stored, environment)
    if covered.dated is not None:
        found = [seen.latest_values.get((name, covered.dated)) for name in covered.stored]
    else:
        found = [run.at for run in seen.runs]
    latest = max((text for text in found if text is not None), default=None)
    return Age(None if latest is None else _instant(latest), covered.max_age, now)
