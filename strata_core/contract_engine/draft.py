"""A first contract of a product, drafted from what tools know of its tables: types, keys, what it is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..diagnostics import Diagnostic, StrataError
from ..diagnostics.suggest import did_you_mean
from .authored import WORD
from .parse.parsed import GeneratedAsset, GeneratedColumn, Parsed
from .yaml_dump import yaml_text

ASKED = "TODO"
"""What stands where only a person knows."""
_KINDS = ("strata_model", "dbt_model", "dlt_resource")


def draft(product: str, names: Sequence[str], parsed: Parsed, owners: Mapping[str, str], layer: str) -> str:
    """The text of a contract of `product` with the assets `names`. `owners` gives the products of other tables.

    Raises `StrataError` E073 for a name that no tool knows, or an id that cannot be.
    """
    if not re.fullmatch(rf"{WORD}\.{WORD}", product):
        raise StrataError(Diagnostic("E073", f"`{product}` cannot be a product's id", fix="write `domain.product`"))
    known = {ref: asset for asset in reversed(parsed.generated) if asset.kind in _KINDS for ref in asset.refs}
    assets = []
    for name in names:
        if name not in known:
            fix = did_you_mean(name, known, "name a Strata model, a dbt model or a dlt resource")
            raise StrataError(Diagnostic("E073", f"no tool of this project knows `{name}`", fix=fix))
        assets.append(known[name])
    upstream = sorted({owners[u] for a in assets for u in a.upstream if u in owners})
    contract: dict[str, Any] = {
        "apiVersion": "strata/v0",
        "kind": "DataProductContract",
        "id": product,
        "name": product.partition(".")[2].replace("_", " ").capitalize(),
        "version": "0.1.0",
        "status": "draft",
        "layer": layer,
        "domain": product.partition(".")[0],
        "owner": {"team": ASKED},
        "purpose": ASKED,
        "assets": [_asset(name, asset) for name, asset in zip(names, assets, strict=True)],
    }
    if upstream:
        contract["lineage"] = {"upstream": [{"product": p} for p in upstream]}
    head = f"# Drafted by `contract-engine init`: fill in what is {ASKED}, and describe the columns.\n"
    return head + yaml_text(contract)


def _asset(name: str, asset: GeneratedAsset) -> dict[str, Any]:
    drafted: dict[str, Any] = {"id": re.sub(r"[^A-Za-z0-9_-]", "_", name), "kind": asset.kind}
    if drafted["id"] != name:
        drafted["ref"] = name
    if asset.description:
        drafted["description"] = asset.description
    drafted["columns"] = list(_columns(asset.columns))
    return drafted


def _columns(columns: Iterable[GeneratedColumn]) -> Iterable[dict[str, Any]]:
    for column in columns:
        facts: dict[str, Any] = {"name": column.name}
        if column.type:
            facts["type"] = column.type
        if column.primary_key:
            facts["primary_key"] = True
        elif column.nullable is False:
            facts["nullable"] = False
        if column.unique and not column.primary_key:
            facts["unique"] = True
        if column.protected:
            facts["protected"] = True
        if column.enum:
            facts["enum"] = list(column.enum)
        if column.classification:
            facts["classification"] = column.classification
        if column.description:
            facts["description"] = column.description
        yield facts
