"""A context-free grammar as a few finite automata that call each other: what is no true nesting becomes a loop.

Levels of precedence, lists and options are regular; only what stands in brackets (an expression within an
expression) needs a stack. The automata are deterministic and minimal, so that a matcher which reads from left to
right has next to nothing to guess. `gbnf.py` writes them down. After M.-J. Nederhof, "Practical experiments with
regular approximation of context-free languages" (2000), of which only the exact part is used.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from ..frozen import dataclass

Label = TypeVar("Label", bound=Hashable)
# Each name's alternatives, each a sequence of names and terminals; what is no key is a terminal.
Productions = Mapping[str, Sequence[tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Automaton(Generic[Label]):
    """A deterministic, minimal automaton; state 0 is the first, and from each state a `final` one can be reached."""

    edges: tuple[Mapping[Label, int], ...]
    final: frozenset[int]


def automata(productions: Productions, start: str) -> dict[str, Automaton[str]]:
    """The automata of `start` and of the names that must be called; labels are terminals and called names."""
    called = {start} | _true_nesting(productions)
    references = _references(productions, called)
    bodies: dict[str, Automaton[str]] = {}

    def body(name: str) -> Automaton[str]:
        if name not in bodies:
            members = _component(name, references)
            net = _Net()
            if not members:
                for alternative in productions[name]:
                    spread(net, net.first, alternative, net.last)
            elif _is_linear(members, productions, 0):
                at = {member: net.state() for member in sorted(members)}
                for member in at:
                    for alternative in productions[member]:
                        recursive = bool(alternative) and alternative[0] in members
                        first = at[alternative[0]] if recursive else net.first
                        spread(net, first, alternative[recursive:], at[member])
                net.edge(at[name], None, net.last)
            else:
                at = {member: net.state() for member in sorted(members)}
                for member in at:
                    for alternative in productions[member]:
                        recursive = bool(alternative) and alternative[-1] in members
                        last = at[alternative[-1]] if recursive else net.last
                        spread(net, at[member], alternative[: len(alternative) - recursive], last)
                net.edge(net.first, None, at[name])
            bodies[name] = net.automaton()
        return bodies[name]

    def spread(net: _Net, first: int, symbols: Sequence[str], last: int) -> None:
        """Add the way from `first` to `last` that reads `symbols`."""
        for symbol in symbols:
            after = net.state()
            if symbol in productions and symbol not in called:
                net.insert(first, body(symbol), after)
            else:
                net.edge(first, symbol, after)
            first = after
        net.edge(first, None, last)

    found: dict[str, Automaton[str]] = {}
    pending = [start]
    for name in pending:
        found[name] = body(name)
        labels = {label for edges in found[name].edges for label in edges}
        pending += sorted((labels & called) - set(pending))
    return found


def minimal(edges: Sequence[Mapping[Label, int]], first: int, final: Iterable[int]) -> Automaton[Label]:
    """The smallest automaton with the language of this deterministic one; its states numbered as they are reached."""
    finals = set(final)
    alive = _alive(edges, finals) | {first}
    kept = [{label: to for label, to in row.items() if to in alive} for row in edges]
    block = [int(state in finals) for state in range(len(kept))]
    count = 0
    while True:
        signatures: dict[tuple[int, frozenset[tuple[Label, int]]], int] = {}
        refined = [
            signatures.setdefault((block[state], frozenset((x, block[to]) for x, to in row.items())), len(signatures))
            for state, row in enumerate(kept)
        ]
        if len(signatures) == count:
            break
        block, count = refined, len(signatures)
    numbers, order = {block[first]: 0}, [first]
    rows: list[dict[Label, int]] = []
    for state in order:
        row = {}
        for label, to in sorted(kept[state].items(), key=lambda edge: str(edge[0])):
            if block[to] not in numbers:
                numbers[block[to]] = len(numbers)
                order.append(to)
            row[label] = numbers[block[to]]
        rows.append(row)
    return Automaton(tuple(rows), frozenset(n for n, state in enumerate(order) if state in finals))


def _alive(edges: Sequence[Mapping[Label, int]], final: set[int]) -> set[int]:
    """The states from which one of `final` can be reached."""
    before: dict[int, list[int]] = {}
    for state, row in enumerate(edges):
        for to in row.values():
            before.setdefault(to, []).append(state)
    alive, pending = set(final), list(final)
    for state in pending:
        new = [s for s in before.get(state, ()) if s not in alive]
        alive.update(new)
        pending += new
    return alive


class _Net:
    """An automaton under construction: edges that may read nothing, and several ways for one label."""

    first, last = 0, 1

    def __init__(self) -> None:
        self.edges: list[list[tuple[str | None, int]]] = [[], []]

    def state(self) -> int:
        self.edges.append([])
        return len(self.edges) - 1

    def edge(self, state: int, label: str | None, to: int) -> None:
        self.edges[state].append((label, to))

    def insert(self, first: int, part: Automaton[str], last: int) -> None:
        """A copy of `part` as a way from `first` to `last`."""
        at = [self.state() for _ in part.edges]
        self.edge(first, None, at[0])
        for state, row in enumerate(part.edges):
            for label, to in row.items():
                self.edge(at[state], label, at[to])
            if state in part.final:
                self.edge(at[state], None, last)

    def automaton(self) -> Automaton[str]:
        """The sets of states that are reached together are the states of the deterministic automaton."""
        start = self._closure([self.first])
        numbers, order = {start: 0}, [start]
        rows: list[dict[str, int]] = []
        for together in order:
            ways: dict[str, list[int]] = {}
            for state in sorted(together):
                for label, to in self.edges[state]:
                    if label is not None:
                        ways.setdefault(label, []).append(to)
            row = {}
            for label, targets in ways.items():
                reached = self._closure(targets)
                if reached not in numbers:
                    numbers[reached] = len(numbers)
                    order.append(reached)
                row[label] = numbers[reached]
            rows.append(row)
        return minimal(rows, 0, [n for n, together in enumerate(order) if self.last in together])

    def _closure(self, states: Iterable[int]) -> frozenset[int]:
        reached = list(dict.fromkeys(states))
        seen = set(reached)
        for state in reached:
            for label, to in self.edges[state]:
                if label is None and to not in seen:
                    seen.add(to)
                    reached.append(to)
        return frozenset(reached)


def _true_nesting(productions: Productions) -> set[str]:
    """Names to call so that what is left of each recursion goes on at the left end or at the right end alone."""
    called: set[str] = set()
    while True:
        references = _references(productions, called)
        components = (_component(name, references) for name in sorted(productions))
        nested = next((c for c in components if not any(_is_linear(c, productions, end) for end in (0, -1))), None)
        if nested is None:
            return called
        called.add(_bracketed(nested, productions))


def _bracketed(members: frozenset[str], productions: Productions) -> str:
    """The member of a recursion that leaves the least of it when called; of equals, the most common in brackets."""
    inside = {m: productions[m] for m in members}

    def cost(name: str) -> tuple[int, int, str]:
        references = _references(inside, {name})
        within = sum(alternative[1:-1].count(name) for m in members for alternative in productions[m])
        return max(len(_component(m, references)) for m in members), -within, name

    return min(members, key=cost)


def _references(productions: Productions, called: set[str]) -> dict[str, frozenset[str]]:
    """For each name, the names that stand in it and are not called."""
    return {
        name: frozenset(s for a in alternatives for s in a if s in productions and s not in called)
        for name, alternatives in productions.items()
    }


def _component(name: str, references: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The names in recursion with `name`; none, if it does not refer to itself at all."""
    below = {n: _reached(n, references) for n in _reached(name, references)}
    return frozenset(n for n, reached in below.items() if name in reached)


def _reached(name: str, references: Mapping[str, frozenset[str]]) -> set[str]:
    found: set[str] = set()
    pending = [name]
    while pending:
        new = references[pending.pop()] - found
        found |= new
        pending += new
    return found


def _is_linear(members: frozenset[str], productions: Productions, end: int) -> bool:
    """Whether each alternative of `members` refers to them at one end alone (0 the left one, -1 the right one)."""
    alternatives = [a for m in members for a in productions[m] if a]
    return all(sum(s in members for s in a) == (a[end] in members) for a in alternatives)
