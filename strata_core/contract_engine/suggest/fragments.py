"""New fragments: what a tool knows of an asset's columns, beside the asset, where the contract leaves them open."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..collation.candidate import Candidate, SuggestedEdit, Tier
from ..discover import InputKind
from ..documents import Document
from ..parse.parsed import GeneratedAsset
from ..parse.sql_comments import query_facts
from ..pipeline import Checked
from ..yaml_text import MOST_BYTES
from .known import Known, assets_of


def fragments(checked: Checked, document: Document, candidate: Candidate, known: Known) -> Iterator[SuggestedEdit]:
    """A file `*.contract.yaml` for each asset without columns and without a fragment, whose place will be scanned."""
    setting = checked.setting
    folders = (*setting.config.contract_engine.scan, *setting.config.models)
    for _, asset in assets_of(document):
        table = known.table_of(asset) or _query_of(asset, checked)
        if table is None or not table.columns or asset.get("columns") or _has_fragment(candidate, asset["id"]):
            continue
        file = table.span.file
        path = posixpath.join(posixpath.dirname(file), f"{asset['id']}.contract.yaml")
        scanned = any(folder == "." or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
        if not scanned or not setting.tree.exists(file) or setting.tree.exists(path):
            continue
        fragment = {"product": candidate.id, "asset": asset["id"], "columns": list(_columns(table))}
        reason = f"`{asset['id']}` is made in `{file}`, and neither its contract nor a fragment names its columns"
        yield SuggestedEdit(path, (), fragment, None, reason, table.span)


def _query_of(asset: Mapping[str, Any], checked: Checked) -> GeneratedAsset | None:
    """What the query in the SQL file of an asset says; files without a contract are not read for that otherwise."""
    if asset.get("kind") != "sql":
        return None
    named = asset.get("ref") or asset["id"]
    for one in checked.inventory.of_kind(InputKind.SQL):
        stem = posixpath.basename(one.path).removesuffix(".sql")
        if named in (one.path, stem) and one.size <= MOST_BYTES:
            text = checked.setting.tree.read(one.path).decode("utf-8", "replace")
            return next(query_facts(text, one.path, stem), None)
    return None


def _has_fragment(candidate: Candidate, asset: str) -> bool:
    path = ("assets", [a.id for a in candidate.contract.assets].index(asset))
    return any(p[:2] == path and found.tier is Tier.FRAGMENT for p, found in candidate.provenance.items())


def _columns(table: GeneratedAsset) -> Iterable[dict[str, Any]]:
    for column in table.columns:
        facts = {"name": column.name, "type": column.type, "description": column.description}
        yield {name: value for name, value in facts.items() if value is not None}
