"""From modules to compiled models: names, types and clauses resolved into relations, before anything runs.

`compile_project` is the way in; `compiled.py` holds what comes out. The passes load with the first use of
`compile_project`: who reads a compilation that was kept needs none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .compiled import CompiledModel, CompiledProject, JoinExpectation, Pipeline, Resource, Source

if TYPE_CHECKING:
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


def __getattr__(name: str) -> object:
    if name == "compile_project":
        from .project import compile_project

        return compile_project
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
