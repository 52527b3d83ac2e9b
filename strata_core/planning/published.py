"""The published rows of a model, as its consumers read them."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from ..analysis.compiled import CompiledProject
from ..diagnostics import Diagnostic, StrataError
from ..store.store import Store


@dataclass(frozen=True, slots=True)
class PublishedRows:
    """A stream of rows with columns in the order people are shown; `total` counts all rows."""

    columns: tuple[str, ...]
    total: int
    reader: pa.RecordBatchReader


def published_rows(
    store: Store, project: CompiledProject, model: str, environment: str, version: int | None = None
) -> PublishedRows | None:
    """The rows of `model` in a version of `environment` (the live one by default), `None` for an unknown model.

    A model that has left the project is still shown as long as it is published. Raises `StrataError` E095 where
    it is not published, E094 where its artifact is damaged.
    """
    log = store.environment(environment)
    chosen = log.head() if version is None else log.at(version)
    pointer = chosen.models.get(model)
    if pointer is None:
        if model not in project.models and model not in project.broken:
            return None
        where = f"version {version} of {environment}" if version is not None else environment
        message = f"`{model}` is not published in {where}"
        raise StrataError(Diagnostic("E095", message, fix=f"run `strata apply {model}`"))
    artifact = store.artifact(model, pointer)
    stored = tuple(f.name for f in artifact.manifest.schema)
    compiled = project.models.get(model)
    names = compiled.relation.schema.names if compiled else stored
    columns = (*(n for n in names if n in stored), *(n for n in stored if n not in names))
    return PublishedRows(columns, artifact.manifest.rows, store.reader(artifact, columns))
