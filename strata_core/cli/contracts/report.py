"""How the findings of the contract engine reach people and programs, and exit codes.

A plain validation does without click, and so does this module; what reads a command line is in `shared.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ...contract_engine.pipeline import Setting, open_setting
from ...diagnostics import Diagnostic, StrataError
from ..exits import CLEAN, FINDINGS, USAGE
from ..report import Lines, exchanged, piped, rendered

_USAGE_CODES = ("E073", "E034")
"""Findings about the command or `strata.toml`, not about contracts."""


def answered_for(answer: Callable[[Setting], int], project: Path | None, format_: str) -> int:
    """What `answer` gives of the project that `--project` means; a `StrataError` is told, and decides the exit code."""
    root = project or Path.cwd()
    try:
        setting = open_setting(project)
        root = setting.root
        return piped(lambda: answer(setting))
    except StrataError as error:
        tell(error.diagnostics, root, format_, err=True)
        return exit_code(error.diagnostics)


def exit_code(diagnostics: Iterable[Diagnostic]) -> int:
    """0 without anything that blocks, 2 where the command or the configuration is at fault, else 1."""
    blocking = [d for d in diagnostics if d.blocks]
    if not blocking:
        return CLEAN
    return USAGE if all(d.code in _USAGE_CODES for d in blocking) else FINDINGS


def tell(
    diagnostics: Sequence[Diagnostic], root: Path, format_: str, *, files: Sequence[str] = (), err: bool = False
) -> None:
    """The findings in a format: text as the terminal has room, the others on standard output."""
    if format_ == "text":
        print(rendered(diagnostics, lines_below(root), err=err), end="", file=sys.stderr if err else sys.stdout)
        return
    print(exchanged(diagnostics, format_, files, "contract-engine"))


def lines_below(root: Path) -> Lines:
    """The text of a file of the project, for showing lines of it."""

    def lines(path: str) -> str | None:
        try:
            return (root / path).read_text(encoding="utf-8", errors="replace") if (root / path).is_file() else None
        except OSError:
            return None

    return lines
