"""Functions of float64 after IEEE 754, the bits of int64, and `random` behind a seed."""

from __future__ import annotations

from ..inferred import Inferred
from ..values import BOOL, FLOAT64, INT64, STRING, Array, Float64, Json, Map, Struct, Unknown
from .maths import FLOAT, float_of, whole
from .shapes import WHOLE, always, misfit, takes, whole_constant
from .signature import Argument, Example, Function, Kind, Resolution, Rule, SignatureError, arity

RANDOM = "random(seed: literal int64, key: T) -> float64"
MOST_SEED = 2**63 - 1


def _row(name: str, signature: str, rule: Rule, doc: str, *examples: Example) -> Function:
    return Function(name, Kind.SCALAR, "maths", signature, rule, doc, examples)


def _test(name: str, doc: str, *examples: Example) -> Function:
    signature = f"{name}(x: number) -> bool"
    return _row(name, signature, takes(signature, (FLOAT,), always(BOOL)), doc, *examples)


def _bits(name: str, doc: str, *examples: Example) -> Function:
    signature = f"{name}(x: int64, y: int64) -> int64"
    return _row(name, signature, takes(signature, (WHOLE, WHOLE), always(INT64)), doc, *examples)


def _random(arguments: tuple[Argument, ...]) -> Resolution:
    """The key is read as text, so that its value alone decides, in every engine alike."""
    if len(arguments) == 1:
        raise SignatureError(
            "E060",
            "`random` draws a number for a key, so that each row keeps its own whatever the order of rows",
            None,
            "add a column that tells the rows apart: `random(seed: 42, key: order_id)`",
        )
    arity(arguments, 2, 2, RANDOM)
    whole_constant(arguments, 0, RANDOM, "the seed", 0, MOST_SEED)
    key = arguments[1]
    if isinstance(key.type, Array | Map | Struct | Json | Float64 | Unknown):
        raise misfit(RANDOM, "a simple value other than float64", key, 1)
    return Resolution((INT64, STRING), Inferred(FLOAT64, key.nullable))


FLOATS = (
    _row(
        "pi",
        "pi() -> float64",
        takes("pi() -> float64", (), lambda _: Inferred(FLOAT64, nullable=False, nonzero=True)),
        "The ratio of a circle's circumference to its diameter.",
        Example("pi()", 3.141592653589793),
        Example("round(pi(), 2)", 3.14),
    ),
    _row(
        "trunc",
        "trunc(x: number) -> number",
        whole("trunc"),
        "The whole number that is left without the digits after the point.",
        Example("trunc(-2.5)", -2.0),
        Example("trunc(7)", 7),
    ),
    float_of(
        "log2",
        "The logarithm to the base 2; as `ln` of zero and below.",
        Example("log2(8)", 3.0),
        Example("log2(1)", 0.0),
    ),
    float_of("sin", "The sine of an angle in radians.", Example("sin(0)", 0.0), Example("sin(1)", 0.8414709848078965)),
    float_of(
        "cos", "The cosine of an angle in radians.", Example("cos(0)", 1.0), Example("cos(1)", 0.5403023058681398)
    ),
    float_of(
        "tan", "The tangent of an angle in radians.", Example("tan(0)", 0.0), Example("tan(1)", 1.5574077246549023)
    ),
    float_of(
        "asin",
        "The angle in radians of a sine; NaN outside -1 to 1.",
        Example("asin(0)", 0.0),
        Example("asin(1)", 1.5707963267948966),
    ),
    float_of(
        "acos",
        "The angle in radians of a cosine; NaN outside -1 to 1.",
        Example("acos(1)", 0.0),
        Example("acos(0)", 1.5707963267948966),
    ),
    float_of(
        "atan", "The angle in radians of a tangent.", Example("atan(0)", 0.0), Example("atan(1)", 0.7853981633974483)
    ),
    _row(
        "atan2",
        "atan2(y: number, x: number) -> float64",
        takes("atan2(y: number, x: number) -> float64", (FLOAT, FLOAT), always(FLOAT64)),
        "The angle in radians from the x axis to the point `x`, `y`.",
        Example("atan2(0, 1)", 0.0),
        Example("atan2(1, 0)", 1.5707963267948966),
    ),
    float_of("degrees", "Radians in degrees.", Example("degrees(pi())", 180.0), Example("degrees(0)", 0.0)),
    float_of("radians", "Degrees in radians.", Example("radians(180)", 3.141592653589793), Example("radians(0)", 0.0)),
    _test(
        "is_nan",
        "Whether the number is NaN.",
        Example("is_nan(sqrt(-1))", True),
        Example("is_nan(1)", False),
    ),
    _test(
        "is_finite",
        "Whether the number is neither infinite nor NaN.",
        Example("is_finite(ln(0))", False),
        Example("is_finite(1.5)", True),
    ),
    _bits("bit_and", "The bits that both have.", Example("bit_and(12, 10)", 8), Example("bit_and(-1, 5)", 5)),
    _bits("bit_or", "The bits that one has.", Example("bit_or(12, 10)", 14), Example("bit_or(0, 5)", 5)),
    _bits("bit_xor", "The bits that one of the two has.", Example("bit_xor(12, 10)", 6), Example("bit_xor(5, 5)", 0)),
    Function(
        "random",
        Kind.SCALAR,
        "random",
        RANDOM,
        _random,
        "A number from 0 up to 1, drawn for the key: the same for the same seed and key, in every run, engine and "
        "order of rows. It is the first 52 bits of the SHA-256 digest of `seed:key`, the key as text, divided by 2^52.",
        (
            Example("random(seed: 42, key: 1)", 0.015105743210815259),
            Example('random(seed: 42, key: cast(none, "string"))', None),
        ),
        named=("seed", "key"),
    ),
)
