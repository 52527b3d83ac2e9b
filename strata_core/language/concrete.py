"""Text to concrete trees: every token in its place, with the comments and blank lines around it. For the formatter.

The trees come from the parser's own tables, so that what has a syntax tree has a concrete one. Comments belong to
tokens: those behind a token on its line *trail* it, all others *lead* the token that follows. A separator (`,` or
`;`) owns no comments, because a layout may drop it or add one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from ..frozen import dataclass, replace
from .comments import COMMENT
from .lalr import Failure, parse
from .parser import chunks
from .scanner import Token, scan
from .tables import Rule, Tables, load_tables

SEPARATORS = frozenset({",", ";"})
PAREN = "paren"
"""The rule of an expression in parentheses, which makes no node in a syntax tree."""

# Two spellings of one word: the canonical one stands right.
_WORDS = {"where": "filter", "null": "none"}


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as written. `inline` ones stand before a token on its line; `blank` tells of a blank line above."""

    text: str
    inline: bool = False
    blank: bool = False

    @property
    def ends_line(self) -> bool:
        """Whether nothing can follow it on its line."""
        return not self.text.startswith("/*")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A token with its comments; `blank` tells of a blank line between it and what stands above."""

    text: str
    leading: tuple[Comment, ...] = ()
    trailing: tuple[Comment, ...] = ()
    blank: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    """A production: the name of its rule, and its tokens and productions in the order of the text."""

    rule: str
    parts: tuple[Part, ...]


Part = Tree | Leaf


@dataclass(frozen=True, slots=True)
class Concrete:
    """A module: its declarations, and the end of the text with the comments that stand there."""

    declarations: tuple[Tree, ...]
    end: Leaf


def first_leaf(part: Part) -> Leaf | None:
    """The first token below `part`; None where it has none (`keys` of a group without keys)."""
    pending = [part]
    while pending:
        match pending.pop():
            case Leaf() as leaf:
                return leaf
            case Tree(parts=parts):
                pending += reversed(parts)
    return None


def concrete(text: str) -> Concrete:
    """The concrete tree of `text`, which must parse."""
    tables = _keeping_all()
    tokens = scan(text, tables)
    leaves = _leaves(text, tokens)
    declarations = tuple(_tree(chunk.tokens, tables, leaves) for chunk in chunks(tokens, text, tables))
    return Concrete(declarations, next(leaves))


@cache
def _keeping_all() -> Tables:
    """The parser's tables with rules that hand every token to their action, and with one for parentheses."""
    tables = load_tables()

    def kept(rule: Rule) -> Rule:
        lists = {position for position, spliced in zip(rule.keep, rule.splice, strict=True) if spliced}
        everything = tuple(range(rule.size))
        action = PAREN if rule.action == "" and rule.size > 1 else rule.action
        return replace(rule, action=action, keep=everything, splice=tuple(i in lists for i in everything))

    return replace(tables, rules=tuple(kept(rule) for rule in tables.rules))


def _tree(tokens: Sequence[Token], tables: Tables, leaves: Iterator[Leaf]) -> Tree:
    """The tree of one declaration; its tokens take the next of `leaves`."""
    made = parse(tokens, tables, lambda rule, parts, start, end: (rule, parts))
    if isinstance(made, Failure):
        raise ValueError("the text does not parse")
    # With a list of its own: the tree of `a or b or c …` is as deep as the chain is long.
    open_: list[tuple[str, Iterator[Any], list[Part]]] = [(made[0], iter(made[1]), [])]
    while True:
        rule, rest, parts = open_[-1]
        for part in rest:
            if not isinstance(part, str):
                open_.append((part[0], iter(part[1]), []))
                break
            parts.append(next(leaves))
        else:
            open_.pop()
            tree = Tree(rule, tuple(parts))
            if not open_:
                return tree
            open_[-1][2].append(tree)


def _leaves(text: str, tokens: Sequence[Token]) -> Iterator[Leaf]:
    """A leaf for each token, the end of the text among them."""
    held: list[Leaf] = []
    moved: tuple[Comment, ...] = ()
    position = 0
    for token in tokens:
        gap = text[position : token.start]
        trailing, leading, blank = _between(gap, first=position == 0, last=token is tokens[-1])
        position = token.end
        if held and not moved and not (held[0].trailing and held[0].trailing[-1].ends_line):
            held[0] = replace(held[0], trailing=held[0].trailing + trailing)
        else:
            leading = tuple(replace(comment, inline=False) for comment in trailing) + leading
        leading = moved + leading
        if token.text in SEPARATORS and held:
            moved = tuple(replace(comment, inline=False) for comment in leading)
            held.append(Leaf(token.text))
            continue
        leaf = Leaf(_WORDS.get(token.text, token.text), leading, (), blank)
        if held and held[-1].text in ("(", "[", "{", "<"):
            leaf = opened(leaf)
        yield from held
        held = [leaf]
        moved = ()
    yield from held


def opened(leaf: Leaf) -> Leaf:
    """`leaf` behind a bracket: no blank line is wanted where one opens."""
    leading = tuple(replace(c, blank=c.blank and i > 0) for i, c in enumerate(leaf.leading))
    return Leaf(leaf.text, leading, leaf.trailing, leaf.blank and bool(leading))


def _between(gap: str, *, first: bool, last: bool) -> tuple[tuple[Comment, ...], tuple[Comment, ...], bool]:
    """The comments between two tokens: those that trail the one before, those that lead the one behind, and whether
    a blank line stands before the one behind. At the start of the text (`first`) nothing can be trailed, at its end
    (`last`) nothing stands behind on the line."""
    found = list(re.finditer(COMMENT, gap))
    trailing: list[Comment] = []
    leading: list[Comment] = []
    # From the last one backwards: a comment in one line with the token behind it, and nothing else between.
    last_inline = len(found)
    edge = len(gap)
    for match in reversed(found):
        if last or match["line"] is not None or "\n" in gap[match.start() : edge]:
            break
        last_inline, edge = last_inline - 1, match.start()
    position, newline = 0, first
    for i, match in enumerate(found):
        newlines = gap.count("\n", position, match.start())
        newline = newline or newlines > 0
        position = match.end()
        written = match.group().rstrip()
        if i >= last_inline:
            leading.append(Comment(written, inline=True, blank=newlines > 1))
        elif newline:
            leading.append(Comment(written, blank=newlines > 1))
        elif last or match["line"] is not None or "\n" in gap[position:]:
            trailing.append(Comment(written))
        else:
            # Over several lines, with the token behind it on its last.
            leading.append(Comment(written))
    return tuple(trailing), tuple(leading), gap.count("\n", position) > 1
