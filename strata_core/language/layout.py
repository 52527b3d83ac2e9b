"""Documents and how they are laid out in lines: what fits a line stays on one, what does not is broken at its `Line`s.

A document is text with places where it may be broken. Comments need no care of those who build documents: the
printer breaks the line where one has to end, and nothing but a comma comes between a token and what trails it.
"""

from __future__ import annotations

from typing import NamedTuple, assert_never

from ..frozen import dataclass
from .concrete import Comment

WIDTH = 100
INDENT = 2


@dataclass(frozen=True, slots=True)
class Space:
    """A space between two texts on one line."""


@dataclass(frozen=True, slots=True)
class Line:
    """A place to break: `flat` where its group is not broken. A `hard` one always breaks; `blank` adds a blank line."""

    flat: str = ""
    hard: bool = False
    blank: bool = False


@dataclass(frozen=True, slots=True)
class IfBroken:
    """Text that stands only where its group is broken."""

    text: str


@dataclass(frozen=True, slots=True)
class Indent:
    """A document whose lines stand further in."""

    inner: Doc


@dataclass(frozen=True, slots=True)
class Group:
    """A document that is broken at all of its lines or at none."""

    inner: Doc


@dataclass(frozen=True, slots=True)
class Fill:
    """Documents with a space between them, or a new line where the next does not fit."""

    items: tuple[Doc, ...]


@dataclass(frozen=True, slots=True)
class Leading:
    """A comment before a token; with `apart`, a blank line follows."""

    comment: Comment
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Trailing:
    """A comment behind a token, which ends the line."""

    comment: Comment


Doc = str | Space | Line | IfBroken | Indent | Group | Fill | Leading | Trailing | tuple["Doc", ...]

SPACE = Space()


class _Step(NamedTuple):
    """A document that is still to be printed, how far in, and whether its group is broken."""

    indent: int
    broken: bool
    doc: Doc


class _Paper:
    """What is written so far. What has to end a line is settled when the next text comes."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._line: list[str] = []
        self.column = 0
        self._space = False
        self._trailing: list[str] = []
        # After a comment on a line of its own: how far in the text goes on, and whether after a blank line.
        self._resume: tuple[int, bool] | None = None

    def text(self, text: str, indent: int) -> None:
        """Write a token."""
        if self._resume is not None:
            indent, apart = self._resume
            self.newline(apart)
        elif self._trailing and text != ",":
            indent += INDENT
            self.newline()
        self._write(text, indent)

    def space(self) -> None:
        """A space before the next text of this line."""
        self._space = True

    def trailing(self, comment: Comment) -> None:
        """A comment behind the token that was written last."""
        self._trailing.append(comment.text)

    def leading(self, comment: Comment, apart: bool, indent: int) -> None:
        """A comment before the token that comes next."""
        if comment.inline:
            self.text(comment.text, indent)
            self._space = True
            return
        if self._resume is not None:
            indent, _ = self._resume
        elif self._line:
            indent += INDENT
        self.newline(comment.blank)
        self._write(comment.text, indent)
        self._resume = (indent, apart)

    def newline(self, blank: bool = False) -> None:
        """End the line if something stands on it, and leave one blank below if asked to."""
        if self._line:
            comments = "  " + " ".join(self._trailing) if self._trailing else ""
            self.lines.append("".join(self._line) + comments)
            self._line.clear()
            self._trailing.clear()
        if blank and self.lines and self.lines[-1]:
            self.lines.append("")
        self.column, self._space, self._resume = 0, False, None

    def _write(self, text: str, indent: int) -> None:
        if not self._line:
            self._line.append(" " * indent)
            self.column = indent
        elif self._space:
            self._line.append(" ")
            self.column += 1
        self._line.append(text)
        self.column = _after(self.column, text)
        self._space = False


def laid_out(doc: Doc) -> str:
    """`doc` in lines of at most `WIDTH` characters, where its texts allow that."""
    paper = _Paper()
    steps = [_Step(0, True, doc)]
    while steps:
        step = steps.pop()
        indent, broken, doc = step
        match doc:
            case str():
                paper.text(doc, indent)
            case tuple():
                steps += [_Step(indent, broken, inner) for inner in reversed(doc)]
            case Space():
                paper.space()
            case Line(flat, hard, blank):
                if broken or hard:
                    paper.newline(blank)
                elif flat:
                    paper.space()
            case IfBroken(text):
                if broken:
                    paper.text(text, indent)
            case Indent(inner):
                steps.append(_Step(indent + INDENT, broken, inner))
            case Group(inner):
                fits = _fits(_Step(indent, False, inner), steps, WIDTH - max(paper.column, indent))
                steps.append(_Step(indent, not fits, inner))
            case Fill(items):
                _fill(items, indent, paper, steps)
            case Leading(comment, apart):
                paper.leading(comment, apart, indent)
            case Trailing(comment):
                paper.trailing(comment)
            case _:
                assert_never(doc)
    paper.newline()
    return "".join(f"{line}\n" for line in paper.lines)


def _fill(items: tuple[Doc, ...], indent: int, paper: _Paper, steps: list[_Step]) -> None:
    """Print the first of `items` where it fits, and leave the others as steps."""
    if not items:
        return
    first, *others = items
    steps.append(_Step(indent, True, Fill(tuple(others))))
    if _fits(_Step(indent, False, first), steps, WIDTH - paper.column - 1):
        paper.space()
    else:
        paper.newline()
    steps.append(_Step(indent, False, Group(first)))


def _fits(first: _Step, rest: list[_Step], width: int) -> bool:
    """Whether `first` goes on the line unbroken, with what of `rest` cannot be parted from it."""
    pending, position, behind, ended = [first], len(rest), False, False
    while width >= 0:
        if not pending:
            if position == 0:
                return True
            position, behind = position - 1, True
            pending.append(rest[position])
        indent, broken, doc = pending.pop()
        match doc:
            case str():
                if ended and doc != ",":
                    return behind
                start, *more = doc.split("\n", 1)
                width -= len(start)
                if more and width >= 0:
                    width = WIDTH - _after(0, doc)
            case tuple():
                pending += [_Step(indent, broken, inner) for inner in reversed(doc)]
            case Space():
                width -= 1
            case Line(flat, hard):
                if broken or hard or ended:
                    return behind
                width -= len(flat)
            case IfBroken(text):
                width -= len(text) if broken else 0
            case Indent(inner) | Group(inner):
                pending.append(_Step(indent, broken, inner))
            case Fill(items):
                pending += [_Step(indent, broken, part) for item in reversed(items) for part in (item, Line(" "))]
            case Leading(comment):
                if not comment.inline or "\n" in comment.text:
                    return behind
                width -= len(comment.text) + 1
            case Trailing():
                ended = True
            case _:
                assert_never(doc)
    return False


def _after(column: int, text: str) -> int:
    """The column after `text` that begins at `column`."""
    start = text.rfind("\n")
    return column + len(text) if start < 0 else len(text) - start - 1
