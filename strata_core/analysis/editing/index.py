"""The names of a whole project: what stands at a place, where a name is declared, where it is used.

A model that a compile-time function makes has its names at its template; a place there means what the first model of
the template means.

Kept from one state of a text to the next: a declaration that did not change, and reads the same columns as before, is
not looked at again. Linear in what is declared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

from ...diagnostics import Span
from ...frozen import dataclass
from ...language import ast
from ..fn.expansion import Evaluated, expand
from ..order import order, reads
from .occurrences import nodes_of, occurrences
from .symbols import Columns, Found, Kind, Occurrence, Symbol

NO_CALLS: Mapping[Span, Evaluated] = MappingProxyType({})


@dataclass(frozen=True)
class Index:
    """Every name of a project. `found` has the names of each declaration, in the order of the modules, `generated`
    those of the models that calls of compile-time functions gave; `columns` has those that tables have for their
    readers."""

    modules: tuple[ast.Module, ...]
    found: tuple[tuple[ast.Declaration, Found], ...]
    columns: Mapping[str, Columns]
    fields: Mapping[str, frozenset[str]]
    tables: Mapping[str, ast.Source | ast.Model]
    generated: tuple[tuple[ast.Model, Found], ...] = ()

    def at(self, file: str, line: int, column: int) -> list[Occurrence]:
        """The names at a place (counted as in `Span`), those that declare something first; a cursor right behind a
        name is at it."""
        model = self.generated_at(file, line, column)
        names = next((f.occurrences for d, f in self.generated if d is model), ()) if model is not None else ()
        here = [o for o in names if _covers(o.span, line, column)]
        here = here or [o for o in self.in_file(file) if _covers(o.span, line, column)]
        return sorted(here, key=lambda o: not o.defines)

    def generated_at(self, file: str, line: int, column: int) -> ast.Model | None:
        """The first of the models that are made of the template at a place."""
        return next((d for d, _ in self.generated if d.span.file == file and _covers(d.span, line, column)), None)

    def in_file(self, file: str) -> tuple[Occurrence, ...]:
        """The names of one file, in the order of the passes."""
        return tuple(o for names in self._by_file.get(file, ()) for o in names.occurrences)

    def of(self, symbol: Symbol) -> tuple[Occurrence, ...]:
        """Where exactly `symbol` is named."""
        return self._by_symbol.get(symbol, ())

    def same(self, symbol: Symbol) -> frozenset[Symbol]:
        """`symbol` with all that must bear its name: the promised field, the columns that it comes through as."""
        found = {symbol}
        pending = [symbol]
        while pending:
            for other in self._tied.get(pending.pop(), ()):
                if other not in found:
                    found.add(other)
                    pending.append(other)
        return frozenset(found)

    def references(self, symbol: Symbol) -> list[Occurrence]:
        """Every place that names `symbol` or what must bear its name, by file and number of the line."""
        return sorted((o for s in self.same(symbol) for o in self.of(s)), key=lambda o: (o.span, not o.defines))

    def definitions(self, symbol: Symbol) -> list[Occurrence]:
        """Where `symbol` is declared; where it only comes through, where what it comes from is."""
        own = [o for o in self.of(symbol) if o.defines]
        if own:
            return own
        others = [o for o in self.references(symbol) if o.defines]
        return [o for o in others if o.symbol.kind is not Kind.FIELD] or others

    @cached_property
    def declarations(self) -> Mapping[str, tuple[ast.Declaration, ...]]:
        """The declarations of each file."""
        return {module.path: module.declarations for module in self.modules}

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """Everything that is named somewhere, or is a column of a table."""
        columns = (s for known in self.columns.values() for s in known.values())
        return frozenset(self._by_symbol) | frozenset(columns)

    @cached_property
    def _by_file(self) -> Mapping[str, list[Found]]:
        found: dict[str, list[Found]] = defaultdict(list)
        for declaration, names in self.found:
            found[declaration.span.file].append(names)
        return found

    @cached_property
    def _by_symbol(self) -> Mapping[Symbol, tuple[Occurrence, ...]]:
        found: dict[Symbol, list[Occurrence]] = defaultdict(list)
        for _, names in (*self.found, *self.generated):
            for occurrence in names.occurrences:
                found[occurrence.symbol].append(occurrence)
        return {symbol: tuple(places) for symbol, places in found.items()}

    @cached_property
    def _tied(self) -> Mapping[Symbol, set[Symbol]]:
        found: dict[Symbol, set[Symbol]] = defaultdict(set)
        for a, b in self._ties():
            found[a].add(b)
            found[b].add(a)
        return found

    def _ties(self) -> Iterator[tuple[Symbol, Symbol]]:
        written: dict[tuple[Span, Kind], Symbol] = {}
        templates = [(d, f) for d, f in self.found if isinstance(d, ast.Fn)] if self.generated else []
        for _, names in (*self.generated, *templates):
            for one in names.occurrences:
                if one.defines and one.symbol.kind in (Kind.COLUMN, Kind.ALIAS):
                    # What one text names in several models has one name in all of them.
                    first = written.setdefault((one.span, one.symbol.kind), one.symbol)
                    if first is not one.symbol:
                        yield first, one.symbol
        for declaration, names in (*self.found, *self.generated):
            yield from names.ties
            if isinstance(declaration, ast.Model) and declaration.contract is not None:
                contract = declaration.contract.text
                promised = self.fields.get(contract, frozenset())
                for name, symbol in (names.outputs or {}).items():
                    if name in promised:
                        yield symbol, Symbol(Kind.FIELD, name, contract)


def build_index(
    modules: Sequence[ast.Module], before: Index | None = None, calls: Mapping[Span, Evaluated] = NO_CALLS
) -> Index:
    """The names of `modules`; what did not change is taken over from the index `before`, and what calls of compile-time
    functions gave from `calls`."""
    kept = {id(d): (d, f) for d, f in (*before.found, *before.generated)} if before is not None else {}
    known = before.columns if before is not None else {}
    expanded = expand(modules, calls, lambda _: None).modules
    tables = _tables(expanded)
    models = {name: d for name, d in tables.items() if isinstance(d, ast.Model)}
    declared = [d for module in modules for d in module.declarations]
    fields = {
        c.name.text: frozenset(f.name.text for f in c.fields) for c in reversed(declared) if isinstance(c, ast.Contract)
    }
    ordered = order(models, {name: reads(model) for name, model in models.items()}, lambda _: None)
    columns: dict[str, Columns] = {}
    for name in ordered.knotted:
        contract = models[name].contract
        promised = fields.get(contract.text, frozenset()) if contract is not None else frozenset()
        columns[name] = {f: Symbol(Kind.COLUMN, f, name) for f in sorted(promised)}
    done: dict[int, Found] = {}

    def look(declaration: ast.Declaration) -> Found:
        same = kept.get(id(declaration))
        if same is not None and all(_alike(known.get(t), columns.get(t)) for t in _read(declaration)):
            return same[1]
        return occurrences(declaration, columns.get)

    sources = [d for d in tables.values() if isinstance(d, ast.Source)]
    readable: list[ast.Source | ast.Model] = [*sources, *(models[name] for name in ordered.names)]
    for declaration in readable:
        found = done[id(declaration)] = look(declaration)
        if found.outputs is not None:
            name, former = declaration.name.text, known.get(declaration.name.text)
            # The very same value as before says at once that readers see what they saw.
            columns[name] = former if former is not None and _alike(former, found.outputs) else found.outputs
    found_all = tuple((d, done[id(d)] if id(d) in done else look(d)) for d in declared)
    written = {id(d) for d in declared}
    generated = tuple((m, done[id(m)]) for m in models.values() if id(m) not in written)
    return Index(tuple(modules), found_all, columns, fields, tables, generated)


def _tables(modules: Iterable[ast.Module]) -> dict[str, ast.Source | ast.Model]:
    """The tables by name; of two with one name the first counts."""
    found: dict[str, ast.Source | ast.Model] = {}
    for module in modules:
        for declaration in module.declarations:
            if isinstance(declaration, ast.Source | ast.Model):
                found.setdefault(declaration.name.text, declaration)
    return found


def _read(declaration: ast.Declaration) -> Iterable[str]:
    match declaration:
        case ast.Model():
            return reads(declaration)
        case ast.Fn():
            templates = (n.model for n in nodes_of(declaration.body) if isinstance(n, ast.ModelLiteral))
            return [table for template in templates for table in reads(template)]
        case ast.Test():
            others = (e.condition.values for e in declaration.expectations if isinstance(e.condition, ast.In))
            return (
                declaration.name.text,
                *(given.table.text for given in declaration.given),
                *(v.qualifier.text for v in others if isinstance(v, ast.ColumnRef) and v.qualifier is not None),
            )
        case _:
            return ()


def _alike(a: Columns | None, b: Columns | None) -> bool:
    return a is b or (a is not None and b is not None and list(a.items()) == list(b.items()))


def _covers(span: Span, line: int, column: int) -> bool:
    return (span.line, span.column) <= (line, column) <= (span.end_line, span.end_column)
