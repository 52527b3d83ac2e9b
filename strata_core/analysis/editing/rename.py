"""Renaming: the edits that give something another name wherever it is named, and change nothing else.

What one name is tied to is renamed with it: a column, the field that promises it, the columns that it comes through
as. A bare item of a `select` keeps what it says by being spelled out: `amount` becomes `amount = total`, or
`total = amount`. A name that would then mean something else is refused, by comparing what every name of the project
means before and after.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from ...diagnostics import Edit, Span
from ...diagnostics.edits import applied
from ...folder_names import NAME_RULE, names_a_folder
from ...frozen import dataclass, replace
from ...language import ast
from ...language.names import can_be_written, spelled
from ...language.recovery import recover_module
from .index import Index, build_index
from .symbols import Kind, Occurrence, Symbol

NOUNS = {
    Kind.TABLE: "table",
    Kind.COLUMN: "column",
    Kind.CONTRACT: "contract",
    Kind.FIELD: "field",
    Kind.DOMAIN: "domain",
    Kind.PIPELINE: "pipeline",
    Kind.ALIAS: "table",
    Kind.FUNCTION: "function",
}
"""What can be renamed, and what it is called."""


class RenameRefusedError(Exception):
    """Why something cannot be renamed, in words for its user."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """The edits of a rename, by file. `sources` are the sources whose declared columns get another name: their data
    must have it too."""

    edits: Mapping[str, tuple[Edit, ...]]
    sources: tuple[str, ...] = ()


def nameable(occurrence: Occurrence, index: Index) -> Occurrence:
    """`occurrence`, if what it names can be renamed; raises `RenameRefusedError`."""
    symbol = occurrence.symbol
    if symbol.kind is Kind.FUNCTION and not index.definitions(symbol):
        raise RenameRefusedError(f"`{symbol.name}` is a function of the language")
    if symbol.kind is Kind.MODULE:
        raise RenameRefusedError("a module has the name of its file")
    made = any(d.name.text == symbol.name for d, _ in index.generated) if symbol.kind is Kind.TABLE else False
    if made or "${" in symbol.name:
        raise RenameRefusedError(f"`{symbol.name}` is named by a compile-time function")
    if not any(o.defines for o in index.references(symbol)):
        raise RenameRefusedError(f"`{symbol.name}` is declared nowhere")
    return occurrence


def rename(symbol: Symbol, name: str, index: Index, text_of: Callable[[str], str | None]) -> Renaming:
    """The edits that rename `symbol` to `name`; raises `RenameRefusedError`.

    `text_of` gives the text of a file, which must be the one that `index` was made from.
    """
    name = name[1:-1] if len(name) > 2 and name[0] == name[-1] == "`" else name
    group = index.same(symbol)
    _check(name, group, index)
    if name == symbol.name:
        return Renaming({})
    texts: dict[str, str] = {}
    edits: dict[str, list[Edit]] = defaultdict(list)
    for span, places in sorted(_by_place(o for s in group for o in index.of(s)).items()):
        text = texts.setdefault(span.file, text_of(span.file) or "")
        edits[span.file].append(_edit(span, places, name, text, index))
    changed = {file: applied(texts[file], found) for file, found in edits.items()}
    _compare(index, lambda s: _renamed(s, group, name), name, changed)
    sources = {s.owner for s in group if s.kind is Kind.COLUMN and isinstance(index.tables.get(s.owner), ast.Source)}
    return Renaming({file: tuple(found) for file, found in edits.items()}, tuple(sorted(sources)))


def _by_place(occurrences: Iterable[Occurrence]) -> dict[Span, list[Occurrence]]:
    found: dict[Span, list[Occurrence]] = defaultdict(list)
    for occurrence in occurrences:
        found[occurrence.span].append(occurrence)
    return found


def _edit(span: Span, places: list[Occurrence], name: str, text: str, index: Index) -> Edit:
    """The change at one place. At a bare item, of which one of its two meanings is renamed, both are spelled out."""
    written = _at(span, text)
    if written.startswith('"'):
        return Edit(span, f'"{name}"')
    item = places[0].item
    here = {o.defines for o in index.at(span.file, span.line, span.column) if o.span == span}
    renamed = {o.defines for o in places}
    if item is None or renamed >= here:
        return Edit(span, spelled(name))
    if renamed == {True}:
        return Edit(item.start, f"{spelled(name)} = ")
    return Edit(item, f"{written} = {_at(item, text)[: -len(written)]}{spelled(name)}")


def _at(span: Span, text: str) -> str:
    line = text.split("\n")[span.line - 1]
    return line[span.column - 1 : span.end_column - 1] if span.line == span.end_line else ""


def _check(name: str, group: frozenset[Symbol], index: Index) -> None:
    if not can_be_written(name):
        raise RenameRefusedError("a name has at least one character, and no backquote or line break")
    for symbol in sorted(group):
        if symbol.kind is Kind.TABLE and not names_a_folder(name):
            raise RenameRefusedError(f"`{name}` cannot name a table: use {NAME_RULE}")
        other = replace(symbol, name=name)
        if other != symbol and other in index.symbols and other not in group:
            of = f" of `{symbol.owner}`" if symbol.owner else ""
            raise RenameRefusedError(f"there is already a {NOUNS[symbol.kind]} `{name}`{of}")
        if symbol.kind is Kind.ALIAS and name != symbol.name and name in _labels(symbol.owner, index):
            raise RenameRefusedError(f"`{symbol.owner}` already reads a table as `{name}`")


def _labels(model: str, index: Index) -> set[str]:
    """The names under which a model reads tables, or could."""
    own = (f.occurrences for d, f in index.found if isinstance(d, ast.Model) and d.name.text == model)
    return {o.symbol.name for found in own for o in found if o.symbol.kind in (Kind.TABLE, Kind.ALIAS)}


def _renamed(symbol: Symbol, group: frozenset[Symbol], name: str) -> Symbol:
    """What `symbol` is after `group` has got another `name`; what it belongs to may be one of them."""
    owner = _OWNER.get(symbol.kind)
    if owner is not None and Symbol(owner, symbol.owner) in group:
        symbol = replace(symbol, owner=name)
    return replace(symbol, name=name) if symbol in group else symbol


_OWNER = {Kind.COLUMN: Kind.TABLE, Kind.ALIAS: Kind.TABLE, Kind.FIELD: Kind.CONTRACT}


def _compare(before: Index, renamed: Callable[[Symbol], Symbol], name: str, changed: Mapping[str, str]) -> None:
    """Refuse a rename after which some name means something else."""
    modules = [recover_module(changed[m.path], m.path) if m.path in changed else m for m in before.modules]
    after = build_index(modules, before)
    if len(before.generated) != len(after.generated):
        raise RenameRefusedError(f"with `{name}` a compile-time function would make other models")
    both = zip((*before.found, *before.generated), (*after.found, *after.generated), strict=False)
    for (declaration, old), (_, new) in both:
        if old is new:
            continue
        expected = [(renamed(o.symbol), o.defines) for o in old.occurrences]
        found = [(o.symbol, o.defines) for o in new.occurrences]
        columns = [renamed(s) for s in (old.outputs or {}).values()]
        if expected != found or columns != [*(new.outputs or {}).values()]:
            pairs = zip(old.occurrences, expected, found, strict=False)
            place = next((o.span for o, e, f in pairs if e != f), declaration.span)
            raise RenameRefusedError(f"`{name}` would mean something else in {place.file}, line {place.line}")
