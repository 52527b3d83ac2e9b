"""What an engine will execute for a model, as text."""

from __future__ import annotations

from ..diagnostics import StrataError
from ..engines.protocol import ParquetTable, TableInput
from .applying.apply import live_artifact
from .artifact_relation import artifact_relation
from .workspace import Workspace


def explain(workspace: Workspace, model: str) -> str:
    """The statement that `apply` runs for `model`; an upstream model that is not published stands by its name."""
    compiled = workspace.compiled.models[model]
    base = workspace.store.environment(workspace.environment).head()
    tables: dict[str, TableInput] = {}
    for name in compiled.upstream:
        if name in workspace.sources:
            tables[name] = workspace.sources[name].table
        elif name in workspace.compiled.models:
            columns = workspace.compiled.models[name].relation.schema.columns
            try:
                tables[name] = ParquetTable(live_artifact(workspace.store, name, None, base).paths, columns)
            except StrataError:
                continue
    return workspace.engine().explain(artifact_relation(compiled), tables)
