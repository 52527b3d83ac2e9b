"""How old what is live of an asset is, against the freshness that its contract promises."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

from ..frozen import dataclass
from .covering import Covered
from .observe import seen_in_store
from .pipeline import Setting

_SECONDS = 19


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
    def state(self) -> Literal["fresh", "stale", "unknown"]:
        """As runtime views say it."""
        if self.age is None:
            return "unknown"
        return "fresh" if self.age <= self.max_age else "stale"


def age_of(setting: Setting, covered: Covered, environment: str, now: datetime) -> Age | None:
    """The age of an asset at `now` (UTC) in the store; None where its contract promises no freshness."""
    if covered.max_age is None:
        return None
    names = tuple(dict.fromkeys((*covered.names, covered.table)))
    seen = seen_in_store(setting, names, environment)
    if covered.dated is not None:
        found = [seen.latest_values.get((name, covered.dated)) for name in names]
    else:
        found = [run.at for run in seen.runs]
    latest = max((text for text in found if text is not None), default=None)
    at = None if latest is None else datetime.fromisoformat(latest[:_SECONDS]).replace(tzinfo=UTC)
    return Age(at, covered.max_age, now)
