"""A contract as a document of the standard, version 3.1 or 3.2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...diagnostics import Diagnostic, Severity
from ..authored import AuthoredContract
from . import constraints, quality
from .ages import promised
from .custom import PREFIX, custom
from .rest import laid_upon
from .types import said_of

VERSIONS = {"3.1": "v3.1.0", "3.2": "v3.2.0"}
NEWER = frozenset({"context", "synonyms", "deprecated", "semanticType", "vendor", "enum", "map"})
"""Fields that 3.2 has and 3.1 has not, besides the `id` of a relationship."""


def odcs(contract: AuthoredContract, version: str = "3.2") -> dict[str, Any]:
    """The document, in the version `3.1` or `3.2`, with what an import kept for it."""
    data = contract.plain(defaults=False)
    kept = data.get("extensions", {}).get("odcs", {})
    rest = kept.get("rest", []) if isinstance(kept, Mapping) else []
    if version == "3.1":
        rest = [entry for entry in rest if not _is_newer(entry)]
    found: dict[str, Any] = laid_upon(_document(data, version), rest)
    return found


def notes(document: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """W170 for each kind of thing that the standard has no field for, in the order of the document."""
    told: dict[str, None] = {}

    def walk(value: Any) -> None:
        if isinstance(value, Mapping):
            name = value.get("property")
            if isinstance(name, str) and name.startswith(PREFIX) and name != f"{PREFIX}test":
                told.setdefault(name)
                return
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(document)
    for name in told:
        message = f"the standard has no field for `{name.removeprefix(PREFIX)}`: it is in the custom property `{name}`"
        yield Diagnostic("W170", message, severity=Severity.INFO)


def _is_newer(entry: Mapping[str, Any]) -> bool:
    at = [step for step in entry.get("at", ()) if isinstance(step, str)]
    newer = NEWER | {"id"} if "relationships" in at else NEWER

    def inside(value: Any) -> bool:
        if isinstance(value, Mapping):
            return any(k in newer or inside(v) for k, v in value.items())
        return isinstance(value, list) and any(map(inside, value))

    return any(step in newer for step in at) or inside(entry.get("value"))


def _document(data: Mapping[str, Any], version: str) -> dict[str, Any]:
    product = data["id"].partition(".")[2]
    document: dict[str, Any] = {"apiVersion": VERSIONS[version], "kind": "DataContract", "id": data["id"]}
    document |= {"name": data["name"], "version": data["version"], "status": data["status"]}
    document |= {"domain": data["domain"], "dataProduct": product}
    customs = [custom("layer", data["layer"])]
    if description := _description(data, customs):
        document["description"] = description
    document["schema"] = _schema(data, version, customs)
    document["team"] = {"name": data["owner"]["team"]}
    if approvers := data["owner"].get("approvers"):
        document["team"]["members"] = [{"username": name, "role": "approver"} for name in approvers]
    if contact := data["owner"].get("contact"):
        document["support"] = [{"channel": contact}]
    if levels := list(_levels(data, customs)):
        document["slaProperties"] = levels
    semantics = dict(data.get("semantics", {}))
    if len(data["assets"]) == 1:
        semantics.pop("grain", None)
    customs += [custom("semantics", semantics)] if semantics else []
    for name in ("lineage", "agent_permissions", "compatibility", "declined_suggestions"):
        if name in data:
            customs.append(custom(name, data[name]))
    extensions = {k: v for k, v in data.get("extensions", {}).items() if k != "odcs"}
    customs += [custom("extensions", extensions)] if extensions else []
    document["customProperties"] = customs
    return document


def _description(data: Mapping[str, Any], customs: list[dict[str, Any]]) -> dict[str, Any]:
    description: dict[str, Any] = {}
    if "purpose" in data:
        description["purpose"] = data["purpose"]
    usage = data.get("usage", {})
    for name, field in (("intended", "usage"), ("prohibited", "limitations")):
        texts = usage.get(name, [])
        if texts:
            description[field] = "\n".join(texts)
        if any(len(text.splitlines()) != 1 for text in texts):
            customs.append(custom(name, texts))
    return description


def _levels(data: Mapping[str, Any], customs: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    fresh = data.get("freshness")
    if fresh:
        more = {"schedule": fresh["schedule"]} if "schedule" in fresh else {}
        yield promised("freshness", fresh["max_age"], **more)
    for asset in data["assets"]:
        if own := asset.get("freshness"):
            element = f"{asset['id']}.{own['column']}" if "column" in own else asset["id"]
            yield promised("freshness", own["max_age"], element=element)
    governance = dict(data.get("governance", {}))
    if retention := governance.pop("retention", None):
        yield promised("retention", retention["period"])
        if "basis" in retention:
            governance["retention_basis"] = retention["basis"]
    if (availability := governance.pop("availability", None)) is not None:
        yield {"property": "availability", "value": availability, "unit": "percent"}
    if governance:
        customs.append(custom("governance", governance))


def _schema(data: Mapping[str, Any], version: str, customs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    tables = {asset["id"]: _table(asset, version) for asset in data["assets"]}
    if len(tables) == 1 and "grain" in data.get("semantics", {}):
        (only,) = tables.values()
        only["dataGranularityDescription"] = data["semantics"]["grain"]
    first, known = data["assets"][0]["id"], {asset["id"]: asset for asset in data["assets"]}
    order: list[str] = []
    for test in data.get("tests", []):
        asset, column = quality.place(test, first)
        table = tables.get(asset) or tables[first]
        order.append(test["id"])
        if constraints.lay(test, table, known):
            continue
        columns = {p["name"]: p for p in table.get("properties", [])}
        where = columns.get(column, table) if column is not None else table
        where.setdefault("quality", []).append(quality.check(test))
    if order and order != list(written_tests(list(tables.values()), known)):
        customs.append(custom("test_order", order))
    return list(tables.values())


def written_tests(tables: list[dict[str, Any]], assets: constraints.Assets) -> Iterator[str]:
    """The names of the checks of a schema, in the order in which they are read."""
    for table in tables:
        yield from (str(item.get("name")) for item in table.get("quality", []))
        for column in table.get("properties", []):
            yield from (str(item.get("name")) for item in column.get("quality", []))
    for table in tables:
        yield from (test["id"] for test in constraints.tests_of(table, assets))


def _table(asset: Mapping[str, Any], version: str) -> dict[str, Any]:
    table: dict[str, Any] = {"name": asset["id"], "logicalType": "object"}
    if "ref" in asset:
        table["physicalName"] = asset["ref"]
    for name in ("description", "tags"):
        if name in asset:
            table[name] = asset[name]
    keys = iter(range(1, len(asset.get("columns", [])) + 1))
    parts = iter(range(1, len(asset.get("columns", [])) + 1))
    if columns := asset.get("columns"):
        table["properties"] = [_column(c, keys, parts, version) for c in columns]
    customs = [custom("kind", asset["kind"])]
    customs += [custom(name, asset[name]) for name in ("documentation", "location", "closed") if name in asset]
    return {**table, "customProperties": customs}


def _column(column: Mapping[str, Any], keys: Iterator[int], parts: Iterator[int], version: str) -> dict[str, Any]:
    said: dict[str, Any] = {"name": column["name"]}
    customs: list[dict[str, Any]] = []
    if "type" in column:
        said |= said_of(column["type"], version)
    if "description" in column:
        said["description"] = column["description"]
    if "nullable" in column:
        said["required"] = not column["nullable"]
    for name, field, positions in (
        ("primary_key", "primaryKey", keys),
        ("partition_by", "partitioned", parts),
    ):
        if name in column:
            said[field] = column[name]
            if column[name]:
                said[f"{'primaryKey' if name == 'primary_key' else 'partitionKey'}Position"] = next(positions)
    for name in ("unique", "classification"):
        if name in column:
            said[name] = column[name]
    if "enum" in column:
        if version == "3.1":
            customs.append(custom("enum", column["enum"]))
        else:
            said["enum"] = [{"value": value} for value in column["enum"]]
    if derived := dict(column.get("derived_from", {})):
        said["transformSourceObjects"] = derived.pop("columns")
        if "transformation" in derived:
            said["transformDescription"] = derived.pop("transformation")
        customs += [custom("derived_from", derived)] if derived else []
    customs += [custom(name, column[name]) for name in ("protected", "mask", "freshness") if name in column]
    return {**said, "customProperties": customs} if customs else said
