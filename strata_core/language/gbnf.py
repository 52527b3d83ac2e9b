"""The grammar in GBNF, for decoding under a grammar (Seed 0 §7): made from grammar.lark, so that it follows it.

Its language is the parser's: what llama.cpp, llguidance or xgrammar let through is what scanner and parser accept
(values are left to the checker: the range of numbers, keys given twice). Three things are made explicit that a
scanner decides on its own: white space and comments may stand before each token, and must where two words, or two
bars, would run together; no reserved word is an identifier; no rule is recursive at its left. With a `Vocabulary`,
names of tables, columns, contracts and functions are those that exist, wherever one is referred to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from .automata import Automaton, automata, minimal
from .gbnf_names import Vocabulary, restricted, with_places
from .gbnf_source import BAR, IN_WORD, OTHER, SLASH, START, Terminal, load, rule_name
from .tables import GRAMMAR

ROOT = "root"


class _Step(NamedTuple):
    """One edge: a `space` rule ("" where the callee brings its own) and an item; or a call of `callee`."""

    space: str
    item: str
    callee: tuple[str, str, str] | None = None


def gbnf(vocabulary: Vocabulary | None = None) -> str:
    """The grammar's GBNF; rule `root` is a module. Rule names are letters, digits and `-` alone. Needs lark."""
    source = GRAMMAR.read_text(encoding="utf-8")
    grammar = load(source if vocabulary is None else with_places(source))
    if vocabulary is not None:
        grammar = restricted(grammar, vocabulary)
    spaced = _Spaced(automata(grammar.productions, START), grammar.terminals)
    rules = _used(spaced.rules() | grammar.rules)
    width = max(map(len, rules))
    return "".join(f"{name:{width}} ::= {body}\n" for name, body in rules.items())


def _used(rules: Mapping[str, str]) -> dict[str, str]:
    """The rules that `root` comes to."""
    found, pending = {ROOT}, [ROOT]
    for name in pending:
        body = re.sub(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]', " ", rules[name])
        new = set(re.findall(r"[a-z][a-z0-9-]*", body)) - found
        found |= new
        pending += new
    return {name: body for name, body in rules.items() if name in found}


class _Spaced:
    """Writes automata as rules, with space between their tokens.

    A callee has one rule for each way in which the text before it and its own end matter to what stands around it.
    """

    def __init__(self, nets: Mapping[str, Automaton[str]], terminals: Mapping[str, Terminal]) -> None:
        self.nets = nets
        self.terminals = terminals
        self.ends = _possible_ends(nets, terminals)
        self.choices: dict[str, str] = {}

    def rules(self) -> dict[str, str]:
        """All rules by name, `root` first."""
        pending = [(START, OTHER, "")]
        written: dict[str, str] = {}
        for callee in pending:
            net = self.spaced(*callee)
            written |= self.written(callee, net)
            calls = {step.callee for row in net.edges for step in row if step.callee}
            pending += sorted(calls - set(pending))
        return written | {name: body for body, name in self.choices.items()}

    def spaced(self, name: str, before: str, after: str) -> Automaton[_Step]:
        """The automaton of `name` behind a text that ends with `before`; it ends with `after`, if that is not ""."""
        net = self.nets[name]
        numbers, order = {(0, before): 0}, [(0, before)]
        rows: list[dict[_Step, int]] = []
        for state, ending in order:
            row: dict[_Step, int] = {}
            for label, to in net.edges[state].items():
                for step, ends in self.steps(label, ending):
                    if (to, ends) not in numbers:
                        numbers[to, ends] = len(numbers)
                        order.append((to, ends))
                    row[step] = numbers[to, ends]
            rows.append(row)
        final = [n for n, (state, ending) in enumerate(order) if state in net.final and after in ("", ending)]
        found = minimal(rows, 0, final)
        return minimal([self.merged(row) for row in found.edges], 0, found.final)

    def steps(self, label: str, before: str) -> list[tuple[_Step, str]]:
        """How `label` can be read behind a text that ends with `before`, and what it then ends with."""
        if label in self.nets:
            return [(_Step("", "", (label, before, after)), after) for after in sorted(self.ends[label])]
        terminal = self.terminals[label]
        if before == BAR and terminal.text.startswith('"|'):
            return [(_Step("gap", terminal.text), terminal.ends)]
        if before != IN_WORD or not terminal.in_word:
            space = "slash-space" if before == SLASH else "space"
            return [(_Step(space, terminal.text), terminal.ends)]
        apart = [(_Step("gap", terminal.text), terminal.ends)]
        return apart if terminal.free is None else [*apart, (_Step("", terminal.free), terminal.ends)]

    def merged(self, row: Mapping[_Step, int]) -> dict[_Step, int]:
        """`row` with one call where it does not matter what the callee ends with."""
        found = dict(row)
        for step in row:
            if step.callee is not None and step in found:
                name, before, _ = step.callee
                ways = [_Step("", "", (name, before, after)) for after in self.ends[name]]
                if len({row.get(way) for way in ways}) == 1:
                    to = row[step]
                    for way in ways:
                        del found[way]
                    found[_Step("", "", (name, before, ""))] = to
        return found

    def written(self, callee: tuple[str, str, str], net: Automaton[_Step]) -> dict[str, str]:
        """The rules of one automaton: one for each state that is entered from several."""
        entered = [0] * len(net.edges)
        for row in net.edges:
            for to in set(row.values()):
                entered[to] += 1
        base = _callee_name(callee)
        named = {0: base} | {n: f"{base}-{n}" for n, times in enumerate(entered) if n and times > 1 and net.edges[n]}
        end = "end" if callee[0] == START else ""

        def state(number: int, alone: bool) -> str:
            """What may follow in state `number`: in brackets, unless it stands `alone`."""
            ways: dict[int, list[_Step]] = {}
            for step, to in net.edges[number].items():
                ways.setdefault(to, []).append(step)
            texts = [f"{self.items(steps)} {follow(to)}".rstrip() for to, steps in ways.items()]
            final = number in net.final
            if final and end:
                texts.append(end)
            if not texts:
                return ""
            text = " | ".join(texts)
            optional = final and not end
            return f"( {text} )?" if optional else text if alone or len(texts) == 1 else f"( {text} )"

        def follow(number: int) -> str:
            return named.get(number) or state(number, alone=False)

        return {name: state(number, alone=True) for number, name in named.items()}

    def items(self, steps: list[_Step]) -> str:
        """Alternatives that lead to one state, those behind the same space together."""
        ways = []
        for space in sorted({step.space for step in steps}):
            texts = sorted({_callee_name(s.callee) if s.callee else s.item for s in steps if s.space == space})
            text = self.choice(" | ".join(texts)) if len(texts) > 1 else texts[0]
            ways.append(f"{space} {text}".strip())
        return ways[0] if len(ways) == 1 else f"( {' | '.join(ways)} )"

    def choice(self, text: str) -> str:
        """A rule for alternatives, since most stand in many places."""
        return self.choices.setdefault(text, f"choice-{len(self.choices) + 1}")


def _callee_name(callee: tuple[str, str, str]) -> str:
    name, before, after = callee
    if name == START:
        return ROOT
    return "-".join(
        [rule_name(name), *(["after", before] if before != OTHER else []), *(["to", after] if after else [])]
    )


def _possible_ends(nets: Mapping[str, Automaton[str]], terminals: Mapping[str, Terminal]) -> dict[str, frozenset[str]]:
    """For each automaton, what its texts can end with. None of those that are called is empty."""
    last = {
        name: {label for row in net.edges for label, to in row.items() if to in net.final} for name, net in nets.items()
    }
    found: dict[str, frozenset[str]] = dict.fromkeys(nets, frozenset())
    while True:
        wider = {
            name: frozenset().union(*(found[x] if x in nets else {terminals[x].ends} for x in labels))
            for name, labels in last.items()
        }
        if wider == found:
            return found
        found = wider
