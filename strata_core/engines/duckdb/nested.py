"""Arrays, maps, structs and JSON in DuckDB. Array positions count from 0; nulls are elements, not absence."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ...relation.expressions import Call
from ...types import STRING, Array, Bool, Decimal, Int64, Json, Money, String, ValueType
from . import sql
from .casts import cast_value
from .operators import Builder, joined, native, word
from .sql import SqlExpr
from .strings import bounded, natural


def _unless_null(test: SqlExpr, value: SqlExpr) -> SqlExpr:
    return sql.when((exp.Not(this=sql.is_null(sql.paren(test))), value))


def _get(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    items, index = args

    def with_items(xs: SqlExpr) -> SqlExpr:
        def with_index(i: SqlExpr) -> SqlExpr:
            inside = exp.Between(
                this=i.copy(),
                low=sql.number(0),
                high=exp.Sub(this=sql.fn("len", xs.copy()), expression=sql.number(1)),
            )
            position = exp.Add(this=i.copy(), expression=sql.number(1))
            return sql.when((inside, sql.fn("list_extract", xs.copy(), position)))

        return sql.once("index", index, with_index)

    return sql.once("items", items, with_items)


def _array(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return sql.cast(exp.Array(expressions=list(args)), sql.sql_type(call.inferred.type))


def _append(position: int) -> Builder:
    """`array_append(xs, x)` and `array_prepend(x, xs)`: null where the array is; `position` is that of the array."""

    def build(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        target = call.inferred.type
        assert isinstance(target, Array)
        parts = list(args)
        parts[1 - position] = sql.cast(exp.Array(expressions=[args[1 - position]]), sql.sql_type(target))
        return sql.join(sql.paren(parts[0]), parts[1])

    return build


def _sort(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return sql.fn("list_sort", args[0], sql.string("ASC"), sql.string("NULLS LAST"))


def _map(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    made = sql.fn("map", exp.Array(expressions=list(args[::2])), exp.Array(expressions=list(args[1::2])))
    return sql.cast(made, sql.sql_type(call.inferred.type))


def _map_get(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return sql.fn("map_extract_value", *args)


def _struct(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    members = [
        exp.PropertyEQ(this=sql.identifier(word(call, i)), expression=args[i + 1]) for i in range(0, len(args), 2)
    ]
    return sql.cast(exp.Struct(expressions=members), sql.sql_type(call.inferred.type))


def _with_member(build: Callable[[SqlExpr, SqlExpr], SqlExpr]) -> Builder:
    """A function of a document and the path to a member of it.

    In DuckDB's paths no key is empty or holds a quote, and they are no expressions; a JSON pointer has room for every
    key, but would also count the items of an array.
    """

    def built(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        key = args[1]
        if isinstance(key, exp.Literal) and key.name and not set(key.name) & set('"\\'):
            path = sql.string(f'$."{key.name}"')
            return sql.once("document", args[0], lambda document: build(document, path))

        def with_document(document: SqlExpr) -> SqlExpr:
            is_object = exp.EQ(this=sql.fn("json_type", document.copy()), expression=sql.string("OBJECT"))
            escaped = key.copy()
            for sign, spelled in (("~", "~0"), ("/", "~1")):
                escaped = sql.fn("replace", escaped, sql.string(sign), sql.string(spelled))
            pointer = sql.join(sql.string("/"), escaped)
            return sql.when((is_object, sql.once("pointer", pointer, lambda path: build(document, path))))

        return sql.once("document", args[0], with_document)

    return built


def _json_get(document: SqlExpr, path: SqlExpr) -> SqlExpr:
    return sql.cast(sql.fn("json_extract", document.copy(), path.copy()), sql.VARCHAR)


def _json_value(document: SqlExpr, path: SqlExpr) -> SqlExpr:
    kind = sql.fn("json_type", document.copy(), path.copy())
    nested = exp.In(this=kind, expressions=[sql.string("OBJECT"), sql.string("ARRAY")])
    text = sql.fn("json_extract_string", document.copy(), path.copy())
    return sql.when((nested, sql.null(sql.VARCHAR)), otherwise=text)


def _json_is_null(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return exp.EQ(this=sql.fn("json_type", args[0]), expression=sql.string("NULL"))


def _with_value(build: Callable[[SqlExpr, SqlExpr], SqlExpr]) -> Builder:
    """A function of an array and a value of it, null where one of them is."""

    def built(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        def with_items(xs: SqlExpr) -> SqlExpr:
            def with_value(x: SqlExpr) -> SqlExpr:
                return _unless_null(x.copy(), _unless_null(xs.copy(), build(xs.copy(), x.copy())))

            return sql.once("value", args[1], with_value)

        return sql.once("items", args[0], with_items)

    return built


def _index_of(xs: SqlExpr, x: SqlExpr) -> SqlExpr:
    position = sql.cast(sql.fn("nullif", sql.fn("list_position", xs, x), sql.number(0)), sql.BIGINT)
    return exp.Sub(this=position, expression=sql.number(1))


def _remove(xs: SqlExpr, x: SqlExpr) -> SqlExpr:
    element = sql.column(f"{sql.RESERVED}kept")
    other = exp.NullSafeNEQ(this=element, expression=sql.paren(x))
    return sql.fn("list_filter", xs, sql.lambda_of([element.name], other))


def _join(xs: SqlExpr, separator: SqlExpr) -> SqlExpr:
    """DuckDB's is null where all elements are, and takes a literal alone for separator."""
    if not isinstance(separator, exp.Literal):
        element = sql.column(f"{sql.RESERVED}joined")
        parts = sql.lambda_of([element.name], sql.join(separator.copy(), sql.cast(element, sql.VARCHAR)))
        joined_up = _join(sql.fn("list_transform", xs, parts), sql.string(""))
        behind = exp.Add(this=sql.fn("length", separator.copy()), expression=sql.number(1))
        return sql.fn("substring", joined_up, behind)
    return sql.fn("coalesce", sql.fn("array_to_string", xs, separator), sql.string(""))


def _concat(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    """Values one after the other, or the elements of one array: null where it has none, or one is null."""
    if not isinstance(call.args[0].inferred.type, Array):
        return joined(call, args)

    def with_items(xs: SqlExpr) -> SqlExpr:
        elements = sql.fn("list_count", xs.copy())
        whole = exp.EQ(this=elements, expression=sql.fn("len", xs.copy()))
        some = exp.GT(this=elements.copy(), expression=sql.number(0))
        texts = isinstance(call.inferred.type, String)
        value = sql.fn("array_to_string", xs.copy(), sql.string("")) if texts else sql.fn("flatten", xs.copy())
        return sql.when((exp.And(this=whole, expression=some), value))

    return sql.once("items", args[0], with_items)


def _slice(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    """DuckDB counts from 1, and takes what is negative from the end."""
    items, start, count = args

    def with_start(first: SqlExpr) -> SqlExpr:
        begin = exp.Add(this=natural(first.copy()), expression=sql.number(1))
        end = natural(exp.Add(this=sql.paren(first.copy()), expression=natural(count)))
        return sql.fn("list_slice", items, begin, end)

    return sql.once("start", bounded(start), with_start)


def _distinct(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return sql.fn("list_sort", sql.fn("list_distinct", args[0]))


def _map_keys(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return sql.fn("list_sort", sql.fn("map_keys", args[0]))


def _map_contains(entries: SqlExpr, key: SqlExpr) -> SqlExpr:
    return sql.fn("list_contains", sql.fn("map_keys", entries), key)


def _map_size(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return sql.fn("len", sql.fn("map_keys", args[0]))


def _json_path(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return sql.cast(sql.fn("json_extract", args[0], sql.string(word(call, 1))), sql.VARCHAR)


JSON_KINDS = {"OBJECT": "object", "ARRAY": "array", "VARCHAR": "string", "BOOLEAN": "boolean", "NULL": "null"}
"""DuckDB's names of what is no number."""


def _json_type(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    def named(kind: SqlExpr) -> SqlExpr:
        others = [
            (exp.EQ(this=kind.copy(), expression=sql.string(duck)), sql.string(ours))
            for duck, ours in JSON_KINDS.items()
        ]
        return sql.when((sql.is_null(kind.copy()), sql.null(sql.VARCHAR)), *others, otherwise=sql.string("number"))

    return sql.once("kind", sql.fn("json_type", args[0]), named)


def _of_kind(kind: str, value: Callable[[SqlExpr], SqlExpr]) -> Builder:
    """A function of a document of that kind, null of any other."""

    def build(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        def of(document: SqlExpr) -> SqlExpr:
            fits = exp.EQ(this=sql.fn("json_type", document.copy()), expression=sql.string(kind))
            return sql.when((fits, value(document.copy())))

        return sql.once("document", args[0], of)

    return build


def _json_keys(document: SqlExpr) -> SqlExpr:
    return sql.fn("list_sort", sql.fn("list_distinct", sql.fn("json_keys", document)))


def _json_array_length(document: SqlExpr) -> SqlExpr:
    return sql.cast(sql.fn("json_array_length", document), sql.BIGINT)


def _json_build(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    parts: list[SqlExpr] = [sql.string("{")]
    for number in range(0, len(args), 2):
        key, value, type_ = args[number], args[number + 1], call.args[number + 1].inferred.type
        parts += [sql.string(",")] if number else []
        parts += [_json_text(key), sql.string(":"), sql.fn("coalesce", _json_of(value, type_), sql.string("null"))]
    return sql.join(*parts, sql.string("}"))


def _json_of(value: SqlExpr, type_: ValueType) -> SqlExpr:
    if isinstance(type_, Json):
        return value
    text = cast_value(value, type_, STRING)
    return text if isinstance(type_, Bool | Int64 | Decimal | Money) else _json_text(text)


def _json_text(text: SqlExpr) -> SqlExpr:
    return sql.cast(sql.fn("to_json", sql.cast(text, sql.VARCHAR)), sql.VARCHAR)


NESTED: dict[str, Builder] = {
    "list": _array,
    "array_construct": _array,
    "array_length": native("len"),
    "array_get": _get,
    # DuckDB answers false of a null array or value.
    "array_contains": _with_value(lambda xs, x: sql.fn("list_contains", xs, x)),
    "array_concat": joined,
    "concat": _concat,
    "array_sort": _sort,
    "array_append": _append(0),
    "array_prepend": _append(1),
    "map": _map,
    "dict": _map,
    "map_get": _map_get,
    "struct": _struct,
    "struct_get": native("struct_extract"),
    "json_get": _with_member(_json_get),
    "json_value": _with_member(_json_value),
    "json_is_null": _json_is_null,
    "array_index_of": _with_value(_index_of),
    "array_remove": _with_value(_remove),
    "array_slice": _slice,
    "array_reverse": native("list_reverse"),
    "array_distinct": _distinct,
    "array_min": native("list_min"),
    "array_max": native("list_max"),
    "array_join": _with_value(_join),
    "map_keys": _map_keys,
    "map_contains": _with_value(_map_contains),
    "map_size": _map_size,
    "json_path": _json_path,
    "json_type": _json_type,
    "json_keys": _of_kind("OBJECT", _json_keys),
    "json_array_length": _of_kind("ARRAY", _json_array_length),
    "json_build": _json_build,
}
