"""The text of modules, and where it is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..frozen import dataclass


@dataclass(frozen=True, slots=True)
class SourceText:
    """One module's text as bytes, under the path shown to people."""

    path: str
    content: bytes


class Files(Protocol):
    """Where the text of a project is read: a folder, or the tree of a Git revision. Paths are as in `Project`."""

    def modules(self, entry: str) -> Sequence[SourceText] | None:
        """The module at `entry`, or those below it in order of their paths; `None` where it is no file or folder."""
        ...
