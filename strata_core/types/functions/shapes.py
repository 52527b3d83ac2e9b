"""Rules for functions of fixed shape: so many arguments of such types, one result type, null as soon as one is.

`takes` makes such a rule; where more is known of a result, it is given as a function of the arguments. Every
argument that does not fit is E060 at its position, with the signature as the fix.
"""

from __future__ import annotations

from collections.abc import Callable

from ...frozen import dataclass
from ..inferred import Inferred
from ..values import INT64, STRING, Date, Decimal, Float64, Int64, Money, String, Timestamp, ValueType
from .regex import RegexError, to_python
from .signature import Argument, LiteralValue, Resolution, Rule, SignatureError, any_nullable, arity


@dataclass(frozen=True, slots=True)
class Parameter:
    """What one argument may be: its types, how they are called, and the type that engines get (or its own)."""

    types: tuple[type, ...]
    described: str
    target: ValueType | None = None


TEXT = Parameter((String,), "string", STRING)
WHOLE = Parameter((Int64,), "int64", INT64)
MOMENT = Parameter((Date, Timestamp), "date or timestamp")
NUMBER = Parameter((Int64, Float64, Decimal), "a number")
AMOUNT = Parameter((Int64, Float64, Decimal, Money), "a number or money")

Result = Callable[[tuple[Argument, ...]], Inferred]


def always(type_: ValueType, *, nullable: bool | None = None) -> Result:
    """A result of `type_`, null as soon as an argument is, unless `nullable` says otherwise."""
    return lambda arguments: Inferred(type_, any_nullable(arguments) if nullable is None else nullable)


def same_type(arguments: tuple[Argument, ...]) -> Inferred:
    """A result of the type of the first argument."""
    return Inferred(arguments[0].type, any_nullable(arguments))


def takes(signature: str, parameters: tuple[Parameter, ...], result: Result, *, optional: int = 0) -> Rule:
    """The rule of a function with `parameters`, of which the last `optional` may be left out."""

    def rule(arguments: tuple[Argument, ...]) -> Resolution:
        arity(arguments, len(parameters) - optional, len(parameters), signature)
        targets = []
        for position, (argument, parameter) in enumerate(zip(arguments, parameters, strict=False)):
            if not isinstance(argument.type, parameter.types):
                raise misfit(signature, parameter.described, argument, position)
            targets.append(parameter.target or argument.type)
        return Resolution(tuple(targets), result(arguments))

    return rule


def misfit(signature: str, described: str, argument: Argument, position: int) -> SignatureError:
    """E060 for an argument of another type."""
    name = signature.split("(", 1)[0]
    return SignatureError(
        "E060",
        f"argument {position + 1} of `{name}` is {described}, not {argument.type}",
        position,
        f"the signature is `{signature}`; cast the argument if that is what you mean",
    )


def constant(arguments: tuple[Argument, ...], position: int, signature: str, what: str) -> LiteralValue:
    """The value of an argument that must be a literal; raises E060."""
    value = arguments[position].constant
    if value is None or value.value is None:
        raise SignatureError(
            "E060", f"{what} is a literal, known before the data", position, f"the signature is `{signature}`"
        )
    return value.value


def whole_constant(
    arguments: tuple[Argument, ...], position: int, signature: str, what: str, least: int, most: int
) -> int:
    """A literal int64 from `least` to `most`; raises E060."""
    value = constant(arguments, position, signature, what)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise SignatureError(
            "E060", f"{what} is a whole number from {least} to {most}", position, f"the signature is `{signature}`"
        )
    return value


def pattern(arguments: tuple[Argument, ...], position: int, signature: str) -> str:
    """A literal regular expression of the common subset; raises E060 with what is refused."""
    value = constant(arguments, position, signature, "a regular expression")
    try:
        to_python(str(value))
    except RegexError as error:
        raise SignatureError(
            "E060", str(error), position, "regular expressions are the part of RE2 that all engines share"
        ) from None
    return str(value)
