"""Inputs that break compilers: programs mutated token by token, and bytes of any kind. Each follows from its number."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random

from strata_core.language.tables import load_tables

ROOT = Path(__file__).resolve().parent.parent.parent
FILE = "values.strata"
"""The name under which inputs are compiled."""
_TOKEN = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*"|`[^`\n]+`|[A-Za-z_]\w*|\.?\d[\w.]*|\s+|//[^\n]*|->|==|!=|<=|>=|\|\||\.\.|.', re.S
)
NAMES = (
    *("select", "from", "`select`", "`order by`", '`a"b`', "`'; drop table x; --`", "`" + "x" * 300 + "`", "`a.b`"),
    *(
        "\u043erders",
        "`\u043erders`",
        "`\u202eabc`",
        "\ufb01lter",
        "`\u200b`",
        "x" * 5000,
        "_",
        "row_count",
        "`__proto__`",
        "`%s{0}`",
    ),
)
LITERALS = (
    *("9223372036854775807", "9223372036854775808", "-9223372036854775809", "1" * 400, "0", "00000", "1_000_"),
    *("1e308", "1e309", "1e-400", "0." + "1" * 39, "9" * 38 + ".5", ".5", "5.", "1e", "0x10", "1d", "999999999999d"),
    *(
        '""',
        '"\\"',
        '"\\q"',
        '"a\nb"',
        '"' + "x" * 2000 + '"',
        '"${c}"',
        '"\u202e"',
        '"2024-02-30"',
        '"NaN"',
        '"decimal(99,1)"',
    ),
    *("none", "null", "true", "[]", "[none]", '[1, "a"]', "*", "{ }", "( )", "-", "- -1", "not not true", "''"),
)
SIGNS = (
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ",",
    ";",
    ":",
    ".",
    "..",
    "->",
    "=",
    "==",
    "|",
    "&",
    "!",
    "?",
    "@",
    "\\",
    "/*",
    "*/",
    "//",
    '"',
    "`",
    "'",
)
BYTES = (
    b"\0",
    b"\xff",
    b"\xfe\xff",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\xc3",
    b"\r",
    b"\x1a",
    b"\x85",
    "\u2028".encode(),
    b"\x00" * 40,
)


@cache
def programs() -> tuple[str, ...]:
    """The texts that are mutated: the demo's modules as one, and each of those beside this file."""
    demo = "\n".join(path.read_text() for path in sorted(ROOT.glob("models/**/*.strata")))
    return (demo, *(path.read_text() for path in sorted(ROOT.glob("tests/fuzz/programs/*.strata"))))


@cache
def corpus() -> tuple[tuple[str, ...], ...]:
    """The tokens of each program, spaces and comments among them."""
    return tuple(tuple(_TOKEN.findall(text)) for text in programs())


@cache
def vocabulary() -> tuple[str, ...]:
    """Every fixed token of the language, and the words of all programs."""
    words = {token for tokens in corpus() for token in tokens if not token.isspace()}
    return tuple(sorted({*words, *filter(None, load_tables().spelling)}))


@cache
def declarations() -> tuple[tuple[tuple[str, ...], ...], ...]:
    """The declarations of each program, cut where a line begins with a word."""
    texts = (re.split(r"(?m)^(?=[a-z])", text) for text in programs())
    return tuple(tuple(tuple(_TOKEN.findall(text)) for text in parts if text.strip()) for parts in texts)


def input_of(number: int) -> bytes:
    """The input with that number, the same everywhere."""
    random = Random(number)
    if number % 20 == 0:
        return random.randbytes(random.randrange(200))
    if number % 4 == 1:
        tokens = list(random.choice(corpus()))
        start = random.randrange(len(tokens))
        tokens = tokens[start : start + 300]
        for _ in range(random.choice((1, 1, 2, 3, 6))):
            tokens = _mutated(random, tokens)
    else:
        tokens = _nonsense(random)
    data = "".join(tokens).encode("utf-8", "surrogatepass")
    return _corrupted(random, data) if random.random() < 0.05 else data


def _nonsense(random: Random) -> list[str]:
    """A program that mostly parses: what models read, and one declaration with other words in some places."""
    program = random.choice(declarations())
    changed = random.randrange(len(program))
    tokens: list[str] = []
    for place, declaration in enumerate(program):
        own = list(declaration)
        if place == changed:
            for _ in range(random.choice((1, 1, 1, 2, 3))):
                own = random.choice((_swapped, _swapped, _swapped, _replaced, _mutated))(random, own)
        elif declaration[0] in ("model", "test", "pipeline") and random.random() < 0.6:
            continue
        tokens += own
    return tokens


def _replaced(random: Random, tokens: list[str]) -> list[str]:
    return _alike(random, tokens, random.choice((NAMES, LITERALS)))


def _mutated(random: Random, tokens: list[str]) -> list[str]:
    at = random.randrange(len(tokens) + 1)
    end = min(len(tokens), at + random.choice((1, 1, 2, 5, 20)))
    here = tokens[at:end]
    match random.randrange(12):
        case 0:
            return tokens[:at] + tokens[end:]
        case 1:
            return tokens[:end] + here * random.choice((1, 1, 2, 30)) + tokens[end:]
        case 2:
            other = random.choice(corpus())
            start = random.randrange(len(other))
            return [*tokens[:at], *other[start : start + random.choice((1, 3, 10, 60))], *tokens[end:]]
        case 3:
            return [*tokens[:at], " ", random.choice(vocabulary()), " ", *tokens[end:]]
        case 4:
            return [*tokens[:at], random.choice(SIGNS), *tokens[at:]]
        case 5:
            return _alike(random, tokens, NAMES)
        case 6:
            return _alike(random, tokens, LITERALS)
        case 7 | 8 | 9:
            return _swapped(random, tokens)
        case 10:
            depth = random.choice((3, 30, 90, 101, 300))
            return [*tokens[:at], "(" * depth, *here, ")" * random.choice((depth, depth - 1, 0)), *tokens[end:]]
        case _:
            return tokens[:at] if random.random() < 0.3 else tokens[at:] + tokens[:at]


def _alike(random: Random, tokens: list[str], others: tuple[str, ...]) -> list[str]:
    """A name or a literal in the place of each token of one text."""
    wanted = str.isidentifier if others is NAMES else lambda token: token[:1].isdigit() or token[:1] == '"'
    places = [token for token in tokens if wanted(token)]
    if not places:
        return [*tokens, random.choice(others)]
    old, new = random.choice(places), random.choice(others)
    everywhere = random.random() < 0.5
    done = False
    found = []
    for token in tokens:
        if token == old and (everywhere or not done):
            token, done = new, True
        found.append(token)
    return found


def _swapped(random: Random, tokens: list[str]) -> list[str]:
    """Another token of the same kind in the place of one: what is left most often parses, and means nonsense."""
    places = [i for i, token in enumerate(tokens) if token.strip()]
    if not places:
        return tokens
    at = random.choice(places)
    old = tokens[at]

    same = [t for t in (tokens if random.random() < 0.7 else vocabulary()) if t.strip() and _kind(t) == _kind(old)]
    return [*tokens[:at], random.choice(same or [old]), *tokens[at + 1 :]]


_LIKE = tuple(frozenset(words.split()) for words in ("+ - * / % ||", "== != < <= > >= like in", "and or", "asc desc"))


def _kind(token: str) -> object:
    """Tokens of one kind may mostly stand for one another."""
    if token[0] in '"`':
        return token[0]
    if token[0].isdigit():
        return "number"
    if token.isidentifier() and token not in load_tables().keywords:
        return "name"
    return next((alike for alike in _LIKE if token in alike), token)


def _corrupted(random: Random, data: bytes) -> bytes:
    for _ in range(random.choice((1, 1, 3))):
        at = random.randrange(len(data) + 1)
        match random.randrange(3):
            case 0:
                data = data[:at] + random.choice(BYTES) + data[at:]
            case 1:
                data = data[:at] + bytes([random.randrange(256)]) + data[at + 1 :]
            case _:
                data = data[:at]
    return data
