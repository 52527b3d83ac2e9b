"""Arrays, maps, structs and JSON. Array positions count from 0; what is not there is null."""

from __future__ import annotations

from collections.abc import Callable

from ..inferred import Inferred
from ..values import BOOL, INT64, JSON, STRING, Array, Json, Map, String, Struct, StructField, Unknown, ValueType
from .operands import branch_type, readable_beside
from .shapes import TEXT, WHOLE, Parameter, always, constant, misfit, same_type, takes
from .signature import Argument, Example, Function, Kind, Resolution, Rule, SignatureError, any_nullable, arity

ARRAY = Parameter((Array,), "an array")
DOCUMENT = Parameter((Json,), "json")


def row(name: str, family: str, signature: str, rule: Rule, doc: str, *examples: Example) -> Function:
    """A row of the catalog: a scalar function."""
    return Function(name, Kind.SCALAR, family, signature, rule, doc, examples)


def _literal(name: str) -> Rule:
    def rule(arguments: tuple[Argument, ...]) -> Resolution:
        arity(arguments, 1, None, f"{name}(x: T, …) -> array(T)")
        element = _element_type(list(enumerate(arguments)))
        array = Array(element, any_nullable(arguments))
        return Resolution((element,) * len(arguments), Inferred(array, nullable=False))

    return rule


def _element_type(arguments: list[tuple[int, Argument]]) -> ValueType:
    common = branch_type(arguments)
    if isinstance(common, Unknown):
        raise SignatureError("E055", "`none` alone gives no type", arguments[0][0], 'write `cast(none, "int64")`')
    return common


def with_element(signature: str, array_at: int, result: Callable[[Array, Argument, Argument], Inferred]) -> Rule:
    """A function of an array and a value of its element type, which may widen to it where it is a literal."""

    def rule(arguments: tuple[Argument, ...]) -> Resolution:
        arity(arguments, 2, 2, signature)
        array, value = arguments[array_at], arguments[1 - array_at]
        if not isinstance(array.type, Array):
            raise misfit(signature, "an array", array, array_at)
        value = readable_beside(value, Argument(Inferred(array.type.element, nullable=False)))
        if value.type != array.type.element and not isinstance(value.type, Unknown):
            raise misfit(signature, str(array.type.element), value, 1 - array_at)
        parameters: list[ValueType] = [array.type.element, array.type.element]
        parameters[array_at] = array.type
        return Resolution(tuple(parameters), result(array.type, array, value))

    return rule


def _grown(type_: Array, array: Argument, value: Argument) -> Inferred:
    return Inferred(Array(type_.element, type_.element_nullable or value.nullable), array.nullable)


def _array_concat(arguments: tuple[Argument, ...]) -> Resolution:
    signature = "array_concat(xs: array(T), ys: array(T)) -> array(T)"
    arity(arguments, 2, 2, signature)
    left, right = arguments
    for position, argument in enumerate(arguments):
        if not isinstance(argument.type, Array):
            raise misfit(signature, "an array", argument, position)
    common = branch_type(list(enumerate((left, right))))
    return Resolution((common, common), Inferred(common, any_nullable(arguments)))


def _array_get(arguments: tuple[Argument, ...]) -> Resolution:
    resolution = takes("array_get(xs: array(T), index: int64) -> T", (ARRAY, WHOLE), always(INT64))(arguments)
    array = arguments[0].type
    assert isinstance(array, Array)
    return Resolution(resolution.parameters, Inferred(array.element, nullable=True))


def _map(name: str) -> Rule:
    signature = f"{name}(key: string, value: T, …) -> map(string, T)"

    def rule(arguments: tuple[Argument, ...]) -> Resolution:
        arity(arguments, 2, None, signature)
        if len(arguments) % 2:
            raise SignatureError("E060", "the last key has no value", len(arguments) - 1, f"write `{signature}`")
        keys, values = arguments[::2], list(enumerate(arguments))[1::2]
        for position, key in enumerate(keys):
            if not isinstance(key.type, String) or key.nullable:
                raise misfit(signature, "a string nonnull", key, 2 * position)
        value = _element_type(values)
        type_ = Map(value, any(v.nullable for _, v in values))
        return Resolution((STRING, value) * len(keys), Inferred(type_, nullable=False))

    return rule


def _map_get(arguments: tuple[Argument, ...]) -> Resolution:
    signature = "map_get(entries: map(string, T), key: string) -> T"
    resolution = takes(signature, (Parameter((Map,), "a map"), TEXT), always(INT64))(arguments)
    type_ = arguments[0].type
    assert isinstance(type_, Map)
    return Resolution(resolution.parameters, Inferred(type_.value, nullable=True))


def _struct(arguments: tuple[Argument, ...]) -> Resolution:
    signature = 'struct("name", value, …) -> struct'
    arity(arguments, 2, None, signature)
    if len(arguments) % 2:
        raise SignatureError("E060", "the last name has no value", len(arguments) - 1, f"write `{signature}`")
    names = [str(constant(arguments, i, signature, "a field's name")) for i in range(0, len(arguments), 2)]
    for position, name in enumerate(names):
        if name in names[:position]:
            raise SignatureError("E060", f"`{name}` names two fields", 2 * position, "give each field its own name")
    values = arguments[1::2]
    types = [_element_type([(2 * i + 1, v)]) for i, v in enumerate(values)]
    fields = tuple(StructField(n, t, v.nullable) for n, t, v in zip(names, types, values, strict=True))
    parameters = tuple(p for type_ in types for p in (STRING, type_))
    return Resolution(parameters, Inferred(Struct(fields), nullable=False))


def _struct_get(arguments: tuple[Argument, ...]) -> Resolution:
    signature = 'struct_get(record: struct, "name") -> the field\'s type'
    resolution = takes(signature, (Parameter((Struct,), "a struct"), TEXT), always(INT64))(arguments)
    type_, name = arguments[0].type, constant(arguments, 1, signature, "a field's name")
    assert isinstance(type_, Struct)
    for field in type_.fields:
        if field.name == name:
            return Resolution(resolution.parameters, Inferred(field.type, field.nullable or arguments[0].nullable))
    fields = ", ".join(f.name for f in type_.fields)
    raise SignatureError("E060", f"{type_} has no field `{name}`", 1, f"its fields are {fields}")


CONTAINS = "array_contains(xs: array(T), x: T) -> bool"
APPEND = "array_append(xs: array(T), x: T) -> array(T)"
PREPEND = "array_prepend(x: T, xs: array(T)) -> array(T)"
SORT = "array_sort(xs: array(T)) -> array(T)"
DOC = 'cast("{\\"a\\": 1.5, \\"b\\": [1], \\"c\\": null}", "json")'


def _json(name: str, result: ValueType, doc: str, *examples: Example) -> Function:
    signature = f"{name}(document: json, key: string) -> {result}"
    return row(
        name, "json", signature, takes(signature, (DOCUMENT, TEXT), always(result, nullable=True)), doc, *examples
    )


NESTED = (
    *(
        row(
            name,
            "arrays",
            f"{name}(x: T, …) -> array(T)",
            _literal(name),
            "The array of the values.",
            Example(f"{name}(1, 2)", [1, 2]),
            Example(f'{name}("a", none)', ["a", None]),
        )
        for name in ("list", "array_construct")
    ),
    row(
        "array_length",
        "arrays",
        "array_length(xs: array) -> int64",
        takes("array_length(xs: array) -> int64", (ARRAY,), always(INT64)),
        "How many elements the array has, nulls among them.",
        Example("array_length(list(1, none))", 2),
        Example('array_length(cast(none, "array(int64)"))', None),
    ),
    row(
        "array_get",
        "arrays",
        "array_get(xs: array(T), index: int64) -> T",
        _array_get,
        "The element at `index`, which counts from 0; null outside.",
        Example("array_get(list(5, 6), 1)", 6),
        Example("array_get(list(5, 6), 2)", None),
    ),
    row(
        "array_contains",
        "arrays",
        CONTAINS,
        with_element(CONTAINS, 0, lambda type_, array, value: Inferred(BOOL, array.nullable or value.nullable)),
        "Whether an element equals `x`; null elements equal nothing.",
        Example("array_contains(list(1, none), 1)", True),
        Example("array_contains(list(1, none), 2)", False),
    ),
    row(
        "array_concat",
        "arrays",
        "array_concat(xs: array(T), ys: array(T)) -> array(T)",
        _array_concat,
        "The elements of both, one after the other.",
        Example("array_concat(list(1), list(2))", [1, 2]),
        Example('array_concat(list(1), cast(none, "array(int64)"))', None),
    ),
    row(
        "array_append",
        "arrays",
        APPEND,
        with_element(APPEND, 0, _grown),
        "The array with one more element at its end.",
        Example("array_append(list(1), 2)", [1, 2]),
        Example("array_append(list(1), none)", [1, None]),
    ),
    row(
        "array_prepend",
        "arrays",
        PREPEND,
        with_element(PREPEND, 1, _grown),
        "The array with one more element at its beginning.",
        Example("array_prepend(0, list(1))", [0, 1]),
        Example("array_prepend(none, list(1))", [None, 1]),
    ),
    row(
        "array_sort",
        "arrays",
        SORT,
        takes(SORT, (ARRAY,), same_type),
        "The elements from the smallest on, nulls last.",
        Example("array_sort(list(2, none, 1))", [1, 2, None]),
        Example('array_sort(list("b", "a"))', ["a", "b"]),
    ),
    *(
        row(
            name,
            "maps",
            f"{name}(key: string, value: T, …) -> map(string, T)",
            _map(name),
            "The map of keys and values in turn; a key that stands twice is an error.",
            Example(f'map_get({name}("a", 1, "b", 2), "b")', 2),
            Example(f'map_get({name}("a", 1), "z")', None),
        )
        for name in ("map", "dict")
    ),
    row(
        "map_get",
        "maps",
        "map_get(entries: map(string, T), key: string) -> T",
        _map_get,
        "The value of a key; null where there is none.",
        Example('map_get(map("a", 1), "a")', 1),
        Example('map_get(map("a", 1), "b")', None),
    ),
    row(
        "struct",
        "structs",
        'struct("name", value, …) -> struct',
        _struct,
        "The record of names and values in turn.",
        Example('struct_get(struct("a", 1, "b", "x"), "b")', "x"),
        Example('struct_get(struct("a", 1), "a")', 1),
    ),
    row(
        "struct_get",
        "structs",
        'struct_get(record: struct, "name") -> the field\'s type',
        _struct_get,
        "The value of a field.",
        Example('struct_get(struct("a", 1), "a")', 1),
        Example('struct_get(struct("a", 1, "b", true), "b")', True),
    ),
    _json(
        "json_get",
        JSON,
        "The member of a JSON object, as JSON without white space; null where there is none.",
        Example(f'cast(json_get({DOC}, "b"), "string")', "[1]"),
        Example(f'json_get({DOC}, "z")', None),
    ),
    _json(
        "json_value",
        STRING,
        "The scalar member of a JSON object as text; null where it is absent, null, an array or an object.",
        Example(f'json_value({DOC}, "a")', "1.5"),
        Example(f'json_value({DOC}, "b")', None),
    ),
    row(
        "json_is_null",
        "json",
        "json_is_null(document: json) -> bool",
        takes("json_is_null(document: json) -> bool", (DOCUMENT,), always(BOOL)),
        "Whether the document is the JSON `null`.",
        Example('json_is_null(cast("null", "json"))', True),
        Example(f"json_is_null({DOC})", False),
    ),
)
