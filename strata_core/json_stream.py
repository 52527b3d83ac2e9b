"""JSON files of many members, read member by member: a file of gigabytes takes the memory of its largest member.

The C scanner of the standard library reads each member from a window of text that grows only where a member does not
fit; what was read is let go. One pass, from the first byte to the last.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .regular_files import open_regular

_CHUNK = 1 << 18
_BLANK = " \t\n\r"


class JsonError(ValueError):
    """Text that is no JSON, or ends too early; where, from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


def members(path: Path) -> Iterator[tuple[str, str | None, Any]]:
    """Each `(section, key, value)` of a JSON file that holds an object of objects.

    A section that is no object comes as one member with the key None. Raises `JsonError` and `OSError`.
    """
    with open_regular(path) as file:
        window = _Window(file)
        window.expect("{")
        if window.take("}"):
            window.end()
            return
        while True:
            section = window.text()
            window.expect(":")
            if window.take("{"):
                if not window.take("}"):
                    while True:
                        key = window.text()
                        window.expect(":")
                        yield section, key, window.value()
                        if not window.take(","):
                            break
                    window.expect("}")
            else:
                yield section, None, window.value()
            if not window.take(","):
                break
        window.expect("}")
        window.end()


class _Window:
    """The part of the text that is being read."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("strict")
        self._scan = json.JSONDecoder().raw_decode
        self._text = ""
        self._at = 0
        self._last = False
        self._line, self._column = 1, 1

    def _more(self, least: int = _CHUNK) -> bool:
        """Read on, dropping what was read; False at the end of the file."""
        if self._last:
            return False
        self._drop()
        block = self._file.read(max(_CHUNK, least))
        self._last = not block
        try:
            self._text += self._decode.decode(block, self._last)
        except UnicodeDecodeError as error:
            raise self._error(f"byte 0x{error.object[error.start]:02x} is no UTF-8") from None
        return True

    def _drop(self) -> None:
        read = self._text[: self._at]
        lines = read.count("\n")
        self._line += lines
        self._column = len(read) - read.rfind("\n") if lines else self._column + len(read)
        self._text, self._at = self._text[self._at :], 0

    def _error(self, message: str) -> JsonError:
        self._drop()
        return JsonError(message, self._line, self._column)

    def _peek(self) -> str:
        """The next character that is not blank, empty at the end."""
        while True:
            text, at = self._text, self._at
            while at < len(text) and text[at] in _BLANK:
                at += 1
            self._at = at
            if at < len(text):
                return text[at]
            if not self._more():
                return ""

    def take(self, character: str) -> bool:
        if self._peek() != character:
            return False
        self._at += 1
        return True

    def expect(self, character: str) -> None:
        found = self._peek()
        if found != character:
            what = f"`{found}` stands" if found else "the file ends"
            raise self._error(f"{what} where `{character}` is expected")
        self._at += 1

    def text(self) -> str:
        if self._peek() != '"':
            self.expect('"')
        value = self.value()
        assert isinstance(value, str)
        return value

    def value(self) -> Any:
        """The next value. What ends at the end of the window may go on behind it, a number for instance."""
        if not self._peek():
            raise self._error("the file ends where a value is expected")
        while True:
            try:
                found, end = self._scan(self._text, self._at)
            except (json.JSONDecodeError, StopIteration) as error:
                # Twice as much each time, so that a large member is scanned but a few times.
                if self._more(len(self._text)):
                    continue
                ends = isinstance(error, StopIteration) or error.msg.startswith("Unterminated string")
                if isinstance(error, json.JSONDecodeError) and not ends and error.pos < len(self._text) - 1:
                    self._at = error.pos
                    raise self._error(f"this is no JSON: {error.msg}") from None
                self._at = len(self._text)
                raise self._error("the file ends within a value: it was not written to its end") from None
            except RecursionError:
                raise self._error("values nest too deep") from None
            if end < len(self._text) or not self._more():
                self._at = end
                return found

    def end(self) -> None:
        if self._peek():
            raise self._error("something stands behind the end of the document")
