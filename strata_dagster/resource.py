"""`StrataResource`: plan and apply for a Dagster run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dagster import AssetExecutionContext, Config, ConfigurableResource
from pydantic import Field, field_validator

from .project import StrataProject

if TYPE_CHECKING:  # loaded when a run begins: a code location does without engines and their libraries
    from .application import StrataApplication

Recompute = Literal["stale", "all"]


class StrataRunConfig(Config):  # type: ignore[misc]
    """Run configuration for an op of `@strata_assets`, where a run may force what it would reuse."""

    recompute: Recompute = Field("stale", description="`all` computes every selected model, fresh or not.")


class StrataResource(ConfigurableResource[Any]):
    """Applies the models of the project in `project_dir` to `environment`.

    Whether models publish together or each on its own is the environment's `publish` in `strata.toml`.
    """

    project_dir: str = Field(description="The folder of `strata.toml`, or a `StrataProject`.")
    environment: str = Field("prod", description="The environment that models are published in.")

    @field_validator("project_dir", mode="before")
    @classmethod
    def _folder(cls, value: object) -> object:
        match value:
            case StrataProject():
                return str(value.root)
            case Path():
                return str(value)
            case _:
                return value

    @property
    def root(self) -> Path:
        """The project's folder."""
        return Path(self.project_dir).resolve()

    def apply(self, context: AssetExecutionContext, *, recompute: Recompute = "stale") -> StrataApplication:
        """An apply of the models that `context` selects; `stream()` carries it out and tells what happened."""
        from .application import StrataApplication

        return StrataApplication(context, self.root, self.environment, recompute == "all")
