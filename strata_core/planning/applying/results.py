"""What an apply tells while it runs and when it is done: values that the command line and Dagster render."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from ...contract.report import PinReport
from ...diagnostics import Diagnostic, Severity
from ...frozen import dataclass, field
from ...store.artifacts import Artifact
from ...store.environments import EnvironmentVersion
from ..partitions.composition import Piece
from ..plan import Cause, PlannedModel
from ..watermarks import Way


class Status(StrEnum):
    """What became of a model in an apply."""

    FRESH = "fresh"
    """Not stale: its live artifact stays."""
    REUSED = "reused"
    """Stale, but an artifact of the same meaning and the same inputs exists already: nothing was computed."""
    COMPUTED = "computed"
    """Computed and pinned."""
    VIOLATED = "violated"
    """The candidate, or an input, breaks its contract: not published, the last-known-good stays live."""
    FAILED = "failed"
    """The computation, an input file or the store failed."""
    SKIPPED = "skipped"
    """Something upstream was violated or failed."""

    @property
    def sound(self) -> bool:
        """Whether there is an artifact that may be published."""
        return self in (Status.FRESH, Status.REUSED, Status.COMPUTED)


@dataclass(frozen=True, slots=True)
class PieceResult:
    """The outcome of one partition of time: `piece` is what there is of it now, unless it is not sound; `pin` the
    report of its own rows, where they were computed."""

    status: Status
    piece: Piece | None = None
    pin: PinReport | None = None


@dataclass(frozen=True, slots=True)
class AskedTest:
    """What a blocking test of a product gave on candidates before they went live.

    `outcome`, `at`, `offenders` and `message` are those of any test (`SeenTest` of the contract engine), `reads` are
    the models whose rows it was asked of. `finding` is E144 where it does not hold, E143 where it cannot be asked: an
    error or a warning, as the project has it.
    """

    product: str
    test: str
    outcome: Literal["passed", "failed", "error", "not_run", "unsupported"]
    at: str | None = None
    offenders: int | None = None
    message: str | None = None
    finding: Diagnostic | None = None
    reads: frozenset[str] = frozenset()

    @property
    def blocks(self) -> bool:
        """Whether the candidates may not go live."""
        return self.finding is not None and self.finding.severity is Severity.ERROR


@dataclass(frozen=True, slots=True)
class ModelResult:
    """The outcome of one model. `pin` is the report of its own candidate; `inputs` of the sources it was the
    first to read in this apply. `seconds` is wall time. `way` tells how an incremental model was computed.

    `pieces` are the partitions of time that were applied, by key. Where only some of them are sound, `artifact` has
    these, if the apply publishes each by itself, beside those that are live; `whole` says that it has all.

    `tests` are the blocking tests of product contracts that were asked of the candidate."""

    name: str
    status: Status
    planned: PlannedModel
    artifact: Artifact | None = None
    pin: PinReport | None = None
    inputs: tuple[PinReport, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    seconds: float = 0.0
    waits_for: tuple[str, ...] = ()
    way: Way | None = None
    pieces: Mapping[str, PieceResult] = field(default_factory=dict)
    whole: bool = True
    tests: tuple[AskedTest, ...] = ()

    @property
    def causes(self) -> tuple[Cause, ...]:
        """Why the model was stale."""
        return self.planned.causes

    @property
    def publishable(self) -> bool:
        """Whether an apply that publishes each model by itself has something to publish of it."""
        return self.status.sound or (bool(self.pieces) and self.artifact is not None)

    @property
    def violations(self) -> tuple[Diagnostic, ...]:
        """Everything that keeps the model from being published: broken promises of its inputs and of its own rows,
        blocking tests that do not hold, faults of the computation."""
        reports = (*self.inputs, *((self.pin,) if self.pin else ()))
        tests = (t.finding for t in self.tests if t.finding is not None and t.blocks)
        return (*(d for report in reports for d in report.diagnostics()), *tests, *self.diagnostics)

    @property
    def unasked(self) -> tuple[Diagnostic, ...]:
        """The blocking tests that could not be asked, where that does not block: E143, warnings."""
        return tuple(t.finding for t in self.tests if t.finding is not None and not t.blocks)


@dataclass(frozen=True, slots=True)
class Started:
    """A stale model is about to be applied: number `position` of `total`."""

    name: str
    position: int
    total: int
    causes: tuple[Cause, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """A model is done; it is not yet published."""

    result: ModelResult


@dataclass(frozen=True, slots=True)
class Published:
    """A version of the environment went live in one step, with these models changed and these `removed`."""

    version: EnvironmentVersion
    models: tuple[str, ...]
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of an apply. `published` names the models whose live artifact or fingerprint changed."""

    results: Mapping[str, ModelResult]
    version: EnvironmentVersion
    published: frozenset[str] = field(default=frozenset())

    @property
    def violated(self) -> tuple[ModelResult, ...]:
        """Models whose contract was violated."""
        return tuple(r for r in self.results.values() if r.status is Status.VIOLATED)

    @property
    def failed(self) -> tuple[ModelResult, ...]:
        """Models that could not be computed."""
        return tuple(r for r in self.results.values() if r.status is Status.FAILED)


Event = Started | Finished | Published | Outcome
