"""Folders that Strata makes in a project and that nobody commits: each tells Git so itself, as caches of tools do."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

GITIGNORE = b"# made by Strata\n*\n"


@contextlib.contextmanager
def uncommitted(folder: Path, itself: bool = False) -> Iterator[None]:
    """Around the making of `folder` and its missing parents: what is new stays out of Git.

    The outermost hidden folder that is new, say `.strata`, gets a `.gitignore` of all that it holds. Where none is
    hidden, `folder` does if `itself` is never to be committed, wherever somebody put it. What was there before is left
    as they arranged it.
    """
    new = [one for one in (folder, *folder.parents) if not one.exists()]
    yield
    hidden = [one for one in new if one.name.startswith(".")]
    for place in hidden[-1:] or new[:1] * itself:
        with contextlib.suppress(OSError), open(place / ".gitignore", "xb") as file:  # what follows says what is wrong
            file.write(GITIGNORE)
