"""The grammar's terminals in GBNF: regular expressions, reserved words that are no identifiers, white space.

GBNF has no look-ahead. What the scanner decides by it is decided otherwise: a number or word ends where no letter,
digit or `_` follows, which `gbnf.py` sees to between tokens; an identifier is spelled out so that no reserved word is
one; a comment ends at its first `*/`. U+0000, which the scanner refuses in strings and names, is in no class.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .automata import minimal

# CPython's own reader of regular expressions: private, but the same from 3.11 on, and the one that `re` uses.
_sre = importlib.import_module("re._parser")

Tree = list[tuple[Any, Any]]
WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", '"': '\\"', "[": "\\[", "]": "\\]"}
_NUL = "\\x00"


def literal(text: str) -> str:
    """`text` as GBNF writes it."""
    return '"' + "".join(_escaped(c, "[]") for c in text) + '"'


def pattern(regex: str, first: Callable[[str], bool] | None = None) -> str | None:
    """The GBNF of `regex`, or of those of its texts whose first character is `first`; None if there are none."""
    tree: Tree | None = list(_sre.parse(regex))
    if first is not None:
        tree = _beginning(tree or [], first)
    return None if tree is None else _sequence(tree)


def begins(regex: str, kind: Callable[[str], bool]) -> bool:
    """Whether a text of `regex` can begin with a character that is `kind`."""
    return _beginning(list(_sre.parse(regex)), kind) is not None


def identifiers(rule: str, reserved: Iterable[str]) -> dict[str, str]:
    """Rules for `[A-Za-z_][A-Za-z0-9_]*` without the `reserved` words; the first is `rule`, the others begin with it.

    They follow the words letter by letter, and leave them at the first letter that is none of theirs. No rule holds
    another's text: a matcher may limit how deep brackets stand in one another.
    """
    words = frozenset(reserved)
    prefixes = sorted({word[:n] for word in words for n in range(len(word) + 1)})
    number = {prefix: n for n, prefix in enumerate(prefixes)}
    free = len(prefixes)
    rows: list[dict[str, int]] = []
    for prefix in prefixes:
        following = {p[-1]: number[p] for p in prefixes if p[:-1] == prefix != p}
        allowed = WORD if prefix else {c for c in WORD if not c.isdigit()}
        rows.append({_class(c): to for c, to in following.items()} | {_class(allowed - following.keys()): free})
    rows.append({_class(WORD): free})
    net = minimal(rows, number[""], {free, *(n for p, n in number.items() if p and p not in words)})
    names = [rule if n == 0 else f"{rule}-{n}" for n in range(len(net.edges))]
    rules = {}
    for n, row in enumerate(net.edges):
        if row == {_class(WORD): n}:
            rules[names[n]] = f"{_class(WORD)}*"
        else:
            ways = " | ".join(f"{letters} {names[to]}" for letters, to in row.items())
            rules[names[n]] = f"( {ways} )?" if n in net.final else ways
    return rules


def _escaped(character: str, plain: str = "") -> str:
    if character in plain:
        return character
    if character in _ESCAPES:
        return _ESCAPES[character]
    return character if " " <= character <= "~" else f"\\x{ord(character):02X}"


def _class(characters: Iterable[str]) -> str:
    """A class of `characters`, with ranges."""
    points = sorted(map(ord, characters))
    ranges: list[list[int]] = []
    for point in points:
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return f"[{''.join(_range(low, high) for low, high in ranges)}]"


def _range(low: int, high: int) -> str:
    if high - low < 2:
        return "".join(_escaped(chr(point)) for point in range(low, high + 1))
    return f"{_escaped(chr(low))}-{_escaped(chr(high))}"


def _sequence(tree: Sequence[tuple[Any, Any]]) -> str:
    parts: list[str] = []
    text = ""
    items = [(str(op), value) for op, value in tree]
    for position, (op, value) in enumerate(items):
        if op == "LITERAL":
            text += chr(value)
            continue
        if text:
            parts.append(literal(text))
            text = ""
        if op == "MIN_REPEAT":
            return " ".join([*parts, _until(value, items[position + 1 :])])
        if op == "ASSERT_NOT":
            assert position == len(items) - 1, "a look-ahead that is not at the end of a token"
        else:
            parts.append(_item(op, value))
    return " ".join([*parts, literal(text)] if text else parts)


def _until(repeated: Any, stop: list[tuple[str, Any]]) -> str:
    """`.*?` before the two characters `stop` that end it: nowhere before do both stand together."""
    low, _, inner = repeated
    assert low == 0
    assert [str(op) for op, _ in inner] == ["ANY"]
    (_, one), (_, two) = stop
    first = literal(chr(one))
    return f"( {_without(chr(one))} | {first}+ {_without(chr(one), chr(two))} )* {first}+ {literal(chr(two))}"


def _without(*characters: str) -> str:
    return f"[^{_NUL}{''.join(map(_escaped, characters))}]"


def _item(op: str, value: Any) -> str:
    match op:
        case "LITERAL":
            return literal(chr(value))
        case "NOT_LITERAL":
            return _without(chr(value))
        case "ANY":
            return _without()
        case "IN":
            negated = str(value[0][0]) == "NEGATE"
            items = [(str(kind), item) for kind, item in value[negated:]]
            text = "".join(_range(*item) if kind == "RANGE" else _escaped(chr(item)) for kind, item in items)
            # A dash that is no range stands last, where every reader of GBNF takes it for itself.
            if ("LITERAL", ord("-")) in items:
                text = text.replace("-", "", 1) + "-"
            return f"[^{_NUL}{text}]" if negated else f"[{text}]"
        case "BRANCH":
            return f"( {' | '.join(map(_sequence, value[1]))} )"
        case "SUBPATTERN":
            return _group(value[3])
        case "MAX_REPEAT":
            low, high, tree = value
            times = {(0, 1): "?", (0, _sre.MAXREPEAT): "*", (1, _sre.MAXREPEAT): "+", (1, 1): ""}[low, high]
            return f"{_group(tree)}{times}"
        case _:
            raise AssertionError(f"no GBNF for {op} in a token")


def _group(tree: Sequence[tuple[Any, Any]]) -> str:
    text = _sequence(tree)
    alone = len(tree) == 1 and str(tree[0][0]) in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "BRANCH")
    return text if alone else f"( {text} )"


def _beginning(tree: Tree, kind: Callable[[str], bool]) -> Tree | None:
    """The part of `tree` whose texts begin with a character that is `kind`; None if nothing is left."""
    (op, value), rest = tree[0], tree[1:]
    match str(op), value:
        case "LITERAL", _:
            return tree if kind(chr(value)) else None
        case "IN", _:
            items = [item for item in value if kind(chr(item[1] if str(item[0]) == "LITERAL" else item[1][0]))]
            return [(op, items), *rest] if items else None
        case "BRANCH", _:
            ways = [way for branch in value[1] if (way := _beginning(list(branch), kind)) is not None]
            return [(op, (None, ways)), *rest] if ways else None
        case "SUBPATTERN", _:
            inner = _beginning(list(value[3]), kind)
            return None if inner is None else [(op, (*value[:3], inner)), *rest]
        case "MAX_REPEAT", (1, most, inner):
            once = _beginning(list(inner), kind)
            return None if once is None else [*once, (op, (0, most, inner)), *rest]
        case _:
            raise AssertionError(f"a token that begins with {op}")
