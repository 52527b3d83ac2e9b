"""The LALR(1) loop over the tables of tables.py. It does not recurse, so no input is too deep for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from .scanner import Token
from .tables import Tables


class Failure(NamedTuple):
    """No rule goes on at the token at `position` (the number of tokens, where it is their end)."""

    position: int


def parse(tokens: Sequence[Token], tables: Tables, act: Callable[[str, list[Any], int, int], Any]) -> Any:
    """What `act` makes of `tokens` (at least one), or the `Failure`.

    `act` gets the name of the rule, its children, and the offsets at which the production starts and ends.
    """
    actions, gotos, rules = tables.actions, tables.gotos, tables.rules
    end_kind = tables.kinds.index("$END")
    states, starts, ends = [tables.start], [0], [tokens[0].start]
    values: list[Any] = [None]
    position, count = 0, len(tokens)
    while True:
        kind = tokens[position].kind if position < count else end_kind
        row = actions[states[-1]]
        step = row if isinstance(row, int) else row.get(kind)
        if step is None:
            return values[-1] if kind == end_kind and states[-1] == tables.end else Failure(position)
        if step >= 0:
            token = tokens[position]
            states.append(step)
            values.append(token.text)
            starts.append(token.start)
            ends.append(token.end)
            position += 1
            continue
        rule = rules[-1 - step]
        size = rule.size
        if rule.action == "" and size == 1:
            # Most reductions only climb the levels of precedence: the value and its place stay.
            states[-1] = gotos[states[-2]][rule.target]
            continue
        if size:
            start, end = starts[-size], ends[-1]
            children = _children(rule.keep, rule.splice, values[-size:])
            del states[-size:], values[-size:], starts[-size:], ends[-size:]
        else:
            start = end = ends[-1]
            children = []
        match rule.action:
            case None:
                value: Any = children
            case "":
                value = children[0]
            case name:
                value = act(name, children, start, end)
        states.append(gotos[states[-1]][rule.target])
        values.append(value)
        starts.append(start)
        ends.append(end)


def _children(keep: tuple[int, ...], splice: tuple[bool, ...], values: list[Any]) -> list[Any]:
    children: list[Any] = []
    for nth, (position, spliced) in enumerate(zip(keep, splice, strict=True)):
        if not spliced:
            children.append(values[position])
        elif nth == 0:
            # A list has one owner; taking over the first keeps long lists linear.
            children = values[position]
        else:
            children += values[position]
    return children


def accepted(kinds: Iterable[int], tables: Tables) -> set[str]:
    """What could follow tokens of `kinds`: names of token kinds, the text itself for those that have one."""
    states = [tables.start]
    for kind in kinds:
        advance(states, kind, tables)
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
