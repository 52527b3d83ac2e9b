"""`StrataResource`: plan and apply for a Dagster run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dagster import AssetExecutionContext, Config, ConfigurableResource
from pydantic import Field

from .project import StrataProject

if TYPE_CHECKING:  # loaded when a run begins: a code location does without engines and their libraries
    from .application import StrataApplication

Recompute = Literal["stale", "all"]


class StrataRunConfig(Config):
    """Run configuration for an op of `@strata_assets`, where a run may force what it would reuse."""

    recompute: Recompute = Field(default="stale", description="`all` computes every selected model, fresh or not.")


class StrataResource(ConfigurableResource[Any]):
    """Applies the models of the project in `project_dir` to `environment`.

    Whether models publish together or each on its own is the environment's `publish` in `strata.toml`.
    """

    project_dir: str = Field(description="The folder of `strata.toml`.")
    environment: str = Field(default="prod", description="The environment that models are published in.")

    def __init__(self, project_dir: str | Path | StrataProject, environment: str = "prod") -> None:
        folder = project_dir.root if isinstance(project_dir, StrataProject) else project_dir
        # A text may be an `EnvVar`, which is not to be looked at before a run.
        values = {"project_dir": folder if isinstance(folder, str) else str(folder), "environment": environment}
        super().__init__(**values)

    @property
    def root(self) -> Path:
        """The project's folder."""
        return Path(self.project_dir).resolve()

    def settled(self) -> StrataResource:
        """With the values of environment variables: for what runs outside of a run, such as a sensor."""
        made: StrataResource = self.process_config_and_initialize()
        return made

    def apply(self, context: AssetExecutionContext, *, recompute: Recompute = "stale") -> StrataApplication:
        """An apply of the models that `context` selects; `stream()` carries it out and tells what happened."""
        from .application import StrataApplication

        return StrataApplication(context, self.root, self.environment, recompute == "all")
