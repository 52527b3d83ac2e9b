"""Mathematical functions. int64 and decimal are exact; float64 follows IEEE 754."""

from __future__ import annotations

from ..currencies import CURRENCIES
from ..inferred import Inferred, union_of_values
from ..values import (
    FLOAT64,
    INT64,
    MAX_PRECISION,
    MONEY_SCALE,
    STRING,
    Array,
    Bool,
    Decimal,
    Float64,
    Int64,
    Json,
    Map,
    Money,
    Struct,
    Unknown,
    ValueType,
)
from .operands import as_factor, branch_type, comparable, readable_beside
from .shapes import AMOUNT, NUMBER, Parameter, always, constant, misfit, same_type, takes, whole_constant
from .signature import Argument, Example, Function, Kind, Resolution, Rule, SignatureError, any_nullable, arity

ROUNDING_MODES = frozenset({"half_even", "half_up", "half_down", "up", "down", "ceiling", "floor"})
MOST_FLOAT_DIGITS = 22
FLOAT = Parameter((Int64, Float64, Decimal), "a number", FLOAT64)


def _row(
    name: str, signature: str, rule: Rule, doc: str, *examples: Example, words: dict[int, frozenset[str]] | None = None
) -> Function:
    return Function(name, Kind.SCALAR, "maths", signature, rule, doc, examples, words or {})


def float_of(name: str, doc: str, *examples: Example) -> Function:
    """A function of one number that gives a float64."""
    signature = f"{name}(x: number) -> float64"
    return _row(name, signature, takes(signature, (FLOAT,), always(FLOAT64)), doc, *examples)


def _carried(type_: ValueType, digits: int) -> ValueType:
    """The type of a number rounded to `digits` digits: a carry may add a digit before the point."""
    if not isinstance(type_, Decimal) or digits >= type_.scale:
        return type_
    return Decimal(min(MAX_PRECISION, type_.whole_digits + 1 + digits), digits)


ROUND = "round(x: number | money[, digits: literal int64[, mode]]) -> number | money"
CONVERT = "convert(amount: money, rate: int64 | decimal, currency) -> money"
NULLIF = "nullif(x: T, y: T) -> T"


def _round(arguments: tuple[Argument, ...]) -> Resolution:
    arity(arguments, 1, 3, ROUND)
    number, *options = arguments
    if not isinstance(number.type, AMOUNT.types):
        raise misfit(ROUND, AMOUNT.described, number, 0)
    limits: dict[type, int] = {Float64: MOST_FLOAT_DIGITS, Money: MONEY_SCALE}
    most = limits.get(type(number.type), MAX_PRECISION)
    digits = whole_constant(arguments, 1, ROUND, "the number of digits", 0, most) if options else 0
    if len(arguments) == 3 and constant(arguments, 2, ROUND, "the rounding mode") not in ROUNDING_MODES:
        raise SignatureError("E060", "no such rounding mode", 2, f"modes are {', '.join(sorted(ROUNDING_MODES))}")
    result = Inferred(_carried(number.type, digits), number.nullable)
    return Resolution((number.type, INT64, STRING)[: len(arguments)], result)


def whole(name: str) -> Rule:
    """A function that leaves no digits after the point."""
    signature = f"{name}(x: number) -> number"
    return takes(signature, (NUMBER,), lambda a: Inferred(_carried(a[0].type, 0), a[0].nullable))


def _convert(arguments: tuple[Argument, ...]) -> Resolution:
    arity(arguments, 3, 3, CONVERT)
    amount, rate, _ = arguments
    if not isinstance(amount.type, Money):
        raise misfit(CONVERT, "money", amount, 0)
    rate = as_factor(rate)
    if not isinstance(rate.type, Int64 | Decimal):
        raise misfit(CONVERT, "int64 or decimal, which are exact", rate, 1)
    currency = str(constant(arguments, 2, CONVERT, "the currency"))
    if currency not in CURRENCIES:
        raise SignatureError("E060", f"`{currency}` is not an ISO 4217 currency code", 2, "write a code such as USD")
    return Resolution((amount.type, rate.type, STRING), Inferred(Money(currency), any_nullable((amount, rate))))


def _extreme(name: str) -> Rule:
    signature = f"{name}(x: T, …) -> T"

    def rule(arguments: tuple[Argument, ...]) -> Resolution:
        arity(arguments, 1, None, signature)
        common = branch_type(list(enumerate(arguments)))
        if isinstance(common, Array | Map | Struct | Json | Bool | Unknown):
            raise misfit(signature, "a value with an order", arguments[0], 0)
        values = union_of_values([a.inferred.values for a in arguments]) if common == STRING else None
        nullable = all(a.nullable for a in arguments)
        return Resolution((common,) * len(arguments), Inferred(common, nullable, values))

    return rule


def _nullif(arguments: tuple[Argument, ...]) -> Resolution:
    arity(arguments, 2, 2, NULLIF)
    value, other = arguments[0], readable_beside(arguments[1], arguments[0])
    if isinstance(value.type, Unknown) or comparable(value, other) != value.type:
        raise SignatureError(
            "E051", f"`nullif` cannot compare {value.type} with {other.type}", 1, f'cast it: `cast(y, "{value.type}")`'
        )
    removed = other.constant.value if other.constant else None
    values = value.inferred.values
    if values is not None and isinstance(removed, str):
        values = values - {removed}
    zero_removed = isinstance(removed, int | float) and not isinstance(removed, bool) and removed == 0
    result = Inferred(value.type, True, values, value.inferred.nonzero or zero_removed)
    return Resolution((value.type, value.type), result)


MATHS = (
    _row(
        "abs",
        "abs(x: number | money) -> the type of x",
        takes("abs(x: number | money) -> the type of x", (AMOUNT,), same_type),
        "The size of a number.",
        Example("abs(-3)", 3),
        Example("abs(-0.5)", 0.5),
    ),
    _row(
        "round",
        ROUND,
        _round,
        "The number with at most so many digits after the point (none unless said), by `mode` (half_up, away from "
        "zero, unless said). Of float64: round(x * 10^digits) / 10^digits in float64 arithmetic.",
        Example("round(2.5)", 3.0),
        Example("round(2.5, 0, half_even)", 2.0),
        words={2: ROUNDING_MODES},
    ),
    _row(
        "floor",
        "floor(x: number) -> number",
        whole("floor"),
        "The largest whole number that is not larger.",
        Example("floor(-2.5)", -3.0),
        Example("floor(7)", 7),
    ),
    _row(
        "ceil",
        "ceil(x: number) -> number",
        whole("ceil"),
        "The smallest whole number that is not smaller.",
        Example("ceil(2.1)", 3.0),
        Example("ceil(7)", 7),
    ),
    _row(
        "sign",
        "sign(x: number | money) -> int64",
        takes("sign(x: number | money) -> int64", (AMOUNT,), always(INT64)),
        "-1, 0 or 1.",
        Example("sign(-0.5)", -1),
        Example("sign(0)", 0),
    ),
    float_of("sqrt", "The square root; NaN of a negative number.", Example("sqrt(9)", 3.0), Example("sqrt(2.25)", 1.5)),
    float_of("exp", "e to the power of `x`.", Example("exp(0)", 1.0), Example('exp(cast(none, "int64"))', None)),
    float_of(
        "ln",
        "The natural logarithm; NaN of a negative number, negative infinity of zero.",
        Example("ln(1)", 0.0),
        Example('ln(cast(none, "int64"))', None),
    ),
    float_of(
        "log10",
        "The decimal logarithm; NaN of a negative number, negative infinity of zero.",
        Example("log10(1000)", 3.0),
        Example("log10(1)", 0.0),
    ),
    _row(
        "power",
        "power(x: number, y: number) -> float64",
        takes("power(x: number, y: number) -> float64", (FLOAT, FLOAT), always(FLOAT64)),
        "`x` to the power of `y`.",
        Example("power(2, 10)", 1024.0),
        Example("power(4, 0.5)", 2.0),
    ),
    _row(
        "greatest",
        "greatest(x: T, …) -> T",
        _extreme("greatest"),
        "The largest argument that is not null; null where all are.",
        Example("greatest(1, 3, 2)", 3),
        Example('greatest("a", cast(none, "string"))', "a"),
    ),
    _row(
        "least",
        "least(x: T, …) -> T",
        _extreme("least"),
        "The smallest argument that is not null; null where all are.",
        Example("least(1, 3, 2)", 1),
        Example('least("b", "a")', "a"),
    ),
    Function(
        "nullif",
        Kind.SCALAR,
        "conditionals",
        NULLIF,
        _nullif,
        "Null where the two are equal, else `x`.",
        (Example("nullif(0, 0)", None), Example('nullif("a", "b")', "a")),
    ),
    Function(
        "convert",
        Kind.SCALAR,
        "money",
        CONVERT,
        _convert,
        "The amount in another currency: the exact product with `rate`, rounded once, half even, to the cent.",
        (
            Example('cast(convert(cast("10.00", "money(EUR)"), 1.0825, USD), "string")', "10.82"),
            Example('cast(convert(cast("10.00", "money(EUR)"), 2, USD), "string")', "20.00"),
        ),
        words={2: CURRENCIES},
    ),
)
