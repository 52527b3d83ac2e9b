"""The types of compile-time values: `Str Int Float Bool Model List<T> Map<K, V> Struct<a: T>`. Code: E072.

Values do not change, so that a list of a fitting type fits: `List<Int>` where `List<Float>` is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...diagnostics import Diagnostic, Report
from ...diagnostics.suggest import nearest
from ...frozen import dataclass
from ...language import ast


@dataclass(frozen=True, slots=True)
class Scalar:
    """A type without parts."""

    word: str

    def __str__(self) -> str:
        return self.word


@dataclass(frozen=True, slots=True)
class Nothing:
    """The type of the elements of `[]`: it fits everywhere."""

    def __str__(self) -> str:
        return "nothing"


@dataclass(frozen=True, slots=True)
class ListOf:
    """`List<element>`."""

    element: Type

    def __str__(self) -> str:
        return "an empty List" if isinstance(self.element, Nothing) else f"List<{self.element}>"


@dataclass(frozen=True, slots=True)
class MapOf:
    """`Map<key, value>`; keys are `Str` or `Int`."""

    key: Type
    value: Type

    def __str__(self) -> str:
        return f"Map<{self.key}, {self.value}>"


@dataclass(frozen=True, slots=True)
class StructOf:
    """`Struct<a: T, …>`; the order of the fields does not matter."""

    fields: Mapping[str, Type]

    def __str__(self) -> str:
        return f"Struct<{', '.join(f'{name}: {type_}' for name, type_ in self.fields.items())}>"


Type = Scalar | Nothing | ListOf | MapOf | StructOf

STR, INT, FLOAT, BOOL, MODEL = (Scalar(word) for word in ("Str", "Int", "Float", "Bool", "Model"))
NOTHING = Nothing()
TEXTUAL = (STR, INT, FLOAT, BOOL)
"""The types whose values have one text, and one literal."""

WORDS: Mapping[str, Scalar] = {
    **dict.fromkeys(("Str", "String", "string"), STR),
    **dict.fromkeys(("Int", "Int64", "int64"), INT),
    **dict.fromkeys(("Float", "Float64", "float64"), FLOAT),
    **dict.fromkeys(("Bool", "bool"), BOOL),
    "Model": MODEL,
}
WITHOUT_LITERAL = frozenset(["decimal", "date", "timestamp", "uuid", "json", "money", "array", "map", "struct"])
SHOWN = ("Str", "Int", "Float", "Bool", "Model", "List", "Map", "Struct")
ARGUMENTS = {"List": 1, "Map": 2}


def fits(given: Type, wanted: Type) -> bool:
    """Whether a value of type `given` may stand where `wanted` is asked for."""
    match given, wanted:
        case Nothing(), _:
            return True
        case ListOf(), ListOf():
            return fits(given.element, wanted.element)
        case MapOf(), MapOf():
            return fits(given.key, wanted.key) and fits(given.value, wanted.value)
        case StructOf(), StructOf():
            same = given.fields.keys() == wanted.fields.keys()
            return same and all(fits(given.fields[name], type_) for name, type_ in wanted.fields.items())
        case _:
            return given == wanted or (given, wanted) == (INT, FLOAT)


def common(left: Type, right: Type) -> Type | None:
    """The type that holds the values of both."""
    match left, right:
        case ListOf(), ListOf():
            element = common(left.element, right.element)
            return None if element is None else ListOf(element)
        case _:
            return right if fits(left, right) else left if fits(right, left) else None


def holds(type_: Type, part: Scalar) -> bool:
    """Whether a value of `type_` is one of `part`, or may hold some."""
    match type_:
        case ListOf():
            return holds(type_.element, part)
        case MapOf():
            return holds(type_.value, part)
        case StructOf():
            return any(holds(field, part) for field in type_.fields.values())
        case _:
            return type_ == part


def read_type(written: ast.TypeExpr, domains: Mapping[str, ast.TypeExpr], report: Report) -> Type | None:
    """The type that is written; `None` where E072 was reported."""
    word, arguments = written.name.text, written.arguments
    if word == "Struct" and arguments:
        return _struct(written, domains, report)
    if word in ARGUMENTS and len(arguments) == ARGUMENTS[word]:
        parts = [read_type(a, domains, report) if isinstance(a, ast.TypeExpr) else None for a in arguments]
        match word, parts:
            case "List", [ListOf() | Scalar() | MapOf() | StructOf() as element]:
                return ListOf(element)
            case "Map", [Scalar() as key, ListOf() | Scalar() | MapOf() | StructOf() as value] if key in (STR, INT):
                return MapOf(key, value)
            case "Map", [None, _] | [_, None]:
                return None
            case "Map", [key, _]:
                message = f"the keys of a Map are Str or Int, not {key}"
                report(Diagnostic("E072", message, arguments[0].span, fix="write `Map<Str, …>`"))
        return None
    if not arguments and word in WORDS:
        return WORDS[word]
    if not arguments and (behind := _behind(word, domains)):
        return behind
    report(_no_type(written, domains))
    return None


def _struct(written: ast.TypeExpr, domains: Mapping[str, ast.TypeExpr], report: Report) -> Type | None:
    fields: dict[str, Type | None] = {}
    for field in written.arguments:
        if not isinstance(field, ast.TypeField):
            report(Diagnostic("E072", "a field of a Struct has a name", field.span, fix="write `Struct<name: Str>`"))
            return None
        if field.name.text in fields:
            message = f"the field `{field.name}` is given twice"
            report(Diagnostic("E072", message, field.name.span, fix="rename one of the two"))
        fields[field.name.text] = read_type(field.type, domains, report)
    known = {name: type_ for name, type_ in fields.items() if type_ is not None}
    return StructOf(known) if len(known) == len(fields) else None


def _behind(word: str, domains: Mapping[str, ast.TypeExpr]) -> Type | None:
    """The type behind a domain, where its values have literals; a cycle of domains has none and is told elsewhere."""
    seen: set[str] = set()
    while word in domains and word not in seen and not domains[word].arguments:
        seen.add(word)
        word = domains[word].name.text
    return WORDS.get(word)


MEANT = {
    **dict.fromkeys(("text", "varchar", "char"), "Str"),
    **dict.fromkeys(("integer", "bigint", "number", "long"), "Int"),
    **dict.fromkeys(("double", "real", "decimal"), "Float"),
    **dict.fromkeys(("boolean",), "Bool"),
    **dict.fromkeys(("table", "query", "relation"), "Model"),
}
"""What is meant by words of other languages, in lower case."""


def _no_type(written: ast.TypeExpr, domains: Mapping[str, ast.TypeExpr]) -> Diagnostic:
    word = written.name.text
    if word in ARGUMENTS or word == "Struct":
        fix = {"List": "write `List<Str>`", "Map": "write `Map<Str, Int>`", "Struct": "write `Struct<name: Str>`"}[word]
        return Diagnostic("E072", f"`{word}` takes other arguments", written.span, fix=fix)
    if word in WORDS:
        return Diagnostic("E072", f"`{word}` takes no arguments", written.span, fix=f"write `{word}`")
    if word in WITHOUT_LITERAL or word in domains:
        fix = "take a Str or a Float, and cast it in the model"
        return Diagnostic("E072", f"a `{word}` has no literal, so that no value can be given", written.span, fix=fix)
    near = MEANT.get(word.lower()) or nearest(word, SHOWN) or nearest(word, (*WORDS, *domains))
    fix = f"write `{near}`" if near else f"types of compile-time values are {', '.join(SHOWN)}"
    return Diagnostic("E072", f"no type `{word}` of compile-time values", written.name.span, fix=fix)
