"""What a row of the function catalog is made of: how a call resolves to types, and its documentation.

A function's rule takes the arguments as inference sees them and answers with the types that they are
to be cast to and what is known of the result; it raises `SignatureError` where no reading exists. The
catalog holds operators too (`a + b` is `add(a, b)`), so that every rule of Seed 0 §2 is a row.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from enum import StrEnum

from ...frozen import dataclass, field
from ..inferred import Inferred
from ..values import ValueType

LiteralValue = int | float | str | bool | decimal.Decimal | datetime.date | datetime.datetime | None


@dataclass(frozen=True, slots=True)
class Constant:
    """The value of an argument that is a literal."""

    value: LiteralValue


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call, as inference sees it."""

    inferred: Inferred
    constant: Constant | None = None

    @property
    def type(self) -> ValueType:
        """The argument's type."""
        return self.inferred.type

    @property
    def nullable(self) -> bool:
        """Whether the argument may be null."""
        return self.inferred.nullable


@dataclass(frozen=True, slots=True)
class Resolution:
    """The reading of a call: the type each argument is cast to, and what is known of the result."""

    parameters: tuple[ValueType, ...]
    result: Inferred


class SignatureError(Exception):
    """No reading of a call exists. `argument` counts from 0 and is `None` where the whole call is at fault.

    `cast` is an argument and the type to which casting it mends the call.
    """

    def __init__(
        self,
        code: str,
        message: str,
        argument: int | None = None,
        fix: str | None = None,
        *,
        cast: tuple[int, ValueType] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.argument = argument
        self.fix = fix
        self.cast = cast


class Kind(StrEnum):
    """Where a function may stand."""

    SCALAR = "scalar"
    AGGREGATE = "aggregate"
    WINDOW = "window"


@dataclass(frozen=True, slots=True)
class Example:
    """A call in surface syntax and its value: documentation that runs as a test on every engine.

    For an aggregate or window, `rows` are the values of the column `x`, one a row, and `value` is the
    result: one value for an aggregate, one a row (in the order of `rows`) for a call with `over`.
    """

    call: str
    value: object
    rows: tuple[object, ...] = ()


Rule = Callable[[tuple[Argument, ...]], Resolution]


@dataclass(frozen=True, slots=True)
class Function:
    """A row of the catalog.

    `words` names argument positions that take a bare word (`date_trunc(placed, day)`) and the words
    accepted there. `keywords` maps the name of a keyword argument to the word that stands for it behind its
    value: `date_add(x, days: 3)` is `date_add(x, 3, day)`. `named` are the names that arguments may be given by, in
    their order: `random(seed: 1, key: x)` is `random(1, x)`. `ordered` marks aggregates and windows whose result
    depends on the order of rows. `surface` is false for operators, which have a syntax of their own instead of
    a name.
    """

    name: str
    kind: Kind
    family: str
    signature: str
    rule: Rule
    doc: str
    examples: tuple[Example, ...]
    words: dict[int, frozenset[str]] = field(default_factory=dict)
    ordered: bool = False
    surface: bool = True
    keywords: dict[str, str] = field(default_factory=dict)
    named: tuple[str, ...] = ()


def arity(arguments: tuple[Argument, ...], least: int, most: int | None, signature: str) -> None:
    """Check the number of arguments; raises E060 with the signature."""
    given = len(arguments)
    if given < least or (most is not None and given > most):
        wanted = f"{least}" if least == most else f"at least {least}" if most is None else f"{least} to {most}"
        raise SignatureError(
            "E060",
            f"{wanted} argument{'' if wanted == '1' else 's'} expected, {given} given",
            fix=f"the signature is `{signature}`",
        )


def any_nullable(arguments: tuple[Argument, ...]) -> bool:
    """Nullability of a result that is null as soon as one argument is."""
    return True in [argument.inferred.nullable for argument in arguments]
