"""The meaning of every scalar function of the catalog: one table from its name to a Python function.

`STRICT` functions are null as soon as one argument is and are called with values only; `NULL_AWARE` ones see
nulls. `and or if case coalesce` are evaluated in `evaluate.py`, since they leave operands out.
"""

from __future__ import annotations

from collections.abc import Callable

from .dates import DATES
from .maths import MATHS
from .nested import CONSTRUCTORS, NESTED
from .strings import STRINGS
from .values import Value, order_key


def within(needle: Value, *items: Value) -> Value:
    """Three-valued membership: null where nothing equals and one side holds a null."""
    if needle is None:
        return None
    wanted = order_key(needle)
    if any(i is not None and order_key(i) == wanted for i in items):
        return True
    return None if any(i is None for i in items) else False


def nullif(value: Value, other: Value) -> Value:
    """Null where the two are equal, else `value`."""
    both = value is not None and other is not None
    return None if both and order_key(value) == order_key(other) else value


def greatest(*values: Value) -> Value:
    """The largest value that is not null, NaN before all."""
    return max((v for v in values if v is not None), key=order_key, default=None)


def least(*values: Value) -> Value:
    """The smallest value that is not null."""
    return min((v for v in values if v is not None), key=order_key, default=None)


STRICT: dict[str, Callable[..., Value]] = {**MATHS, **STRINGS, **DATES, **NESTED}
NULL_AWARE: dict[str, Callable[..., Value]] = {
    **CONSTRUCTORS,
    "in": within,
    "is_null": lambda value: value is None,
    "is_not_null": lambda value: value is not None,
    "nullif": nullif,
    "greatest": greatest,
    "least": least,
}
LAZY = frozenset({"and", "or", "if", "case", "coalesce"})


def apply(name: str, values: list[Value]) -> Value:
    """The value of a function other than the `LAZY` ones; raises `MisfitError` where there is none."""
    if name in STRICT:
        return None if any(v is None for v in values) else STRICT[name](*values)
    return NULL_AWARE[name](*values)
