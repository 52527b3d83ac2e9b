"""Column lineage of dbt models, inferred from their SQL, where a contract asks for it: so that classifications are
inherited through dbt as well.

Only the models that are assets of contracts or read by Strata, and what those are made of, are looked at: of a manifest
of thousands mostly few.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...diagnostics import Span
from ...frozen import replace
from ...json_stream import JsonError, members
from ..discover import InputKind
from ..documents import value_at
from ..tree import Tree
from .parsed import GeneratedAsset, GeneratedColumn, Origin, Parsed, ParsedFile


def with_dbt_origins(parsed: Parsed, tree: Tree) -> Parsed:
    """`parsed` with the origins of the columns of dbt models that matter to a contract."""
    wanted = set(_asked_for(parsed))
    if not wanted:
        return parsed
    return replace(parsed, files=tuple(_traced(file, wanted, tree) for file in parsed.files))


def _asked_for(parsed: Parsed) -> Iterator[str]:
    """The names of dbt models that contracts have as assets, or that Strata's sources read."""
    for file in parsed.files:
        for asset in value_at(file.contract.document.data, ("assets",)) or () if file.contract else ():
            if isinstance(asset, Mapping) and asset.get("kind") == "dbt_model":
                yield str(asset.get("ref", asset.get("id")))
    yield from (u for asset in parsed.compiled if asset.kind == "table" for u in asset.upstream)


def classified(parsed: Parsed) -> bool:
    """Whether anything is classified at all: if not, there is nothing to inherit."""
    if any(c.classification for asset in parsed.compiled for c in asset.columns):
        return True
    documents = [f.contract.document for f in parsed.files if f.contract]
    documents += [f.document for file in parsed.files for f in file.fragments]
    return any(path[-1:] == ("classification",) and len(path) > 2 for d in documents for path in d.values)


def _traced(file: ParsedFile, wanted: set[str], tree: Tree) -> ParsedFile:
    path = tree.local(file.path)
    if file.kind is not InputKind.DBT_MANIFEST or path is None or not file.generated:
        return file
    ids = _upstream_of(file.generated, wanted)
    if not ids:
        return file
    # Before what the manifest itself says: of two that know a column, the first is asked for its origins.
    return replace(file, generated=(*_lineage(path, ids, file), *file.generated))


def _upstream_of(assets: tuple[GeneratedAsset, ...], wanted: set[str]) -> set[str]:
    """The unique ids of the models that are `wanted`, and of all that they are made of."""
    by_id = {asset.refs[1] if len(asset.refs) > 1 else asset.refs[0]: asset for asset in assets}
    waiting = [id_ for id_, asset in by_id.items() if wanted & set(asset.refs)]
    found: set[str] = set()
    while waiting:
        here = waiting.pop()
        if here in by_id and here not in found:
            found.add(here)
            waiting += by_id[here].upstream
    return found


def _lineage(path: Path, ids: set[str], file: ParsedFile) -> Iterator[GeneratedAsset]:
    """The columns of each table and what they are made of, as assets of a kind that no contract is held against."""
    from ...lineage.dbt import dbt_tables  # and sqlglot with it, which most projects' contracts need not

    sections: dict[str, dict[str, Any]] = {"nodes": {}, "sources": {}, "metadata": {}}
    try:
        for section, key, value in members(path):
            if section in sections and key is not None and (key in ids or section == "metadata"):
                sections[section][key] = value
    except (JsonError, OSError):
        return
    spans = {asset.refs[0]: asset.span for asset in file.generated}
    for table in dbt_tables(sections, None, {}, lambda _: None):
        columns = tuple(
            GeneratedColumn(name, origins=tuple(Origin(o.node, o.column, o.transform.value) for o in origins))
            for name, (_, origins) in table.columns.items()
            if origins
        )
        if columns:
            span = spans.get(table.id.name, Span(file.path, 1, 1, 1, 1))
            yield GeneratedAsset("lineage", (table.id.name,), columns, (), span)
