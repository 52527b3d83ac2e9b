"""Random programs: every rule of the grammar may occur in them, and comments between any two tokens."""

from __future__ import annotations

from functools import cache
from random import Random

from lark import Lark
from lark.grammar import NonTerminal
from lark.lexer import PatternStr

from strata_core.language.parser import parse_module
from strata_core.language.tables import GRAMMAR

_SAMPLES = {
    "IDENT": ["a", "b", "total", "order_id", "case", "money", "a_very_long_name_of_a_column_in_a_wide_table"],
    "QUOTED": ["`a b`", "`from`", "`#`"],
    "INT": ["0", "1", "12", "1_000", "38"],
    "FLOAT": ["1.5", "0.50", "1e9", ".5"],
    "STRING": [
        '"x"',
        '"//"',
        '"a\nb"',
        r'"\""',
        '"a\r\nb"',
        '"a long string that takes up the better part of any line of text"',
    ],
    "DURATION": ["1d", "24h", "30min", "5m"],
}
_GAPS = [" "] * 12 + ["\n", "\n\n\n", "\t", "\r\n"]
_COMMENTS = [
    "  // c{}\n",
    "\n# c{}\n",
    "\n\n// c{}\n\n",
    " /* c{} */ ",
    "\n/* c{} */ ",
    " /* c{} */\n",
    "\n /* c\n {} */\n",
]


@cache
def _grammar() -> tuple[dict[str, list[tuple[str, ...]]], dict[str, str], dict[str, int]]:
    """Expansions of each rule, the text of each keyword, and the least depth of a tree of each rule."""
    made = Lark(GRAMMAR.read_text(), parser="lalr", lexer="basic", start=["declaration"], maybe_placeholders=False)
    words = {t.name: t.pattern.value for t in made.terminals if isinstance(t.pattern, PatternStr)}
    rules: dict[str, list[tuple[str, ...]]] = {}
    for rule in made.rules:
        names = tuple(("!" if isinstance(s, NonTerminal) else "") + s.name for s in rule.expansion)
        rules.setdefault(rule.origin.name, []).append(names)
    depth = dict.fromkeys(rules, 1000)
    for _ in rules:
        for name, expansions in rules.items():
            depth[name] = min(1 + max((depth[s[1:]] for s in e if s[0] == "!"), default=0) for e in expansions)
    return rules, words, depth


def _tokens(random: Random, rule: str, budget: int) -> list[str]:
    rules, words, depth = _grammar()
    expansions = rules[rule]

    def least(expansion: tuple[str, ...]) -> int:
        return max((depth[s[1:]] for s in expansion if s[0] == "!"), default=0)

    fitting = [e for e in expansions if least(e) < budget] or [min(expansions, key=least)]
    tokens: list[str] = []
    for symbol in random.choice(fitting):
        if symbol[0] == "!":
            tokens += _tokens(random, symbol[1:], budget - 1)
        else:
            tokens.append(words.get(symbol) or random.choice(_SAMPLES[symbol]))
    return tokens


def spaced(random: Random, tokens: list[str], comments: float) -> str:
    """`tokens` as a text, with white space of all kinds; between two of them a comment, as likely as `comments`."""
    parts = []
    for number, token in enumerate(tokens):
        parts.append(token)
        while random.random() < comments:
            parts.append(random.choice(_COMMENTS).format(f"{number}.{len(parts)}"))
        parts.append(random.choice(_GAPS))
    return "".join(parts)


def declaration(random: Random) -> list[str]:
    """The tokens of a declaration that parses."""
    while True:
        tokens = _tokens(random, "declaration", random.randint(6, 40))
        if len(tokens) < 400 and not parse_module(" ".join(tokens), "random").diagnostics:
            return tokens


def program(random: Random, comments: float) -> str:
    """A program of up to three declarations that parses."""
    while True:
        text = "\n".join(spaced(random, declaration(random), comments) for _ in range(random.randint(1, 3)))
        # Words that may also be names do not always begin a declaration where another one ends.
        if not parse_module(text, "random").diagnostics:
            return text
