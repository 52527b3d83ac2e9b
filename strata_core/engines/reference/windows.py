"""Window functions of the reference interpreter, over the ordered rows of one partition.

Without a frame an aggregate sees the whole partition, or where there is an order the rows up to the current one and
its peers (those that the order does not tell apart); `first_value` and `last_value` likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from ...relation.expressions import Frame, Literal, WindowCall
from .aggregates import AGGREGATES, aggregate
from .values import Key, MisfitError, Value, failure, fit

Arguments = Sequence[Sequence[Value]]


def compute(call: WindowCall, arguments: Arguments, order: Sequence[Key]) -> list[Value]:
    """One value a row. `arguments[i]` are row i's, `order[i]` its sort key; raises E090 where a result overflows."""
    if call.function in RANKINGS:
        return list(RANKINGS[call.function](order))
    if call.function in OFFSETS:
        return _shifted(arguments, OFFSETS[call.function])
    if call.function == "ntile":
        return _tiles(len(arguments), arguments)
    frames = _frames(call, order)
    values = [row[0] if row else None for row in arguments]
    match call.function:
        case "first_value":
            return [values[start] if start < end else None for start, end in frames]
        case "nth_value":
            places = [start + _number(row) - 1 for (start, _), row in zip(frames, arguments, strict=True)]
            return [values[at] if at < end else None for at, (_, end) in zip(places, frames, strict=True)]
        case "last_value":
            return [values[end - 1] if start < end else None for start, end in frames]
        case _:
            return _aggregates(call, values, frames)


def _number(row: Sequence[Value]) -> int:
    number = row[1]
    assert isinstance(number, int)
    return number


def _frames(call: WindowCall, order: Sequence[Key]) -> list[tuple[int, int]]:
    """The rows that each row's function sees, as half-open index ranges."""
    count = len(order)
    match call.frame:
        case Frame(start=start, end=end):
            first = [0 if start is None else min(max(i + start, 0), count) for i in range(count)]
            last = [count if end is None else min(max(i + end + 1, 0), count) for i in range(count)]
            return list(zip(first, last, strict=True))
        case None:
            return [(0, end) for end in _peers_end(order)] if call.order else [(0, count)] * count


def _peers_end(order: Sequence[Key]) -> list[int]:
    ends: list[int] = []
    for i, key in enumerate(order):
        if i + 1 == len(order) or order[i + 1] != key:
            ends.extend([i + 1] * (i + 1 - len(ends)))
    return ends


def _aggregates(call: WindowCall, values: list[Value], frames: list[tuple[int, int]]) -> list[Value]:
    results: list[Value] = []
    seen: tuple[int, int] | None = None
    for start, end in frames:
        if (start, end) == seen:
            results.append(results[-1])
            continue
        seen = (start, end)
        framed = values[start:end]
        try:
            options = [a.value for a in call.args[1:] if isinstance(a, Literal)]
            result = aggregate(call.function, framed, call.inferred.type, whole_rows=not call.args, options=options)
            results.append(fit(result, call.inferred.type))
        except MisfitError as error:
            raise failure(call.function, str(error), framed[:3]) from None
    return results


def _row_numbers(order: Sequence[Key]) -> list[int]:
    return list(range(1, len(order) + 1))


def _ranks(order: Sequence[Key]) -> list[int]:
    ranks = [1] if order else []
    for i, (before, key) in enumerate(pairwise(order), start=2):
        ranks.append(ranks[-1] if before == key else i)
    return ranks


def _dense_ranks(order: Sequence[Key]) -> list[int]:
    ranks = [1] if order else []
    for before, key in pairwise(order):
        ranks.append(ranks[-1] + (before != key))
    return ranks


def _percent_ranks(order: Sequence[Key]) -> list[float]:
    return [(rank - 1) / (len(order) - 1) if len(order) > 1 else 0.0 for rank in _ranks(order)]


def _shares(order: Sequence[Key]) -> list[float]:
    return [end / len(order) for end in _peers_end(order)]


def _shifted(arguments: Arguments, direction: int) -> list[Value]:
    results: list[Value] = []
    for i, (_, *options) in enumerate(arguments):
        distance = options[0] if options else 1
        assert isinstance(distance, int)
        at = i + direction * distance
        default = options[1] if len(options) > 1 else None
        results.append(arguments[at][0] if 0 <= at < len(arguments) else default)
    return results


def _tiles(count: int, arguments: Arguments) -> list[Value]:
    if not count:
        return []
    tiles = arguments[0][0]
    assert isinstance(tiles, int)
    size, larger = divmod(count, tiles)
    split = larger * (size + 1)
    return [i // (size + 1) + 1 if i < split else larger + (i - split) // size + 1 for i in range(count)]


RANKINGS: dict[str, Callable[[Sequence[Key]], Sequence[Value]]] = {
    "row_number": _row_numbers,
    "rank": _ranks,
    "dense_rank": _dense_ranks,
    "percent_rank": _percent_ranks,
    "cume_dist": _shares,
}
OFFSETS = {"lag": -1, "lead": 1}
WINDOWS = frozenset({*RANKINGS, *OFFSETS, "ntile", "first_value", "last_value", "nth_value", *AGGREGATES})
