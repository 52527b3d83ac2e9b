"""What a check leaves on disk for the next one in a new process, so that it computes what an edit reaches and no more.

A trail holds, for each piece of each file, what it declares; for each declaration what it looked up and what was found
in it; and the tables as models read them. Trees, contracts and relations are not in it: they are made from the text
when something asks for them (`_pending`), which only what the edit reaches does.

A revision that is made from a trail knows all findings. Its models are good for counting them, and for no more.
"""

from __future__ import annotations

import marshal
import pickle
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from ...analysis.compiled import CompiledModel, Source, Tests
from ...analysis.fields import table_contract
from ...analysis.memory import Kept, Memory
from ...analysis.model import Outcome
from ...analysis.order import Order
from ...analysis.scope import Clocks, Table
from ...contract.model import TableContract
from ...diagnostics import Diagnostic, Span
from ...language import ast
from ...language.parser import parse_bytes, parse_piece
from ...language.pieces import UNKNOWN, Known, Part, Piece, known_before
from ...relation.build import scan
from ...relation.nodes import Scan
from ...relation.schema import Column
from ...types import Inferred, ValueType
from ..project import Project
from .revisions import Revision, compiled_from

T = TypeVar("T")
KINDS: tuple[type[Any], ...] = (ast.Model, ast.Contract, ast.Source, ast.Test)
"""The kinds of declarations that are left as text; a piece that holds another, or a fault, is parsed again."""


REWRITTEN_AT = 50
"""A trail is written anew where more than one of so many models had to be computed: to write it takes that long."""


class LostError(Exception):
    """A trail does not lead on: something is asked for that it does not hold."""


def checked(project: Project, trail: bytes | None) -> tuple[Revision, bytes]:
    """The revision of `project`, with what is still true of `trail`, and the trail that the next check can follow: the
    same one where it lacks little.

    What stands in no text, the models that compile-time functions make, is computed each time, and so are models on a
    cycle, since each is seen by the others as something else in turn.
    """
    start = _Trail(marshal.loads(trail) if trail is not None else None)
    try:
        revision = start.follow(project)
    except LostError:
        start = _Trail(None)
        revision = start.follow(project)
    if trail is not None and start.lacks(revision) * REWRITTEN_AT <= len(revision.memory.models):
        return revision, trail
    return revision, _trail_of(revision, start)


def _trail_of(revision: Revision, start: _Trail) -> bytes:
    memory = revision.memory
    types = {type_: number for number, type_ in enumerate(start.types)}
    old = start.kept["tables"] if start.kept is not None else {}
    whose = {id(kept.declaration) for kept in memory.models.values()}
    whose |= {id(kept.declaration) for kept in memory.contracts.values()}
    whose |= {id(kept.declaration) for kept in memory.sources.values()}
    tests = {id(kept.declaration): number for number, kept in enumerate(memory.tests)}
    pieces: dict[str, dict[tuple[str, str], list[Any]]] = {path: {} for path in revision.modules}
    for path, result in revision.modules.items():
        for piece in result.pieces:
            if (declared := _declared(piece, whose, tests)) is not None:
                pieces[path].setdefault((piece.text, piece.following), []).append((piece.line, piece.lines, declared))
    return marshal.dumps(
        {
            "pieces": pieces,
            "free": {path: known_before(result.pieces).free for path, result in revision.modules.items()},
            "domains": pickle.dumps(dict(memory.domains)),
            "externs": pickle.dumps(dict(memory.externs)),
            "contracts": {n: (k.notes, _told(k.result[1])) for n, k in memory.contracts.items()},
            "broken contracts": [n for n in memory.promised if n not in memory.contracts],
            "sources": {
                n: (k.notes, _told(k.result[2]))
                for n, k in memory.sources.items()
                if k.result[1] is memory.tables[n]  # not where a model has its name too, and is what others read
            },
            "reads": {n: [(t, _place(name.span)) for t, name in k.result.items()] for n, k in memory.reads.items()},
            "tables": {
                n: old[n] if n in old and id(table) in _MADE_BY else _encoded(table, types)
                for n, table in memory.tables.items()
            },
            "models": {
                n: (k.notes, _told(k.result.diagnostics), k.result.compiled is not None)
                for n, k in memory.models.items()
            },
            "knotted": [*memory.order.knotted],
            "sound": [*memory.sound],
            "unsound": [*memory.unsound],
            "tests": [(k.notes, _told(k.result[1])) for k in memory.tests],
            "types": pickle.dumps([*types]),
        }
    )


def _declared(piece: Piece, whose: set[int], tests: Mapping[int, int]) -> list[Any] | None:
    found = []
    for part in piece.parts:
        kind = next((i for i, one in enumerate(KINDS) if isinstance(part.declaration, one)), None)
        if kind is None or part.diagnostics:
            return None
        one: Any = part.declaration
        number = tests.get(id(one), -1) if kind == KINDS.index(ast.Test) else (0 if id(one) in whose else -1)
        found.append((kind, one.name.text, _place(one.name.span), number))
    return found


def _place(span: Span) -> tuple[str, int, int, int, int]:
    return span.file, span.line, span.column, span.end_line, span.end_column


def _told(diagnostics: tuple[Diagnostic, ...]) -> bytes:
    return pickle.dumps(diagnostics) if diagnostics else b""


def _heard(told: bytes) -> tuple[Diagnostic, ...]:
    found: tuple[Diagnostic, ...] = pickle.loads(told) if told else ()
    return found


def _encoded(table: Table, types: dict[ValueType, int]) -> bytes:
    """A table in plain values; as it is where more than its columns and keys are known."""
    relation = table.relation
    if not isinstance(relation, Scan):
        return marshal.dumps(pickle.dumps(table))
    columns = [
        (
            c.name,
            types.setdefault(c.inferred.type, len(types)),
            c.inferred.nullable,
            None if c.inferred.values is None else sorted(c.inferred.values),
            c.inferred.nonzero,
        )
        for c in relation.schema.columns
    ]
    keys = [sorted(key) for key in relation.schema.keys]
    clocks = table.clocks
    told = (clocks.valid_from, clocks.valid_to, clocks.available_time, clocks.one_vintage)
    return marshal.dumps((relation.table, columns, keys, sorted(table.unresolved), table.complete, told))


def _decoded(encoded: bytes, types: list[ValueType]) -> Table:
    plain = marshal.loads(encoded)
    if isinstance(plain, bytes):
        table: Table = pickle.loads(plain)
        return table
    name, columns, keys, unresolved, complete, clocks = plain
    own = (
        Column(c, Inferred(types[type_], nullable, None if values is None else frozenset(values), nonzero))
        for c, type_, nullable, values, nonzero in columns
    )
    return Table(scan(name, own, map(frozenset, keys)), frozenset(unresolved), complete, Clocks(*clocks))


class _Unread:
    """A piece whose text is parsed when one of its declarations is asked for."""

    __slots__ = ("parts", "where")

    def __init__(self, where: tuple[str, int, str, str]) -> None:
        self.where = where
        self.parts: tuple[Part, ...] = ()

    def declaration(self, place: int) -> ast.Declaration | None:
        """The declaration at that place among those of the piece."""
        if not self.parts:
            self.parts = parse_piece(*self.where).parts
        return self.parts[place].declaration


class _Trail:
    """A trail that is followed: what it says of pieces, and in the end of declarations."""

    def __init__(self, kept: dict[str, Any] | None) -> None:
        self.kept = kept
        self.types: list[ValueType] = pickle.loads(kept["types"]) if kept is not None else []
        self.stubs: dict[tuple[int, str], Any] = {}
        self.tests: dict[int, Any] = {}
        self.unknown = 0
        self.given = Memory()

    def lacks(self, revision: Revision) -> int:
        """How many pieces and models of `revision`, the one that was followed to, it does not have."""
        known = self.given.models
        return self.unknown + sum(kept is not known.get(name) for name, kept in revision.memory.models.items())

    def follow(self, project: Project) -> Revision:
        """The revision of `project`."""
        modules = {file.path: parse_bytes(file.content, file.path, self.known(file.path)) for file in project.files}
        self.given = self.memory()
        return compiled_from(project, modules, self.given)

    def known(self, path: str) -> Known:
        """What the trail has of a file."""
        if self.kept is None:
            return UNKNOWN
        pieces, free = self.kept["pieces"].get(path, {}), self.kept["free"].get(path, 1)
        return Known(find=partial(self.find, path, pieces), free=free)

    def find(self, path: str, pieces: dict[tuple[str, str], list[Any]], text: str, following: str) -> Piece | None:
        """The piece with its declarations left as text, if the trail has it among those of the file."""
        same = pieces.get((text, following))
        if not same:
            self.unknown += 1
            return None
        line, lines, declared = same.pop(0)
        unread = _Unread((text, line, following, path))
        parts = []
        for place, (kind, name, name_place, number) in enumerate(declared):
            stub = _pending(KINDS[kind], partial(unread.declaration, place))
            object.__setattr__(stub, "name", ast.Name(name, Span(*name_place)))
            if kind == KINDS.index(ast.Test):
                self.tests[number] = stub
            elif number >= 0:
                self.stubs[kind, name] = stub
            parts.append(Part(stub, ()))
        return Piece(text, line, lines, following, tuple(parts))

    def memory(self) -> Memory:
        """What is kept of the declarations that were found again."""
        if self.kept is None:
            return Memory()
        kept, stubs = self.kept, self.stubs
        domains, externs = pickle.loads(kept["domains"]), pickle.loads(kept["externs"])
        model, contract, source, _ = range(len(KINDS))

        def promised(name: str) -> TableContract:
            declaration = stubs.get((contract, name))
            if declaration is None:
                return _pending(TableContract, lambda: TableContract(name, ()))
            made = partial(table_contract, name, domains=domains, report=_unheard)
            return _pending(TableContract, lambda: made(declared=declaration.fields, span=declaration.span))

        contracts = {name: promised(name) for name in kept["contracts"]}
        tables = {name: _pending(Table, partial(_decoded, one, self.types)) for name, one in kept["tables"].items()}
        compiled = {n: _pending(CompiledModel, _unknown) for n, (_, _, made) in kept["models"].items() if made}
        return Memory(
            domains=domains,
            externs=externs,
            tables=tables,
            promised=contracts | dict.fromkeys(kept["broken contracts"]),
            wanted={table: True for read in kept["reads"].values() for table, _ in read},
            declared={n: stubs.get((model, n)) for n in kept["models"]},
            unsound=dict.fromkeys(kept["unsound"], True),
            order=Order((), frozenset(kept["knotted"])),
            sound={n: compiled[n] for n in kept["sound"]},
            contracts={
                name: Kept(stubs[contract, name], notes, (contracts[name], _heard(told)))
                for name, (notes, told) in kept["contracts"].items()
                if (contract, name) in stubs
            },
            sources={
                name: Kept(stubs[source, name], notes, (_pending(Source, _unknown), tables[name], _heard(told)))
                for name, (notes, told) in kept["sources"].items()
                if (source, name) in stubs
            },
            reads={
                name: Kept(stubs[model, name], (), {t: ast.Name(t, Span(*place)) for t, place in read})
                for name, read in kept["reads"].items()
                if (model, name) in stubs
            },
            models={
                name: Kept(stubs[model, name], notes, Outcome(tables[name], compiled.get(name), _heard(told)))
                for name, (notes, told, _) in kept["models"].items()
                if (model, name) in stubs
            },
            tests=tuple(
                Kept(self.tests[number], notes, (Tests(), _heard(told)))
                for number, (notes, told) in enumerate(kept["tests"])
                if number in self.tests
            ),
        )


def _unheard(diagnostic: Diagnostic) -> None:
    """What is found again was told before."""


def _unknown() -> Any:
    raise LostError


_MADE_BY: dict[int, tuple[object, Callable[[], Any]]] = {}
"""How to make each value that is pending, by its identity; with the value itself, for what nobody holds any more gives
its identity to another. A process makes one check, so that nothing is let go."""
_PENDING: dict[Any, type[Any]] = {}


def _pending(kind: type[T], make: Callable[[], Any]) -> T:
    """A value of `kind` that is made when a part of it is asked for, and until then is only itself."""
    if kind not in _PENDING:
        _PENDING[kind] = _pending_kind(kind)
    value: T = object.__new__(_PENDING[kind])
    _MADE_BY[id(value)] = value, make
    return value


def _pending_kind(kind: Any) -> type[Any]:
    def made(self: Any) -> Any:
        _, make = _MADE_BY.pop(id(self))
        whole = make()
        object.__setattr__(self, "__class__", kind)
        for one in kind.__match_args__:
            object.__setattr__(self, one, getattr(whole, one))
        return self

    def part(self: Any, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(made(self), name)

    def equal(self: Any, other: object) -> bool:
        return self is other or bool(made(self) == other)

    def hashed(self: Any) -> int:
        return hash(made(self))

    return type(kind.__name__, (kind,), {"__slots__": (), "__getattr__": part, "__eq__": equal, "__hash__": hashed})
