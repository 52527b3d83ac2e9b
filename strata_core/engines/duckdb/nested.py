"""Arrays, maps, structs and JSON in DuckDB. Array positions count from 0; nulls are elements, not absence."""

from __future__ import annotations

from sqlglot import exp

from ...relation.expressions import Call
from ...types import Array
from . import sql
from .operators import Builder, joined, native, word
from .sql import SqlExpr


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


def _contains(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    """DuckDB answers false of a null array or value."""

    def with_items(xs: SqlExpr) -> SqlExpr:
        return sql.once(
            "wanted",
            args[1],
            lambda x: _unless_null(x.copy(), _unless_null(xs.copy(), sql.fn("list_contains", xs.copy(), x.copy()))),
        )

    return sql.once("items", args[0], with_items)


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


def _path(call: Call) -> SqlExpr:
    return sql.string(f'$."{word(call, 1)}"')


def _json_get(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return sql.cast(sql.fn("json_extract", args[0], _path(call)), sql.VARCHAR)


def _json_value(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    def scalar(document: SqlExpr) -> SqlExpr:
        kind = sql.fn("json_type", document.copy(), _path(call))
        nested = exp.In(this=kind, expressions=[sql.string("OBJECT"), sql.string("ARRAY")])
        text = sql.fn("json_extract_string", document.copy(), _path(call))
        return sql.when((nested, sql.null(sql.VARCHAR)), otherwise=text)

    return sql.once("document", args[0], scalar)


def _json_is_null(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return exp.EQ(this=sql.fn("json_type", args[0]), expression=sql.string("NULL"))


NESTED: dict[str, Builder] = {
    "list": _array,
    "array_construct": _array,
    "array_length": native("len"),
    "array_get": _get,
    "array_contains": _contains,
    "array_concat": joined,
    "array_sort": _sort,
    "array_append": _append(0),
    "array_prepend": _append(1),
    "map": _map,
    "dict": _map,
    "map_get": _map_get,
    "struct": _struct,
    "struct_get": native("struct_extract"),
    "json_get": _json_get,
    "json_value": _json_value,
    "json_is_null": _json_is_null,
}
