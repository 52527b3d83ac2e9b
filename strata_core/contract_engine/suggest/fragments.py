"""New fragments: what a tool knows of an asset's columns, beside the asset, where the contract leaves them open."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..candidate import Candidate, SuggestedEdit, Tier
from ..documents import Document
from ..parse.parsed import GeneratedAsset
from ..pipeline import Checked
from .authored_assets import assets_of, table_of


def fragments(
    checked: Checked, document: Document, candidate: Candidate, known: Mapping[str, GeneratedAsset]
) -> Iterator[SuggestedEdit]:
    """A file `*.contract.yaml` for each asset without columns and without a fragment, whose place will be scanned."""
    setting = checked.setting
    folders = (*setting.config.contract_engine.scan, *setting.config.models)
    for _, asset in assets_of(document):
        table = table_of(asset, known)
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


def _has_fragment(candidate: Candidate, asset: str) -> bool:
    path = ("assets", [a.id for a in candidate.contract.assets].index(asset))
    return any(p[:2] == path and found.tier is Tier.FRAGMENT for p, found in candidate.provenance.items())


def _columns(table: GeneratedAsset) -> Iterable[dict[str, Any]]:
    for column in table.columns:
        facts = {"name": column.name, "type": column.type, "description": column.description}
        yield {name: value for name, value in facts.items() if value is not None}
