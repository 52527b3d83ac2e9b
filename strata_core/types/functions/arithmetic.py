"""Arithmetic, of numbers and of money (Seed 0 §1 "Money", §2 `x ⊕ y`), and strings joined."""

from __future__ import annotations

from ..inferred import Inferred
from ..values import (
    FLOAT64,
    INT64,
    MAX_PRECISION,
    MONEY_SCALE,
    STRING,
    Date,
    Decimal,
    Float64,
    Int64,
    Money,
    String,
    Timestamp,
    is_numeric,
)
from .operands import SYMBOLS, adapt_literals, as_factor, misfit, operator, typed_operands
from .signature import Argument, Example, Resolution, Rule, SignatureError, any_nullable

TAKES = {"add": "two numbers or two strings; `concat(a, b)` makes text of anything"}
"""What an operator accepts, where it is not two numbers."""


def _arithmetic(name: str) -> Rule:
    def rule(arguments: tuple[Argument, ...]) -> Resolution:
        left, right = adapt_literals(*typed_operands(name, arguments))
        nullable = any_nullable((left, right))
        if isinstance(left.type, Money) or isinstance(right.type, Money):
            return _money(name, left, right, nullable)
        if name == "add" and isinstance(left.type, String) and isinstance(right.type, String):
            return Resolution((STRING, STRING), Inferred(STRING, nullable))
        for position, argument in enumerate((left, right)):
            if isinstance(argument.type, Date | Timestamp) and name in ("add", "subtract"):
                raise _of_instants(name, left, right, position)
            if not is_numeric(argument.type):
                raise misfit(name, left, right, position, TAKES.get(name, "two numbers"))
        if name == "divide":
            return Resolution((FLOAT64, FLOAT64), Inferred(FLOAT64, nullable or not right.inferred.nonzero))
        if name == "modulo":
            nullable = nullable or not right.inferred.nonzero
        match left.type, right.type:
            case Int64(), Int64():
                return Resolution((INT64, INT64), Inferred(INT64, nullable))
            case Decimal(), Decimal() if name != "modulo":
                return _exact(name, left.type, right.type, nullable)
            case _:
                return Resolution((FLOAT64, FLOAT64), Inferred(FLOAT64, nullable))

    return rule


def _of_instants(name: str, left: Argument, right: Argument, position: int) -> SignatureError:
    both = all(isinstance(one.type, Date | Timestamp) for one in (left, right))
    moved = "date_add" if name == "add" else "date_sub"
    fix = f"move an instant by a call: `{moved}(x, days: 1)`, also `hours:`, `weeks:`, `months:`"
    if both and name == "subtract":
        fix = "count what lies between two instants: `date_diff(start, end, day)`"
    message = f"`{SYMBOLS[name]}` cannot combine {left.type} and {right.type}"
    return SignatureError("E050", message, position, fix)


def _exact(name: str, left: Decimal, right: Decimal, nullable: bool) -> Resolution:
    if name == "multiply":
        scale = left.scale + right.scale
        if scale > MAX_PRECISION:
            raise SignatureError(
                "E050",
                f"the product of {left} and {right} needs {scale} digits after the point",
                None,
                f"at most {MAX_PRECISION} are possible: cast one operand to a smaller scale first",
            )
        result = Decimal(min(MAX_PRECISION, left.precision + right.precision), scale)
        return Resolution((left, right), Inferred(result, nullable))
    scale = max(left.scale, right.scale)
    whole = max(left.whole_digits, right.whole_digits) + 1
    result = Decimal(min(MAX_PRECISION, whole + scale), scale)
    return Resolution((result, result), Inferred(result, nullable))


def _money(name: str, left: Argument, right: Argument, nullable: bool) -> Resolution:
    match left.type, right.type:
        case Money(), Money():
            if left.type != right.type:
                raise SignatureError(
                    "E052",
                    f"`{SYMBOLS[name]}` mixes {left.type} and {right.type}",
                    1,
                    f"convert first: `convert(x, rate, {left.type.currency})`",
                )
            if name in ("add", "subtract"):
                return Resolution((left.type, left.type), Inferred(left.type, nullable))
            if name == "divide":
                return Resolution((left.type, right.type), Inferred(FLOAT64, nullable or not right.inferred.nonzero))
        case (Money(), Int64() | Decimal()) if name in ("multiply", "divide"):
            raise _unrounded(name)
        case (Int64() | Decimal(), Money()) if name == "multiply":
            raise _unrounded(name)
        case (Money(), Float64()) if name in ("multiply", "divide") and as_factor(right) is not right:
            raise _unrounded(name)
        case (Float64(), Money()) if name == "multiply" and as_factor(left) is not left:
            raise _unrounded(name)
        case (Money(), Float64()) | (Float64(), Money()) if name in ("multiply", "divide"):
            at = 1 if isinstance(left.type, Money) else 0
            raise SignatureError(
                "E050",
                f"`{SYMBOLS[name]}` would make money inexact through float64",
                at,
                'cast the factor: `cast(x, "decimal(18,6)")`',
            )
        case _:
            pass
    money = left.type if isinstance(left.type, Money) else right.type
    position = 1 if isinstance(left.type, Money) else 0
    fix = f'`{SYMBOLS[name]}` takes two amounts of one currency: `cast(x, "{money}")`'
    if name not in ("add", "subtract"):
        fix = "money takes `+ -` with its own currency, `* /` with int64 or decimal inside `round(…, 2, half_even)`"
    raise SignatureError("E050", f"`{SYMBOLS[name]}` cannot combine {left.type} and {right.type}", position, fix)


def _unrounded(name: str) -> SignatureError:
    symbol = SYMBOLS[name]
    return SignatureError(
        "E057",
        f"money `{symbol}` a number needs an explicit rounding",
        None,
        f"write `round(amount {symbol} factor, {MONEY_SCALE}, half_even)`",
    )


def _scaled_money(name: str) -> Rule:
    """`round(money ⊕ factor, 2, mode)`: the exact product or quotient, rounded once to the cent."""

    def rule(arguments: tuple[Argument, ...]) -> Resolution:
        left, right, digits, mode = arguments
        right = as_factor(right)
        match left.type, right.type:
            case Money(), Int64() | Decimal():
                pass
            case _:
                raise SignatureError(
                    "E050",
                    f"money is scaled by int64 or decimal, not by {right.type}",
                    1,
                    'cast the factor: `cast(x, "decimal(18,6)")`',
                )
        if digits.constant is None or digits.constant.value != MONEY_SCALE:
            raise SignatureError(
                "E057", f"money is rounded to {MONEY_SCALE} digits", 2, f"write `round(…, {MONEY_SCALE}, half_even)`"
            )
        nullable = any_nullable((left, right)) or (name == "money_divide" and not right.inferred.nonzero)
        return Resolution((left.type, right.type, INT64, mode.type), Inferred(left.type, nullable))

    return rule


def _concat(arguments: tuple[Argument, ...]) -> Resolution:
    left, right = typed_operands("concat_op", arguments)
    for position, argument in enumerate(arguments):
        if not isinstance(argument.type, String):
            raise misfit("concat_op", left, right, position, 'two strings: `cast(x, "string")`; `or` joins conditions')
    return Resolution((STRING, STRING), Inferred(STRING, any_nullable(arguments)))


def _negate(arguments: tuple[Argument, ...]) -> Resolution:
    (operand,) = arguments
    if not is_numeric(operand.type) and not isinstance(operand.type, Money):
        raise SignatureError("E050", f"`-` cannot negate {operand.type}", 0, "`-` takes a number or money")
    inferred = Inferred(operand.type, operand.nullable, nonzero=operand.inferred.nonzero)
    return Resolution((operand.type,), inferred)


ARITHMETIC = (
    operator(
        "add",
        "x + y",
        _arithmetic("add"),
        "Sum of two numbers or amounts, or two strings joined.",
        Example("1 + 2", 3),
        Example('"a" + "b"', "ab"),
    ),
    operator(
        "subtract",
        "x - y",
        _arithmetic("subtract"),
        "Difference of two numbers or amounts.",
        Example("1 - 2", -1),
        Example("0.5 - 0.25", 0.25),
    ),
    operator(
        "multiply",
        "x * y",
        _arithmetic("multiply"),
        "Product of two numbers.",
        Example("3 * 4", 12),
        Example("0.5 * 4", 2.0),
    ),
    operator(
        "divide",
        "x / y",
        _arithmetic("divide"),
        "Quotient, always float64; null where the divisor is zero.",
        Example("7 / 2", 3.5),
        Example("1 / 0", None),
    ),
    operator(
        "modulo",
        "x % y",
        _arithmetic("modulo"),
        "Remainder with the sign of the dividend; null where the divisor is zero.",
        Example("-7 % 3", -1),
        Example("1 % 0", None),
    ),
    operator(
        "money_multiply",
        "round(money * factor, 2, mode)",
        _scaled_money("money_multiply"),
        "Exact product of an amount and a number, rounded once to the cent.",
        Example('round(cast("1.01", "money(EUR)") * 0.5, 2, half_even)', "0.50"),
        Example('round(cast("1.03", "money(EUR)") * 0.5, 2, half_even)', "0.52"),
    ),
    operator(
        "money_divide",
        "round(money / divisor, 2, mode)",
        _scaled_money("money_divide"),
        "Exact quotient of an amount and a number, rounded once to the cent; null where the divisor is zero.",
        Example('round(cast("1.00", "money(EUR)") / 3, 2, half_even)', "0.33"),
        Example('round(cast("1.00", "money(EUR)") / 0, 2, half_even)', None),
    ),
    operator(
        "concat_op",
        "x || y",
        _concat,
        "Two strings joined; null where one is null.",
        Example('"a" || "b"', "ab"),
        Example('"a" || cast(none, "string")', None),
    ),
    operator(
        "negate", "-x", _negate, "The number with its sign changed.", Example("-(3)", -3), Example("-(-0.5)", 0.5)
    ),
)
