"""The modules that a project's modules import and that its configuration does not name: they belong to it as well.

`import a.b` means `a/b.strata` beside the file that imports it, or else in a folder of models, or at the root.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .texts import Files, SourceText

# Comments, strings and quoted names are passed over, so that what is found is an import. No parser is needed.
_IMPORT = (
    rb"(?s)//[^\n]*|\#[^\n]*|/\*.*?\*/|\"[^\"\\]*(?:\\.[^\"\\]*)*\"|`[^`\n]*`"
    rb"|\bimport\s+(?P<path>[A-Za-z_][A-Za-z0-9_]*(?:\s*\.\s*[A-Za-z_][A-Za-z0-9_]*)*)"
)


def with_imported(modules: tuple[SourceText, ...], roots: Sequence[str], files: Files) -> tuple[SourceText, ...]:
    """`modules` and those that they import, directly or not, in the order in which they are found."""
    found = {module.path: module for module in modules}
    ends = {end for module in modules for end in _ends(module.path)}
    pending = list(modules)
    for module in pending:
        for path in _imports(module.content):
            if path in ends:
                continue
            read = next((m for place in _places(path, module.path, roots) for m in files.modules(place) or ()), None)
            if read is not None:
                found[read.path] = read
                ends |= set(_ends(read.path))
                pending.append(read)
    return tuple(found.values())


def _imports(content: bytes) -> Iterator[str]:
    """The modules that a text imports, `a/b` for `a.b`."""
    if b"import" in content:
        for match in re.finditer(_IMPORT, content):
            if match["path"] is not None:
                yield "/".join(part.strip() for part in match["path"].decode().split("."))


def _ends(path: str) -> Iterator[str]:
    parts = PurePosixPath(path).with_suffix("").parts
    return ("/".join(parts[-length:]) for length in range(1, len(parts) + 1))


def _places(path: str, importing: str, roots: Sequence[str]) -> Iterator[str]:
    for folder in dict.fromkeys((PurePosixPath(importing).parent.as_posix(), *roots, ".")):
        yield PurePosixPath(folder, f"{path}.strata").as_posix()
