"""What can be written at a place: the names that mean something there, with what is known of each, the likely first.

`language.cursor` tells where a half-typed text stands; here the place gets its names. Pure: for editors, and for
whoever else asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...contract.model import MaskRule
from ...diagnostics.wording import plural
from ...language import ast
from ...language.cursor import Cursor, path_to
from ...language.names import spelled
from ...language.recovery import CURSOR, MISSING
from ...relation.schema import Column
from ...types import TYPE_NAMES
from ...types.spelling import FORMS
from ..expressions import CASTS
from ..partitions import ATTRIBUTES as PARTITION_ATTRIBUTES
from ..sources import BOUNDS, CLOCKS, FILE_KINDS, NAMESPACES, OPTIONS, TABLE_KEYS
from .candidates import LAST, LATER, LIKELY, PLAIN, Candidate, Names, Path, Place, Sort, node_of
from .completion_in_expressions import (
    called,
    column_candidate,
    expression,
    generators,
    instants,
    keyword_arguments,
    output_name,
    outputs,
    visible_at,
)
from .scope_at import columns_of
from .symbols import Kind as SymbolKind
from .symbols import Symbol

SNIPPETS = {
    "aggregate": "aggregate { $0 }",
    "contract": "contract ${1:Name} {\n  $0\n}",
    "derive": "derive { $0 }",
    "domain": "domain ${1:name} = ${0:string}",
    "enum": "enum {$0}",
    "expand": "expand ${1:tags} as ${0:tag}",
    "filter": "filter $0",
    "from": "from $0",
    "group": "group { $1 } (\n  aggregate { $0 }\n)",
    "join_anti": "join_anti $1 on $0",
    "join_asof": "join_asof $1 on $2 at $0",
    "join_asof_inner": "join_asof_inner $1 on $2 at $0",
    "join_full": "join_full $1 on $0",
    "join_inner": "join_inner $1 on $0",
    "join_left": "join_left $1 on $0",
    "join_semi": "join_semi $1 on $0",
    "let": "let ${1:name} = $0",
    "model": "model ${1:name} {\n  from $0\n}",
    "pipeline": "pipeline ${1:prod} {\n  env: $1\n  models: [$0]\n}",
    "select": "select { $0 }",
    "sort": "sort { $0 }",
    "source": 'source ${1:name}(${2:csv}: "$3") {\n  columns: {\n    $0\n  }\n}',
    "test": "test ${1:model} {\n  expect $0\n}",
}
"""How a word that is followed by more is written whole."""
ATTRIBUTES = {
    "owner": "who answers for the model",
    "description": "what a reader should know",
    "label": "a tag for orchestrators",
    **PARTITION_ATTRIBUTES,
}


def candidates(cursor: Cursor, names: Names) -> list[Candidate]:
    """What can be written at `cursor`, the likely first. Nothing is left out for what is already typed of it."""
    found: dict[str, Candidate] = {}
    for one in (*_names(cursor, names), *_words(cursor)):
        found.setdefault(one.label, one)
    return sorted(found.values(), key=lambda c: c.rank)


def _words(cursor: Cursor) -> Iterator[Candidate]:
    """Keywords; of statements those that can follow: one `from` comes first, and once."""
    words = cursor.words
    model = cursor.declaration
    if isinstance(model, ast.Model) and "filter" in words and "select" in words:
        begun = any(isinstance(s, ast.From) for s in model.statements)
        words = words - {"from"} if begun else words & {"from"}
    for word in sorted(words):
        yield Candidate(word, Sort.KEYWORD, word, snippet=SNIPPETS.get(word), rank=LATER)


def _names(cursor: Cursor, names: Names) -> Iterator[Candidate]:
    if cursor.declaration is None:
        return
    path = path_to(cursor.declaration, CURSOR)
    if len(path) < 2:
        return
    (node, field) = path[-2]
    if cursor.literal:
        yield from _in_string(path, names) if len(path) > 2 else ()
        return
    at = _PLACES.get((type(node), field))
    if at is not None:
        yield from at(path, names)


def _tables(path: Path, names: Names) -> Iterator[Candidate]:
    own = node_of(path, ast.Model)
    for name in sorted(names.known.tables):
        if own is None or name != own.name.text:
            yield _table(name, names)


def _table(name: str, names: Names, rank: int = PLAIN) -> Candidate:
    table = names.known.tables[name]
    kind = "model" if name in names.models else "source"
    columns = len(table.columns)
    detail = f"{kind}, {plural(columns, 'column')}"
    return Candidate(name, Sort.TABLE, spelled(name), detail, symbol=Symbol(SymbolKind.TABLE, name), rank=rank)


def _models(path: Path, names: Names) -> Iterator[Candidate]:
    pipeline = node_of(path, ast.Pipeline)
    taken = {name.text for name in pipeline.models if isinstance(name, ast.Name)} if pipeline is not None else set()
    yield from (_table(name, names) for name in sorted(names.models - taken))
    if pipeline is not None:
        yield from generators(names)


def _sources(path: Path, names: Names) -> Iterator[Candidate]:
    yield from (_table(name, names) for name in sorted(names.known.tables) if name not in names.models)


def _contracts(path: Path, names: Names) -> Iterator[Candidate]:
    for name, contract in sorted(names.known.contracts.items()):
        detail = ", ".join(contract.names)
        yield Candidate(name, Sort.CONTRACT, spelled(name), detail, symbol=Symbol(SymbolKind.CONTRACT, name))


def _types(path: Path, names: Names) -> Iterator[Candidate]:
    for name in TYPE_NAMES:
        yield Candidate(name, Sort.TYPE, name, FORMS.get(name, ""), snippet=_FORM_SNIPPETS.get(name))
    for name, type_ in sorted(names.known.domains.items()):
        symbol = Symbol(SymbolKind.DOMAIN, name)
        yield Candidate(name, Sort.DOMAIN, spelled(name), str(type_), symbol=symbol, rank=LIKELY)


_FORM_SNIPPETS = {
    "decimal": "decimal(${1:18}, ${0:2})",
    "money": "money(${0:EUR})",
    "array": "array($0)",
    "map": "map(string, $0)",
    "struct": "struct<$0>",
}


def _contract_fields(path: Path, names: Names) -> Iterator[Candidate]:
    """Columns that models with this contract have and it does not promise yet."""
    contract = path[0][0]
    if not isinstance(contract, ast.Contract):
        return
    taken = {field.name.text for field in contract.fields}
    for name, column in _unpromised(contract.name.text, names).items():
        if name not in taken:
            text = f"{spelled(name)}: {column.inferred}"
            yield Candidate(name, Sort.FIELD, text, str(column.inferred), rank=LIKELY)


def _unpromised(contract: str, names: Names) -> Mapping[str, Column]:
    found: dict[str, Column] = {}
    for table in names.promising.get(contract, ()):
        if table in names.known.tables:
            relation = names.known.tables[table].relation
            found |= {c.name: c for c in relation.schema.columns if c.name not in found}
    return found


def _resource_keys(path: Path, names: Names) -> Iterator[Candidate]:
    entries = getattr(path[-3][0], "resource", ())
    given = {entry.key.text for entry in entries}
    kind = next((k for k in FILE_KINDS if k in given), None)
    keys = OPTIONS[kind] if kind is not None else (*FILE_KINDS, "table", *NAMESPACES)
    if kind is None and given & {*TABLE_KEYS}:
        keys = (*BOUNDS, *keys)
    for key in keys:
        if key not in given:
            yield Candidate(key, Sort.PROPERTY, key, snippet=f'{key}: "$0"', rank=LIKELY)


def _attributes(path: Path, names: Names) -> Iterator[Candidate]:
    given = {entry.key.text for entry in node_of(path, ast.Model).attributes}
    for key, what in ATTRIBUTES.items():
        if key not in given:
            yield Candidate(key, Sort.PROPERTY, key, what, snippet=f'{key}: "$0"', rank=LAST)


def _properties(path: Path, names: Names) -> Iterator[Candidate]:
    given = {entry.key.text for entry in path[0][0].properties}
    for key, what in CLOCKS.items():
        if key not in given:
            yield Candidate(key, Sort.PROPERTY, key, what, f"{key}: $0", rank=LAST)
    if "description" not in given:
        yield Candidate(
            "description", Sort.PROPERTY, "description", ATTRIBUTES["description"], 'description: "$0"', rank=LAST
        )


def _entries(path: Path, names: Names) -> Iterator[Candidate]:
    """The key of an entry: of a resource clause, or of the properties around it."""
    place = {"resource": _resource_keys, "attributes": _attributes, "properties": _properties}.get(path[-3][1])
    if place is not None:
        yield from place(path, names)


def _entry_values(path: Path, names: Names) -> Iterator[Candidate]:
    """The columns of a source that can tell a clock."""
    if path[-2][0].key.text in CLOCKS:
        yield from instants(path, names)


def _masks(path: Path, names: Names) -> Iterator[Candidate]:
    for rule in MaskRule:
        snippet = "partial(${0:4})" if rule is MaskRule.PARTIAL else None
        yield Candidate(rule.value, Sort.VALUE, rule.value, snippet=snippet, rank=LIKELY)


def _modules(path: Path, names: Names) -> Iterator[Candidate]:
    for module in names.modules:
        yield Candidate(module, Sort.MODULE, module)


def _given_columns(path: Path, names: Names) -> Iterator[Candidate]:
    """The columns of the table whose rows stand in a unit test."""
    given, rows = node_of(path, ast.Given), node_of(path, ast.LiteralTable)
    name = given.table.text if given is not None else path[0][0].name.text
    taken = {column.text for column in rows.columns}
    for one in columns_of(names.known.tables[name]) if name in names.known.tables else ():
        if one.name not in taken:
            yield column_candidate(one, LIKELY)


_PLACES: dict[tuple[type[Any], str], Place] = {
    (ast.From, "table"): _tables,
    (ast.Join, "table"): _tables,
    (ast.AsofJoin, "table"): _tables,
    (ast.SetOperation, "table"): _tables,
    (ast.Pipeline, "models"): _models,
    (ast.SourceOverride, "source"): _sources,
    (ast.Test, "name"): _models,
    (ast.Model, "contract"): _contracts,
    (ast.TypeExpr, "name"): _types,
    (ast.ColumnRef, "name"): expression,
    (ast.ColumnRef, "qualifier"): expression,
    (ast.Assign, "name"): output_name,
    (ast.Star, "excluded"): outputs,
    (ast.Freshness, "column"): instants,
    (ast.Incremental, "keys"): outputs,
    (ast.Incremental, "cursor"): outputs,
    (ast.Given, "table"): _tables,
    (ast.LiteralTable, "columns"): _given_columns,
    (ast.Call, "function"): called,
    (ast.KeywordArgument, "name"): keyword_arguments,
    (ast.FieldDecl, "name"): _contract_fields,
    (ast.Entry, "key"): _entries,
    (ast.Entry, "value"): _entry_values,
    (ast.Mask, "rule"): _masks,
    (ast.Import, "path"): _modules,
}
"""What names stand where: by the node, and the field of it."""


# --- strings


def _in_string(path: Path, names: Names) -> Iterator[Candidate]:
    """The type of a cast, or a value that the column on the other side can have."""
    ref, parent, field = path[-2][0], path[-3][0], path[-3][1]
    if isinstance(parent, ast.Call) and parent.function.text in CASTS and ref in parent.arguments[1:2]:
        yield from (replace(one, snippet=None) for one in _types(path, names))
        return
    if isinstance(parent, ast.Pipeline):
        yield from _models(path, names)
        return
    if isinstance(parent, ast.ListExpr) and isinstance(path[-4][0], ast.In):
        parent, field = path[-4]
    match parent:
        case ast.Binary(left=left, right=right):
            other = right if field == "left" else left
        case ast.In(operand=other):
            pass
        case _:
            return
    if not isinstance(other, ast.ColumnRef) or other.name.text in (MISSING, CURSOR):
        return
    qualifier = other.qualifier.text if other.qualifier is not None else None
    columns = (v.column for v in visible_at(path, names) if (v.name, v.qualifier) == (other.name.text, qualifier))
    column = next((c for c in columns if c is not None), None)
    for value in sorted(column.inferred.values or ()) if column is not None else ():
        yield Candidate(value, Sort.VALUE, value, rank=LIKELY)
