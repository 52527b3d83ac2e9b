"""How findings reach people and programs, and with which exit code: for the verbs of `strata` and `contract-engine`.

A plain check does without click, and so does this module; what reads a command line is in `options.py` and
`contracts/shared.py`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic, StrataError
from ..diagnostics.render import render_json, render_text
from ..planning.config import find_project
from .exits import UNREAD, exit_code
from .formats import FORMATS

if TYPE_CHECKING:
    from ..planning.project import Project

Lines = Callable[[str], str | None]
STRATA, CONTRACT_ENGINE = "strata", "contract-engine"


def answered_for(
    answer: Callable[[Project], int], path: Path | None, project: Path | None, format_: str | None = None
) -> int:
    """What `answer` gives of the project that `path` and `--project` mean; a `StrataError` is told as by `answered`."""
    from ..planning.project import open_project  # which a check of contracts does not need

    start = project or path or Path.cwd()
    shown: list[Lines] = [lines_below(find_project(start if start.is_dir() else start.parent) or start)]

    def of_project() -> int:
        found = open_project(path, project=project)
        shown[0] = found.line_source
        return answer(found)

    return answered(of_project, lambda file: shown[0](file), format_)


def answered(answer: Callable[[], int], lines: Lines, format_: str | None = None, tool: str = STRATA) -> int:
    """What `answer` of the command `tool` gives; a `StrataError` is told in `format_`, and its codes decide the exit
    code."""
    try:
        return piped(answer)
    except StrataError as error:
        tell(error.diagnostics, lines, format_, tool=tool)
        return exit_code(error.diagnostics)


def piped(answer: Callable[[], int]) -> int:
    """What `answer` gives, all that it says being written; `UNREAD` where the reader leaves before it is known."""
    code = UNREAD
    try:
        code = answer()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output has gone (`strata show … | head`): nothing is left to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def lines_below(root: Path) -> Lines:
    """The text of a file of the project in `root`, for showing lines of it."""

    def lines(path: str) -> str | None:
        try:
            return (root / path).read_text(encoding="utf-8", errors="replace") if (root / path).is_file() else None
        except OSError:
            return None

    return lines


def colored(err: bool = False) -> bool:
    """Whether to colour: on a terminal, unless NO_COLOR is set; always where FORCE_COLOR is."""
    if os.environ.get("NO_COLOR"):
        return False
    stream = sys.stderr if err else sys.stdout
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def tell(
    diagnostics: Sequence[Diagnostic],
    lines: Lines,
    format_: str | None = None,
    *,
    files: Sequence[str] = (),
    tool: str = STRATA,
    err: bool = True,
) -> None:
    """The findings: on stdout to a program that asked for them in its format, else to people, on stderr where they are
    why a verb could not do its work (`err`). `files` are those that were looked at."""
    if format_ in FORMATS[1:]:
        print(exchanged(diagnostics, format_, files, tool))
    else:
        print(rendered(diagnostics, lines, err=err), end="", file=sys.stderr if err else sys.stdout)


def exchanged(diagnostics: Sequence[Diagnostic], format_: str, files: Sequence[str], tool: str) -> str:
    """The findings for another program."""
    if format_ == "json":
        return render_json(diagnostics)
    from ..diagnostics.exchange import render_github, render_junit, render_sarif

    match format_:
        case "sarif":
            from importlib.metadata import version

            return render_sarif(diagnostics, tool, version("strata-tables"))
        case "junit":
            return render_junit(diagnostics, files, tool)
        case _:
            return render_github(diagnostics)


def rendered(diagnostics: Sequence[Diagnostic], lines: Lines, *, err: bool = False) -> str:
    """`diagnostics` with their source lines, as wide and as coloured as the terminal."""
    width = min(120, max(60, terminal_columns()))
    return render_text(diagnostics, lines, colored(err), width)


def terminal_columns() -> int:
    """The columns of the terminal, 100 where there is none."""
    for stream in (sys.stdout, sys.stderr):
        try:
            return os.get_terminal_size(stream.fileno()).columns or 100
        except (OSError, ValueError):
            continue
    return 100


def sized(size: float) -> str:
    """A number of bytes as people read it.

    >>> sized(999), sized(12_345), sized(3_600_000_000)
    ('999 B', '12.3 kB', '3.6 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
