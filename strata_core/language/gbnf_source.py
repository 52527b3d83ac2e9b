"""What gbnf.py starts from: grammar.lark as productions, and its terminals and white space in GBNF."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from .gbnf_tokens import WORD, begins, identifiers, literal, pattern
from .tables import GRAMMAR

START = "module"
# What the text before a token ends with, as far as it matters to what may follow without a space.
OTHER, IN_WORD, SLASH, BAR = "other", "word", "slash", "bar"


class Terminal(NamedTuple):
    """`text` is GBNF. `in_word` is the part that a word before it must be kept apart from, `free` the rest."""

    text: str
    in_word: bool
    free: str | None
    ends: str


class Grammar(NamedTuple):
    """The grammar as productions over terminals, the GBNF of these, and the rules that their GBNF refers to."""

    productions: dict[str, list[tuple[str, ...]]]
    terminals: dict[str, Terminal]
    rules: dict[str, str]
    reserved: frozenset[str]


def load(source: str) -> Grammar:
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
            rule = rule_name(name)
            terminals[name] = _named(rule, regex)
            rules |= identifiers(rule, reserved) if name == "IDENT" else {rule: pattern(regex) or ""}
    return Grammar(productions, terminals, rules, reserved)


def rule_name(name: str) -> str:
    """The name in GBNF of a rule or terminal of the grammar: llama.cpp reads no `_`."""
    return name.strip("_").lower().replace("_", "-")


def _ends(character: str) -> str:
    return IN_WORD if character in WORD else {"/": SLASH, "|": BAR}.get(character, OTHER)


def _fixed(text: str) -> Terminal:
    word = text[0] in WORD
    return Terminal(literal(text), word, None if word else literal(text), _ends(text[-1]))


def _named(rule: str, regex: str) -> Terminal:
    """The terminal of a `regex`: a number or word, which ends in one, or something that has its own end."""
    word = begins(regex, WORD.__contains__)
    free = pattern(regex, lambda c: c not in WORD)
    return Terminal(rule, word, free if word else rule, IN_WORD if word else OTHER)


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
