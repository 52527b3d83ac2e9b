"""A text with two ways to say where: the offsets and spans of the language, the positions of the editor protocol.

The language counts code points, and lines end with `\\n`. The protocol counts UTF-16 units (or what was agreed on),
and lines end with `\\n`, `\\r\\n` or a lone `\\r`; a position behind the end of a line is its end.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from lsprotocol.types import Position, PositionEncodingKind, Range

from ..diagnostics import Span

_LINE_END = re.compile(r"\r\n|\n|\r")
_ROW_END = re.compile(r"\n")
_BOM = "\ufeff"


class Text:
    """One state of a document. `encoding` is what positions are counted in."""

    def __init__(self, content: str, encoding: PositionEncodingKind | str = PositionEncodingKind.Utf16) -> None:
        self.content = content
        self._encoding = encoding
        self._width = _WIDTHS[PositionEncodingKind(encoding)]
        # The language does not see a byte order mark.
        self._shift = int(content.startswith(_BOM))

    @classmethod
    def of(cls, data: bytes, encoding: PositionEncodingKind | str) -> Text:
        """The text of a file; what is no UTF-8 is replaced, which keeps lines apart."""
        return cls(data.decode("utf-8", errors="replace"), encoding)

    @property
    def data(self) -> bytes:
        """The content as a file would have it; a lone surrogate is left for the parser to complain of."""
        return self.content.encode("utf-8", errors="surrogatepass")

    @cached_property
    def program(self) -> str:
        """The text as the language counts it."""
        return self.content[self._shift :]

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.content))]

    @cached_property
    def _rows(self) -> list[int]:
        return [self._shift, *(match.end() for match in _ROW_END.finditer(self.content))]

    @cached_property
    def _plain(self) -> bool:
        return self.content.isascii()

    def offset(self, position: Position) -> int:
        """Where `position` is in `content`."""
        lines = self._lines
        if position.line >= len(lines):
            return len(self.content)
        start = lines[max(position.line, 0)]
        end = lines[position.line + 1] if position.line + 1 < len(lines) else len(self.content)
        line = self.content[start:end].rstrip("\r\n")
        wanted = max(position.character, 0)
        if self._plain:
            return start + min(wanted, len(line))
        at = 0
        for number, character in enumerate(line):
            at += self._width(character)
            if at > wanted:
                return start + number
        return start + len(line)

    def position(self, offset: int) -> Position:
        """The position of an offset in `content`."""
        offset = min(max(offset, 0), len(self.content))
        line = bisect_right(self._lines, offset) - 1
        before = self.content[self._lines[line] : offset]
        return Position(line, len(before) if self._plain else sum(map(self._width, before)))

    def place(self, position: Position) -> tuple[int, int]:
        """Line and column of `position`, as in `Span`."""
        offset = max(self.offset(position), self._shift)
        row = bisect_right(self._rows, offset)
        return row, offset - self._rows[row - 1] + 1

    def program_offset(self, position: Position) -> int:
        """Where `position` is in `program`."""
        return max(self.offset(position) - self._shift, 0)

    def range_of(self, start: int, end: int) -> Range:
        """The range between two offsets in `program`."""
        return Range(self.position(start + self._shift), self.position(end + self._shift))

    def range(self, span: Span) -> Range:
        """The range of `span`; what lies outside the text (of an older state) is taken to its end."""
        return Range(self._position(span.line, span.column), self._position(span.end_line, span.end_column))

    def _position(self, line: int, column: int) -> Position:
        if line > len(self._rows):
            return self.position(len(self.content))
        end = self._rows[line] - 1 if line < len(self._rows) else len(self.content)
        return self.position(min(self._rows[line - 1] + column - 1, max(end, self._rows[line - 1])))

    def changed(self, range_: Range | None, text: str) -> Text:
        """The text after an edit of the client's; without a range all of it is new."""
        if range_ is None:
            return Text(text, self._encoding)
        start = self.offset(range_.start)
        end = max(start, self.offset(range_.end))
        after = Text(f"{self.content[:start]}{text}{self.content[end:]}", self._encoding)
        by = len(text) - (end - start)
        after.__dict__["_lines"] = _moved(self._lines, _LINE_END, after.content, start, end, by)
        if self._shift == after._shift:
            after.__dict__["_rows"] = _moved(self._rows, _ROW_END, after.content, start, end, by)
        return after


def _moved(starts: list[int], ends: re.Pattern[str], content: str, start: int, end: int, by: int) -> list[int]:
    """The beginnings of lines after an edit from `start` to `end` that made the text longer `by` some characters.

    Only the lines around the edit are looked at: one more at each side, since an edit can part or join `\r\n`.
    """
    first = max(bisect_right(starts, start) - 2, 0)
    last = bisect_right(starts, end + 1)
    stop = starts[last] + by if last < len(starts) else len(content)
    around = [match.end() for match in ends.finditer(content, starts[first], stop)]
    if last < len(starts) and around and around[-1] == stop:
        around.pop()
    return [*starts[: first + 1], *around, *(place + by for place in starts[last:])]


def _utf8(character: str) -> int:
    return len(character.encode("utf-8", errors="surrogatepass"))


def _utf16(character: str) -> int:
    return 2 if ord(character) > 0xFFFF else 1


def _utf32(character: str) -> int:
    return 1


_WIDTHS = {
    PositionEncodingKind.Utf8: _utf8,
    PositionEncodingKind.Utf16: _utf16,
    PositionEncodingKind.Utf32: _utf32,
}
