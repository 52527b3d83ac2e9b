"""Arrays, maps, structs and JSON of the reference interpreter.

`NESTED` holds functions of values that are not null; `CONSTRUCTORS` take nulls as elements. Array positions count
from 0.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .casts import text_of
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
        return dict(reversed(pairs))

    return json.loads(text, object_pairs_hook=first_wins)


def json_get(text: str, key: str) -> Value:
    """The member `key` of a JSON object, as JSON text without white space; null where there is none."""
    document = parse_json(text)
    if not isinstance(document, dict) or key not in document:
        return None
    return json.dumps(document[key], ensure_ascii=False, separators=(",", ":"))


def json_value(text: str, key: str) -> Value:
    """The scalar member `key` of a JSON object as text; null where it is absent, null, an array or an object."""
    document = parse_json(text)
    value = document.get(key) if isinstance(document, dict) else None
    return text_of(value) if isinstance(value, str | bool | int | float) else None


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
