"""Where a Strata project is, and what a code location needs to know of it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dagster import BetaWarning, DagsterInvalidDefinitionError

from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.diagnostics.render import render_text
from strata_core.planning.outline import Outline, outline
from strata_core.planning.project import Project, open_project

LOG_WIDTH = 110


@dataclass(frozen=True)
class StrataProject:
    """The project in `project_dir`, the folder of `strata.toml`.

    Its files are read when something is asked of it; models that are unchanged since any earlier load are not
    compiled again. A project with errors does not load: the error holds the compiler's findings.
    """

    project_dir: str | os.PathLike[str]

    @property
    def root(self) -> Path:
        """The project's folder."""
        return Path(self.project_dir).resolve()

    @cached_property
    def opened(self) -> Project:
        """Configuration and texts; raises `DagsterInvalidDefinitionError`."""
        try:
            return open_project(project=self.root)
        except StrataError as error:
            raise DagsterInvalidDefinitionError(findings(error.diagnostics, None)) from None

    @cached_property
    def outline(self) -> Outline:
        """Sources and models; raises `DagsterInvalidDefinitionError` where a model has errors."""
        found = outline(self.opened)
        errors = [d for d in found.diagnostics if d.blocks]
        if errors:
            heading = f"the Strata project {self.root} does not compile:\n\n"
            raise DagsterInvalidDefinitionError(heading + findings(errors, self.opened))
        return found

    @cached_property
    def readers(self) -> Mapping[str, Sequence[str]]:
        """The models that read each model or source."""
        found: dict[str, list[str]] = {}
        for model in self.outline.models.values():
            for upstream in model.upstream:
                found.setdefault(upstream, []).append(model.name)
        return found

    @property
    def name(self) -> str:
        """The project's name in `strata.toml`."""
        return self.opened.config.name

    @property
    def engine(self) -> str:
        """The engine that `strata.toml` names."""
        return self.opened.config.engine.name


@contextmanager
def quietly() -> Iterator[None]:
    """Without Dagster's notes that an interface is in beta: which of them are used is our choice, not the user's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BetaWarning)
        yield


def findings(diagnostics: Iterable[Diagnostic], project: Project | None) -> str:
    """Diagnostics as plain text for logs and errors, with their source lines where the project is known."""
    return render_text(diagnostics, project.line_source if project else _unknown, color=False, width=LOG_WIDTH)


def _unknown(_path: str) -> None:
    return None
