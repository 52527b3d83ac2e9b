"""Does a document have the shape of its JSON Schema? For those that have, which are most, told without `jsonschema-rs`,
whose loading takes longer than all else that a single contract is asked.

Only what surely fits is told to fit: of everything else the library says whether it does, and what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from .schemas import read_schema

Fits = Callable[[Any], bool]

_ABOUT = frozenset({"$schema", "$id", "$defs", "title", "description", "examples", "default"})
"""Keywords that ask for nothing."""
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


@cache
def fits(name: str) -> Fits:
    """Whether a value surely has the shape of the schema in the file `name`."""
    schema = read_schema(name)
    shapes: dict[str, Fits] = {}

    def shape(reference: str) -> Fits:
        """A shape of `$defs`, put together when the first value is held against it."""

        def later(value: Any) -> bool:
            if reference not in shapes:
                shapes[reference] = _made(schema["$defs"][reference.rpartition("/")[2]], shape)
            return shapes[reference](value)

        return later

    return _made(schema, shape)


def _made(schema: Mapping[str, Any], shape: Callable[[str], Fits]) -> Fits:
    asked = {keyword: value for keyword, value in schema.items() if keyword not in _ABOUT}
    kinds = _TYPES[asked.pop("type")] if "type" in asked else None
    tests = [_KEYWORDS[keyword](value, asked, shape) for keyword, value in asked.items()]
    if kinds is None:
        return lambda value: all(test(value) for test in tests)
    return lambda value: type(value) in kinds and all(test(value) for test in tests)


Keyword = Callable[[Any, Mapping[str, Any], Callable[[str], Fits]], Fits]


def _properties(fields: Mapping[str, Any], asked: Mapping[str, Any], shape: Callable[[str], Fits]) -> Fits:
    known = {name: _made(part, shape) for name, part in fields.items()}
    closed = asked.get("additionalProperties", True) is False

    def test(value: Any) -> bool:
        for name, item in value.items():
            inner = known.get(name)
            if closed if inner is None else not inner(item):
                return False
        return True

    return test


def _all_of(choices: list[Mapping[str, Any]], _: Mapping[str, Any], shape: Callable[[str], Fits]) -> Fits:
    """One `if` per choice, by a field that is one word: of those that are not meant nothing is asked."""
    word = next(iter(choices[0]["if"]["properties"]))
    meant = {choice["if"]["properties"][word]["const"]: _made(choice["then"], shape) for choice in choices}

    def test(value: Any) -> bool:
        chosen = meant.get(value[word]) if isinstance(value.get(word), str) else None
        return chosen is not None and chosen(value)

    return test


def _any_of(choices: list[Mapping[str, Any]], _: Mapping[str, Any], shape: Callable[[str], Fits]) -> Fits:
    made = [_made(choice, shape) for choice in choices]
    return lambda value: any(test(value) for test in made)


def _items(part: Mapping[str, Any], _: Mapping[str, Any], shape: Callable[[str], Fits]) -> Fits:
    test = _made(part, shape)
    return lambda value: all(test(item) for item in value)


def _one_of(values: list[str]) -> Fits:
    known = frozenset(values)
    return lambda value: isinstance(value, str) and value in known


def _pattern(text: str) -> Fits:
    """As a schema means it: `$` is the end, not the end of the last line. Put together when a value is held against it,
    since most fields are left out."""

    @cache
    def pattern() -> re.Pattern[str]:
        return re.compile(re.sub(r"\$$", r"\\Z", text))

    return lambda value: pattern().search(value) is not None


_KEYWORDS: Mapping[str, Keyword] = {
    "properties": _properties,
    "required": lambda names, *_: lambda value: all(name in value for name in names),
    # With `properties` they are one question; without them, a mapping of anything.
    "additionalProperties": lambda said, asked, _: lambda value: said is True or "properties" in asked,
    "items": _items,
    "anyOf": _any_of,
    "allOf": _all_of,
    "$ref": lambda reference, _, shape: shape(reference),
    "enum": lambda values, *_: _one_of(values),
    "const": lambda value, *_: _one_of([value]),
    "pattern": lambda text, *_: _pattern(text),
    "minItems": lambda limit, *_: lambda value: len(value) >= limit,
    "minLength": lambda limit, *_: lambda value: len(value) >= limit,
    "maxLength": lambda limit, *_: lambda value: len(value) <= limit,
    "minimum": lambda limit, *_: lambda value: value >= limit,
    "maximum": lambda limit, *_: lambda value: value <= limit,
    "exclusiveMinimum": lambda limit, *_: lambda value: value > limit,
}
"""What each keyword of our schemas asks of a value of the right type."""
