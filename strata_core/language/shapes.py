"""Declarations of one shape are built by the same steps, which are found once and repeated.

The shape of a declaration is the kinds of its tokens: the parser looks at nothing else. Contracts and models of one
project are alike, generated ones most of all, so that a shape that was met twice is likely to be met again. Its program
is what `lalr.parse` does for it, found by parsing the numbers of the tokens in the place of their texts; to run it
costs half of parsing. Trees are those of the parser (`tests/language/test_shapes.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, Literal

from ..diagnostics import Report
from ..frozen import dataclass
from .build import ACTIONS
from .lalr import Failure, parse
from .literals import Action
from .scanner import Lines, Sound
from .tables import Tables

MOST = 2_000
"""Shapes that are kept; beyond, all are forgotten."""

Children = Callable[[list[Any]], Any]


Step = tuple[Action, Children, int]
"""One action: it gets its children, taken from the values that there are, and the span of that number."""


@dataclass(frozen=True, slots=True)
class Program:
    """The steps to a tree, the last of them makes it. `places` are the spans that they need, from a boundary of a token
    to another: all starts are numbered first, then all ends. `numbers` are the tokens that are integers."""

    steps: tuple[Step, ...]
    places: tuple[tuple[int, int], ...]
    numbers: tuple[int, ...]


def program_of(kinds: tuple[int, ...], tables: Tables, sound: Callable[[], bool]) -> Program | None:
    """The program of the tokens of those `kinds`, the last of which is the one after them. There is none for a shape
    that is met for the first time, that no tree has, or that is not `sound`: one declaration, and no other case."""
    known = _known(tables)
    if kinds not in known:
        if len(known) >= MOST:
            known.clear()
        known[kinds] = None
        return None
    program = known[kinds]
    if program is None:
        program = known[kinds] = sound() and _made(kinds[:-1], tables)
    return program or None


@cache
def _known(tables: Tables) -> dict[tuple[int, ...], Program | Literal[False] | None]:
    """By shape: its program, `False` where it has none, `None` where it was met once."""
    return {}


def _made(kinds: Sequence[int], tables: Tables) -> Program | Literal[False]:
    steps: list[Step] = []
    places: dict[tuple[int, int], int] = {}

    def note(name: str, children: list[int], start: int, end: int) -> int:
        place = places.setdefault((start, end), len(places))
        steps.append((ACTIONS[name], _taken(children), place))
        return len(kinds) + len(steps) - 1

    made = parse([(kind, n, n, len(kinds) + n, None) for n, kind in enumerate(kinds)], tables, note)
    if isinstance(made, Failure):
        return False
    number = tables.kinds.index("INT")
    return Program(tuple(steps), (*places,), tuple(n for n, kind in enumerate(kinds) if kind == number))


def _taken(children: list[int]) -> Children:
    """Takes `children` from the values that there are: a slice where they stand side by side."""
    first = children[0] if children else 0
    if children == [*range(first, first + len(children))]:
        return itemgetter(slice(first, first + len(children)))
    return itemgetter(*children)


def run(program: Program, found: Sound, lines: Lines, report: Report) -> Any:
    """The tree of the tokens `found`, whose shape has that `program`."""
    at = found.starts + found.ends
    values: list[Any] = [*found.texts]
    span_of = lines.span
    spans = [span_of(at[start], at[end]) for start, end in program.places]
    for act, children, span in program.steps:
        values.append(act(children(values), spans[span], report))
    return values[-1]
