"""What an apply writes to the run's log: what is at work and why, how it ended, and findings with their lines."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from strata_core.diagnostics.listing import listed
from strata_core.planning.applying.results import ModelResult, Started, Status
from strata_core.planning.project import Project
from strata_core.store.environments import EnvironmentVersion

from .findings import findings

SECONDS_BETWEEN = 10.0
MOST_NAMES = 6
"""Tables that a line names; its fields have all."""


class Log(Protocol):
    """The part of Dagster's log that is used. `extra` holds fields for loggers that keep records (JSON)."""

    def info(self, msg: object, /, *, extra: Mapping[str, object]) -> None:
        """Says what happens."""

    def warning(self, msg: object, /, *, extra: Mapping[str, object]) -> None:
        """Says what may be wrong."""

    def error(self, msg: object, /, *, extra: Mapping[str, object]) -> None:
        """Says what went wrong."""


@dataclass(slots=True)
class RunLog:
    """Writes to `log`; `project` has the source lines. Rows are told at most every ten seconds.

    Each record has its facts as fields too, below `strata`: `event`, `environment`, `model`, `status` and the like.
    """

    log: Log
    project: Project
    environment: str
    clock: Callable[[], float] = time.monotonic
    _last: float = field(init=False)

    def __post_init__(self) -> None:
        self._last = self.clock()

    def started(self, event: Started) -> None:
        """A model's turn."""
        reasons = [str(cause) for cause in event.causes]
        fields = self._fields("started", model=event.name, reasons=reasons)
        self.log.info(f"[{event.position}/{event.total}] {event.name}: {'; '.join(reasons)}", extra=fields)

    def progress(self, model: str, rows: int) -> None:
        """Rows written so far."""
        if self.clock() - self._last >= SECONDS_BETWEEN:
            self._last = self.clock()
            self.log.info(f"{model}: {rows:,} rows so far", extra=self._fields("progress", model=model, rows=rows))

    def finished(self, result: ModelResult) -> None:
        """A model's end, with its findings."""
        manifest = result.artifact.manifest if result.artifact else None
        rows = f", {manifest.rows:,} rows" if manifest else ""
        line = f"{result.name}: {result.status}{rows} ({result.seconds:.2f} s)"
        fields = self._fields(
            "finished",
            model=result.name,
            status=str(result.status),
            seconds=round(result.seconds, 3),
            fingerprint=result.planned.fingerprint.merkle,
            codes=[d.code for d in result.violations],
            **({"rows": manifest.rows, "digest": manifest.digest} if manifest else {}),
        )
        if result.unasked:
            self.log.warning(findings(result.unasked, self.project), extra=fields)
        match result.status:
            case Status.VIOLATED | Status.FAILED:
                self.log.error(f"{line}\n\n{findings(result.violations, self.project)}", extra=fields)
            case Status.SKIPPED:
                self.log.error(f"{line}: waits for {', '.join(result.waits_for)}", extra=fields)
            case Status.FRESH | Status.REUSED | Status.COMPUTED:
                self.log.info(line, extra=fields)

    def published(self, version: EnvironmentVersion, models: Sequence[str], removed: Sequence[str] = ()) -> None:
        """A version went live."""
        without = f", without {', '.join(removed)}: no model of the project any more" if removed else ""
        fields = self._fields("published", version=version.number, models=[*models], removed=[*removed])
        self.log.info(f"{self.environment}: version {version.number} is live{without}", extra=fields)

    def outlived(self, names: Sequence[str]) -> None:
        """Tables stay live that no model makes any more."""
        why = "no model of the project any more, stays live until an op applies all models, or `strata apply`"
        self.log.warning(f"{listed(names, MOST_NAMES)}: {why}", extra=self._fields("outlived", models=[*names]))

    def _fields(self, event: str, **facts: object) -> dict[str, object]:
        return {"strata": {"event": event, "environment": self.environment, **facts}}
