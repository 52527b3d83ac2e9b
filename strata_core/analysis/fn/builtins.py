"""The functions that compile-time code may call besides its own: one row each. To add one is to add a row.

They are those of the catalog (`docs/functions.md`) that names and lists are made with, and mean the same. `if`, which
evaluates one of its branches alone, is part of the language: `check.py`, `evaluate.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...frozen import dataclass
from ...language import ast
from .types import INT, NOTHING, STR, TEXTUAL, ListOf, MapOf, StructOf, Type, common, fits
from .values import Record, Value, text_of

IF = "if"
Result = Callable[[Sequence[Type], Sequence[ast.Expr]], Type | None]


@dataclass(frozen=True, slots=True)
class Builtin:
    """A function. `result` is the type for arguments of these types, `None` where they do not fit; `takes` says what
    would. `apply` may raise `KeyError`: nothing stands under that key."""

    name: str
    takes: str
    result: Result
    apply: Callable[[Sequence[Value]], Value]


def _textual(types: Sequence[Type]) -> bool:
    return bool(types) and all(t in TEXTUAL for t in types)


def _of_strings(count: int) -> Result:
    return lambda types, nodes: STR if len(types) == count and all(fits(t, STR) for t in types) else None


def _joint(types: Sequence[Type]) -> Type | None:
    """The type that holds the values of all `types`."""
    joint: Type | None = NOTHING
    for type_ in types:
        joint = None if joint is None else common(joint, type_)
    return joint


def _concat(types: Sequence[Type], nodes: Sequence[ast.Expr]) -> Type | None:
    if _textual(types):
        return STR
    if types and all(isinstance(t, ListOf) for t in types):
        return _joint(types)
    return None


def _concatenated(values: Sequence[Value]) -> Value:
    if isinstance(values[0], tuple):
        return tuple(element for value in values if isinstance(value, tuple) for element in value)
    return "".join(map(text_of, values))


def _length(types: Sequence[Type], nodes: Sequence[ast.Expr]) -> Type | None:
    sized = len(types) == 1 and (types[0] == STR or isinstance(types[0], ListOf | MapOf))
    return INT if sized else None


def _map(types: Sequence[Type], nodes: Sequence[ast.Expr]) -> Type | None:
    key, value = _joint(types[::2]), _joint(types[1::2])
    if len(types) % 2 or key not in (STR, INT, NOTHING) or key is None or value is None:
        return None
    return MapOf(key, value)


def _map_get(types: Sequence[Type], nodes: Sequence[ast.Expr]) -> Type | None:
    match types:
        case [MapOf() as map_, key] if fits(key, map_.key):
            return map_.value
        case _:
            return None


def _map_keys(types: Sequence[Type], nodes: Sequence[ast.Expr]) -> Type | None:
    match types:
        case [MapOf() as map_]:
            return ListOf(map_.key)
        case _:
            return None


def _names(nodes: Sequence[ast.Expr]) -> list[str] | None:
    """The names of fields, which are literals; `None` where one is not, or is given twice."""
    found = [n.value for n in nodes if type(n) is ast.Literal and isinstance(n.value, str)]
    return found if len(set(found)) == len(nodes) else None


def _struct(types: Sequence[Type], nodes: Sequence[ast.Expr]) -> Type | None:
    names = _names(nodes[::2])
    if not types or len(types) % 2 or names is None:
        return None
    return StructOf(dict(zip(names, types[1::2], strict=True)))


def _struct_get(types: Sequence[Type], nodes: Sequence[ast.Expr]) -> Type | None:
    names = _names(nodes[1:])
    match types:
        case [StructOf(fields=fields), _] if names and names[0] in fields:
            return fields[names[0]]
        case _:
            return None


def _record(values: Sequence[Value]) -> Value:
    return Record({k: v for k, v in zip(values[::2], values[1::2], strict=True) if isinstance(k, str | int)})


def _entry(values: Sequence[Value]) -> Value:
    record, key = values
    assert isinstance(record, Record)
    assert isinstance(key, str | int)
    return record.entries[key]


def _size(values: Sequence[Value]) -> Value:
    (value,) = values
    assert isinstance(value, str | tuple | Record)
    return len(value.entries) if isinstance(value, Record) else len(value)


def _keys(values: Sequence[Value]) -> Value:
    (record,) = values
    assert isinstance(record, Record)
    return tuple(record.entries)


def _by_character(change: Callable[[str], str]) -> Callable[[str], str]:
    """Case mapping as engines agree on it: what would become several characters stays."""
    return lambda text: "".join(new if len(new := change(c)) == 1 else c for c in text)


def _replaced(text: str, search: str, replacement: str) -> str:
    return text.replace(search, replacement) if search else text


def _on_strings(function: Callable[..., str]) -> Callable[[Sequence[Value]], Value]:
    return lambda values: function(*values)


BUILTINS: Mapping[str, Builtin] = {
    row.name: row
    for row in (
        Builtin("concat", "texts and numbers, or lists of one type", _concat, _concatenated),
        Builtin("length", "a Str, a List or a Map", _length, _size),
        Builtin("upper", "a Str", _of_strings(1), _on_strings(_by_character(str.upper))),
        Builtin("lower", "a Str", _of_strings(1), _on_strings(_by_character(str.lower))),
        Builtin("trim", "a Str", _of_strings(1), _on_strings(lambda text: text.strip(" "))),
        Builtin("replace", "a text, what is replaced in it, and by what", _of_strings(3), _on_strings(_replaced)),
        Builtin("map", "keys of one type, Str or Int, each with a value of one type", _map, _record),
        Builtin("map_get", "a Map and a key", _map_get, _entry),
        Builtin("map_keys", "a Map", _map_keys, _keys),
        Builtin("struct", "names of fields as literals, each with a value", _struct, _record),
        Builtin("struct_get", "a Struct and the name of one of its fields as a literal", _struct_get, _entry),
    )
}
