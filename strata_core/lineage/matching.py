"""Which table and which column of one revision is which of another: by name, and where names changed by meaning.

A table that was renamed, or a column of it, is the same to those who read it: what only follows from a new name is no
change of theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from ..analysis.compiled import CompiledModel, CompiledProject, Source
from ..frozen import dataclass
from ..relation.derivation import Derivation, derivation

Declared = CompiledModel | Source
"""A table of a project."""

ENOUGH = 0.5
"""The share of columns that a renamed model must have kept as they were."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A table on both sides. `columns` gives the name after of each column before that is still there.

    Of one that is the same object on both sides, compiled once for both, nothing is said: nothing changed.
    """

    before: Declared
    after: Declared
    columns: Mapping[str, str]
    derived_before: Derivation | None = None
    derived_after: Derivation | None = None


@dataclass(frozen=True, slots=True)
class Names:
    """What tables and columns of the side after were called before, where they were called otherwise."""

    tables: Mapping[str, str]
    columns: Mapping[tuple[str, str], str]

    def before(self, table: str, column: str) -> tuple[str, str]:
        """The table and column before of those after."""
        return self.tables.get(table, table), self.columns.get((table, column), column)


@dataclass(frozen=True, slots=True)
class Matching:
    """Pairs in the order of the project after, the tables that are on one side alone, and who is called how."""

    pairs: tuple[Pair, ...]
    removed: tuple[Declared, ...]
    added: tuple[Declared, ...]
    names: Names


def match(before: CompiledProject, after: CompiledProject) -> Matching:
    """Match the sound tables of two revisions. Linear in them; what was compiled once for both costs nearly nothing."""
    tables: dict[str, str] = {}
    columns: dict[tuple[str, str], str] = {}
    names = Names(tables, columns)  # of what was matched so far: each table is matched after those that it reads
    known_after = after.models.keys() | after.sources.keys() | after.broken
    known_before = before.models.keys() | before.sources.keys() | before.broken
    lost = {name: model for name, model in before.models.items() if name not in known_after}
    derived = {name: derivation(model.written) for name, model in lost.items()}
    holders: dict[bytes, list[str]] = {}
    for name, found in derived.items():
        for identity in found.columns.values():
            holders.setdefault(identity, []).append(name)
    moved = {_place(s): s for s in before.sources.values() if s.name not in known_after}
    pairs: list[Pair] = []
    added: list[Declared] = []
    taken: set[str] = set()
    for new in tables_of(after):
        old: Declared | None = before.models.get(new.name) or before.sources.get(new.name)
        if old is new:
            taken.add(new.name)
            pairs.append(Pair(new, new, {}))
            continue
        own = derivation(new.written, names.before) if isinstance(new, CompiledModel) else None
        if old is None and new.name not in known_before:
            if own is not None:
                name_before = _renamed(own, derived, holders, taken)
                old = lost[name_before] if name_before else None
            elif isinstance(new, Source):
                old = moved.get(_place(new))
        if old is None:
            if new.name not in known_before:
                added.append(new)
            continue
        taken.add(old.name)
        earlier = derivation(old.written) if isinstance(old, CompiledModel) and own is not None else None
        pair = _paired(old, new, earlier, own)
        pairs.append(pair)
        if old.name != new.name:
            tables[new.name] = old.name
        columns.update({(new.name, now): was for was, now in pair.columns.items() if was != now})
    removed = [t for t in tables_of(before) if t.name not in taken and t.name not in known_after]
    return Matching(tuple(pairs), tuple(removed), tuple(added), names)


def tables_of(project: CompiledProject) -> Iterator[Declared]:
    """The sources, then the models, each after what it reads."""
    yield from project.sources.values()
    yield from project.models.values()


def columns_of(table: Declared) -> tuple[str, ...]:
    """The names of a table's columns, in order."""
    return table.written.schema.names if isinstance(table, CompiledModel) else tuple(c.name for c in table.columns)


def _place(source: Source) -> tuple[object, ...]:
    return source.resource.kind, source.resource.location, *sorted(map(str, source.resource.options.items()))


def _renamed(
    own: Derivation, derived: Mapping[str, Derivation], holders: Mapping[bytes, list[str]], taken: set[str]
) -> str | None:
    """The lost model that a new one is by another name: one that has the same rows and enough of the same columns, or
    all of the same columns."""
    votes: Counter[str] = Counter()
    for identity in own.columns.values():
        votes.update({name for name in holders.get(identity, ()) if name not in taken})
    best: tuple[float, str] | None = None
    for name, count in votes.items():
        share = count / max(len(own.columns), len(derived[name].columns))
        if (share >= ENOUGH and derived[name].rows == own.rows) or share == 1:
            best = max(best or (0.0, ""), (share + (derived[name].rows == own.rows), name))
    return best[1] if best else None


def _paired(old: Declared, new: Declared, before: Derivation | None, after: Derivation | None) -> Pair:
    """Columns of one name are the same; of the rest those that are computed alike, first come first served."""
    names_before, names_after = columns_of(old), frozenset(columns_of(new))
    columns = {name: name for name in names_before if name in names_after}
    if before is not None and after is not None:
        fresh: dict[bytes, list[str]] = {}
        for name in columns_of(new):
            if name not in columns:
                fresh.setdefault(after.columns[name], []).append(name)
        for name in names_before:
            if name not in columns and (candidates := fresh.get(before.columns[name])):
                columns[name] = candidates.pop(0)
    return Pair(old, new, columns, before, after)
