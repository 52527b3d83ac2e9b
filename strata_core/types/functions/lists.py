"""More functions of arrays and maps. Positions count from 0; what is not there is null."""

from __future__ import annotations

from collections.abc import Callable

from ..inferred import Inferred
from ..values import BOOL, INT64, STRING, Array, Json, Map, String, Struct
from .nested import ARRAY, row, with_element
from .shapes import TEXT, WHOLE, Parameter, always, misfit, same_type, takes
from .signature import Argument, Example, Function, Resolution, Rule, arity

MAP = Parameter((Map,), "a map")
INDEX_OF = "array_index_of(xs: array(T), x: T) -> int64"
REMOVE = "array_remove(xs: array(T), x: T) -> array(T)"
JOIN = "array_join(xs: array(string), separator: string) -> string"
SLICE = "array_slice(xs: array(T), start: int64, count: int64) -> array(T)"


def _of_simple(signature: str, result: Callable[[Array, Argument], Inferred]) -> Rule:
    """A function of an array of values that have an order."""

    def rule(arguments: tuple[Argument, ...]) -> Resolution:
        arity(arguments, 1, 1, signature)
        (array,) = arguments
        if not isinstance(array.type, Array) or isinstance(array.type.element, Array | Map | Struct | Json):
            raise misfit(signature, "an array of simple values", array, 0)
        return Resolution((array.type,), result(array.type, array))

    return rule


def _extreme(name: str, doc: str, *examples: Example) -> Function:
    signature = f"{name}(xs: array(T)) -> T"
    return row(
        name,
        "arrays",
        signature,
        _of_simple(signature, lambda t, _: Inferred(t.element, nullable=True)),
        doc,
        *examples,
    )


def _join(arguments: tuple[Argument, ...]) -> Resolution:
    resolution = takes(JOIN, (ARRAY, TEXT), always(STRING))(arguments)
    array = arguments[0].type
    if not isinstance(array, Array) or not isinstance(array.element, String):
        raise misfit(JOIN, "an array of strings", arguments[0], 0)
    return resolution


def _keys(arguments: tuple[Argument, ...]) -> Inferred:
    return Inferred(Array(STRING, element_nullable=False), arguments[0].nullable)


LISTS = (
    row(
        "array_index_of",
        "arrays",
        INDEX_OF,
        with_element(INDEX_OF, 0, lambda *_: Inferred(INT64, nullable=True)),
        "The position of the first element that equals `x`, from 0; null where there is none.",
        Example("array_index_of(list(5, 6, 6), 6)", 1),
        Example("array_index_of(list(5), 7)", None),
    ),
    row(
        "array_remove",
        "arrays",
        REMOVE,
        with_element(REMOVE, 0, lambda t, array, x: Inferred(t, array.nullable or x.nullable)),
        "The array without the elements that equal `x`; null elements stay.",
        Example("array_remove(list(1, none, 2, 1), 1)", [None, 2]),
        Example('array_remove(list("a"), "b")', ["a"]),
    ),
    row(
        "array_slice",
        "arrays",
        SLICE,
        takes(SLICE, (ARRAY, WHOLE, WHOLE), same_type),
        "The elements at `start` to `start + count - 1` that exist, from 0.",
        Example("array_slice(list(5, 6, 7), 1, 2)", [6, 7]),
        Example("array_slice(list(5, 6, 7), -1, 2)", [5]),
    ),
    row(
        "array_reverse",
        "arrays",
        "array_reverse(xs: array(T)) -> array(T)",
        takes("array_reverse(xs: array(T)) -> array(T)", (ARRAY,), same_type),
        "The elements from the last to the first.",
        Example("array_reverse(list(1, none, 2))", [2, None, 1]),
        Example('array_reverse(cast(none, "array(int64)"))', None),
    ),
    row(
        "array_distinct",
        "arrays",
        "array_distinct(xs: array(T)) -> array(T nonnull)",
        _of_simple(
            "array_distinct(xs: array(T)) -> array(T nonnull)",
            lambda t, array: Inferred(Array(t.element, element_nullable=False), array.nullable),
        ),
        "Each element that is not null once, from the smallest on.",
        Example("array_distinct(list(2, 1, none, 2))", [1, 2]),
        Example('array_distinct(list("b", "a", "b"))', ["a", "b"]),
    ),
    _extreme(
        "array_min",
        "The smallest element that is not null; null of none.",
        Example("array_min(list(2, none, 1))", 1),
        Example('array_min(list("b", "a"))', "a"),
    ),
    _extreme(
        "array_max",
        "The largest element that is not null (NaN is largest); null of none.",
        Example("array_max(list(2, none, 1))", 2),
        Example('array_max(list("b", "a"))', "b"),
    ),
    row(
        "array_join",
        "arrays",
        JOIN,
        _join,
        "The strings one after the other with the separator between; nulls are left out.",
        Example('array_join(list("a", none, "b"), "-")', "a-b"),
        Example('array_join(list("a"), "-")', "a"),
    ),
    row(
        "map_keys",
        "maps",
        "map_keys(entries: map(string, T)) -> array(string nonnull)",
        takes("map_keys(entries: map(string, T)) -> array(string nonnull)", (MAP,), _keys),
        "The keys, sorted.",
        Example('map_keys(map("b", 1, "a", 2))', ["a", "b"]),
        Example('map_keys(cast(none, "map(string, int64)"))', None),
    ),
    row(
        "map_contains",
        "maps",
        "map_contains(entries: map(string, T), key: string) -> bool",
        takes("map_contains(entries: map(string, T), key: string) -> bool", (MAP, TEXT), always(BOOL)),
        "Whether there is the key, whatever its value.",
        Example('map_contains(map("a", none, "b", 1), "a")', True),
        Example('map_contains(map("a", 1), "b")', False),
    ),
    row(
        "map_size",
        "maps",
        "map_size(entries: map(string, T)) -> int64",
        takes("map_size(entries: map(string, T)) -> int64", (MAP,), always(INT64)),
        "How many keys there are.",
        Example('map_size(map("a", 1, "b", 2))', 2),
        Example('map_size(cast(none, "map(string, int64)"))', None),
    ),
)
