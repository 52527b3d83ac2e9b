"""What `strata check` does with a project, however it was asked for."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from ..diagnostics import Diagnostic, Severity, StrataError, in_order
from ..diagnostics.wording import plural
from ..planning.kept.findings import findings
from ..planning.project import Project
from .exits import exit_code
from .progress import Progress
from .report import answered_for, exchanged, rendered


def check_at(path: Path | None) -> int:
    """Check the project of `path`, and tell people."""
    return answered_for(lambda project: check(project, path), path, None)


def check(project: Project, path: Path | None, format_: str = "text") -> int:
    """Tell the findings on `project`, of the file or folder `path` alone where there is one; gives the exit code."""
    started = time.perf_counter()
    with Progress(f"checking {plural(len(project.files), 'file')}", quiet=format_ != "text"):
        found = findings(project)
    diagnostics = found.diagnostics
    if found.dbt is not None:
        from ..planning.dbt import newer_manifest  # which a project without dbt does not need

        newer = newer_manifest(project.root, project.config.dbt, found.dbt)
        diagnostics = in_order((*diagnostics, newer)) if newer is not None else diagnostics
    diagnostics = diagnostics if path is None else within(diagnostics, path, project)
    if format_ != "text":
        print(exchanged(diagnostics, format_, [file.path for file in project.files], "strata"))
        return exit_code(diagnostics)
    print(rendered(diagnostics, project.line_source), end="")
    errors = sum(d.severity is Severity.ERROR for d in diagnostics)
    warnings = sum(d.severity is Severity.WARNING for d in diagnostics)
    counted = f"{plural(found.models, 'model')} in {plural(len(project.files), 'file')}"
    told = f"{plural(errors, 'error')}, {plural(warnings, 'warning')}"
    print(f"{counted}: {told} ({time.perf_counter() - started:.2f} s)", file=sys.stderr)
    return exit_code(diagnostics)


def within(diagnostics: tuple[Diagnostic, ...], path: Path, project: Project) -> tuple[Diagnostic, ...]:
    """The diagnostics of one file or folder, and those that have no place."""
    resolved = path.resolve()
    shown = resolved.relative_to(project.root).as_posix() if resolved.is_relative_to(project.root) else str(resolved)

    def inside(file: str) -> bool:
        return shown in (".", file) or file.startswith(f"{shown}/")

    if not any(inside(file.path) for file in project.files):
        message = f"`{path}` holds no module of the project `{project.config.name}` in `{project.root}`"
        models = ", ".join(project.config.models)
        raise StrataError(Diagnostic("E073", message, fix=f"its modules lie in {models} (`[project] models`)"))
    return tuple(d for d in diagnostics if d.span is None or inside(d.span.file))
