"""`StrataResource`: plan and apply for a Dagster run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dagster import (
    AssetExecutionContext,
    Config,
    ConfigurableResource,
    DagsterInvalidDefinitionError,
    DagsterInvariantViolationError,
    EnvVar,
)
from pydantic import Field

from strata_core.folder_names import NAME_RULE, names_a_folder
from strata_core.planning.config import MAIN

from .project import StrataProject

if TYPE_CHECKING:  # loaded when a run begins: a code location does without engines and their libraries
    from .application import StrataApplication

Recompute = Literal["stale", "full_refresh", "all"]


class StrataRunConfig(Config):
    """Run configuration for an op of `@strata_assets`, where a run may force what it would reuse."""

    recompute: Recompute = Field(
        default="stale",
        description="`full_refresh` computes the selected incremental models in full, from all rows; `all` computes "
        "every selected model, fresh or not.",
    )


class StrataResource(ConfigurableResource[Any]):
    """Applies the models of the project in `project_dir` to `environment`.

    Whether models publish together or each on its own is the environment's `publish` in `strata.toml`.
    """

    project_dir: str = Field(description="The folder of `strata.toml`.")
    environment: str = Field(default=MAIN, description="The environment that models are published in.")

    def __init__(self, project_dir: str | Path | StrataProject, environment: str = MAIN) -> None:
        folder = project_dir.root if isinstance(project_dir, StrataProject) else project_dir
        # A text may be an `EnvVar`, which is not to be looked at before a run.
        values = {"project_dir": folder if isinstance(folder, str) else str(folder), "environment": environment}
        super().__init__(**values)

    @property
    def root(self) -> Path:
        """The project's folder."""
        return Path(self.project_dir).resolve()

    def settled(self) -> StrataResource:
        """With the values of environment variables: for what runs outside of a run, such as a sensor.

        Raises `DagsterInvariantViolationError` where one of them is not set.
        """
        return StrataResource(_value(self.project_dir), _value(self.environment))

    def apply(self, context: AssetExecutionContext, *, recompute: Recompute = "stale") -> StrataApplication:
        """An apply of the models that `context` selects; `stream()` carries it out and tells what happened."""
        from .application import StrataApplication

        return StrataApplication(context, self.root, self.environment, recompute)


def require_environment(name: str) -> None:
    """Raise `DagsterInvalidDefinitionError` where `name` is none that an environment can have; what a variable gives
    is only known in a run."""
    if not isinstance(name, EnvVar) and not (isinstance(name, str) and names_a_folder(name)):
        raise DagsterInvalidDefinitionError(f"`{name}` cannot name an environment: use {NAME_RULE}")


def _value(given: str) -> str:
    """What was given, or the variable of the environment that it names. Dagster's own way to say so makes an instance
    with databases of its own each time, which is most of the cost of a sensor's tick."""
    if not isinstance(given, EnvVar):
        return given
    value = given.get_value()
    if value is None:
        told = (
            f"the environment variable `{given.env_var_name}` is not set here, and the resource of Strata takes a value"
        )
        raise DagsterInvariantViolationError(f"{told} from it: set it where the code location runs")
    return value
