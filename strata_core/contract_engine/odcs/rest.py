"""What one document says and another does not, as a list of plain entries that can be laid upon the other again.

An entry is a place (`at`: names of fields, and of items of lists `{name: orders}`; one without a name is `{name: null}`
and told apart by its value), the value there, and in `was` what the other document said, where it said something: who
changes that later has the last word.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_NAMED_BY = ("name", "property", "username", "channel", "server", "role", "id", "value", "to")
Entry = dict[str, Any]


def difference(whole: Any, part: Any, at: tuple[Any, ...] = ()) -> Iterator[Entry]:
    """What `whole` says and `part` does not. What `part` says besides is left alone."""
    if isinstance(whole, Mapping) and isinstance(part, Mapping):
        # What names an item comes last: until then it is found by the name that it has.
        for key, value in sorted(whole.items(), key=lambda pair: pair[0] in _NAMED_BY):
            if key not in part:
                yield {"at": [*at, key], "value": copy.deepcopy(value)}
            else:
                yield from difference(value, part[key], (*at, key))
    elif isinstance(whole, list) and isinstance(part, list):
        yield from _of_lists(whole, part, at)
    elif whole != part or isinstance(whole, bool) is not isinstance(part, bool):
        yield {"at": list(at), "value": copy.deepcopy(whole), "was": copy.deepcopy(part)}


def _of_lists(whole: list[Any], part: list[Any], at: tuple[Any, ...]) -> Iterator[Entry]:
    key = _key(part) if part else _key(whole)
    if key is None:
        if whole != part:
            yield {"at": list(at), "value": copy.deepcopy(whole), "was": copy.deepcopy(part)}
        return
    known = {repr(item[key]): item for item in part}
    # What bears no name of its own here, or was named anew there, is known by what it says, or by its place.
    by_place = key == "name" and len(whole) == len(part)
    waiting = [item for item in part if not any(_named(w, key) == item[key] for w in whole)]
    for number, item in enumerate(whole):
        other = known.get(repr(_named(item, key)))
        if other is None and key == "name" and isinstance(item, Mapping):
            other = next((w for w in waiting if _same_check(item, w)), part[number] if by_place else None)
            waiting = [w for w in waiting if w is not other]
        if other is None:
            yield {"at": [*at, {key: _named(item, key)}], "value": copy.deepcopy(item)}
        else:
            yield from difference(item, other, (*at, {key: other[key]}))


def _named(item: Any, key: str) -> Any:
    """What names an item: a text, or of what leads to several things a list of them; None where nothing does."""
    name = item.get(key) if isinstance(item, Mapping) else None
    several = key == "to" and isinstance(name, list) and all(isinstance(one, str) for one in name)
    return name if isinstance(name, str) or several else None


def _same_check(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two quality checks ask the same."""
    said = ("metric", "query", "implementation")
    shared = [k for k in one if k in other and k not in ("name", "id", "severity", "description", "customProperties")]
    return any(k in said for k in shared) and all(one[k] == other[k] for k in shared)


def _key(items: Sequence[Any]) -> str | None:
    """The field that names each of the items, and no two alike; None where there is none."""
    if not all(isinstance(item, Mapping) for item in items):
        return None
    for key in _NAMED_BY:
        values = [_named(item, key) for item in items]
        if None not in values and len(set(map(repr, values))) == len(values):
            return key
    return None


def laid_upon(part: Any, entries: Sequence[Mapping[str, Any]]) -> Any:
    """`part` with the entries of a `difference`, but for those whose place is gone or was changed meanwhile."""
    whole = copy.deepcopy(part)
    for entry in entries:
        at = list(entry.get("at", ()))
        place = whole
        for step, then in itertools.pairwise(at):
            if isinstance(step, str) and isinstance(then, str) and isinstance(place, dict):
                place.setdefault(step, {})  # what the contract said there is gone, and what it could not say is not
            place = _below(place, step)
        if place is None or not at:
            continue
        _lay(place, at[-1], entry)
    return whole


def _lay(place: Any, last: Any, entry: Mapping[str, Any]) -> None:
    value = copy.deepcopy(entry.get("value"))
    if isinstance(last, str) and isinstance(place, dict):
        if "was" not in entry:
            place.setdefault(last, value)
        elif place.get(last) == entry["was"]:
            place[last] = value
    elif isinstance(last, Mapping) and isinstance(place, list):
        named = next(iter(last.values()), None) is not None
        there = _below(place, last) is not None if named else value in place
        if not there and "was" not in entry:
            place.append(value)


def _below(place: Any, step: Any) -> Any:
    if isinstance(step, str):
        return place.get(step) if isinstance(place, dict) else None
    if isinstance(step, Mapping) and isinstance(place, list) and step:
        ((key, name),) = list(step.items())[:1]
        return next((i for i in place if isinstance(i, Mapping) and i.get(key) == name), None)
    return None
