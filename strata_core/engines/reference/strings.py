"""String functions and hashes of the reference interpreter, on values that are not null. Positions are code points
and count from 1."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import chain

from .patterns import regexp_extract, regexp_extract_all, regexp_replace
from .values import Value


def _mapped(change: Callable[[str], str]) -> Callable[..., Value]:
    """Case mapping character by character; one that would become several stays (engines agree on no more)."""

    def apply(text: str) -> Value:
        return "".join(m if len(m := change(c)) == 1 else c for c in text)

    return apply


def substring(text: str, start: int, length: int | None = None) -> str:
    """The characters at `start` to `start + length - 1` that exist; a negative start counts from the end."""
    first = start if start >= 0 else len(text) + start + 1
    end = len(text) + 1 if length is None else first + max(length, 0)
    return text[max(first, 1) - 1 : max(end, 1) - 1]


def left(text: str, count: int) -> str:
    """The first `count` characters."""
    return text[: max(count, 0)]


def right(text: str, count: int) -> str:
    """The last `count` characters."""
    return text[max(len(text) - count, 0) :] if count > 0 else ""


def lpad(text: str, length: int, fill: str) -> str:
    """`text` cut to `length`, or filled up to it on the left; as it is where `fill` is empty."""
    return _filling(text, length, fill) + left(text, length)


def rpad(text: str, length: int, fill: str) -> str:
    """`text` cut to `length`, or filled up to it on the right; as it is where `fill` is empty."""
    return left(text, length) + _filling(text, length, fill)


def _filling(text: str, length: int, fill: str) -> str:
    missing = max(length - len(text), 0)
    return (fill * (missing // len(fill) + 1))[:missing] if fill else ""


def split_part(text: str, separator: str, number: int) -> str:
    """Part `number` of `text`, from 1, or from the end where negative; empty where there is none."""
    parts = text.split(separator) if separator else [text]
    index = number - 1 if number > 0 else len(parts) + number
    return parts[index] if number != 0 and 0 <= index < len(parts) else ""


def replace(text: str, search: str, replacement: str) -> str:
    """Every `search` replaced; nothing where it is empty."""
    return text.replace(search, replacement) if search else text


def concat(*parts: Value) -> Value:
    """Texts joined, or the elements of one array: null where it has none, or one is null."""
    elements = parts[0] if isinstance(parts[0], list) else [*parts]
    if not elements or None in elements:
        return None
    lists = [one for one in elements if isinstance(one, list)]
    return [*chain.from_iterable(lists)] if lists else "".join(map(str, elements))


STRINGS: dict[str, Callable[..., Value]] = {
    "upper": _mapped(str.upper),
    "lower": _mapped(str.lower),
    "trim": lambda text: text.strip(" "),
    "ltrim": lambda text: text.lstrip(" "),
    "rtrim": lambda text: text.rstrip(" "),
    "length": len,
    "substring": substring,
    "left": left,
    "right": right,
    "replace": replace,
    "lpad": lpad,
    "rpad": rpad,
    "split_part": split_part,
    "startswith": lambda text, part: text.startswith(part),
    "endswith": lambda text, part: text.endswith(part),
    "contains": lambda text, part: part in text,
    "concat": concat,
    "regexp_replace": regexp_replace,
    "regexp_extract": regexp_extract,
    "regexp_extract_all": regexp_extract_all,
    "regexp_count": lambda text, pattern: len(regexp_extract_all(text, pattern)),
    "split": lambda text, separator: text.split(separator) if separator else [text],
    "position": lambda text, part: text.find(part) + 1,
    "reverse": lambda text: text[::-1],
    "codepoint": lambda text: ord(text[0]) if text else None,
    "sha1": lambda text: hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest(),
    "md5": lambda text: hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
    "sha256": lambda text: hashlib.sha256(text.encode()).hexdigest(),
}
