"""What a verb of `contract-engine` answers: of which project, and how its findings are told.

A plain validation does without click, and so does this module; what reads a command line is in `shared.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ...contract_engine.pipeline import Setting, open_setting
from ...diagnostics import Diagnostic
from .. import report
from ..report import CONTRACT_ENGINE, Lines, answered, lines_below


def answered_for(
    answer: Callable[[Setting], int], project: Path | None, format_: str, tool: str = CONTRACT_ENGINE
) -> int:
    """What `answer` gives of the project that `--project` means; a `StrataError` is told as by `answered`."""
    shown: list[Lines] = [lines_below(project or Path.cwd())]

    def of_setting() -> int:
        setting = open_setting(project)
        shown[0] = lines_below(setting.root)
        return answer(setting)

    return answered(of_setting, lambda file: shown[0](file), format_, tool)


def tell(
    diagnostics: Sequence[Diagnostic], root: Path, format_: str, *, files: Sequence[str] = (), err: bool = False
) -> None:
    """The findings on the project in `root`: to people on stdout, for they are what was asked for, unless `err`."""
    report.tell(diagnostics, lines_below(root), format_, files=files, tool=CONTRACT_ENGINE, err=err)
