"""Values with their spans elsewhere: what is said of a text whose lines have moved since."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..frozen import replace
from .diagnostic import Span

T = TypeVar("T")
Place = Callable[[Span], Span]


def placed(value: T, place: Place, leaves: Any = ()) -> T:
    """`value` with `place` of each span in it: of frozen values, tuples, and the values of mappings.

    What has no other span stays the same object, and what was one object is one. Values of the types `leaves` are
    taken to hold no span.
    """
    done: dict[int, Any] = {}

    def one(value: Any) -> Any:
        if isinstance(value, Span):
            return place(value)
        if isinstance(value, leaves) or not (isinstance(value, tuple | Mapping) or hasattr(value, "__value_fields__")):
            return value
        if id(value) not in done:
            done[id(value)] = made(value)
        return done[id(value)]

    def made(value: Any) -> Any:
        if isinstance(value, tuple):
            several = tuple(map(one, value))
            return several if any(a is not b for a, b in zip(value, several, strict=True)) else value
        if isinstance(value, Mapping):
            named = {name: one(part) for name, part in value.items()}
            return named if any(part is not named[name] for name, part in value.items()) else value
        parts = {name: getattr(value, name) for name in value.__match_args__}
        others = {name: other for name, part in parts.items() if (other := one(part)) is not part}
        return replace(value, **others) if others else value

    result: T = one(value)
    return result
