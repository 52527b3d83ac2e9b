"""Where the lines stand that spans number.

A line has the number that it was given when its piece was parsed, and keeps it while lines above it come and go: so
what is known of a piece stays true wherever the piece stands. In a text that was not edited each line is numbered as
it stands. Who shows a span, or is asked about a place of the text, goes from one to the other here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from ..diagnostics import Span
from ..frozen import replace


class Numbering:
    """The numbers of the lines of one text.

    `pieces` are its pieces in order: the number of the first line of each, and how many lines it ends.
    """

    __slots__ = ("_by_line", "_by_number")

    def __init__(self, pieces: Iterable[tuple[int, int]]) -> None:
        # A run: lines that follow each other in the text as in their numbers, by where the first stands and its number.
        runs: list[tuple[int, int]] = []
        line, due = 1, 0
        for number, lines in pieces:
            if number != due:
                runs.append((line, number))
            line, due = line + lines, number + lines
        self._by_line = runs or [(1, 1)]
        self._by_number = sorted((number, line) for line, number in self._by_line)

    @property
    def is_plain(self) -> bool:
        """Whether each line is numbered as it stands."""
        return self._by_line == [(1, 1)]

    def number(self, line: int) -> int:
        """The number of a line of the text."""
        start, number = _last(self._by_line, line)
        return number + line - start

    def placed(self, span: Span) -> Span:
        """`span` where the text has it."""
        number, start = _last(self._by_number, span.line)
        return lower(span, start - number)


def lower(span: Span, by: int) -> Span:
    """`span` so many lines further down."""
    return replace(span, line=span.line + by, end_line=span.end_line + by) if by else span


def _last(runs: list[tuple[int, int]], at: int) -> tuple[int, int]:
    """The run of lines that has the line, or the number, `at`."""
    return runs[max(bisect_right(runs, at, key=_first) - 1, 0)]


def _first(run: tuple[int, int]) -> int:
    return run[0]
