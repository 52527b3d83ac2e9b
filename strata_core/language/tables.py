"""The parser's tables: what lark makes of grammar.lark, as plain numbers.

lark turns the grammar into LALR(1) tables in some tenths of a second; reading them back takes milliseconds
and needs no lark. So they are shipped beside the grammar (`tables.json`, made by `python -m
strata_core.language.tables`), and where those are not of this grammar, kept in the user's cache directory.
Both hold JSON only (data, never code), with the grammar's digest and a checksum: what is damaged or half written is
made again, and writers replace it in one step.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..caches import cache_directory, keep, kept
from ..frozen import dataclass, field

GRAMMAR = Path(__file__).with_name("grammar.lark")
SHIPPED = Path(__file__).with_name("tables.json")
START = "declaration"
END = "$END"
# Change it whenever the shape of the cached tables changes: it is part of the file's name.
_FORMAT = "4"


Gather = Callable[[list[Any]], Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """One production: `target` is the non-terminal's number, `size` the number of symbols it takes.

    `keep` holds the positions of the children that the action sees, `splice` tells for each whether it is a
    list to be spliced in. `action` names the function in build.py; None makes a list to be spliced, and
    "" hands on the only child.
    """

    target: int
    size: int
    action: str | None
    keep: tuple[int, ...]
    splice: tuple[bool, ...]

    @property
    def climbs(self) -> bool:
        """Whether it does no more than hand its one value on, to another level of precedence for instance."""
        return self.size == 1 and (self.action == "" or (self.action is None and self.splice == (True,)))


class Step(NamedTuple):
    """A reduction: how many values it takes, its target times the number of token kinds, the action that takes the
    children (None: they are the value), and how these are gathered (None: the last value is the result)."""

    size: int
    target: int
    action: str | None
    gather: Gather | None


def _step(rule: Rule, kinds: int) -> Step:
    target = rule.target * kinds
    if rule.climbs:
        return Step(1, target, None, None)
    if rule.action == "":
        only = rule.keep[0]
        return Step(rule.size, target, None, lambda values: values[only])
    return Step(rule.size, target, rule.action, _gather(rule))


def _gather(rule: Rule) -> Gather:
    """How the children of a rule are taken from the values of its symbols."""
    keep, splice = rule.keep, rule.splice
    if not any(splice):
        if keep == tuple(range(rule.size)):
            return lambda values: values
        match keep:
            case ():
                return lambda values: []
            case (only,):
                return lambda values: [values[only]]
            case _:
                return lambda values: [values[position] for position in keep]
    if splice == (True,):
        only = keep[0]
        return lambda values: values[only]

    def gather(values: list[Any]) -> list[Any]:
        # A list has one owner; taking over the first keeps long lists linear.
        children: list[Any] = values[keep[0]] if splice[0] else [values[keep[0]]]
        for position, spliced in zip(keep[1:], splice[1:], strict=True):
            if spliced:
                children += values[position]
            else:
                children.append(values[position])
        return children

    return gather


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """LALR(1) tables. `actions[state]` is a map from token kind to `n` (shift, go to n) or `-1 - n` (reduce rule n),
    or, where each token means the same reduction, that one number. `gotos[state]` maps a non-terminal to a state.

    `kinds` are the names of the token kinds, in the order of their numbers; `spelling` has the fixed text of
    those that have one, `keywords` maps a word to its kind, and `pattern` is the scanner's regular expression,
    one group a kind (`_` is what is skipped).
    """

    kinds: tuple[str, ...]
    spelling: tuple[str | None, ...]
    keywords: dict[str, int]
    pattern: str
    actions: tuple[dict[int, int] | int, ...]
    gotos: tuple[dict[int, int], ...]
    rules: tuple[Rule, ...]
    start: int
    end: int
    landings: tuple[dict[int, int], ...] = field(init=False)
    """Filled while parsing (`lalr.parse`): each follows from the other tables."""
    words: dict[str, int] = field(default_factory=dict, init=False)
    """Filled while scanning (`scanner.scan`): the kinds of texts of tokens."""
    steps: tuple[Step, ...] = field(init=False)
    """What the parser's loop asks of each rule, found by the number that `actions` has for it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "landings", tuple({} for _ in self.actions))
        steps = tuple(_step(rule, len(self.kinds)) for rule in reversed(self.rules))
        object.__setattr__(self, "steps", steps)


@cache
def load_tables() -> Tables:
    """The tables of grammar.lark, from the cache if it has them."""
    grammar = GRAMMAR.read_bytes()
    made_from = f"{_FORMAT}-{hashlib.sha256(grammar).hexdigest()[:32]}"
    raw = _read(SHIPPED.read_bytes() if SHIPPED.exists() else None, made_from)
    if raw is None:
        path = cache_directory() / f"grammar-{made_from}.json"
        raw = _read(kept(path), made_from)
        if raw is None:
            raw = make_raw(grammar.decode())
            keep(path, _written(raw, made_from))
    return _tables(raw)


def shipped_tables() -> bytes:
    """What `tables.json` holds for the grammar as it is."""
    grammar = GRAMMAR.read_bytes()
    return _written(make_raw(grammar.decode()), f"{_FORMAT}-{hashlib.sha256(grammar).hexdigest()[:32]}")


def _written(raw: dict[str, Any], made_from: str) -> bytes:
    body = json.dumps(raw, separators=(",", ":")).encode()
    return f"{made_from} ".encode() + _checksum(body) + b"\n" + body


def make_raw(grammar: str) -> dict[str, Any]:
    """The tables of `grammar` in the shape of the cache file. Needs lark; raises its GrammarError on a conflict."""
    from lark import Lark
    from lark.grammar import NonTerminal
    from lark.lexer import PatternStr, TerminalDef
    from lark.parsers.lalr_analysis import Shift

    made = Lark(grammar, parser="lalr", lexer="basic", start=[START], maybe_placeholders=False)
    table = made.parser.parser._parse_table
    terminals = {t.name: t for t in made.terminals if t.name not in made.ignore_tokens}
    kinds = [*terminals, END]
    targets = sorted({rule.origin.name for rule in made.rules})
    number = {name: i for i, name in enumerate(kinds)} | {name: i for i, name in enumerate(targets)}
    ordered = sorted(made.rules, key=lambda rule: (rule.origin.name, [s.name for s in rule.expansion]))
    rules = {rule: i for i, rule in enumerate(ordered)}
    states = _numbered(table.start_states[START], table.states, Shift)

    def fixed(terminal: TerminalDef | None) -> str | None:
        return terminal.pattern.value if terminal and isinstance(terminal.pattern, PatternStr) else None

    def rule_row(rule: Any) -> list[Any]:
        keep, splice = [], []
        for position, symbol in enumerate(rule.expansion):
            if isinstance(symbol, NonTerminal):
                keep.append(position)
                splice.append(symbol.name.startswith("_"))
            elif rule.options.keep_all_tokens or not symbol.filter_out:
                keep.append(position)
                splice.append(False)
        action = rule.alias or rule.origin.name
        if action.startswith("_"):
            action = None
        elif rule.options.expand1 and not rule.alias and splice == [False]:
            action = ""
        return [number[rule.origin.name], len(rule.expansion), action, keep, splice]

    actions, gotos = [], []
    for state in states:
        row, goto = [], []
        for symbol, (kind, argument) in sorted(table.states[state].items(), key=lambda item: item[0]):
            if symbol in terminals or symbol == END:
                row += [number[symbol], states[argument] if kind is Shift else -1 - rules[argument]]
            else:
                goto += [number[symbol], states[argument]]
        same = set(row[1::2])
        only = same.pop() if len(same) == 1 else 0
        # A state that only reduces by one rule does so whatever follows; a wrong token is found one step later.
        actions.append(only if only < 0 else row)
        gotos.append(goto)

    word = made.get_terminal("IDENT").pattern
    patterns = sorted(made.terminals, key=lambda t: (-t.priority, fixed(t) is not None, -t.pattern.max_width, t.name))
    fullmatch = re.compile(word.to_regexp()).fullmatch
    keywords = {text: number[t.name] for t in patterns if (text := fixed(t)) and fullmatch(text)}
    skipped = "|".join(t.pattern.to_regexp() for t in patterns if t.name in made.ignore_tokens)
    groups = [f"(?P<_>(?:{skipped})+)"]
    groups += [
        f"(?P<k{number[t.name]}>{t.pattern.to_regexp()})"
        for t in patterns
        if t.name in terminals and fixed(t) not in keywords
    ]
    return {
        "kinds": kinds,
        "spelling": [fixed(terminals.get(name)) for name in kinds],
        "keywords": keywords,
        "pattern": "|".join(groups),
        "actions": actions,
        "gotos": gotos,
        "rules": [rule_row(rule) for rule in ordered],
        "start": states[table.start_states[START]],
        "end": states[table.end_states[START]],
    }


def _numbered(start: int, states: dict[int, dict[str, Any]], shift: Any) -> dict[int, int]:
    """New numbers for lark's states, in the order in which they are reached: lark's own differ from run to run."""
    numbers = {start: 0}
    pending = [start]
    for state in pending:
        for _, (kind, target) in sorted(states[state].items(), key=lambda item: item[0]):
            if kind is shift and target not in numbers:
                numbers[target] = len(numbers)
                pending.append(target)
    return numbers


def _tables(raw: dict[str, Any]) -> Tables:
    return Tables(
        kinds=tuple(raw["kinds"]),
        spelling=tuple(raw["spelling"]),
        keywords=raw["keywords"],
        pattern=raw["pattern"],
        actions=tuple(r if isinstance(r, int) else dict(zip(r[::2], r[1::2], strict=True)) for r in raw["actions"]),
        gotos=tuple(dict(zip(r[::2], r[1::2], strict=True)) for r in raw["gotos"]),
        rules=tuple(Rule(t, n, a, tuple(keep), tuple(splice)) for t, n, a, keep, splice in raw["rules"]),
        start=raw["start"],
        end=raw["end"],
    )


def _read(written: bytes | None, made_from: str) -> dict[str, Any] | None:
    head, _, body = (written or b"").partition(b"\n")
    if head != f"{made_from} ".encode() + _checksum(body):
        return None
    raw: dict[str, Any] = json.loads(body)
    return raw


def _checksum(body: bytes) -> bytes:
    return b"%08x" % zlib.crc32(body)


if __name__ == "__main__":
    SHIPPED.write_bytes(shipped_tables())
