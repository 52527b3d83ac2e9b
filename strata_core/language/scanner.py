"""Text to tokens, by the one regular expression that tables.py makes from the grammar's terminals.

The scanner never fails: what is no token becomes a token of kind `ERROR` whose `problem` says what is wrong.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from itertools import accumulate, compress, pairwise, repeat

from ..diagnostics import Span
from ..durations import meant_duration
from ..frozen import NamedTuple, dataclass
from .tables import Tables
from .units import SECONDS

CLOSING = {"(": ")", "[": "]", "{": "}"}
"""The bracket that closes what each opens."""
ERROR = -1
SKIPPED = -2
"""The kind of spaces and comments, which are no tokens."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why some text is no token: message, label under the mark, fix, and the text that mends it where one does."""

    message: str
    label: str | None = None
    fix: str | None = None
    instead: str | None = None


class Token(NamedTuple):
    """`text` from offset `start` to `end`; `kind` counts in `Tables.kinds`."""

    kind: int
    text: str
    start: int
    end: int
    problem: Problem | None = None


class Lines:
    """Offsets to lines and columns of one text, whose first line is numbered `first`."""

    __slots__ = ("file", "first", "starts")

    def __init__(self, file: str, text: str, first: int = 1) -> None:
        self.file = file
        self.first = first
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    @property
    def ended(self) -> int:
        """How many lines the text ends."""
        return len(self.starts) - 1

    def span(self, start: int, end: int) -> Span:
        """The span from offset `start` to offset `end`."""
        starts, first = self.starts, self.first
        line, end_line = bisect_right(starts, start) - 1, bisect_right(starts, end) - 1
        return Span(self.file, first + line, start - starts[line] + 1, first + end_line, end - starts[end_line] + 1)


class Sound(NamedTuple):
    """The tokens of a text in which everything is one, each of their parts by itself."""

    kinds: list[int]
    texts: list[str]
    starts: list[int]
    ends: list[int]


def scan(text: str, tables: Tables) -> list[Token]:
    """All tokens of `text`, and at last one of kind `$END`."""
    return tokens_of(text, sound(text, tables), tables)


def tokens_of(text: str, found: Sound | None, tables: Tables) -> list[Token]:
    """As `scan`, of a text of which `sound` found that."""
    if found is None:
        tokens = _piecemeal(text, tables)
    else:
        token, make = Token, tuple.__new__
        tokens = [make(token, parts) for parts in zip(*found, repeat(None))]
    length = len(text)
    tokens.append(Token(tables.kinds.index("$END"), "", length, length))
    return tokens


def sound(text: str, tables: Tables) -> Sound | None:
    """The tokens of a text in which everything is a token, found by few calls in all; `None` where it is not so."""
    if "\0" in text:
        return None
    lexemes = _ungrouped(tables.pattern).findall(text)
    ends = [*accumulate(map(len, lexemes))]
    if (ends[-1] if ends else 0) != len(text):
        return None
    if "/*" in text and any(a == "/" and b.startswith("*") for a, b in pairwise(lexemes)):
        return None
    kinds = [*map(_kinds(lexemes, tables).__getitem__, lexemes)]
    kept = [*map(SKIPPED.__ne__, kinds)]
    return Sound(*([*compress(column, kept)] for column in (kinds, lexemes, [0, *ends], ends)))


_GROUP = r"\(\?P<\w+>"
MAX_WORDS = 100_000


def _kinds(lexemes: list[str], tables: Tables) -> dict[str, int]:
    """The kind of each of `lexemes`, and of others that were met before: few words make most of a program."""
    words = tables.words
    if len(words) > MAX_WORDS:
        words.clear()
    match_at = _compiled(tables.pattern).match
    for lexeme in {*lexemes}.difference(words):
        group = match_at(lexeme).lastgroup  # type: ignore[union-attr]
        words[lexeme] = tables.keywords.get(lexeme, SKIPPED if group == "_" else int(str(group)[1:]))
    return words


def _piecemeal(text: str, tables: Tables) -> list[Token]:
    """The tokens of any text."""
    match_at = _compiled(tables.pattern).match
    keywords, word = tables.keywords, tables.kinds.index("IDENT")
    tokens: list[Token] = []
    position, length = 0, len(text)
    while position < length:
        match = match_at(text, position)
        if match is None or (match.group() == "/" and text.startswith("/*", position)):
            if tokens and tokens[-1].kind == word and tokens[-1].end == position and not text[position].isascii():
                position = tokens.pop().start
            end, problem = _no_token(text, position)
            tokens.append(Token(ERROR, text[position:end], position, end, problem))
            position = end
            continue
        group, end = match.lastgroup, match.end()
        if group != "_":
            lexeme, kind = match.group(), int(str(group)[1:])
            tokens.append(Token(keywords.get(lexeme, kind) if kind == word else kind, lexeme, position, end))
        position = end
    return [_without_nul(token) for token in tokens] if "\0" in text else tokens


@cache
def _ungrouped(pattern: str) -> re.Pattern[str]:
    """`pattern` for finding texts alone, and all at once."""
    return re.compile(re.sub(_GROUP, "(?:", pattern))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_NUMBER_LIKE = r"\.?[0-9][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*"
_WORD = r"\w+"
_FIXES = {
    "'": "write strings in double quotes",
    **dict.fromkeys("\u201c\u201d\u201e\u2018\u2019", 'write strings in straight double quotes: `"…"`'),
    **dict.fromkeys("\u2013\u2014\u2212", "write `-`"),
    "&": "write `and`",
    "!": "write `not`, or `!=` for unequal",
    "|": "write `or`, or `||` to join strings",
    "?": "write `if(condition, a, b)`, or `coalesce(a, b)`; a column may be null unless it is `nonnull`",
    "^": "write `power(a, b)`",
    "$": 'leave it out: names stand alone; the texts of compile-time functions take them as in `"a_${name}"`',
    "@": "leave it out: nothing stands before a name, and nothing before a declaration",
    "~": 'write `a rlike "pattern"` for a regular expression',
}


def _no_token(text: str, start: int) -> tuple[int, Problem]:
    """Where the text at `start` that begins no token ends, and what is wrong with it.

    Scanning goes on after it so that the declarations below are still read: a string that has no end is
    taken to end with its line.
    """
    line_end = text.find("\n", start)
    line_end = len(text) if line_end < 0 else line_end
    if text.startswith("/*", start):
        return len(text), Problem("comment without an end", "it begins here", "close the comment with `*/`")
    if text[start] == '"':
        return line_end, Problem("string without an end", "it begins here", 'close the string with `"`')
    if text[start] == "`":
        return line_end, Problem("quoted name without an end", "it begins here", "close the name with a backquote")
    if number := re.compile(_NUMBER_LIKE).match(text, start):
        return number.end(), _no_number(number.group())
    if letters := re.compile(_WORD).match(text, start):
        end, found = letters.end(), letters.group()
        return end, Problem(f"`{_short(found)}` cannot stand in a bare name", None, "put the name in backquotes")
    found = text[start]
    shown = f"`{found}`" if found.isprintable() else f"U+{ord(found):04X}"
    return start + 1, Problem(f"unexpected character {shown}", None, _FIXES.get(found))


def _no_number(text: str) -> Problem:
    if meant := meant_duration(text):
        if meant.lstrip("0123456789") in SECONDS:
            return Problem(f"`{_short(text)}` is no duration", None, f"write `{meant}`", meant)
        return Problem(f"`{_short(text)}` is no duration", None, "durations are of whole seconds here, such as `1s`")
    fix = "write numbers as `1_000`, `1.5`, `1e9`, durations as `1d`; a name does not begin with a digit"
    return Problem(f"`{_short(text)}` is no number", None, fix)


def _without_nul(token: Token) -> Token:
    if "\0" not in token.text or token.kind == ERROR:
        return token
    return token._replace(kind=ERROR, problem=Problem("unexpected character U+0000 in a string or name"))


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "…"
