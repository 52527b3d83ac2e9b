"""What can be written at a place: the names that mean something there, with what is known of each, the likely first.

`language.cursor` tells where a half-typed text stands; here the place gets its names. Pure: for editors, and for
whoever else asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from types import UnionType
from typing import Any

from ..contract.model import ContractField, MaskRule
from ..language import ast
from ..language.cursor import Cursor, path_to
from ..language.names import spelled
from ..language.recovery import CURSOR, MISSING
from ..relation.schema import Column
from ..types import TYPE_NAMES, Date, Timestamp
from ..types.functions import CATALOG, Function, Kind
from ..types.spelling import FORMS
from .expressions import CASTS
from .occurrences import Kind as SymbolKind
from .occurrences import Symbol
from .scope_at import Known, Visible, columns_of, declared_in, final_columns, visible_in
from .sources import FILE_KINDS, NAMESPACES, OPTIONS
from .tests import ROW_COUNT


class Sort(StrEnum):
    """What a candidate is."""

    COLUMN = "column"
    TABLE = "table"
    CONTRACT = "contract"
    DOMAIN = "domain"
    FUNCTION = "function"
    TYPE = "type"
    KEYWORD = "keyword"
    PROPERTY = "property"
    FIELD = "field"
    VALUE = "value"
    MODULE = "module"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing that can be written: shown as `label`, written as `text`. In a `snippet` the places to fill in are
    numbered `$1`, `$2`, and the last is `$0`. `symbol` is what it names. Candidates of a lower `rank` are likelier."""

    label: str
    sort: Sort
    text: str
    detail: str = ""
    snippet: str | None = None
    symbol: Symbol | None = None
    rank: int = 1


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a project: what `known` has, which tables are models, and by contract which of them promise it,
    the modules that can be imported, the compile-time functions, and those that engines have."""

    known: Known
    models: frozenset[str]
    promising: Mapping[str, tuple[str, ...]]
    modules: tuple[str, ...] = ()
    functions: Mapping[str, ast.Fn] = field(default_factory=dict)
    externs: Mapping[str, ast.Extern] = field(default_factory=dict)


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
}
CAST_DOC = {
    "cast": (
        "cast(x, type: literal string) -> type",
        "The value as another type; stops the run where it does not fit.",
    ),
    "try_cast": ("try_cast(x, type: literal string) -> type", "The value as another type; null where it does not fit."),
}
"""Signature and meaning of what is called like a function and is none of the catalog."""
LIKELY, PLAIN, LATER, LAST = 0, 1, 2, 3


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


Path = tuple[tuple[Any, str], ...]
Place = Callable[[Path, Names], Iterator[Candidate]]


def _node(path: Path, kind: type[Any] | UnionType) -> Any:
    """The innermost node of a kind."""
    return next((node for node, _ in reversed(path) if isinstance(node, kind)), None)


# --- tables, contracts, types


def _tables(path: Path, names: Names) -> Iterator[Candidate]:
    own = _node(path, ast.Model)
    for name in sorted(names.known.tables):
        if own is None or name != own.name.text:
            yield _table(name, names)


def _table(name: str, names: Names, rank: int = PLAIN) -> Candidate:
    table = names.known.tables[name]
    kind = "model" if name in names.models else "source"
    columns = len(table.columns)
    detail = f"{kind}, {columns} column{'' if columns == 1 else 's'}"
    return Candidate(name, Sort.TABLE, spelled(name), detail, symbol=Symbol(SymbolKind.TABLE, name), rank=rank)


def _models(path: Path, names: Names) -> Iterator[Candidate]:
    pipeline = _node(path, ast.Pipeline)
    taken = {name.text for name in pipeline.models if isinstance(name, ast.Name)} if pipeline is not None else set()
    yield from (_table(name, names) for name in sorted(names.models - taken))
    if pipeline is not None:
        yield from _generators(names)


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


# --- expressions


def _expression(path: Path, names: Names) -> Iterator[Candidate]:
    """A column, a function, or a word that a function takes."""
    if _compile_time(path):
        yield from (Candidate(value, Sort.VALUE, spelled(value), rank=LIKELY) for value in _values_in(path))
        yield from _generators(names)
        return
    ref = path[-2][0]
    call, place = path[-3] if len(path) > 2 else (None, "")
    if isinstance(call, ast.Call) and place == "arguments" and ref.qualifier is None:
        function = CATALOG.get(call.function.text)
        words = function.words.get(call.arguments.index(ref)) if function is not None else None
        if words is not None:
            yield from (Candidate(word, Sort.VALUE, word, rank=LIKELY) for word in sorted(words))
            return
    visible = _visible(path, names)
    if ref.qualifier is not None:
        columns = {v.name: v for v in visible if v.qualifier == ref.qualifier.text}
        yield from (_column(replace(v, qualifier=None), names, LIKELY) for v in columns.values())
        return
    if place == "on":
        yield from _conditions(path, names)
    if place == "items" and isinstance(call, ast.Select):
        yield from _promised(path, names, visible)
    bare = {v.name for v in visible if v.qualifier is None}
    yield from (_column(v, names, LIKELY) for v in visible if v.qualifier is None)
    yield from (_column(v, names, PLAIN) for v in visible if v.qualifier is not None and v.name not in bare)
    labels = dict.fromkeys(v.qualifier for v in visible if v.qualifier is not None)
    yield from (Candidate(label, Sort.TABLE, spelled(label), "table read here", rank=LATER) for label in labels)
    if isinstance(_node(path, ast.Test), ast.Test):
        yield Candidate(ROW_COUNT, Sort.VALUE, ROW_COUNT, "the number of rows of the table", rank=PLAIN)
    yield from _functions(path)
    for name, extern in sorted(names.externs.items()):
        symbol = Symbol(SymbolKind.FUNCTION, name)
        yield Candidate(name, Sort.FUNCTION, spelled(name), signature_of(extern), f"{spelled(name)}($0)", symbol)


def _values_in(path: Path) -> list[str]:
    """The parameters and loop variables of a compile-time function."""
    fn = path[0][0]
    loops = [loop.name.text for node, _ in path if isinstance(node, ast.Comprehension) for loop in node.loops]
    found = dict.fromkeys([*(parameter.name.text for parameter in fn.parameters), *loops])
    return [name for name in found if name not in (CURSOR, MISSING)]


def _column(one: Visible, names: Names, rank: int) -> Candidate:
    label = one.name if one.qualifier is None else f"{one.qualifier}.{one.name}"
    text = spelled(one.name) if one.qualifier is None else f"{spelled(one.qualifier)}.{spelled(one.name)}"
    detail = str(one.column.inferred) if one.column is not None else "in error"
    return Candidate(label, Sort.COLUMN, text, detail, symbol=_origin(one.column), rank=rank)


def _origin(column: Column | None) -> Symbol | None:
    """The column of a table that it is, if it is just one."""
    if column is None or len(column.origins) != 1:
        return None
    (origin,) = column.origins
    return Symbol(SymbolKind.COLUMN, origin.column, origin.node)


def _visible(path: Path, names: Names) -> list[Visible]:
    """The columns that can be read at the end of `path`."""
    root = path[0][0]
    known = names.known
    model = _node(path, ast.Model)
    if model is not None:
        statement = next(below for (above, _), (below, _) in pairwise(path) if above is model)
        body = next((field for node, field in path if isinstance(node, ast.Group)), "")
        inner = _node(path, ast.Filter | ast.Sort)
        grouped = body == "body" and inner is not None and inner is not statement
        if isinstance(statement, ast.PartitionBy | ast.Freshness | ast.Incremental):
            return final_columns(model, known)
        return visible_in(model, statement, known, grouped=grouped)
    match root:
        case ast.Test():
            table = known.tables.get(root.name.text)
            return columns_of(table) if table is not None else []
        case ast.Source():
            return declared_in(root, known)
        case _:
            return []


def _functions(path: Path) -> Iterator[Candidate]:
    """Functions; those over many rows where they may stand."""
    many = _node(path, ast.Aggregate) is not None or path[0][1] == "expectations"
    over = _node(path, ast.Select | ast.Derive) is not None
    for name in CASTS:
        snippet = f'{name}($1, "$0")'
        yield Candidate(name, Sort.FUNCTION, name, CAST_DOC[name][0], snippet, Symbol(SymbolKind.FUNCTION, name), LATER)
    for function in CATALOG.values():
        if not function.surface:
            continue
        fits = many if function.kind is Kind.AGGREGATE else over or many if function.kind is Kind.WINDOW else True
        if fits or (over and function.kind is Kind.AGGREGATE):
            rank = PLAIN if many and function.kind is Kind.AGGREGATE else LATER
            yield _function(function, rank)


def _function(function: Function, rank: int) -> Candidate:
    takes_none = f"{function.name}()" in function.signature
    snippet = f"{function.name}()" if takes_none else f"{function.name}($0)"
    if function.kind is Kind.WINDOW:
        snippet = f"{function.name}($1) over (sort: [$0])"
    symbol = Symbol(SymbolKind.FUNCTION, function.name)
    return Candidate(function.name, Sort.FUNCTION, function.name, function.signature, snippet, symbol, rank)


def _conditions(path: Path, names: Names) -> Iterator[Candidate]:
    """Whole conditions of a join: columns of both sides that bear one name."""
    join, model = path[-3][0], _node(path, ast.Model)
    if not isinstance(join, ast.Join) or model is None:
        return
    visible = visible_in(model, join, names.known)
    label = (join.alias or join.table).text
    right = {v.name: v for v in visible if v.qualifier == label}
    for left in visible:
        if left.qualifier in (None, label) or left.name not in right:
            continue
        other = right[left.name]
        if left.column is None or other.column is None or left.column.inferred.type != other.column.inferred.type:
            continue
        text = f"{spelled(str(left.qualifier))}.{spelled(left.name)} == {spelled(label)}.{spelled(left.name)}"
        yield Candidate(text.replace("`", ""), Sort.FIELD, text, str(left.column.inferred.type), rank=LIKELY)


def _promised(path: Path, names: Names, visible: Iterable[Visible]) -> Iterator[Candidate]:
    """What the contract of the model promises and the `select` does not have yet."""
    root, select = _node(path, ast.Model), path[-3][0]
    contract = names.known.contracts.get(root.contract.text) if root.contract is not None else None
    if contract is None:
        return
    chosen = {item.name.text for item in select.items if not isinstance(item, ast.Star)}
    bare = {v.name for v in visible if v.qualifier is None}
    tables = {v.name: v.qualifier for v in visible if v.qualifier is not None and v.name not in bare}
    for one in contract.fields:
        if one.name in chosen:
            continue
        name = spelled(one.name)
        text = name if one.name in bare else f"{name} = "
        if one.name in tables:
            text = f"{spelled(str(tables[one.name]))}.{name}"
        symbol = Symbol(SymbolKind.FIELD, one.name, contract.name)
        yield Candidate(one.name, Sort.FIELD, text, f"promised: {one.promise}", symbol=symbol, rank=LIKELY)


def _output_name(path: Path, names: Names) -> Iterator[Candidate]:
    """The name of an output: one that is promised."""
    root, items = _node(path, ast.Model), path[-3][0]
    contract = names.known.contracts.get(root.contract.text) if getattr(root, "contract", None) is not None else None
    if contract is None or not isinstance(items, ast.Select | ast.Derive | ast.Aggregate):
        return
    chosen = {item.name.text for item in items.items if not isinstance(item, ast.Star)}
    for one in contract.fields:
        if one.name not in chosen:
            yield _field(one, contract.name)


def _field(field: ContractField, contract: str) -> Candidate:
    symbol = Symbol(SymbolKind.FIELD, field.name, contract)
    return Candidate(
        field.name, Sort.FIELD, spelled(field.name), f"promised: {field.promise}", symbol=symbol, rank=LIKELY
    )


def _outputs(path: Path, names: Names) -> Iterator[Candidate]:
    """The columns that a star can leave out, or that tell an age or lay a table out."""
    for one in _visible(path, names):
        if one.qualifier is None:
            yield _column(one, names, LIKELY)


def _instants(path: Path, names: Names) -> Iterator[Candidate]:
    """The columns that tell an age."""
    for one in _visible(path, names):
        if one.qualifier is None and one.column is not None and isinstance(one.column.inferred.type, Date | Timestamp):
            yield _column(one, names, LIKELY)


def _called(path: Path, names: Names) -> Iterator[Candidate]:
    """A function's name, with its arguments behind it already; where no column is, one of compile time."""
    if isinstance(path[0][0], ast.Generator | ast.Pipeline) or _compile_time(path):
        yield from _generators(names)
        return
    for one in _functions(path):
        yield replace(one, snippet=None, rank=PLAIN)


def _compile_time(path: Path) -> bool:
    """Whether a place is within a compile-time function, and in no model of it."""
    return isinstance(path[0][0], ast.Fn) and _node(path, ast.ModelLiteral) is None


def _generators(names: Names) -> Iterator[Candidate]:
    for name, fn in sorted(names.functions.items()):
        symbol = Symbol(SymbolKind.FUNCTION, name)
        yield Candidate(name, Sort.FUNCTION, spelled(name), signature_of(fn), f"{spelled(name)}($0)", symbol)


def signature_of(fn: ast.Fn | ast.Extern) -> str:
    """The first line of a function that is declared."""
    parameters = ", ".join(f"{p.name}: {_written(p.type)}" for p in fn.parameters)
    head = f"fn {fn.name}({parameters}) -> {_written(fn.returns)}"
    return head if isinstance(fn, ast.Fn) else f"extern {head}{' nonnull' if fn.nonnull else ''}"


def _written(type_: ast.TypeExpr) -> str:
    arguments = []
    for argument in type_.arguments:
        match argument:
            case ast.TypeExpr():
                arguments.append(_written(argument))
            case ast.TypeField():
                arguments.append(f"{argument.name}: {_written(argument.type)}")
            case ast.Literal():
                arguments.append(str(argument.value))
    return f"{type_.name}<{', '.join(arguments)}>" if arguments else str(type_.name)


def _keyword_arguments(path: Path, names: Names) -> Iterator[Candidate]:
    call = _node(path, ast.Call)
    function = CATALOG.get(call.function.text) if call is not None else None
    for word in function.keywords if function is not None else ():
        yield Candidate(word, Sort.PROPERTY, word, snippet=f"{word}: $0", rank=LIKELY)


# --- contracts, sources, models


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
    for key in keys:
        if key not in given:
            yield Candidate(key, Sort.PROPERTY, key, snippet=f'{key}: "$0"', rank=LIKELY)


def _attributes(path: Path, names: Names) -> Iterator[Candidate]:
    given = {entry.key.text for entry in _node(path, ast.Model).attributes}
    for key, what in ATTRIBUTES.items():
        if key not in given:
            yield Candidate(key, Sort.PROPERTY, key, what, snippet=f'{key}: "$0"', rank=LAST)


def _properties(path: Path, names: Names) -> Iterator[Candidate]:
    if "description" not in {entry.key.text for entry in path[0][0].properties}:
        yield Candidate(
            "description", Sort.PROPERTY, "description", ATTRIBUTES["description"], 'description: "$0"', rank=LAST
        )


def _entries(path: Path, names: Names) -> Iterator[Candidate]:
    """The key of an entry: of a resource clause, or of the properties around it."""
    place = {"resource": _resource_keys, "attributes": _attributes, "properties": _properties}.get(path[-3][1])
    if place is not None:
        yield from place(path, names)


def _masks(path: Path, names: Names) -> Iterator[Candidate]:
    for rule in MaskRule:
        snippet = "partial(${0:4})" if rule is MaskRule.PARTIAL else None
        yield Candidate(rule.value, Sort.VALUE, rule.value, snippet=snippet, rank=LIKELY)


def _modules(path: Path, names: Names) -> Iterator[Candidate]:
    for module in names.modules:
        yield Candidate(module, Sort.MODULE, module)


def _given_columns(path: Path, names: Names) -> Iterator[Candidate]:
    """The columns of the table whose rows stand in a unit test."""
    given, rows = _node(path, ast.Given), _node(path, ast.LiteralTable)
    name = given.table.text if given is not None else path[0][0].name.text
    taken = {column.text for column in rows.columns}
    for one in columns_of(names.known.tables[name]) if name in names.known.tables else ():
        if one.name not in taken:
            yield _column(one, names, LIKELY)


_PLACES: dict[tuple[type[Any], str], Place] = {
    (ast.From, "table"): _tables,
    (ast.Join, "table"): _tables,
    (ast.SetOperation, "table"): _tables,
    (ast.Pipeline, "models"): _models,
    (ast.SourceOverride, "source"): _sources,
    (ast.Test, "name"): _models,
    (ast.Model, "contract"): _contracts,
    (ast.TypeExpr, "name"): _types,
    (ast.ColumnRef, "name"): _expression,
    (ast.ColumnRef, "qualifier"): _expression,
    (ast.Assign, "name"): _output_name,
    (ast.Star, "excluded"): _outputs,
    (ast.Freshness, "column"): _instants,
    (ast.Incremental, "keys"): _outputs,
    (ast.Incremental, "cursor"): _outputs,
    (ast.Given, "table"): _tables,
    (ast.LiteralTable, "columns"): _given_columns,
    (ast.Call, "function"): _called,
    (ast.KeywordArgument, "name"): _keyword_arguments,
    (ast.FieldDecl, "name"): _contract_fields,
    (ast.Entry, "key"): _entries,
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
    columns = (v.column for v in _visible(path, names) if (v.name, v.qualifier) == (other.name.text, qualifier))
    column = next((c for c in columns if c is not None), None)
    for value in sorted(column.inferred.values or ()) if column is not None else ():
        yield Candidate(value, Sort.VALUE, value, rank=LIKELY)
