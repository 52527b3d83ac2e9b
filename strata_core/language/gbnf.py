"""The grammar in GBNF, for decoding under a grammar (Seed 0 §7): made from grammar.lark, so that it follows it.

Its language is the parser's: what llama.cpp, llguidance or xgrammar let through is what scanner and parser accept
(values are left to the checker: the range of numbers, keys given twice). Three things are made explicit that a
scanner decides on its own: white space and comments may stand before each token, and must where two words would run
together; no reserved word is an identifier; no rule is recursive at its left. With a `Vocabulary`, names of
tables, columns, contracts and functions are those that exist, wherever one is referred to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from .automata import Automaton, automata, minimal
from .gbnf_tokens import WORD, begins, identifiers, literal, pattern
from .tables import GRAMMAR

START = "module"
ROOT = "root"
# What the text before a token ends with, as far as it matters to what may follow without a space.
OTHER, IN_WORD, SLASH = "other", "word", "slash"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that exist: `tables` with the columns of each, and beside these what else stands for a column
    (`columns`: those of `let` and `derive`, bare words that functions take).
    """

    tables: Mapping[str, tuple[str, ...]]
    columns: frozenset[str]
    contracts: frozenset[str]
    functions: frozenset[str]


class _Terminal(NamedTuple):
    """`text` is GBNF. `in_word` is the part that a word before it must be kept apart from, `free` the rest."""

    text: str
    in_word: bool
    free: str | None
    ends: str


class _Step(NamedTuple):
    """One edge: a `space` rule ("" where the callee brings its own) and an item; or a call of `callee`."""

    space: str
    item: str
    callee: tuple[str, str, str] | None = None


def gbnf(vocabulary: Vocabulary | None = None) -> str:
    """The grammar's GBNF; rule `root` is a module. Rule names are letters, digits and `-` alone. Needs lark."""
    source = GRAMMAR.read_text(encoding="utf-8")
    grammar = _load(source if vocabulary is None else _with_places(source))
    if vocabulary is not None:
        grammar = _restricted(grammar, vocabulary)
    spaced = _Spaced(automata(grammar.productions, START), grammar.terminals)
    rules = spaced.rules() | grammar.rules
    width = max(map(len, rules))
    return "".join(f"{name:{width}} ::= {body}\n" for name, body in rules.items())


class _Grammar(NamedTuple):
    """The grammar as productions over terminals, the GBNF of these, and the rules that their GBNF refers to."""

    productions: dict[str, list[tuple[str, ...]]]
    terminals: dict[str, _Terminal]
    rules: dict[str, str]
    reserved: frozenset[str]


def _load(source: str) -> _Grammar:
    """What lark reads from `source`."""
    from lark.lexer import PatternStr
    from lark.load_grammar import load_grammar

    loaded, _ = load_grammar(source, GRAMMAR.name, [], False)  # type: ignore[no-untyped-call]
    found, made, ignored = loaded.compile([START], "*")
    fixed = {t.name: t.pattern.value for t in found if isinstance(t.pattern, PatternStr)}
    regexes = {t.name: t.pattern.to_regexp() for t in found if t.name not in fixed}
    productions: dict[str, list[tuple[str, ...]]] = {}
    for rule in made:
        productions.setdefault(rule.origin.name, []).append(tuple(symbol.name for symbol in rule.expansion))
    reserved = frozenset(text for text in fixed.values() if re.fullmatch(regexes["IDENT"], text))
    terminals = {name: _fixed(text) for name, text in fixed.items()}
    rules = _spaces({name: regexes[name] for name in ignored})
    for name, regex in regexes.items():
        if name not in ignored:
            rule = _rule_name(name)
            terminals[name] = _named(rule, regex)
            rules |= identifiers(rule, reserved) if name == "IDENT" else {rule: pattern(regex) or ""}
    return _Grammar(productions, terminals, rules, reserved)


def _rule_name(name: str) -> str:
    return name.strip("_").lower().replace("_", "-")


def _ends(character: str) -> str:
    return IN_WORD if character in WORD else SLASH if character == "/" else OTHER


def _fixed(text: str) -> _Terminal:
    word = text[0] in WORD
    return _Terminal(literal(text), word, None if word else literal(text), _ends(text[-1]))


def _named(rule: str, regex: str) -> _Terminal:
    """The terminal of a `regex`: a number or word, which ends in one, or something that has its own end."""
    word = begins(regex, WORD.__contains__)
    free = pattern(regex, lambda c: c not in WORD)
    return _Terminal(rule, word, free if word else rule, IN_WORD if word else OTHER)


def _spaces(ignored: Mapping[str, str]) -> dict[str, str]:
    """`space` may stand before a token, `gap` must between two words, `slash-space` after a `/`, `end` at the end.

    They go on by recursion, so that a matcher with a lexer takes each comment for a token of its own, and a `/` for
    what it is.
    """
    to_line_end = {name for name, regex in ignored.items() if regex.endswith("[^\n]*")}

    def one(first: str | None = None) -> str:
        texts = {
            name: pattern(regex, None if first is None else lambda c: c != first) for name, regex in ignored.items()
        }
        return " | ".join(
            f'{text} "\\n" space' if name in to_line_end else f"{text.removesuffix('+')} space"
            for name, text in texts.items()
            if text
        )

    last = " | ".join(pattern(ignored[name]) or "" for name in sorted(to_line_end))
    return {
        "space": f"( {one()} )?",
        "gap": one(),
        "slash-space": f"( {one('/')} )?",
        "end": f"space ( {last} )?",
    }


# --- names that exist

# The rules of grammar.lark in which a `name` refers to something, and to what.
PLACES = {
    "from": "table",
    "join": "table",
    "cross_join": "table",
    "conforms": "contract",
    "except": "column",
    "freshness_column": "column",
    "call": "function",
}


def _with_places(source: str) -> str:
    """The grammar with `existing_…` in place of `name` where a rule of `PLACES` says so."""
    for rule, kind in PLACES.items():
        start, end = _extent(source, rule)
        source = source[:start] + re.sub(r"\bname\b", f"existing_{kind}", source[start:end]) + source[end:]
    start, end = _extent(source, "column")
    source = source[:start] + "column: existing_column | qualified_column\n" + source[end:]
    kinds = {"qualified_column", *(f"existing_{kind}" for kind in PLACES.values())}
    return source + "".join(f'{kind}: "\\x01{kind}"\n' for kind in sorted(kinds))


def _extent(source: str, rule: str) -> tuple[int, int]:
    """Where the definition of `rule` begins and ends."""
    found = re.search(rf"^[!?]*{rule}:.*\n(?:[ \t]+\S.*\n)*", source, re.MULTILINE)
    assert found is not None, f"grammar.lark has no rule {rule}"
    return found.span()


def _restricted(grammar: _Grammar, vocabulary: Vocabulary) -> _Grammar:
    """`grammar`, made from `_with_places`, with the names of `vocabulary`."""
    productions, terminals, rules = dict(grammar.productions), dict(grammar.terminals), dict(grammar.rules)

    def one_of(rule: str, names: frozenset[str]) -> list[tuple[str, ...]]:
        """Terminals for `names`: those that can be written bare, and those in backquotes."""
        bare = sorted(n for n in names if re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", n) and n not in grammar.reserved)
        quoted = sorted(f"`{n}`" for n in names - set(bare) if not set("`\n\0") & set(n))
        found: list[tuple[str, ...]] = []
        for name, texts, ends in ((rule, bare, IN_WORD), (f"{rule}-quoted", quoted, OTHER)):
            if texts:
                rules[name] = " | ".join(map(literal, texts))
                terminals[name] = _Terminal(name, ends == IN_WORD, None if ends == IN_WORD else name, ends)
                found.append((name,))
        return found

    dot = next(name for name, terminal in terminals.items() if terminal.text == literal("."))
    tables = vocabulary.tables
    columns = vocabulary.columns.union(*tables.values())
    any_column = one_of("existing-column", columns)
    productions["existing_column"] = any_column
    productions["existing_table"] = one_of("existing-table", frozenset(tables))
    productions["existing_contract"] = one_of("existing-contract", vocabulary.contracts)
    productions["existing_function"] = one_of("existing-function", vocabulary.functions)
    rules |= identifiers("alias", grammar.reserved | tables.keys())
    terminals["alias"] = _Terminal("alias", True, None, IN_WORD)
    qualified = [("alias", dot, *column) for column in any_column]
    for number, table in enumerate(sorted(tables), 1):
        names = one_of(f"table-{number}", frozenset({table}))
        own = one_of(f"column-of-{number}", frozenset(tables[table]))
        qualified += [(*name, dot, *column) for name in names for column in own]
    productions["qualified_column"] = qualified
    return _Grammar(productions, terminals, rules, grammar.reserved)


# --- space between tokens, and the text


class _Spaced:
    """Writes automata as rules, with space between their tokens.

    A callee has one rule for each way in which the text before it and its own end matter to what stands around it.
    """

    def __init__(self, nets: Mapping[str, Automaton[str]], terminals: Mapping[str, _Terminal]) -> None:
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
        [_rule_name(name), *(["after", before] if before != OTHER else []), *(["to", after] if after else [])]
    )


def _possible_ends(nets: Mapping[str, Automaton[str]], terminals: Mapping[str, _Terminal]) -> dict[str, frozenset[str]]:
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
