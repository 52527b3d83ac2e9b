"""Arrays, maps, structs and JSON of the reference interpreter.

`NESTED` holds functions of values that are not null; `CONSTRUCTORS` take nulls as elements. Array positions count
from 0.
"""

from __future__ import annotations

import decimal
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from ...types import Json, ValueType
from ...types.functions.documents import steps
from ...types.texts import text_of
from .values import MisfitError, Value, order_key, sort_key


def array_get(items: list[Value], index: int) -> Value:
    """The element at `index`; null outside."""
    return items[index] if 0 <= index < len(items) else None


def array_contains(items: list[Value], wanted: Value) -> bool:
    """Whether an element equals `wanted`; null elements equal nothing."""
    return any(v is not None and order_key(v) == order_key(wanted) for v in items)


def make_map(*parts: Value) -> dict[str, Value]:
    """The map of keys and values in turn; raises `MisfitError` for a null or repeated key."""
    keys = [k for k in parts[::2] if isinstance(k, str)]
    if len(keys) < len(parts) // 2:
        raise MisfitError("a key is null")
    if len(set(keys)) < len(keys):
        raise MisfitError("a key stands twice")
    return dict(zip(keys, parts[1::2], strict=True))


def make_struct(*parts: Value) -> dict[str, Value]:
    """The struct of names and values in turn; names are literals."""
    return dict(zip(map(str, parts[::2]), parts[1::2], strict=True))


def parse_json(text: str) -> Any:
    """The JSON value of `text`; of a key that an object holds twice, the first counts."""

    def first_wins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            found.setdefault(key, value)
        return found

    return json.loads(text, object_pairs_hook=first_wins)


_CONTROL = re.compile(r"(?<!\\)((?:\\\\)*)\\u00([01][0-9a-f])")


def _escaped(text: str) -> str:
    r"""JSON text in which control characters without a short escape are written `\u001F`, as engines do."""
    return _CONTROL.sub(lambda match: f"{match[1]}\\u00{match[2].upper()}", text)


def compact(document: Any) -> str:
    """JSON text without white space."""
    return _escaped(json.dumps(document, ensure_ascii=False, separators=(",", ":")))


def json_get(text: str, key: str) -> Value:
    """The member `key` of a JSON object, as JSON text without white space; null where there is none."""
    document = parse_json(text)
    if not isinstance(document, dict) or key not in document:
        return None
    return compact(document[key])


def json_value(text: str, key: str) -> Value:
    """The scalar member `key` of a JSON object as text; null where it is absent, null, an array or an object."""
    document = parse_json(text)
    value = document.get(key) if isinstance(document, dict) else None
    return text_of(value) if isinstance(value, str | bool | int | float) else None


def array_index_of(items: list[Value], wanted: Value) -> Value:
    """The position of the first element that equals `wanted`."""
    return next((i for i, v in enumerate(items) if v is not None and order_key(v) == order_key(wanted)), None)


def array_remove(items: list[Value], unwanted: Value) -> list[Value]:
    """The elements that do not equal `unwanted`; nulls stay."""
    return [v for v in items if v is None or order_key(v) != order_key(unwanted)]


def array_slice(items: list[Value], start: int, count: int) -> list[Value]:
    """The elements at `start` to `start + count - 1` that exist."""
    return items[max(start, 0) : max(start + max(count, 0), 0)]


def array_distinct(items: list[Value]) -> list[Value]:
    """Each element that is not null once, from the smallest on."""
    found = {sort_key(v): v for v in reversed(items) if v is not None}
    return [found[key] for key in sorted(found)]


def _present(items: list[Value]) -> list[Value]:
    return [v for v in items if v is not None]


def json_path(text: str, path: str) -> Value:
    """What stands at the path, as JSON text; null where nothing does."""
    document = parse_json(text)
    for step in steps(path) or ():
        match document, step:
            case dict(), str() if step in document:
                document = document[step]
            case list(), int() if step < len(document):
                document = document[step]
            case _:
                return None
    return compact(document)


def json_type(text: str) -> str:
    """What kind of JSON value it is."""
    match parse_json(text):
        case dict():
            return "object"
        case list():
            return "array"
        case str():
            return "string"
        case bool():
            return "boolean"
        case None:
            return "null"
        case _:
            return "number"


def json_keys(text: str) -> Value:
    """The keys of an object, sorted; null of anything else."""
    document = parse_json(text)
    return sorted(document) if isinstance(document, dict) else None


def json_array_length(text: str) -> Value:
    """The number of elements of an array; null of anything else."""
    document = parse_json(text)
    return len(document) if isinstance(document, list) else None


def json_build(values: Sequence[Value], types: Sequence[ValueType]) -> str:
    """The object of keys and values in turn. JSON is taken as it is; decimals keep their digits."""
    pairs = [
        f"{_json_text(str(k))}:{_json_of(v, t)}" for k, v, t in zip(values[::2], values[1::2], types[1::2], strict=True)
    ]
    return f"{{{','.join(pairs)}}}"


def _json_of(value: Value, type_: ValueType) -> str:
    match value:
        case None:
            return "null"
        case bool() | int() | decimal.Decimal():
            return text_of(value)
        case str() if isinstance(type_, Json):
            return value
        case _:
            return _json_text(text_of(value))


def _json_text(text: str) -> str:
    return _escaped(json.dumps(text, ensure_ascii=False))


NESTED: dict[str, Callable[..., Value]] = {
    "array_length": len,
    "array_get": array_get,
    "array_contains": array_contains,
    "array_concat": lambda xs, ys: xs + ys,
    "array_sort": lambda xs: sorted(xs, key=sort_key),
    "map_get": lambda entries, key: entries.get(key),
    "struct_get": lambda record, name: record[name],
    "json_get": json_get,
    "json_value": json_value,
    "array_index_of": array_index_of,
    "array_remove": array_remove,
    "array_slice": array_slice,
    "array_reverse": lambda xs: xs[::-1],
    "array_distinct": array_distinct,
    "array_min": lambda xs: min(_present(xs), key=order_key, default=None),
    "array_max": lambda xs: max(_present(xs), key=order_key, default=None),
    "array_join": lambda xs, separator: separator.join(map(str, _present(xs))),
    "map_keys": lambda entries: sorted(entries),
    "map_contains": lambda entries, key: key in entries,
    "map_size": len,
    "json_path": json_path,
    "json_type": json_type,
    "json_keys": json_keys,
    "json_array_length": json_array_length,
    "json_is_null": lambda text: parse_json(text) is None,
}

CONSTRUCTORS: dict[str, Callable[..., Value]] = {
    "list": lambda *items: list(items),
    "array_construct": lambda *items: list(items),
    "array_append": lambda xs, x: None if xs is None else [*xs, x],
    "array_prepend": lambda x, xs: None if xs is None else [x, *xs],
    "map": make_map,
    "dict": make_map,
    "struct": make_struct,
}

TYPED: dict[str, Callable[[Sequence[Value], Sequence[ValueType]], Value]] = {"json_build": json_build}
"""Functions that need the types of their arguments, since two of them have values that look alike."""
