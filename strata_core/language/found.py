"""What a syntax error is told by, and the rows that tell what helps."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..frozen import dataclass


@dataclass(frozen=True, slots=True)
class Found:
    """The token found, the texts before and after it, what was expected, the word of the declaration, the clause
    (a row of `clauses.FORMS`), and the three texts before it, where there are as many."""

    before: str
    text: str
    after: str
    expected: set[str]
    within: str
    clause: str
    run: tuple[str, ...]

    @property
    def second(self) -> str:
        """The text before the one before."""
        return self.run[-2] if len(self.run) > 1 else ""


Row = tuple[Callable[[Found], bool], str, str | None]
"""What calls for a fix, the fix in words, and the text in place of the token where that is all."""


def first_fix(rows: Iterable[Row], found: Found) -> tuple[str, str | None] | None:
    """The fix of the first row that applies, in words and as text; `None` where none does."""
    return next(((fix, text) for applies, fix, text in rows if applies(found)), None)
