"""Operators (Seed 0 §2): one row each, so that the table of rules is the table of tests.

Settled here, where the seed is silent: a *literal* number beside a decimal is read as a decimal of its own
digits, since that loses nothing (design `language.md`, "Widening"); a column of type int64 beside a decimal
makes float64, as the seed's rule says.
"""

from __future__ import annotations

import decimal
from dataclasses import replace

from ..inferred import Inferred, union_of_values
from ..lattice import least_upper_bound
from ..values import (
    BOOL,
    FLOAT64,
    INT64,
    MAX_PRECISION,
    MONEY_SCALE,
    STRING,
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
    is_numeric,
)
from .shapes import pattern
from .signature import Argument, Example, Function, Kind, Resolution, Rule, SignatureError, any_nullable, arity

SYMBOLS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "modulo": "%",
    "concat_op": "||",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and": "and",
    "or": "or",
    "not": "not",
    "negate": "-",
    "like": "like",
    "rlike": "rlike",
    "in": "in",
    "is_null": "is none",
    "is_not_null": "is not none",
}
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def decimal_of(value: int | float | decimal.Decimal) -> Decimal | None:
    """The smallest decimal that holds a literal number exactly, or `None` where none of 38 digits does.

    >>> str(decimal_of(0.25)), str(decimal_of(100))
    ('decimal(2,2)', 'decimal(3,0)')
    """
    exact = decimal.Decimal(str(value))
    if not exact.is_finite():
        return None
    _, digits, exponent = exact.as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    precision = max(len(digits) + max(0, exponent), scale, 1)
    return Decimal(precision, scale) if precision <= MAX_PRECISION else None


def as_factor(argument: Argument) -> Argument:
    """A float literal read as a decimal of its own digits (lossless); anything else as it is."""
    value = argument.constant.value if argument.constant else None
    if not isinstance(value, float) or not isinstance(argument.type, Float64):
        return argument
    exact = decimal_of(value)
    return argument if exact is None else replace(argument, inferred=replace(argument.inferred, type=exact))


def readable_beside(literal: Argument, beside: Argument) -> Argument:
    """`literal`, where it is one and loses nothing, as a value of the type of the argument beside it."""
    adapted = _adapt(literal, beside)
    if adapted.constant is None or isinstance(adapted.constant.value, bool):
        return adapted
    lossless = isinstance(adapted.type, Int64) and isinstance(beside.type, Float64)
    return replace(adapted, inferred=replace(adapted.inferred, type=FLOAT64)) if lossless else adapted


def adapt_literals(left: Argument, right: Argument) -> tuple[Argument, Argument]:
    """Read a literal number beside a decimal as a decimal (lossless)."""
    return _adapt(left, right), _adapt(right, left)


def _adapt(literal: Argument, beside: Argument) -> Argument:
    if literal.constant is None or not isinstance(beside.type, Decimal):
        return literal
    value = literal.constant.value
    if isinstance(value, bool) or not isinstance(value, int | float) or isinstance(literal.type, Decimal):
        return literal
    exact = decimal_of(value)
    return literal if exact is None else replace(literal, inferred=replace(literal.inferred, type=exact))


def _operands(name: str, arguments: tuple[Argument, ...]) -> tuple[Argument, Argument]:
    left, right = arguments
    for position, argument in enumerate(arguments):
        if isinstance(argument.type, Unknown):
            raise SignatureError(
                "E055",
                f"`none` has no type of its own beside `{SYMBOLS[name]}`",
                position,
                'test for null with `is none`, or give it a type with `cast(none, "int64")`',
            )
    return left, right


def _misfit(name: str, left: Argument, right: Argument, position: int, accepted: str) -> SignatureError:
    return SignatureError(
        "E050",
        f"`{SYMBOLS[name]}` cannot combine {left.type} and {right.type}",
        position,
        f"`{SYMBOLS[name]}` takes {accepted}",
    )


def _arithmetic(name: str) -> Rule:
    def rule(arguments: tuple[Argument, ...]) -> Resolution:
        left, right = adapt_literals(*_operands(name, arguments))
        nullable = any_nullable((left, right))
        if isinstance(left.type, Money) or isinstance(right.type, Money):
            return _money(name, left, right, nullable)
        if name == "add" and isinstance(left.type, String) and isinstance(right.type, String):
            return Resolution((STRING, STRING), Inferred(STRING, nullable))
        for position, argument in enumerate((left, right)):
            if not is_numeric(argument.type):
                raise _misfit(name, left, right, position, "two numbers" + (" or two strings" if name == "add" else ""))
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
        if isinstance(right.type, Money) and name == "money_multiply":
            raise ValueError("the money operand stands first")
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
    left, right = _operands("concat_op", arguments)
    for position, argument in enumerate(arguments):
        if not isinstance(argument.type, String):
            raise _misfit("concat_op", left, right, position, 'two strings: `cast(x, "string")`')
    return Resolution((STRING, STRING), Inferred(STRING, any_nullable(arguments)))


def comparable(left: Argument, right: Argument) -> ValueType | None:
    """The type at which two operands are compared, or `None` where they cannot be."""
    match left.type, right.type:
        case (Decimal(), Float64()) | (Float64(), Decimal()) | (Int64(), Float64()) | (Float64(), Int64()):
            return FLOAT64
        case (Int64(), Decimal()) | (Decimal(), Int64()) | (Decimal(), Decimal()):
            return least_upper_bound(left.type, right.type) or FLOAT64
        case (Array(), _) | (Map(), _) | (Struct(), _) | (Json(), _):
            return None
        case _:
            return left.type if left.type == right.type else None


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
    match left.type, right.type:
        case Money(), Money():
            code, fix = "E052", f"convert first: `convert(x, rate, {left.type.currency})`"
        case (Money(), _) | (_, Money()):
            money = left.type if isinstance(left.type, Money) else right.type
            number = right if money is left.type else left
            text = number.constant.value if number.constant else "x"
            fix = f'cast the number: `cast({text}, "{money}")`'
        case (Date() | Timestamp(), String()) | (String(), Date() | Timestamp()):
            target = right.type if isinstance(left.type, String) else left.type
            fix = f'cast the string: `cast(x, "{target}")`'
        case (Date(), Timestamp()) | (Timestamp(), Date()):
            fix = 'cast the date: `cast(x, "timestamp")`'
        case (Array() | Map() | Struct() | Json(), _):
            fix = "only scalar values are compared"
        case _:
            pass
    return SignatureError(code, f"`{SYMBOLS[name]}` cannot compare {left.type} and {right.type}", 1, fix)


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


def _negate(arguments: tuple[Argument, ...]) -> Resolution:
    (operand,) = arguments
    if not is_numeric(operand.type) and not isinstance(operand.type, Money):
        raise SignatureError("E050", f"`-` cannot negate {operand.type}", 0, "`-` takes a number or money")
    inferred = Inferred(operand.type, operand.nullable, nonzero=operand.inferred.nonzero)
    return Resolution((operand.type,), inferred)


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


def _case(arguments: tuple[Argument, ...]) -> Resolution:
    arity(arguments, 2, None, "case(condition, value, …[, otherwise])")
    has_else = len(arguments) % 2 == 1
    branches = list(range(1, len(arguments) - has_else, 2)) + ([len(arguments) - 1] if has_else else [])
    conditions = range(0, len(arguments) - has_else, 2)
    for position in conditions:
        if not isinstance(arguments[position].type, Bool):
            raise SignatureError(
                "E053",
                f"a condition is bool, not {arguments[position].type}",
                position,
                "compare the value, as in `x > 0` or `x is not none`",
            )
    common = branch_type([(i, arguments[i]) for i in branches])
    nullable = not has_else or any(arguments[i].nullable for i in branches)
    values = union_of_values([arguments[i].inferred.values for i in branches]) if common == STRING else None
    nonzero = all(arguments[i].inferred.nonzero for i in branches)
    parameters = tuple(BOOL if i in conditions else common for i in range(len(arguments)))
    return Resolution(parameters, Inferred(common, nullable, values, nonzero))


def _if(arguments: tuple[Argument, ...]) -> Resolution:
    arity(arguments, 3, 3, "if(condition, then, otherwise)")
    return _case(arguments)


def _coalesce(arguments: tuple[Argument, ...]) -> Resolution:
    arity(arguments, 1, None, "coalesce(x, …)")
    common = branch_type(list(enumerate(arguments)))
    values = union_of_values([a.inferred.values for a in arguments]) if common == STRING else None
    nullable = all(a.nullable for a in arguments)
    nonzero = all(a.inferred.nonzero for a in arguments)
    return Resolution((common,) * len(arguments), Inferred(common, nullable, values, nonzero))


def branch_type(branches: list[tuple[int, Argument]]) -> ValueType:
    """The least upper bound of branches; raises E054 (E052 for currencies) at the first that does not fit."""
    common: Argument | None = None
    for position, branch in branches:
        if common is None:
            common = branch
            continue
        left, right = adapt_literals(common, branch)
        bound = least_upper_bound(left.type, right.type)
        if bound is None:
            both_money = isinstance(left.type, Money) and isinstance(right.type, Money)
            raise SignatureError(
                "E052" if both_money else "E054",
                f"{left.type} and {right.type} have no common type",
                position,
                f'cast one of them, as in `cast(x, "{left.type}")`',
            )
        constant = common.constant if common.constant == branch.constant else None
        common = Argument(replace(left.inferred, type=bound), constant)
    assert common is not None
    return common.type


def _operator(name: str, signature: str, rule: Rule, doc: str, *examples: Example) -> Function:
    return Function(name, Kind.SCALAR, "operators", signature, rule, doc, examples, surface=False)


OPERATORS = (
    _operator(
        "add",
        "x + y",
        _arithmetic("add"),
        "Sum of two numbers or amounts, or two strings joined.",
        Example("1 + 2", 3),
        Example('"a" + "b"', "ab"),
    ),
    _operator(
        "subtract",
        "x - y",
        _arithmetic("subtract"),
        "Difference of two numbers or amounts.",
        Example("1 - 2", -1),
        Example("0.5 - 0.25", 0.25),
    ),
    _operator(
        "multiply",
        "x * y",
        _arithmetic("multiply"),
        "Product of two numbers.",
        Example("3 * 4", 12),
        Example("0.5 * 4", 2.0),
    ),
    _operator(
        "divide",
        "x / y",
        _arithmetic("divide"),
        "Quotient, always float64; null where the divisor is zero.",
        Example("7 / 2", 3.5),
        Example("1 / 0", None),
    ),
    _operator(
        "modulo",
        "x % y",
        _arithmetic("modulo"),
        "Remainder with the sign of the dividend; null where the divisor is zero.",
        Example("-7 % 3", -1),
        Example("1 % 0", None),
    ),
    _operator(
        "money_multiply",
        "round(money * factor, 2, mode)",
        _scaled_money("money_multiply"),
        "Exact product of an amount and a number, rounded once to the cent.",
        Example('round(cast("1.01", "money(EUR)") * 0.5, 2, half_even)', "0.50"),
        Example('round(cast("1.03", "money(EUR)") * 0.5, 2, half_even)', "0.52"),
    ),
    _operator(
        "money_divide",
        "round(money / divisor, 2, mode)",
        _scaled_money("money_divide"),
        "Exact quotient of an amount and a number, rounded once to the cent; null where the divisor is zero.",
        Example('round(cast("1.00", "money(EUR)") / 3, 2, half_even)', "0.33"),
        Example('round(cast("1.00", "money(EUR)") / 0, 2, half_even)', None),
    ),
    _operator(
        "concat_op",
        "x || y",
        _concat,
        "Two strings joined; null where one is null.",
        Example('"a" || "b"', "ab"),
        Example('"a" || cast(none, "string")', None),
    ),
    *(
        _operator(name, f"x {SYMBOLS[name]} y", _comparison(name), doc, *examples)
        for name, doc, examples in (
            ("eq", "Whether two values are equal.", (Example("1 == 1.0", True), Example('"a" == "b"', False))),
            ("ne", "Whether two values differ.", (Example("1 != 1.0", False), Example('"a" != "b"', True))),
            ("lt", "Whether the first is smaller.", (Example("1 < 2", True), Example('"b" < "a"', False))),
            ("le", "Whether the first is not larger.", (Example("2 <= 2", True), Example("3 <= 2", False))),
            ("gt", "Whether the first is larger.", (Example("1 > 2", False), Example('"b" > "a"', True))),
            ("ge", "Whether the first is not smaller.", (Example("2 >= 2", True), Example("1 >= 2", False))),
        )
    ),
    _operator(
        "and",
        "a and b",
        _logical("and"),
        "Three-valued conjunction.",
        Example("true and false", False),
        Example('cast(none, "bool") and false', False),
    ),
    _operator(
        "or",
        "a or b",
        _logical("or"),
        "Three-valued disjunction.",
        Example("true or false", True),
        Example('cast(none, "bool") or true', True),
    ),
    _operator(
        "not",
        "not a",
        _logical("not"),
        "Three-valued negation.",
        Example("not true", False),
        Example('not cast(none, "bool")', None),
    ),
    _operator(
        "negate", "-x", _negate, "The number with its sign changed.", Example("-(3)", -3), Example("-(-0.5)", 0.5)
    ),
    _operator(
        "like",
        "s like pattern",
        _pattern("like"),
        "SQL pattern match: `%` any text, `_` one character.",
        Example('"abc" like "a%"', True),
        Example('"abc" like "b_"', False),
    ),
    _operator(
        "rlike",
        "s rlike regex",
        _pattern("rlike"),
        "Whether the RE2 expression matches somewhere in the text.",
        Example('"abc" rlike "b"', True),
        Example('"abc" rlike "^b"', False),
    ),
    _operator(
        "in",
        "x in [a, …]",
        _in,
        "Whether the value equals one of the list; null as in three-valued logic.",
        Example("2 in [1, 2]", True),
        Example("3 in [1, none]", None),
    ),
    _operator(
        "is_null",
        "x is none",
        _null_test,
        "Whether the value is null.",
        Example("none is none", True),
        Example("1 is none", False),
    ),
    _operator(
        "is_not_null",
        "x is not none",
        _null_test,
        "Whether the value is not null.",
        Example("none is not none", False),
        Example("1 is not none", True),
    ),
)

CONDITIONALS = (
    Function(
        "if",
        Kind.SCALAR,
        "conditionals",
        "if(condition: bool, then: T, otherwise: T) -> T",
        _if,
        "`then` where the condition is true, else `otherwise` (also where it is null).",
        (Example('if(1 < 2, "a", "b")', "a"), Example('if(cast(none, "bool"), 1, 2)', 2)),
    ),
    Function(
        "case",
        Kind.SCALAR,
        "conditionals",
        "case(condition: bool, value: T, …[, otherwise: T]) -> T",
        _case,
        "The value of the first condition that is true, else `otherwise`, else null.",
        (Example('case(false, "a", true, "b", "c")', "b"), Example("case(false, 1)", None)),
    ),
    Function(
        "coalesce",
        Kind.SCALAR,
        "conditionals",
        "coalesce(x: T, …) -> T",
        _coalesce,
        "The first argument that is not null; never null as soon as one argument never is.",
        (Example('coalesce(cast(none, "int64"), 2)', 2), Example('coalesce("a", "b")', "a")),
    ),
)
