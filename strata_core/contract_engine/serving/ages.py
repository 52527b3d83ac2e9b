"""Ages against the freshness that contracts promise: of what was seen of an asset, and of what is live of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from ...contract.ages import parse_age
from ...contract.freshness import age_at
from ...frozen import dataclass
from ...instants import iso_seconds
from ..observations import published, seen_in_files

if TYPE_CHECKING:
    from ..pin.covering import Covered
    from ..pipeline import Checked

AgeState = Literal["fresh", "stale", "unknown"]


def age_state(latest: str | None, promised: str, now: datetime) -> AgeState:
    """How the instant `latest` stands at `now` (UTC) against the age that is promised."""
    if latest is None:
        return "unknown"
    limit = parse_age(promised)
    return "fresh" if limit is None else Age(_instant(latest), limit, now).state


def latest_of(
    names: Iterable[str],
    column: str | None,
    values: Mapping[tuple[str, str], str],
    loaded: Mapping[str, str],
    made: Mapping[str, str | None],
) -> str | None:
    """What the age of an asset counts from, by the first of its `names` that is known: the latest value of `column`; or
    where there is none, when its newest rows were loaded, or else its last run that succeeded."""
    known = (values.get((name, column)) if column else loaded.get(name) or made.get(name) for name in names)
    return next((at for at in known if at is not None), None)


def loaded_of_live(loaded: Mapping[str, str], published: str | None) -> Mapping[str, str]:
    """When the newest rows were loaded of what is `published`: what was loaded since is not live yet."""
    if published is None:
        return loaded
    return {name: at for name, at in loaded.items() if _instant(at) <= _instant(published)}


def age_told(latest: str, promised: str) -> str:
    """That something is late, in words."""
    return f"latest is {latest}, and at most {promised} old is promised"


def stale_after(latest: str, promised: str) -> datetime | None:
    """The last moment at which what is as old as `latest` keeps the promise."""
    limit: timedelta | None = parse_age(promised)
    return None if limit is None else _instant(latest) + limit


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(iso_seconds(text))


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
        return None if self.latest is None else age_at(self.latest, self.now)

    @property
    def state(self) -> AgeState:
        """As runtime views say it."""
        if self.age is None:
            return "unknown"
        return "fresh" if self.age <= self.max_age else "stale"


def age_of(checked: Checked, covered: Covered, environment: str, now: datetime) -> Age | None:
    """The age of what is live of an asset at `now` (UTC); None where its contract promises no freshness. Raises
    `StrataError` E092, E094 where the store cannot be read."""
    if covered.max_age is None:
        return None
    seen = published(checked.setting, covered.stored, environment)
    made = {run.ref: run.at for run in seen.runs}
    loaded = loaded_of_live(seen_in_files(checked.parsed).loaded, next(iter(made.values()), None))
    names = dict.fromkeys((*covered.names, *covered.stored))
    latest = latest_of(names, covered.dated, seen.latest_values, loaded, made)
    return Age(None if latest is None else _instant(latest), covered.max_age, now)
