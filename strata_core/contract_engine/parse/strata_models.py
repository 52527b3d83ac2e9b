"""Strata's own models as generated metadata: types, nullability and origins are proven there, not guessed."""

from __future__ import annotations

from collections.abc import Iterable

from ...planning.kept.outline import ColumnOutline, Outline
from .parsed import GeneratedAsset, GeneratedColumn, Origin


def compiled_assets(outline: Outline) -> tuple[GeneratedAsset, ...]:
    """The models and sources of an outline."""
    models = [
        GeneratedAsset(
            "strata_model",
            (m.name,),
            _columns(m.columns, promised=m.contract is not None),
            m.upstream,
            m.span,
            complete=True,
            compiled=True,
            promised=m.contract is not None,
            description=m.description,
        )
        for m in outline.models.values()
    ]
    sources = [
        GeneratedAsset(
            "table",
            (s.name,),
            _columns(s.columns, promised=True, read_from=s.location if s.kind == "dbt" else None),
            (s.location,) if s.kind == "dbt" else (),
            s.span,
            compiled=True,
            promised=True,
            description=s.description,
        )
        for s in outline.sources.values()
    ]
    return (*models, *sources)


def _columns(
    columns: Iterable[ColumnOutline], *, promised: bool, read_from: str | None = None
) -> tuple[GeneratedColumn, ...]:
    """The columns of a model, or of a source, whose columns are those of the dbt model that it is `read_from`."""
    return tuple(
        GeneratedColumn(
            c.name,
            c.type,
            c.nullable,
            c.description,
            (c.unique or None) if promised else None,
            (c.primary_key or None) if promised else None,
            (c.protected or None) if promised else None,
            c.enum if promised else (),
            c.classification if promised else None,
            tuple(Origin(node, column, "compiled") for node, column in c.origins)
            or ((Origin(read_from, c.name, "passthrough"),) if read_from else ()),
        )
        for c in columns
    )
