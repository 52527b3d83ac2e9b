"""What an apply writes to the run's log: what is at work and why, how it ended, and findings with their lines."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from strata_core.planning.project import Project
from strata_core.planning.results import ModelResult, Started, Status
from strata_core.store.environments import EnvironmentVersion

from .project import findings

SECONDS_BETWEEN = 10.0


class Log(Protocol):
    """The part of Dagster's log that is used."""

    def info(self, msg: object, /) -> None:
        """Says what happens."""

    def error(self, msg: object, /) -> None:
        """Says what went wrong."""


@dataclass(slots=True)
class RunLog:
    """Writes to `log`; `project` has the source lines. Rows are told at most every ten seconds."""

    log: Log
    project: Project
    clock: Callable[[], float] = time.monotonic
    _last: float = field(init=False)

    def __post_init__(self) -> None:
        self._last = self.clock()

    def started(self, event: Started) -> None:
        """A model's turn."""
        self.log.info(f"[{event.position}/{event.total}] {event.name}: {'; '.join(map(str, event.causes))}")

    def progress(self, model: str, rows: int) -> None:
        """Rows written so far."""
        if self.clock() - self._last >= SECONDS_BETWEEN:
            self._last = self.clock()
            self.log.info(f"{model}: {rows:,} rows so far")

    def finished(self, result: ModelResult) -> None:
        """A model's end, with its findings."""
        rows = f", {result.artifact.manifest.rows:,} rows" if result.artifact else ""
        line = f"{result.name}: {result.status}{rows} ({result.seconds:.2f} s)"
        match result.status:
            case Status.VIOLATED | Status.FAILED:
                self.log.error(f"{line}\n\n{findings(result.violations, self.project)}")
            case Status.SKIPPED:
                self.log.error(f"{line}: waits for {', '.join(result.waits_for)}")
            case Status.FRESH | Status.REUSED | Status.COMPUTED:
                self.log.info(line)

    def published(self, environment: str, version: EnvironmentVersion, removed: Sequence[str] = ()) -> None:
        """A version went live."""
        without = f", without {', '.join(removed)}: no model of the project any more" if removed else ""
        self.log.info(f"{environment}: version {version.number} is live{without}")
