"""More functions of JSON: paths into documents, what they are, and documents that are made."""

from __future__ import annotations

import re

from ..inferred import Inferred
from ..values import (
    INT64,
    JSON,
    STRING,
    Array,
    Bool,
    Date,
    Decimal,
    Int64,
    Json,
    Money,
    String,
    Timestamp,
    Uuid,
    ValueType,
)
from .nested import DOC, DOCUMENT
from .shapes import TEXT, always, constant, misfit, takes
from .signature import Argument, Example, Function, Kind, Resolution, Rule, SignatureError, arity

PATH = 'json_path(document: json, "$.member[0]") -> json'
BUILD = 'json_build("key", value, …) -> json'
KEYS = "json_keys(document: json) -> array(string nonnull)"
STEP = r"\.([A-Za-z_][A-Za-z0-9_]*)|\.\"([^\"\\]+)\"|\[(0|[1-9][0-9]{0,8})\]"
KINDS = frozenset({"object", "array", "string", "number", "boolean", "null"})
MADE_OF = String | Int64 | Bool | Decimal | Money | Date | Timestamp | Uuid | Json


def steps(path: str) -> tuple[str | int, ...] | None:
    """The members and positions that a path `$.a."b c"[0]` leads through; None where it is no path.

    >>> steps('$.a."b c"[0]')
    ('a', 'b c', 0)
    """
    if not path.startswith("$"):
        return None
    found: list[str | int] = []
    at = 1
    while at < len(path):
        match = re.compile(STEP).match(path, at)
        if match is None:
            return None
        found.append(int(match[3]) if match[3] is not None else match[1] or match[2])
        at = match.end()
    return tuple(found)


def _path(arguments: tuple[Argument, ...]) -> Resolution:
    resolution = takes(PATH, (DOCUMENT, TEXT), always(JSON, nullable=True))(arguments)
    if steps(str(constant(arguments, 1, PATH, "a path"))) is None:
        raise SignatureError("E060", "this is no path into a document", 1, 'write it as `"$.a"`, `"$.a[0].b"`')
    return resolution


def _build(arguments: tuple[Argument, ...]) -> Resolution:
    arity(arguments, 2, None, BUILD)
    if len(arguments) % 2:
        raise SignatureError("E060", "the last key has no value", len(arguments) - 1, f"write `{BUILD}`")
    keys = [constant(arguments, i, BUILD, "a key") for i in range(0, len(arguments), 2)]
    for position, key in enumerate(keys):
        if not isinstance(key, str) or key in keys[:position]:
            message = "a key is a string" if not isinstance(key, str) else f"the key `{key}` stands twice"
            raise SignatureError("E060", message, 2 * position, f"write `{BUILD}`")
    types: list[ValueType] = []
    for position, value in list(enumerate(arguments))[1::2]:
        if not isinstance(value.type, MADE_OF):
            raise misfit(BUILD, "a string, int64, decimal, money, bool, date, timestamp, uuid or json", value, position)
        types += [STRING, value.type]
    return Resolution(tuple(types), Inferred(JSON, nullable=False))


def _row(name: str, signature: str, rule: Rule, doc: str, *examples: Example) -> Function:
    return Function(name, Kind.SCALAR, "json", signature, rule, doc, examples)


DOCUMENTS = (
    _row(
        "json_path",
        PATH,
        _path,
        "What stands at a path of members and positions from 0, as JSON without white space; null where nothing does.",
        Example(f'cast(json_path({DOC}, "$.b[0]"), "string")', "1"),
        Example(f'json_path({DOC}, "$.b[1]")', None),
    ),
    _row(
        "json_build",
        BUILD,
        _build,
        "The object of keys and values in turn; a null becomes the JSON `null`, a date or timestamp its text.",
        Example('cast(json_build("a", 1, "b", cast(none, "date")), "string")', '{"a":1,"b":null}'),
        Example('cast(json_build("a", json_build("b", true)), "string")', '{"a":{"b":true}}'),
    ),
    _row(
        "json_type",
        "json_type(document: json) -> string",
        takes(
            "json_type(document: json) -> string", (DOCUMENT,), lambda a: Inferred(STRING, a[0].nullable, values=KINDS)
        ),
        "`object`, `array`, `string`, `number`, `boolean` or `null`.",
        Example(f"json_type({DOC})", "object"),
        Example('json_type(cast("1e3", "json"))', "number"),
    ),
    _row(
        "json_keys",
        KEYS,
        takes(KEYS, (DOCUMENT,), lambda _: Inferred(Array(STRING, element_nullable=False), nullable=True)),
        "The keys of a JSON object, sorted; null of anything else.",
        Example('json_keys(cast("{\\"b\\": 1, \\"a\\": 2}", "json"))', ["a", "b"]),
        Example('json_keys(cast("[1]", "json"))', None),
    ),
    _row(
        "json_array_length",
        "json_array_length(document: json) -> int64",
        takes("json_array_length(document: json) -> int64", (DOCUMENT,), always(INT64, nullable=True)),
        "How many elements a JSON array has; null of anything else.",
        Example('json_array_length(cast("[1, null]", "json"))', 2),
        Example(f"json_array_length({DOC})", None),
    ),
)
