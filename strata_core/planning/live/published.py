"""The published rows of a model, as people are shown them: without the values that a contract hides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...analysis.compiled import CompiledProject
from ...contract.report import MASKED
from ...diagnostics import Diagnostic, StrataError
from ...frozen import dataclass
from ...store.artifacts import Artifact
from ...store.document import JSON
from ...store.manifest import Part
from ..environments import not_published, published_environment
from ..hidden import hidden_columns
from ..plan import unknown_model
from ..project import Project
from ..provenance import hidden_of

if TYPE_CHECKING:
    import pyarrow as pa

    from ...store.published import Published


@dataclass(frozen=True, slots=True)
class PublishedRows:
    """A stream of rows with columns in the order people are shown; `total` counts all rows.

    Every value but null of a `hidden` column is replaced by a mark in the stream itself (Seed 0 §3: a
    classification is a masking rule at the storage boundary).
    """

    columns: tuple[str, ...]
    hidden: tuple[str, ...]
    total: int
    reader: pa.RecordBatchReader


def live_then(project: Project, compiled: CompiledProject, model: str, environment: str, as_of: str) -> Published:
    """The version of `environment` that was live as of an instant, and the artifact that it had of `model`. Raises
    `StrataError` E027 and E095 as `published_rows`, and E096 as `Store.published`."""
    try:
        published_environment(project, environment)
        return project.store.opened(create=False).published(model, environment, as_of=as_of)
    except StrataError as error:
        known = model in compiled.models or model in compiled.broken
        if known or any(d.code != "E095" for d in error.diagnostics):
            raise
        raise StrataError(unknown_model(model, compiled)) from None


def published_rows(
    project: Project,
    compiled: CompiledProject,
    model: str,
    environment: str,
    version: int | None = None,
    partition: Mapping[str, str] = MappingProxyType({}),
) -> PublishedRows:
    """The rows of `model` in a version of `environment` (the live one by default), of all partitions or of those in
    which columns have the values of `partition`, as text.

    A model that has left the project is still shown as long as it is published. Raises `StrataError` E027 for an
    unknown model, E095 where it is not published, E021 for a column that no partition is told by, E094 where its
    artifact is damaged.
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
        raise StrataError(not_published(model, environment, version))
    store = project.store.opened(create=False)
    artifact = store.artifact(model, pointer)
    stored = tuple(f.name for f in artifact.manifest.schema)
    declared = compiled.models.get(model)
    names = declared.relation.schema.names if declared else stored
    columns = (*(n for n in names if n in stored), *(n for n in stored if n not in names))
    kept = hidden_of(artifact.manifest) | (hidden_columns(compiled)[model] if declared else frozenset())
    hidden = tuple(n for n in columns if n in kept)
    if not partition:
        rows, total = store.reader(artifact, columns), artifact.manifest.rows
    else:
        parts = _partitions(artifact, partition)
        from ...store.reader import read_parts

        total = sum(part.rows for part in parts)
        rows = read_parts(artifact.paths_of(parts or artifact.manifest.parts[:1]), columns)
    return PublishedRows(columns, hidden, total, _masked(rows if total else _nothing(rows), hidden))


def _nothing(rows: pa.RecordBatchReader) -> pa.RecordBatchReader:
    import pyarrow as pa

    with rows:
        return pa.RecordBatchReader.from_batches(rows.schema, [])


def _partitions(artifact: Artifact, wanted: Mapping[str, str]) -> tuple[Part, ...]:
    """The parts of the partitions whose columns have these values, `none` for null."""
    known = artifact.partitions
    columns = tuple(known[0]) if known else ()
    for name in wanted:
        if name not in columns:
            message = f"`{artifact.manifest.table}` is not laid out by `{name}`"
            fix = f"it is laid out by {', '.join(columns)}" if columns else "add `partition_by: […]` to the model"
            raise StrataError(Diagnostic("E021", message, fix=fix))
    chosen = [values for values in known if all(_text(values[n]) == text for n, text in wanted.items())]
    return tuple(part for values in chosen for part in artifact.parts_of(values))


def _text(value: JSON) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _masked(reader: pa.RecordBatchReader, hidden: tuple[str, ...]) -> pa.RecordBatchReader:
    if not hidden:
        return reader
    import pyarrow as pa
    import pyarrow.compute as pc

    fields = [pa.field(f.name, pa.string(), f.nullable) if f.name in hidden else f for f in reader.schema]
    schema = pa.schema(fields)
    mark = pa.scalar(MASKED)

    def batches() -> Iterator[pa.RecordBatch]:
        with reader:
            for batch in reader:
                shown = (
                    pc.if_else(column.is_null(), pa.scalar(None, pa.string()), mark) if name in hidden else column
                    for name, column in zip(schema.names, batch.columns, strict=True)
                )
                yield pa.RecordBatch.from_arrays(list(shown), schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())
