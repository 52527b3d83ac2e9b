"""The line that says what is going on: on a terminal, once something takes over a second. Elsewhere nothing."""

from __future__ import annotations

import os
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType

from ..diagnostics.render import printable, terminal_width
from .report import terminal_columns

PATIENCE = 1.0
"""Seconds before the line appears."""
PAUSE = 0.2
_ERASE = "\r\x1b[2K"


class Progress:
    """Shows `text`, and the seconds since it was set, below what is said meanwhile. Used as a context."""

    def __init__(self, text: str, *, quiet: bool = False) -> None:
        self._live = not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._quiet = quiet
        self._shown = False
        self._lock: AbstractContextManager[object] = nullcontext()
        if self._live:
            import threading  # where nobody looks on there is nothing to do beside the work

            self._done = threading.Event()
            self._lock = threading.Lock()
            self._thread = threading.Thread(target=self._run, daemon=True)
        self.set(text)

    def set(self, text: str) -> None:
        """What is going on from now on."""
        self._text, self._detail, self._since = printable(text), "", time.monotonic()

    def update(self, detail: str) -> None:
        """How far it is."""
        self._detail = detail

    def say(self, text: str) -> None:
        """A line or more that stay, on stderr."""
        if not self._quiet:
            with self._lock:
                self._erase()
                sys.stderr.write(text if text.endswith("\n") else f"{text}\n")
                sys.stderr.flush()

    def __enter__(self) -> Progress:
        if self._live:
            self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._live:
            self._done.set()
            self._thread.join()
            with self._lock:
                self._erase()

    def _run(self) -> None:
        pause = PATIENCE
        while not self._done.wait(pause):
            pause = PAUSE
            seconds = f"{time.monotonic() - self._since:.0f} s"
            text = "  ".join(filter(None, (self._text, self._detail, seconds)))
            room = terminal_columns() - 1
            while terminal_width(text) > room:
                text = text[:-1]
            with self._lock:
                sys.stderr.write(f"{_ERASE}{text}")
                sys.stderr.flush()
                self._shown = True

    def _erase(self) -> None:
        if self._shown:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()
            self._shown = False
