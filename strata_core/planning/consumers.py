"""Phase B, the producer's side: what a plan would break of other projects, told before anything runs (Seed 0 §5 B).

What a project is about to publish is compared with what it has registered (`catalog.py`); a change of a column that
another project reads, or of one that is `protected`, is an error here, in the plan of the project that makes it. An
owner's approval of the change lets it pass, and is registered with the publication.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..analysis.compiled import CompiledProject
from ..contract.changes import Change, compare_contracts
from ..contract.model import TableContract
from ..diagnostics import Diagnostic
from .catalog import Approved, Catalog, RegisteredRead, RegisteredTable
from .fingerprints import Fingerprint
from .registered_models import outward

CODES = {
    "column-removed": "E030",
    "column-renamed": "E031",
    "type-narrowed": "E032",
    "type-widened": "E032",
    "type-changed": "E032",
    "nonnull-dropped": "E032",
    "enum-widened": "E032",
    "enum-changed": "E032",
    "unique-dropped": "E032",
    "key-dropped": "E032",
    "key-changed": "E032",
}
"""The code of each change that breaks those who need what it changes. A wider type breaks them too: the write pin of a
source takes the declared type and no other."""
APPROVAL_DIGITS = 12
"""Digits of a change's fingerprint that messages show and approvals name at least."""


class Breaks(NamedTuple):
    """What a plan breaks: findings, one a change, and the approvals that let others pass."""

    diagnostics: tuple[Diagnostic, ...]
    approved: tuple[Approved, ...]


class Reader(NamedTuple):
    """A model of another project, and what it needs."""

    project: str
    read: RegisteredRead


class Breaking(NamedTuple):
    """A change of a table that `publisher` published, which breaks `readers`, or that its being protected forbids.
    `gone`: the table itself goes."""

    name: str
    publisher: str
    table: RegisteredTable
    change: Change
    readers: tuple[Reader, ...]
    gone: bool


class Offered(NamedTuple):
    """A table as its readers may rest on it once it is published, and what each column means (`Meaning.columns`)."""

    contract: TableContract
    meaning: Mapping[str, bytes]


Offers = Callable[[str], Offered | None]
"""What is about to be published under a name; None for a table that is taken back."""


def models_offered(compiled: CompiledProject, prints: Mapping[str, Fingerprint]) -> Offers:
    """The models of `compiled`."""

    def offered(name: str) -> Offered | None:
        return Offered(outward(compiled, name), prints[name].meaning.columns) if name in compiled.models else None

    return offered


def breaking_changes(
    project: str, offered: Offers, catalog: Catalog, publishing: Collection[str]
) -> tuple[Breaking, ...]:
    """What publishing the tables `publishing` of `project` as they are `offered`, or taking them back, would break of
    what the `catalog` says that others read of them: other projects, and of a guarded table the project's own models
    too. The names of tables are those of all projects: one that another project published is held against what it had
    there."""
    registered = {name: (one, table) for one, other in catalog.items() for name, table in other.tables.items()}
    if project in catalog:
        registered |= {name: (project, table) for name, table in catalog[project].tables.items()}
    readers: dict[str, list[Reader]] = {}
    for name, other in catalog.items():
        for read in other.reads:
            readers.setdefault(read.table, []).append(Reader(name, read))
    found: list[Breaking] = []
    for name, (publisher, table) in registered.items():
        if name not in publishing:
            continue
        now = offered(name)
        by = [r for r in readers.get(name, ()) if r.project != project or table.held_to is not None]
        found += (Breaking(name, publisher, table, c, who, now is None) for c, who in _breaking(name, table, now, by))
    return tuple(found)


def breaks_of(
    project: str,
    offered: Offers,
    catalog: Catalog,
    publishing: Collection[str],
    approvals: Callable[[], Collection[Approved]],
) -> Breaks:
    """What publishing breaks (`breaking_changes`), beside what an owner approved of it; `approvals` are looked up only
    where something would break."""
    breaking = breaking_changes(project, offered, catalog, publishing)
    return judged(project, breaking, approvals()) if breaking else Breaks((), ())


def judged(project: str, breaking: Iterable[Breaking], approvals: Collection[Approved]) -> Breaks:
    """Which changes pass because an owner approved them, and a finding for each of the others."""
    found: list[Diagnostic] = []
    passed: list[Approved] = []
    for one in breaking:
        approval = next((a for a in approvals if a.table == one.name and _names(a, one.change)), None)
        if approval is not None:
            passed.append(Approved(one.name, one.change.fingerprint, approval.by))
        else:
            found.append(_diagnostic(project, one))
    return Breaks(tuple(found), tuple(passed))


def _names(approval: Approved, change: Change) -> bool:
    return len(approval.change) >= APPROVAL_DIGITS and change.fingerprint.startswith(approval.change)


def _breaking(
    name: str, table: RegisteredTable, now: Offered | None, readers: Iterable[Reader]
) -> Iterator[tuple[Change, tuple[Reader, ...]]]:
    if now is not None:
        changes = compare_contracts(table.contract, now.contract, renamed_columns(table, now.meaning))
    else:
        emptied = compare_contracts(table.contract, TableContract(name, ()))
        changes = tuple(change for change in emptied if change.column)
    for change in changes:
        if change.rule.id in CODES:
            by = tuple(reader for reader in readers if _needs(reader.read.needs, change))
            if by or change.protected:
                yield change, by
        elif change.protected and change.breaks:
            by = tuple(reader for reader in readers if change.column in reader.read.needs)
            if by:
                yield change, by


def renamed_columns(table: RegisteredTable, now: Mapping[str, bytes]) -> dict[str, str]:
    """The new names of columns that were there: those that mean the same under a name that was not there. `now` has
    what each column means."""
    new = {identity.hex(): name for name, identity in now.items() if name not in table.contract}
    gone = (name for name in table.contract.names if name not in now)
    return {name: new[table.meaning[name]] for name in gone if table.meaning.get(name) in new}


def _needs(needs: TableContract, change: Change) -> bool:
    """Whether what `change` takes away is among what a reader was declared to need."""
    if change.column is None:
        return bool(needs.key)
    if change.column not in needs:
        return False
    field = needs[change.column]
    match change.rule.id:
        case "nonnull-dropped":
            return not field.nullable
        case "enum-widened" | "enum-changed":
            return field.enum is not None
        case "unique-dropped":
            return field.unique
        case _:
            return True


def _diagnostic(project: str, one: Breaking) -> Diagnostic:
    name, change = one.name, one.change
    column = f"{name}.{change.column}" if change.column else f"the key of {name}"
    removed = "removed with its table" if one.table.held_to is not None else "removed with its model"
    what = removed if one.gone else change.rule.says
    if change.rule.id == "column-renamed":
        what = f"renamed to `{change.after}`"
    elif change.before and change.after:
        what = f"{what} ({change.before} → {change.after})"
    span = None if one.gone else change.after_span
    others = "other projects" if all(r.project != project for r in one.readers) else "models"
    why = f"and {others} read it" if one.readers else "and it is protected: readers are promised that it stays"
    fix = (
        "keep what was published" if one.readers else "keep what was published, or publish it without `protected` first"
    )
    taken: tuple[str, ...] = ()
    if one.publisher != project:
        taken = (f"the table `{name}` is one that project {one.publisher} has published",)
        fix = "give the model another name"
    digits = change.fingerprint[:APPROVAL_DIGITS]
    return Diagnostic(
        CODES.get(change.rule.id, "E032"),
        f"`{column}`: {what}, {why}",
        span,
        label=f"published so since version {one.table.version}" if span else None,
        fix=f"{fix}, or let its owner approve the change {digits} in the product's contract",
        notes=(*taken, *(_told(reader, project) for reader in one.readers)),
    )


def _told(reader: Reader, project: str) -> str:
    read = reader.read
    whose = "this project" if reader.project == project else f"project {reader.project}"
    owner = f", owner {read.owner}" if read.owner else ""
    return f"read by `{read.consumer}` of {whose}{owner} (source `{read.source}`, {read.place})"
