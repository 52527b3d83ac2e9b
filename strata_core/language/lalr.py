"""The LALR(1) loop over the tables of tables.py. It does not recurse, so no input is too deep for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..frozen import dataclass
from .scanner import Token
from .tables import Tables


@dataclass(frozen=True, slots=True)
class Failure:
    """No rule goes on at the token at `position` (the number of tokens, where it is their end)."""

    position: int


Parsed = Token | tuple[int, Any, int, int, None]
"""A token, or what stands for one: its kind, a value in the place of its text, and where it starts and ends."""


def parse(tokens: Sequence[Parsed], tables: Tables, act: Callable[[str, list[Any], int, int], Any]) -> Any:
    """What `act` makes of `tokens` (at least one), or the `Failure`.

    `act` gets the name of the rule, its children, and the offsets at which the production starts and ends.
    """
    actions, steps, landings = tables.actions, tables.steps, tables.landings
    end_kind = tables.kinds.index("$END")
    kinds = [token[0] for token in tokens]
    kinds.append(end_kind)
    states: list[int] = [tables.start]
    starts: list[int] = [tokens[0][2]]
    values: list[Any] = [None]
    position, end, kind = 0, tokens[0][2], kinds[0]
    state = tables.start
    while True:
        row = actions[state]
        step = row if isinstance(row, int) else row.get(kind)
        if step is None:
            return values[-1] if kind == end_kind and state == tables.end else Failure(position)
        if step >= 0:
            _, text, start, end, _ = tokens[position]
            states.append(step)
            values.append(text)
            starts.append(start)
            position += 1
            kind = kinds[position]
            state = step
            continue
        size, target, name, gather = steps[step]
        if size:
            start = starts[-size]
            if gather is not None:
                value = gather(values[-size:])
                value = value if name is None else act(name, value, start, end)
            else:
                value = values[-1]
            del states[-size:], values[-size:], starts[-size:]
        else:
            start = end
            value = [] if name is None else act(name, [], start, end)
        below = states[-1]
        known = landings[below]
        landing = target + kind
        if landing in known:
            state = known[landing]
        else:
            state = known[landing] = _landing(below, target // len(tables.kinds), kind, tables)
        states.append(state)
        values.append(value)
        starts.append(start)


def _landing(below: int, target: int, kind: int, tables: Tables) -> int:
    """The state above `below` once `target` is reduced there and `kind` comes next, past the rules that only climb the
    levels of precedence: most reductions do, and the value and its place stay."""
    state = tables.gotos[below][target]
    while True:
        row = tables.actions[state]
        step = row if isinstance(row, int) else row.get(kind, 0)
        if step >= 0 or not tables.rules[-1 - step].climbs:
            return state
        state = tables.gotos[below][tables.rules[-1 - step].target]


def accepted(kinds: Iterable[int], tables: Tables) -> set[str]:
    """What could follow tokens of `kinds`: names of token kinds, the text itself for those that have one."""
    return _next(_after(kinds, tables), tables)


def keywords_after(kinds: Iterable[int], tables: Tables) -> set[str]:
    """The keywords that could follow tokens of `kinds` as what they are: not those that would only be names there."""
    states = _after(kinds, tables)
    names = _names(tables)
    return {word for word in _next(states, tables) & tables.keywords.keys() if not _made(word, states, tables) <= names}


def _names(tables: Tables) -> frozenset[int]:
    """What words become that are names: where only a name can stand, behind `domain`."""
    states = _after([tables.keywords["domain"]], tables)
    words = _next(states, tables) & tables.keywords.keys()
    return frozenset().union(*(_made(word, states, tables) for word in words))


def _made(word: str, states: list[int], tables: Tables) -> frozenset[int]:
    """The non-terminals that a keyword alone can become; -1 stands for something longer."""
    after = [*states]
    advance(after, tables.keywords[word], tables)
    row = tables.actions[after[-1]]
    steps = {row} if isinstance(row, int) else set(row.values())
    return frozenset(-1 if step >= 0 else tables.rules[-1 - step].target for step in steps)


def _after(kinds: Iterable[int], tables: Tables) -> list[int]:
    states = [tables.start]
    for kind in kinds:
        advance(states, kind, tables)
    return states


def _next(states: list[int], tables: Tables) -> set[str]:
    row = tables.actions[states[-1]]
    candidates = range(len(tables.kinds)) if isinstance(row, int) else row
    return {tables.spelling[kind] or tables.kinds[kind] for kind in candidates if advance([*states], kind, tables)}


def advance(states: list[int], kind: int, tables: Tables) -> bool:
    """Move the stack `states` past one token; False if the parser cannot."""
    while True:
        row = tables.actions[states[-1]]
        step = row if isinstance(row, int) else row.get(kind)
        if step is None:
            return states[-1] == tables.end and tables.kinds[kind] == "$END"
        if step >= 0:
            states.append(step)
            return True
        rule = tables.rules[-1 - step]
        if rule.size:
            del states[-rule.size :]
        states.append(tables.gotos[states[-1]][rule.target])
