"""From modules to compiled models: names, types and clauses resolved into relations, before anything runs.

`compile_project` is the way in; `compiled.py` holds what comes out.
"""

from .compiled import CompiledModel, CompiledProject, JoinExpectation, Pipeline, Resource, Source
from .project import compile_project

__all__ = [
    "CompiledModel",
    "CompiledProject",
    "JoinExpectation",
    "Pipeline",
    "Resource",
    "Source",
    "compile_project",
]
