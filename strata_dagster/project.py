"""Where a Strata project is, and what a code location needs to know of it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from dagster import BetaWarning, DagsterInvalidDefinitionError

from strata_core.diagnostics import StrataError
from strata_core.planning.kept.compiled_manifest import manifest_path, read_manifest, write_manifest
from strata_core.planning.kept.outline import Outline, outline
from strata_core.planning.project import Project, open_project

from .findings import findings

OnError = Literal["fail", "check"]
ON_ERRORS = ("fail", "check")


@dataclass(frozen=True)
class StrataProject:
    """The project in `project_dir`, the folder of `strata.toml`.

    Its files are read when something is asked of it. Where there is a compiled manifest (`.strata/manifest.json`, which
    `strata compile --manifest` writes), models are taken from it and nothing is compiled; else those that are unchanged
    since any earlier load are not compiled again.

    `manifest` is a compiled manifest that lies elsewhere.

    Of a project with errors, `on_error` decides: "fail" does not load it, and the error holds the compiler's findings;
    "check" loads it, and a run fails the `write_pin` of the broken models and applies the others.
    """

    project_dir: str | os.PathLike[str]
    on_error: OnError = "fail"
    manifest: Path | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.project_dir, str | os.PathLike):
            raise DagsterInvalidDefinitionError(f"project_dir is the folder of strata.toml, not `{self.project_dir}`")
        if self.on_error not in ON_ERRORS:
            raise DagsterInvalidDefinitionError(f"on_error is `fail` or `check`, not `{self.on_error}`")

    def prepare_if_dev(self) -> None:
        """Write the compiled manifest anew in `dagster dev`, where it is not current; elsewhere require one.

        Raises `DagsterInvalidDefinitionError` E099 where a deployment has none, or one that is not of its texts.
        """
        try:
            read_manifest(self.opened, self.manifest)
        except StrataError as error:
            if not using_dagster_dev():
                raise DagsterInvalidDefinitionError(findings(error.diagnostics, None)) from None
            self.compile(self.manifest)

    def compile(self, path: Path | None = None) -> None:
        """Write the compiled manifest, to `path` or to where it is looked for, also of a project with errors. Raises
        `DagsterInvalidDefinitionError` E092 where that cannot be."""
        try:
            write_manifest(self.opened, outline(self.opened), path)
        except StrataError as error:
            raise DagsterInvalidDefinitionError(findings(error.diagnostics, None)) from None

    @property
    def is_compiled(self) -> bool:
        """Whether there is a compiled manifest, current or not."""
        return (self.manifest or manifest_path(self.opened)).exists()

    @cached_property
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
        """Sources and models. Raises `DagsterInvalidDefinitionError` where a compiled manifest cannot be used (E099)
        and, unless errors become failing checks, where a model has errors."""
        found = self._outlined()
        if found.errors and self.on_error == "fail":
            heading = f"the Strata project {self.root} does not compile:\n\n"
            raise DagsterInvalidDefinitionError(heading + findings(found.errors, self.opened))
        return found

    def _outlined(self) -> Outline:
        if not self.is_compiled:
            return outline(self.opened)
        try:
            return read_manifest(self.opened, self.manifest)
        except StrataError as error:
            raise DagsterInvalidDefinitionError(findings(error.diagnostics, None)) from None

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


def require_project(given: object) -> None:
    """Raise `DagsterInvalidDefinitionError` where `given` is no `StrataProject`, as where its folder alone is named."""
    if not isinstance(given, StrataProject):
        kind = type(given).__name__
        raise DagsterInvalidDefinitionError(f"project= is a `StrataProject`, not a {kind}: `StrataProject(folder)`")


@contextmanager
def quietly() -> Iterator[None]:
    """Without Dagster's notes that an interface is in beta: which of them are used is our choice, not the user's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BetaWarning)
        yield


def using_dagster_dev() -> bool:
    """Whether this process serves `dagster dev`."""
    return bool(os.environ.get("DAGSTER_IS_DEV_CLI"))
