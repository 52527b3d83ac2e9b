r"""Regular expressions: the part of RE2 that means the same on every engine, checked at compile time.

Accepted: literal characters, `.`, `^` and `$` (the ends of the text), `[…]` classes with ranges, `(…)`, `(?:…)`, `|`,
`* + ? {m} {m,} {m,n}` with a lazy `?`, `\d \w \s` and (outside of classes) their complements, `\b \B`, `\t \n \r`,
and a backslash before punctuation. `\d \w \s \b` are ASCII. Back references, look-around, flags, named groups,
possessive repetition and Unicode classes are refused: engines differ in them or lack them.
"""

from __future__ import annotations

import re

_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\f\r "}
_CONTROL = frozenset("tnr")
_MAX_REPEAT = 1000


class RegexError(ValueError):
    """A pattern that is none, or not the same on every engine; the message says why."""


def to_python(pattern: str) -> str:
    r"""`pattern` as Python's `re` spells it; raises `RegexError`.

    >>> to_python(r"^\d+$")
    '^[0-9]+\\Z'
    """
    out: list[str] = []
    at = 0
    while at < len(pattern):
        piece, at = _piece(pattern, at)
        out.append(piece)
    translated = "".join(out)
    try:
        re.compile(translated)
    except (re.error, OverflowError, RecursionError) as error:
        raise RegexError(f"`{pattern}` is no regular expression: {error}") from None
    return translated


def groups(pattern: str) -> int:
    """How many `(…)` groups `pattern` has; raises `RegexError`."""
    return re.compile(to_python(pattern)).groups


def _piece(pattern: str, at: int) -> tuple[str, int]:
    sign = pattern[at]
    match sign:
        case "\\":
            return _escape(pattern, at, inside=False)
        case "[":
            return _class(pattern, at)
        case "$":
            return r"\Z", at + 1
        case "(" if pattern[at + 1 : at + 2] == "?":
            if pattern[at + 2 : at + 3] != ":":
                raise RegexError("`(?…)` is refused but for `(?:…)`: look-around, flags and names differ by engine")
            return "(?:", at + 3
        case "*" | "+" | "?":
            return _repeated(pattern, at, at + 1)
        case "{":
            bounds = re.compile(r"\{([0-9]{1,4})(?:(,)([0-9]{1,4})?)?\}").match(pattern, at)
            if bounds is None:
                raise RegexError(r"`{` begins a repetition as in `{2}` or `{2,5}`; the sign itself is `\{`")
            if max(int(bounds[1]), int(bounds[3] or 0)) > _MAX_REPEAT:
                raise RegexError(f"a repetition counts to {_MAX_REPEAT} at most")
            return _repeated(pattern, at, bounds.end())
        case "}" | "]":
            return "\\" + sign, at + 1
        case _:
            return sign, at + 1


def _repeated(pattern: str, at: int, end: int) -> tuple[str, int]:
    """A repetition and a lazy `?` after it; a second repetition would be possessive or an error."""
    if pattern[end : end + 1] == "?":
        end += 1
    if pattern[end : end + 1] in ("*", "+", "?", "{"):
        raise RegexError(f"`{pattern[at : end + 1]}` repeats a repetition")
    return pattern[at:end], end


def _escape(pattern: str, at: int, *, inside: bool) -> tuple[str, int]:
    sign = pattern[at + 1 : at + 2]
    if sign in _CLASSES and sign:
        return (_CLASSES[sign] if inside else f"[{_CLASSES[sign]}]"), at + 2
    if sign.lower() in _CLASSES and sign and not inside:
        return f"[^{_CLASSES[sign.lower()]}]", at + 2
    if sign in ("b", "B") and not inside:
        return f"(?a:\\{sign})", at + 2
    if sign in _CONTROL and sign:
        return f"\\{sign}", at + 2
    if sign and sign.isascii() and not sign.isalnum() and sign != "_":
        return re.escape(sign), at + 2
    where = " in a class" if inside else ""
    raise RegexError(f"`\\{sign}` is refused{where}: back references and other escapes differ by engine")


def _class(pattern: str, at: int) -> tuple[str, int]:
    out = ["["]
    at += 1
    if pattern[at : at + 1] == "^":
        out.append("^")
        at += 1
    first = True
    while at < len(pattern) and (pattern[at] != "]" or first):
        sign = pattern[at]
        if sign == "\\":
            piece, at = _escape(pattern, at, inside=True)
            out.append(piece)
        elif sign in "[&~|" or (sign == "]" and first):
            if pattern[at : at + 2] == "[:":
                raise RegexError("`[:name:]` classes are refused: engines differ in them")
            out.append("\\" + sign)
            at += 1
        else:
            out.append(sign)
            at += 1
        first = False
    if at >= len(pattern):
        raise RegexError("`[` is not closed")
    return "".join([*out, "]"]), at + 1
