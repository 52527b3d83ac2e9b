"""What can be written within expressions: columns, functions, words that functions take, names of outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from ...contract.model import ContractField
from ...language import ast
from ...language.names import spelled
from ...language.recovery import CURSOR, MISSING
from ...relation.schema import Column
from ...types import Date, Timestamp
from ...types.functions import CATALOG, Function, Kind
from ..expressions import CASTS
from ..tests import ROW_COUNT
from .candidates import LATER, LIKELY, PLAIN, Candidate, Names, Path, Sort, node_of
from .scope_at import Visible, columns_of, declared_in, final_columns, visible_in
from .signatures import CAST_DOC, signature_of
from .symbols import Kind as SymbolKind
from .symbols import Symbol


def expression(path: Path, names: Names) -> Iterator[Candidate]:
    """A column, a function, or a word that a function takes."""
    if _compile_time(path):
        yield from (Candidate(value, Sort.VALUE, spelled(value), rank=LIKELY) for value in _values_in(path))
        yield from generators(names)
        return
    ref = path[-2][0]
    call, place = path[-3] if len(path) > 2 else (None, "")
    if isinstance(call, ast.Call) and place == "arguments" and ref.qualifier is None:
        function = CATALOG.get(call.function.text)
        words = function.words.get(call.arguments.index(ref)) if function is not None else None
        if words is not None:
            yield from (Candidate(word, Sort.VALUE, word, rank=LIKELY) for word in sorted(words))
            return
    visible = visible_at(path, names)
    if isinstance(call, ast.AsofJoin) and place in ("at", "available"):
        label = (call.alias or call.table).text
        visible = [v for v in visible if v.column is None or isinstance(v.column.inferred.type, Date | Timestamp)]
        visible.sort(key=lambda v: v.qualifier == label)  # an instant of the rows before comes first
    if ref.qualifier is not None:
        columns = {v.name: v for v in visible if v.qualifier == ref.qualifier.text}
        yield from (column_candidate(replace(v, qualifier=None), LIKELY) for v in columns.values())
        return
    if place == "on":
        yield from _conditions(path, names)
    if place == "items" and isinstance(call, ast.Select):
        yield from _promised(path, names, visible)
    bare = {v.name for v in visible if v.qualifier is None}
    yield from (column_candidate(v, LIKELY) for v in visible if v.qualifier is None)
    yield from (column_candidate(v, PLAIN) for v in visible if v.qualifier is not None and v.name not in bare)
    labels = dict.fromkeys(v.qualifier for v in visible if v.qualifier is not None)
    yield from (Candidate(label, Sort.TABLE, spelled(label), "table read here", rank=LATER) for label in labels)
    if isinstance(node_of(path, ast.Test), ast.Test):
        yield Candidate(ROW_COUNT, Sort.VALUE, ROW_COUNT, "the number of rows of the table", rank=PLAIN)
    yield from functions(path)
    yield from _declared(names.externs)


def _values_in(path: Path) -> list[str]:
    """The parameters and loop variables of a compile-time function."""
    fn = path[0][0]
    loops = [loop.name.text for node, _ in path if isinstance(node, ast.Comprehension) for loop in node.loops]
    found = dict.fromkeys([*(parameter.name.text for parameter in fn.parameters), *loops])
    return [name for name in found if name not in (CURSOR, MISSING)]


def column_candidate(one: Visible, rank: int) -> Candidate:
    """A column, as it is read."""
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


def visible_at(path: Path, names: Names) -> list[Visible]:
    """The columns that can be read at the end of `path`."""
    root = path[0][0]
    known = names.known
    model = node_of(path, ast.Model)
    if model is not None:
        statement = next(below for (above, _), (below, _) in pairwise(path) if above is model)
        body = next((field for node, field in path if isinstance(node, ast.Group)), "")
        inner = node_of(path, ast.Filter | ast.Sort)
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


def functions(path: Path) -> Iterator[Candidate]:
    """Functions; those over many rows where they may stand."""
    many = node_of(path, ast.Aggregate) is not None or path[0][1] == "expectations"
    over = node_of(path, ast.Select | ast.Derive) is not None
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
    join, model = path[-3][0], node_of(path, ast.Model)
    if not isinstance(join, ast.Join | ast.AsofJoin) or model is None:
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
    root, select = node_of(path, ast.Model), path[-3][0]
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


def output_name(path: Path, names: Names) -> Iterator[Candidate]:
    """The name of an output: one that is promised."""
    root, items = node_of(path, ast.Model), path[-3][0]
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


def outputs(path: Path, names: Names) -> Iterator[Candidate]:
    """The columns that a star can leave out, or that tell an age or lay a table out."""
    for one in visible_at(path, names):
        if one.qualifier is None:
            yield column_candidate(one, LIKELY)


def instants(path: Path, names: Names) -> Iterator[Candidate]:
    """The columns that tell an age."""
    for one in visible_at(path, names):
        if one.qualifier is None and one.column is not None and isinstance(one.column.inferred.type, Date | Timestamp):
            yield column_candidate(one, LIKELY)


def called(path: Path, names: Names) -> Iterator[Candidate]:
    """A function's name, with its arguments behind it already; where no column is, one of compile time."""
    if isinstance(path[0][0], ast.Generator | ast.Pipeline) or _compile_time(path):
        yield from generators(names)
        return
    for one in functions(path):
        yield replace(one, snippet=None, rank=PLAIN)


def _compile_time(path: Path) -> bool:
    """Whether a place is within a compile-time function, and in no model of it."""
    return isinstance(path[0][0], ast.Fn) and node_of(path, ast.ModelLiteral) is None


def generators(names: Names) -> Iterator[Candidate]:
    """The compile-time functions."""
    return _declared(names.functions)


def _declared(functions: Mapping[str, ast.Fn | ast.Extern]) -> Iterator[Candidate]:
    for name, fn in sorted(functions.items()):
        symbol = Symbol(SymbolKind.FUNCTION, name)
        yield Candidate(name, Sort.FUNCTION, spelled(name), signature_of(fn), f"{spelled(name)}($0)", symbol)


def keyword_arguments(path: Path, names: Names) -> Iterator[Candidate]:
    """The words before values that the function of a call takes."""
    call = node_of(path, ast.Call)
    function = CATALOG.get(call.function.text) if call is not None else None
    for word in function.keywords if function is not None else ():
        yield Candidate(word, Sort.PROPERTY, word, snippet=f"{word}: $0", rank=LIKELY)
