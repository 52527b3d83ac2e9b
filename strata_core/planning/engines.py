"""The engine that a project's `strata.toml` names, with its limits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .config import ProjectConfig
from .project import Project

if TYPE_CHECKING:  # engines are heavy, and who only plans needs none
    from ..engines.protocol import Engine, EngineSettings


def make_engine(project: Project) -> Engine:
    """The engine that the project's `strata.toml` names, with its limits."""
    return named_engine(project, project.config.engine.name)


def named_engine(project: Project, name: str) -> Engine:
    """The engine of that name, with the limits of `strata.toml`."""
    if name == "reference":
        from ..engines.reference.engine import ReferenceEngine

        return ReferenceEngine()
    from ..engines.duckdb.engine import DuckDBEngine

    return DuckDBEngine(engine_settings(project.root, project.config))


def engine_settings(root: Path, config: ProjectConfig) -> EngineSettings:
    """The limits of `strata.toml` for the project in `root`."""
    from ..engines.protocol import EngineSettings

    engine = config.engine
    return EngineSettings(engine.memory_limit, engine.threads, root / engine.spill if engine.spill else None)
