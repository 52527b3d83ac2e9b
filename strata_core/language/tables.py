"""The parser's tables: what lark makes of grammar.lark (`lark_tables.py`), as plain numbers.

They are shipped beside the grammar as JSON (`tables.json`, written by `python -m strata_core.language.lark_tables`) and
kept in the user's cache directory in the form in which they are used, which is read in a tenth of the time; where
those that are shipped are not of this grammar, lark makes them. Both bear the grammar's digest and a checksum: what is
damaged or half written is made again, and writers replace it in one step.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from ..caches import cache_directory, keep, kept
from ..digests import checksum, local_key
from ..frozen import dataclass, field

GRAMMAR = Path(__file__).with_name("grammar.lark")
SHIPPED = Path(__file__).with_name("tables.json")
END = "$END"
# Change it whenever the shape of the tables changes: it is part of what they are known by.
_FORMAT = "5"
_MOST_GRAMMARS = 8


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


Step = tuple[int, int, str | None, Gather | None]
"""A reduction: how many values it takes, its target times the number of token kinds, the action that takes the children
(None: they are the value), and how these are gathered (None: the last value is the result)."""


def _step(rule: Rule, kinds: int) -> Step:
    target = rule.target * kinds
    if rule.climbs:
        return 1, target, None, None
    if rule.action == "":
        return rule.size, target, None, _gather(rule.size, rule.keep, (True,))
    return rule.size, target, rule.action, _gather(rule.size, rule.keep, rule.splice)


@cache
def _gather(size: int, keep: tuple[int, ...], splice: tuple[bool, ...]) -> Gather:
    """How the children of a rule are taken from the values of its symbols; many rules share a way."""
    if not any(splice):
        if keep == tuple(range(size)):
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
    known_by = made_from(grammar)
    path = cache_directory() / "grammars" / f"{known_by}.{marshal.version}"
    content = kept(path)
    if content is None:
        content = marshal.dumps(_used(_shipped(known_by) or _made(grammar)))
        keep(path, content, _MOST_GRAMMARS)
    return _tables(marshal.loads(content))


def made_from(grammar: bytes) -> str:
    """What tables of that grammar are known by."""
    return local_key(_FORMAT, grammar)[:32]


def headed(body: bytes, known_by: str) -> bytes:
    """`body` as a file, with what says whether it is whole and of which grammar."""
    return f"{known_by} {checksum(body).hex()}\n".encode() + body


def _shipped(known_by: str) -> bytes | None:
    written = SHIPPED.read_bytes() if SHIPPED.exists() else b""
    body = written.partition(b"\n")[2]
    return body if written == headed(body, known_by) else None


def _made(grammar: bytes) -> bytes:
    from .lark_tables import make_tables  # loads lark

    return make_tables(grammar.decode())


def _used(body: bytes) -> dict[str, Any]:
    """Tables in the form in which they are used, from JSON. Rows that are alike are one."""
    import json  # only where nothing is kept

    raw = json.loads(body)
    rows: dict[tuple[int, ...], dict[int, int]] = {}

    def row(numbers: list[int]) -> dict[int, int]:
        return rows.setdefault(tuple(numbers), dict(zip(numbers[::2], numbers[1::2], strict=True)))

    return {
        **raw,
        "kinds": tuple(raw["kinds"]),
        "spelling": tuple(raw["spelling"]),
        "actions": tuple(one if isinstance(one, int) else row(one) for one in raw["actions"]),
        "gotos": tuple(map(row, raw["gotos"])),
        "rules": [(target, size, action, (*k,), (*s,)) for target, size, action, k, s in raw["rules"]],
    }


def _tables(used: dict[str, Any]) -> Tables:
    rules = tuple(Rule(*rule) for rule in used.pop("rules"))
    return Tables(**used, rules=rules)
