"""The published rows of a model, as its consumers read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..analysis.compiled import CompiledProject
from ..diagnostics import Diagnostic, StrataError
from ..store.store import Store
from .environments import published_environment
from .plan import unknown_model
from .project import Project

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class PublishedRows:
    """A stream of rows with columns in the order people are shown; `total` counts all rows."""

    columns: tuple[str, ...]
    total: int
    reader: pa.RecordBatchReader


def published_rows(
    project: Project, compiled: CompiledProject, model: str, environment: str, version: int | None = None
) -> PublishedRows:
    """The rows of `model` in a version of `environment` (the live one by default).

    A model that has left the project is still shown as long as it is published. Raises `StrataError` E027 for an
    unknown model, E095 where it is not published, E094 where its artifact is damaged.
    """
    known = model in compiled.models or model in compiled.broken
    try:
        log = published_environment(project, environment)
        chosen = log.head() if version is None else log.at(version)
    except StrataError:
        if not known:
            raise StrataError(unknown_model(model, compiled)) from None
        raise
    pointer = chosen.models.get(model)
    if pointer is None and not known:
        raise StrataError(unknown_model(model, compiled))
    if pointer is None:
        where = f"version {version} of {environment}" if version is not None else environment
        message = f"`{model}` is not published in {where}"
        raise StrataError(Diagnostic("E095", message, fix=f"run `strata apply {model}`"))
    store = Store.open(project.store_root, create=False)
    artifact = store.artifact(model, pointer)
    stored = tuple(f.name for f in artifact.manifest.schema)
    declared = compiled.models.get(model)
    names = declared.relation.schema.names if declared else stored
    columns = (*(n for n in names if n in stored), *(n for n in stored if n not in names))
    return PublishedRows(columns, artifact.manifest.rows, store.reader(artifact, columns))
