"""The catalog of a store: which tables each project has published in an environment, and which columns it reads.

Projects that share a store read each other's tables; what one is about to publish is held against what the others were
written for (Seed 0 §5 B). Each project keeps one log, so that registering waits for nobody; its newest entry counts.
An entry holds the tables as readers may rest on them (models: `registered_models.py`; those of others that the project
guards: `guarded/catalog.py`), the version of the environment that published each so, what the project's models need of
published tables that are no models of its own, and where each column comes from, so that lineage crosses projects.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from ..contract.encoding import contract_from_json, contract_to_json
from ..contract.model import TableContract
from ..diagnostics import Diagnostic, Severity, Span, StrataError
from ..frozen import dataclass, field, replace
from ..lineage.encoding import table_from_json, table_to_json
from ..lineage.tables import Table
from ..store.document import JSON
from ..store.environments import EnvironmentVersion
from ..store.log import Entry, LogConflictError
from ..store.store import Store


@dataclass(frozen=True, slots=True)
class RegisteredTable:
    """A published table: what readers may rest on, since which `version` of the environment, and whose it is.

    `meaning` holds the identity of each column (`Meaning.columns`, hex), by which it is known under another name;
    `fingerprint` is the one that it was published with, empty in entries of old. A guarded table, which is no model,
    is `held_to` the contract of that reference.
    """

    contract: TableContract
    version: int
    meaning: Mapping[str, str]
    owner: str | None
    fingerprint: str = ""
    held_to: str | None = None


@dataclass(frozen=True, slots=True)
class RegisteredRead:
    """What the model `consumer` needs of `table`, which is no model of its project: its `source` declares it.

    `needs` holds the columns that are read, each with what it was declared to be; `place` is the declaration.
    """

    table: str
    consumer: str
    source: str
    needs: TableContract
    owner: str | None
    place: str


@dataclass(frozen=True, slots=True)
class Approved:
    """An owner's word that a change of a table may be published although it breaks consumers: the change's fingerprint
    (its first digits, where somebody wrote these), and who gave it."""

    table: str
    change: str
    by: str


@dataclass(frozen=True, slots=True)
class Registration:
    """What one project has in an environment. `approvals` are those that its publications rested on, oldest first;
    `lineage` holds what it has published and the sources that its models read, as the lineage graph has them."""

    project: str
    tables: Mapping[str, RegisteredTable] = field(default_factory=dict)
    reads: tuple[RegisteredRead, ...] = ()
    approvals: tuple[Approved, ...] = ()
    lineage: tuple[Table, ...] = ()

    def since(self, table: str, contract: TableContract, version: EnvironmentVersion) -> int:
        """The version since which readers of `table` may rest on `contract`, which `version` has."""
        known = self.tables.get(table)
        return known.version if known is not None and known.contract == contract else version.number

    def with_approvals(self, approvals: Collection[Approved]) -> tuple[Approved, ...]:
        """The approvals, with those of `approvals` that are new."""
        return self.approvals + tuple(a for a in approvals if a not in self.approvals)


Catalog = Mapping[str, Registration]
"""The registrations in one environment, by project."""


def read_catalog(store: Store, environment: str) -> Catalog:
    """The catalog of `environment`; raises `StrataError` E094 for a damaged entry, E092 for one of a later release."""
    found = (store.catalog(environment, folder) for folder in store.catalogued(environment))
    entries = (log.read(head) for log in found if (head := log.head()))
    registrations = map(_decode, entries)
    return {registration.project: registration for registration in registrations}


def registered_history(store: Store, environment: str, table: str) -> Iterator[RegisteredTable]:
    """What was registered of `table`, newest first, by the project that has it; a schema is given once."""
    last: TableContract | None = None
    for folder in store.catalogued(environment):
        log = store.catalog(environment, folder)
        head = log.head()
        if head and table in _decode(log.read(head)).tables:
            for number in range(head, 0, -1):
                found = _decode(log.read(number)).tables.get(table)
                if found is not None and found.contract != last:
                    last = found.contract
                    yield found


def register(
    store: Store, environment: str, project: str, by_now: Callable[[Registration, Catalog], Registration]
) -> None:
    """Keep in the catalog of `environment` what `project` has there: `by_now` makes it of what was registered before of
    the project, and of all. It is asked again where another registers meanwhile, so that nothing of that is lost;
    nothing is written where all is known. Raises `StrataError` E094, E092."""
    log = store.catalog(environment, project)
    while True:
        head = log.head()
        before = _decode(log.read(head)) if head else Registration(project)
        after = by_now(before, {**read_catalog(store, environment), project: before})
        if after == before:
            return
        try:
            log.append("registration", _encode(after), expected=head)
            return
        except LogConflictError:
            continue


OF_MODEL = "name the model otherwise"
OF_GUARDED = "give the asset of the contract another `ref` or `id`"
"""What to do where two projects have one name for a table."""


def taken_over(
    project: str,
    tables: Mapping[str, Span | None],
    catalog: Catalog,
    version: EnvironmentVersion,
    otherwise: str = OF_MODEL,
) -> Iterator[Diagnostic]:
    """W017 for each of `tables`, which `project` is about to publish, that is live as another project published it:
    by name, with the place where it is declared."""
    for table, place in tables.items():
        publishers = _publishers(table, catalog, version)
        for name in publishers if project not in publishers else ():
            yield Diagnostic(
                "W017",
                f"`{table}` is live as the project `{name}` published it, and would be this project's",
                place,
                Severity.WARNING,
                fix=f"{otherwise}, or take `{table}` out of `{name}`: else each takes it over in turn",
            )


def taken(table: str, project: str, catalog: Catalog, version: EnvironmentVersion) -> bool:
    """Whether what is live of a table that `project` has registered is what another project has published."""
    publishers = _publishers(table, catalog, version)
    return bool(publishers) and project not in publishers


def _publishers(table: str, catalog: Catalog, version: EnvironmentVersion) -> list[str]:
    """The projects that have registered `table` as it is live."""
    live = version.models.get(table)
    registered = ((name, one.tables[table]) for name, one in sorted(catalog.items()) if table in one.tables)
    return [name for name, one in registered if live is not None and one.fingerprint == live.fingerprint]


def _encode(one: Registration) -> dict[str, JSON]:
    return {
        "project": one.project,
        "tables": {
            name: {
                "contract": contract_to_json(table.contract),
                "version": table.version,
                "meaning": dict(table.meaning),
                "owner": table.owner,
                "fingerprint": table.fingerprint,
                "held_to": table.held_to,
            }
            for name, table in one.tables.items()
        },
        "reads": [
            {
                "table": read.table,
                "consumer": read.consumer,
                "source": read.source,
                "needs": contract_to_json(read.needs),
                "owner": read.owner,
                "place": read.place,
            }
            for read in one.reads
        ],
        "approvals": [{"table": a.table, "change": a.change, "by": a.by} for a in one.approvals],
        "lineage": [table_to_json(table) for table in one.lineage],
    }


def _decode(entry: Entry) -> Registration:
    payload: Mapping[str, Any] = entry.payload
    try:
        return Registration(
            payload["project"],
            {name: _read_table(table) for name, table in payload["tables"].items()},
            tuple(
                replace(RegisteredRead(**read), needs=contract_from_json(read["needs"])) for read in payload["reads"]
            ),
            tuple(Approved(**approval) for approval in payload["approvals"]),
            tuple(map(table_from_json, payload["lineage"])),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as cause:
        message = f"entry {entry.number} of the catalog is no registration ({type(cause).__name__}: {cause})"
        fix = "remove its log from the store's folder `catalog`: the next apply of that project registers it anew"
        raise StrataError(Diagnostic("E094", message, fix=fix)) from cause


def _read_table(table: Mapping[str, Any]) -> RegisteredTable:
    contract, fingerprint = contract_from_json(table["contract"]), table.get("fingerprint", "")
    held_to = table.get("held_to")
    return RegisteredTable(contract, table["version"], table["meaning"], table["owner"], fingerprint, held_to)
