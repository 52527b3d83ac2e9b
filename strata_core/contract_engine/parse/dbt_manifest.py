"""dbt's `manifest.json`, of the versions that `planning.dbt` knows, in one pass: models, seeds, snapshots, sources and
tests, projected to what contracts ask for. Its size does not matter: see `strata_core.json_stream`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...diagnostics import Diagnostic, Report, Severity, Span
from ...json_stream import JsonError, members
from ...lineage.dbt import KINDS
from ...planning.dbt import schema_fault
from ..discover import Input
from ..tree import Tree
from .parsed import GeneratedAsset, GeneratedColumn, ParsedFile, Relationship, ToolTest
from .sql_types import strata_type


def parse_manifest(one: Input, tree: Tree, report: Report) -> ParsedFile:
    """The assets and tests of a manifest; E108 where it is truncated, of another version, or none."""
    nothing = ParsedFile(one.path, one.kind, one.digest)
    path = tree.local(one.path)
    if path is None:
        return nothing
    assets: list[GeneratedAsset] = []
    tests: list[ToolTest] = []
    versioned = False
    try:
        for section, key, value in members(path):
            if section == "metadata" and key == "dbt_schema_version":
                versioned, fault = True, schema_fault(value)
                if fault is not None:
                    severity = Severity.WARNING if fault.readable else Severity.ERROR
                    span = Span(one.path, 1, 1, 1, 1)
                    report(Diagnostic("E108", fault.message, span, severity, fix=fault.fix))
                if fault is not None and not fault.readable:
                    return nothing
            elif section in ("nodes", "sources") and isinstance(value, dict):
                _take(one.path, value, assets, tests)
    except JsonError as error:
        span = Span(one.path, error.line, error.column, error.line, error.column + 1)
        message = f"the manifest cannot be read: {error.message}"
        report(Diagnostic("E108", message, span, fix="run `dbt parse` to write it again"))
        return nothing
    if not versioned:
        message = "this is no dbt manifest: it has no `metadata.dbt_schema_version`"
        report(Diagnostic("E108", message, Span(one.path, 1, 1, 1, 1), fix="run `dbt parse` to write it"))
        return nothing
    return ParsedFile(one.path, one.kind, one.digest, generated=tuple(assets), tests=tuple(tests))


def _take(file: str, node: Mapping[str, Any], assets: list[GeneratedAsset], tests: list[ToolTest]) -> None:
    kind, name, unique_id = node.get("resource_type"), node.get("name"), node.get("unique_id")
    if not isinstance(name, str) or not isinstance(unique_id, str):
        return
    if kind == "test":
        attached = node.get("attached_node")
        asset = attached.split(".")[-1] if isinstance(attached, str) else None
        tests.append(ToolTest(name, unique_id, asset, _relationship(file, node)))
    elif kind in KINDS:
        assets.append(_asset(file, node, name, unique_id, is_source=kind == "source"))


def _relationship(file: str, node: Mapping[str, Any]) -> Relationship | None:
    """The key that a test looks values up in; None of a test that leaves rows out or asks for something else."""
    match node:
        case {
            "test_metadata": {"name": "relationships", "kwargs": {"column_name": str(column), "field": str(key)}},
            "depends_on": {"nodes": [*nodes]},
            "attached_node": str(own),
        } if not (node.get("config") or {}).get("where"):
            others = [one for one in nodes if one != own]
            if len(others) == 1:
                return Relationship(column, str(others[0]), key, Span(_original(file, node), 1, 1, 1, 1))
    return None


def _asset(file: str, node: Mapping[str, Any], name: str, unique_id: str, *, is_source: bool) -> GeneratedAsset:
    shown = f"{node.get('source_name')}.{name}" if is_source else name
    columns = node.get("columns")
    found = [_column(c) for c in columns.values() if isinstance(c, dict)] if isinstance(columns, dict) else []
    depends = node.get("depends_on")
    upstream = depends.get("nodes") if isinstance(depends, dict) else None
    contract = (node.get("config") or {}).get("contract") if isinstance(node.get("config"), dict) else None
    enforced = isinstance(contract, dict) and contract.get("enforced") is True
    return GeneratedAsset(
        "dbt_model",
        tuple(dict.fromkeys((shown, unique_id, name))),
        tuple(c for c in found if c is not None),
        tuple(u for u in upstream or () if isinstance(u, str)),
        Span(_original(file, node), 1, 1, 1, 1),
        complete=enforced,
        description=node.get("description") or None,
    )


def _original(file: str, node: Mapping[str, Any]) -> str:
    """Where a person finds the node. The manifest itself has no places that mean anything."""
    path = node.get("original_file_path")
    folder = file.split("/target/")[0] if "/target/" in file else ""
    return f"{folder}/{path}".lstrip("/") if isinstance(path, str) and folder else file


def _column(column: Mapping[str, Any]) -> GeneratedColumn | None:
    name = column.get("name")
    if not isinstance(name, str):
        return None
    constraints = column.get("constraints")
    kinds = {c.get("type") for c in constraints if isinstance(c, dict)} if isinstance(constraints, list) else set()
    return GeneratedColumn(
        name,
        strata_type(column.get("data_type")),
        False if kinds & {"not_null", "primary_key"} else None,
        column.get("description") or None,
        True if kinds & {"unique", "primary_key"} else None,
    )
