"""Is what is live still sound: the artifact is there, unchanged, and keeps the contract it was published under."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from ...contract.encoding import contract_from_json
from ...contract.freshness import age_at, outdated
from ...contract.model import TableContract
from ...contract.report import PinReport
from ...contract.write_pin import pin
from ...diagnostics import Diagnostic, StrataError
from ...engines.protocol import Engine, ParquetTable
from ...frozen import dataclass
from ...relation.schema import Column
from ...store.artifacts import Artifact
from ...store.environments import Pointer
from ...store.instant import moment
from ...types import Inferred
from ..environments import not_published, published_environment
from ..project import Project
from ..provenance import hidden_of, pin_of


@dataclass(frozen=True, slots=True)
class Health:
    """What was found about the live version of `model`.

    `pointer` is absent where nothing is published, `artifact` where it cannot be found. `report` is the pin asked
    again, or the one it was published with where nothing was asked. `age` counts from its publication.
    """

    model: str
    faults: tuple[Diagnostic, ...]
    pointer: Pointer | None = None
    artifact: Artifact | None = None
    report: PinReport | None = None
    age: timedelta | None = None

    @property
    def sound(self) -> bool:
        """Whether nothing was found to be wrong."""
        return not self.faults

    @property
    def only_old(self) -> bool:
        """Whether age is all that is wrong: the rows are what they were."""
        return bool(self.faults) and all(d.code == "E085" for d in self.faults)


def examine(project: Project, environment: str, model: str, now: datetime, *, engine: Engine | None) -> Health:
    """The health of `model` in `environment` at `now` (UTC): E095, E094, E092, E080 to E088 as faults.

    With an `engine` every byte is compared and every promise is asked of the rows again, also those that the
    compiler had proven; without, only what takes no time: presence, size and age.
    """
    try:
        return _examine(project, environment, model, now, engine)
    except StrataError as error:
        return Health(model, error.diagnostics)


def _examine(project: Project, environment: str, model: str, now: datetime, engine: Engine | None) -> Health:
    pointer = published_environment(project, environment).head().models.get(model)
    if pointer is None:
        return Health(model, (not_published(model, environment),))
    age = age_at(moment(pointer.published_at or 0), now)
    try:
        artifact = project.store.opened(create=False).artifact(model, pointer)
        damage = artifact.verify(contents=engine is not None)
    except StrataError as error:
        return Health(model, error.diagnostics, pointer, age=age)
    if damage:
        return Health(model, damage, pointer, artifact, age=age)
    contract = contract_of(artifact)
    old: tuple[Diagnostic, ...] = ()
    if contract is not None:
        promiser = f"contract `{contract.name}`"
        late = outdated(contract.freshness, age, "it was published", promiser, contract.span)
        old = (late,) if late else ()
    if engine is None or contract is None:
        return Health(model, old, pointer, artifact, pin_of(artifact.manifest), age)
    try:
        report = _pinned(engine, artifact, contract, now)
    except StrataError as error:
        return Health(model, error.diagnostics, pointer, artifact, age=age)
    return Health(model, (*report.diagnostics(), *old), pointer, artifact, report, age)


def _pinned(engine: Engine, artifact: Artifact, contract: TableContract, now: datetime) -> PinReport:
    columns = tuple(Column(f.name, Inferred(f.type, f.nullable)) for f in contract.fields)
    table = ParquetTable(artifact.paths, columns)
    return pin(engine, table, contract, now=now, masked=hidden_of(artifact.manifest))


def contract_of(artifact: Artifact) -> TableContract | None:
    """The contract that an artifact was published under, `None` where it was published without one."""
    kept = artifact.manifest.provenance.get("promises")
    return contract_from_json(kept) if isinstance(kept, Mapping) else None
