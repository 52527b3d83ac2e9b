"""Comparison, logic, patterns, membership and null tests (Seed 0 §2 `x ≶ y`, `not`): all give bool."""

from __future__ import annotations

from ...frozen import replace
from ..inferred import Inferred
from ..values import (
    BOOL,
    STRING,
    TIMESTAMP,
    Array,
    Bool,
    Date,
    Decimal,
    Float64,
    Int64,
    Json,
    Map,
    Money,
    String,
    Struct,
    Timestamp,
    Unknown,
    ValueType,
)
from .operands import SYMBOLS, adapt_literals, comparable, operator
from .shapes import pattern
from .signature import Argument, Example, Resolution, Rule, SignatureError, any_nullable

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def _comparison(name: str) -> Rule:
    def rule(arguments: tuple[Argument, ...]) -> Resolution:
        for position, argument in enumerate(arguments):
            if isinstance(argument.type, Unknown):
                test = "is not none" if name == "ne" else "is none"
                raise SignatureError("E051", f"`{SYMBOLS[name]} none` is never true", position, f"write `x {test}`")
        left, right = adapt_literals(*arguments)
        at = comparable(left, right)
        if at is None or (isinstance(at, Bool) and name not in ("eq", "ne")):
            raise _incomparable(name, left, right)
        return Resolution((at, at), Inferred(BOOL, any_nullable((left, right))))

    return rule


def _incomparable(name: str, left: Argument, right: Argument) -> SignatureError:
    code, fix = "E051", "compare two numbers, or two values of one type"
    cast: tuple[int, ValueType] | None = None
    match left.type, right.type:
        case Money(), Money():
            code, fix = "E052", f"convert first: `convert(x, rate, {left.type.currency})`"
        case (Money(), _) | (_, Money()):
            money = left.type if isinstance(left.type, Money) else right.type
            number = right if money is left.type else left
            text = number.constant.value if number.constant else "x"
            fix = f'cast the number: `cast({text}, "{money}")`'
            cast = (1 if money is left.type else 0, money) if isinstance(number.type, Int64 | Decimal) else None
        case (Date() | Timestamp(), String()) | (String(), Date() | Timestamp()):
            target = right.type if isinstance(left.type, String) else left.type
            fix = f'cast the string: `cast(x, "{target}")`'
            cast = (0 if isinstance(left.type, String) else 1, target)
        case (Date(), Timestamp()) | (Timestamp(), Date()):
            fix = 'cast the date: `cast(x, "timestamp")`'
            cast = (0 if isinstance(left.type, Date) else 1, TIMESTAMP)
        case (Array() | Map() | Struct() | Json(), _):
            fix = "only scalar values are compared"
        case (Bool(), Int64() | Float64() | Decimal()) if name not in ("eq", "ne"):
            fix = "compare two at a time: `low < x and x < high`"
        case (String(), Int64() | Float64() | Decimal()) | (Int64() | Float64() | Decimal(), String()):
            fix = _quoted(*((left, right) if isinstance(left.type, String) else (right, left)))
        case (String(), Bool()) | (Bool(), String()):
            fix = "`true` and `false` stand without quotes, and a bool alone is a condition"
        case _:
            pass
    return SignatureError(code, f"`{SYMBOLS[name]}` cannot compare {left.type} and {right.type}", 1, fix, cast=cast)


def _quoted(text: Argument, number: Argument) -> str:
    """How a string is compared with a number."""
    if text.constant is not None:
        return "leave the quotes out: numbers stand without"
    if number.constant is not None:
        return f'compare with a text: `"{number.constant.value}"`'
    return f'cast one of them: `try_cast(x, "{number.type}")`'


def _logical(name: str) -> Rule:
    def rule(arguments: tuple[Argument, ...]) -> Resolution:
        for position, argument in enumerate(arguments):
            if not isinstance(argument.type, Bool):
                raise SignatureError(
                    "E053",
                    f"`{SYMBOLS[name]}` takes bool, not {argument.type}",
                    position,
                    "compare the value first, as in `x > 0` or `x is not none`",
                )
        return Resolution((BOOL,) * len(arguments), Inferred(BOOL, any_nullable(arguments)))

    return rule


def _pattern(name: str) -> Rule:
    def rule(arguments: tuple[Argument, ...]) -> Resolution:
        for position, argument in enumerate(arguments):
            if not isinstance(argument.type, String):
                raise SignatureError(
                    "E050", f"`{name}` takes strings, not {argument.type}", position, 'cast first: `cast(x, "string")`'
                )
        if name == "rlike":
            pattern(arguments, 1, "text rlike literal")
        return Resolution((STRING, STRING), Inferred(BOOL, any_nullable(arguments)))

    return rule


def _in(arguments: tuple[Argument, ...]) -> Resolution:
    needle, *items = arguments
    if not items:
        raise SignatureError("E060", "`in` needs at least one value", None, "write `x in [1, 2]`")
    at: ValueType = needle.type
    for position, item in enumerate(items, start=1):
        if isinstance(item.type, Unknown):
            continue
        left, right = adapt_literals(replace(needle, inferred=replace(needle.inferred, type=at)), item)
        common = comparable(left, right)
        if common is None:
            error = _incomparable("in", needle, item)
            raise SignatureError(error.code, error.message, position, error.fix)
        at = common
    if isinstance(at, Unknown):
        raise SignatureError("E055", "`none` has no type of its own beside `in`", 0, "test for null with `is none`")
    return Resolution((at,) * len(arguments), Inferred(BOOL, any_nullable(arguments)))


def _null_test(arguments: tuple[Argument, ...]) -> Resolution:
    (operand,) = arguments
    return Resolution((operand.type,), Inferred(BOOL, nullable=False))


PREDICATES = (
    *(
        operator(name, f"x {SYMBOLS[name]} y", _comparison(name), doc, *examples)
        for name, doc, examples in (
            ("eq", "Whether two values are equal.", (Example("1 == 1.0", True), Example('"a" == "b"', False))),
            ("ne", "Whether two values differ.", (Example("1 != 1.0", False), Example('"a" != "b"', True))),
            ("lt", "Whether the first is smaller.", (Example("1 < 2", True), Example('"b" < "a"', False))),
            ("le", "Whether the first is not larger.", (Example("2 <= 2", True), Example("3 <= 2", False))),
            ("gt", "Whether the first is larger.", (Example("1 > 2", False), Example('"b" > "a"', True))),
            ("ge", "Whether the first is not smaller.", (Example("2 >= 2", True), Example("1 >= 2", False))),
        )
    ),
    operator(
        "and",
        "a and b",
        _logical("and"),
        "Three-valued conjunction.",
        Example("true and false", False),
        Example('cast(none, "bool") and false', False),
    ),
    operator(
        "or",
        "a or b",
        _logical("or"),
        "Three-valued disjunction.",
        Example("true or false", True),
        Example('cast(none, "bool") or true', True),
    ),
    operator(
        "not",
        "not a",
        _logical("not"),
        "Three-valued negation.",
        Example("not true", False),
        Example('not cast(none, "bool")', None),
    ),
    operator(
        "like",
        "s like pattern",
        _pattern("like"),
        "SQL pattern match: `%` any text, `_` one character.",
        Example('"abc" like "a%"', True),
        Example('"abc" like "b_"', False),
    ),
    operator(
        "rlike",
        "s rlike regex",
        _pattern("rlike"),
        "Whether the RE2 expression matches somewhere in the text.",
        Example('"abc" rlike "b"', True),
        Example('"abc" rlike "^b"', False),
    ),
    operator(
        "in",
        "x in [a, …]",
        _in,
        "Whether the value equals one of the list; null as in three-valued logic.",
        Example("2 in [1, 2]", True),
        Example("3 in [1, none]", None),
    ),
    operator(
        "is_null",
        "x is none",
        _null_test,
        "Whether the value is null.",
        Example("none is none", True),
        Example("1 is none", False),
    ),
    operator(
        "is_not_null",
        "x is not none",
        _null_test,
        "Whether the value is not null.",
        Example("none is not none", False),
        Example("1 is not none", True),
    ),
)
