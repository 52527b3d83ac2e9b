"""The lineage graph of a project, with the dbt models around it."""

from __future__ import annotations

from dataclasses import dataclass

from ..diagnostics import Diagnostic
from ..lineage.graph import LineageGraph, lineage_graph
from ..lineage.tables import project_tables
from .project import Project, compile_


@dataclass(frozen=True, slots=True)
class ProjectLineage:
    """The graph around `project`. `broken` names models that have errors and so are not in it; `missing` says what
    else could not be read."""

    graph: LineageGraph
    project: str
    broken: tuple[str, ...]
    missing: tuple[Diagnostic, ...] = ()


def project_lineage(project: Project) -> ProjectLineage:
    """The lineage of `project`, compiled."""
    compiled = compile_(project)
    name = project.config.name
    graph = lineage_graph(project_tables(name, compiled))
    return ProjectLineage(graph, name, tuple(sorted(compiled.broken)))
