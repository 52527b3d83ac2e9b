"""Where dbt put a model: the one thing that planning asks of a dbt manifest. Which manifests can be read, whoever does.

A model is a Parquet file (dbt-duckdb's `external`
materialization, which names its `location`) or a table of the DuckDB file that `strata.toml` names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..diagnostics import Diagnostic, Severity, Span, StrataError
from ..diagnostics.suggest import did_you_mean
from ..digests import hexdigest
from ..frozen import dataclass
from ..json_stream import JsonError, members
from ..lineage.dbt import KINDS
from ..regular_files import read_regular
from . import cache
from .config import DbtConfig
from .file_digests import file_digest

VERSIONS = range(10, 13)
"""The versions of the schema of manifests that are known here."""
_VERSION = re.compile(r"/manifest/v([0-9]+)(\.json)?$")


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """What is to be told of a manifest for its version. One that is `readable` is read all the same."""

    message: str
    fix: str
    readable: bool


def schema_fault(schema: object) -> SchemaFault | None:
    """What is wrong with a manifest of this `metadata.dbt_schema_version`. A newer one than is known is read: versions
    add to what is said. An older one says it otherwise, and of another schema nothing is known."""
    found = _VERSION.search(schema) if isinstance(schema, str) else None
    version = int(found[1]) if found else None
    if version in VERSIONS:
        return None
    if version is not None and version > VERSIONS[-1]:
        message = f"the manifest has the schema `{schema}`, which is newer than what is known here: what is new in it "
        return SchemaFault(f"{message}is not read", "use a version of Strata that knows it", True)
    fix = f"use a dbt that writes version {VERSIONS[0]} to {VERSIONS[-1]} (dbt 1.6 to 1.11)"
    return SchemaFault(f"the manifest has the schema `{schema}`, which is not known here", fix, False)


def version_warning(config: DbtConfig, schema: object, span: Span | None = None) -> Diagnostic | None:
    """E033, a warning, where the project's manifest is of a newer version than is known here, and is read."""
    fault = schema_fault(schema)
    if fault is None or not fault.readable:
        return None
    message = f"`{config.manifest}`: {fault.message}"
    return Diagnostic("E033", message, span, Severity.WARNING, fix=fault.fix)


def newer_manifest(root: Path, config: DbtConfig, span: Span) -> Diagnostic | None:
    """`version_warning` of the manifest as it lies there now, told at `span`; only its beginning is read. What cannot
    be read is told by who needs it."""
    try:
        for section, key, value in members(root / config.manifest):
            if section == "metadata" and key == "dbt_schema_version":
                return version_warning(config, value, span)
    except (OSError, JsonError):
        pass
    return None


@dataclass(frozen=True, slots=True)
class DbtTable:
    """A dbt model or source: its unique id, and its Parquet file or its table in the DuckDB database."""

    unique_id: str
    name: str
    parquet: Path | None
    table: str


@dataclass(frozen=True, slots=True)
class DbtManifest:
    """The tables of a dbt project by the names that a `dbt:` clause may use."""

    path: Path
    tables: Mapping[str, DbtTable]
    database: Path | None

    def find(self, name: str) -> DbtTable:
        """The table called `name` (a model, or `source_name.table` of a dbt source); raises E030."""
        table = self.tables.get(name)
        if table is None:
            fix = did_you_mean(name, self.tables, "run `dbt parse` after adding a model")
            raise StrataError(Diagnostic("E030", f"the dbt manifest `{self.path.name}` has no model `{name}`", fix=fix))
        return table


def read_manifest(root: Path, config: DbtConfig) -> DbtManifest:
    """The project's dbt manifest; raises `StrataError` E030 (missing) or E033 (no manifest)."""
    path = root / config.manifest
    try:
        status = path.stat()
    except OSError:
        fix = "run `dbt build` (or `dbt parse`) first, or set `[dbt] manifest` in strata.toml"
        raise StrataError(Diagnostic("E030", f"there is no dbt manifest at `{config.manifest}`", fix=fix)) from None
    return _read(path, root, config, status.st_mtime_ns, status.st_size)


@dataclass(frozen=True, slots=True)
class DbtDocuments:
    """The manifest that dbt wrote, and `catalog.json` beside it where `dbt docs generate` made one; `digest` is of the
    bytes of both."""

    manifest: Path
    catalog: Path | None
    digest: str

    def read(self, config: DbtConfig) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
        """Manifest and catalog, whole. Raises `StrataError` E033 where they are damaged, or of an unknown version."""
        try:
            manifest = json.loads(read_regular(self.manifest))
            catalog = json.loads(read_regular(self.catalog)) if self.catalog is not None else None
            _require_schema(config, manifest["metadata"]["dbt_schema_version"])
            for group in ("nodes", "sources"):
                if not all(isinstance(node, dict) for node in manifest[group].values()):
                    raise TypeError(f"a member of `{group}` is no object")
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            message = f"`{config.manifest}` or its catalog is not what dbt writes: {type(error).__name__}: {error}"
            raise StrataError(Diagnostic("E033", message, fix="run `dbt parse` to write it again")) from None
        return manifest, catalog


def find_documents(root: Path, config: DbtConfig) -> DbtDocuments | None:
    """dbt's documents; `None` where there is no manifest. Raises `StrataError` E033 where they cannot be read."""
    path = root / config.manifest
    if not path.exists():
        return None
    beside = path.with_name("catalog.json")
    catalog = beside if beside.exists() else None
    digests = [file_digest(one) for one in (path, catalog) if one is not None]
    return DbtDocuments(path, catalog, hexdigest(*digests))


@lru_cache(maxsize=4)
def _read(path: Path, root: Path, config: DbtConfig, _modified: int, _size: int) -> DbtManifest:
    database = root / config.database if config.database else None
    try:
        content = file_digest(path)
        key = cache.content_key("dbt tables", str(path).encode(), content.encode())
        tables = cache.load(key)
        if tables is None:
            tables = _tables(path, config)
            if file_digest(path) == content:  # dbt may have written it anew meanwhile
                cache.save(key, tables)
    except JsonError as error:
        raise _no_manifest(config, f"{error.message} (line {error.line}, column {error.column})") from None
    except KeyError as error:
        raise _no_manifest(config, f"there is no `{error.args[0]}` where dbt writes one") from None
    except (TypeError, AttributeError):
        raise _no_manifest(config, "a member of `nodes` or `sources` is no object") from None
    except OSError as error:
        raise _no_manifest(config, f"it cannot be read: {error.strerror}") from None
    return DbtManifest(path, tables, database)


def _no_manifest(config: DbtConfig, why: str) -> StrataError:
    message = f"`{config.manifest}` is no dbt manifest: {why}"
    return StrataError(Diagnostic("E033", message, fix="run `dbt parse` to write it again"))


def _require_schema(config: DbtConfig, schema: object) -> None:
    fault = schema_fault(schema)
    if fault is not None and not fault.readable:
        raise StrataError(Diagnostic("E033", f"`{config.manifest}`: {fault.message}", fix=fault.fix))


def _tables(path: Path, config: DbtConfig) -> dict[str, DbtTable]:
    """The tables of a manifest, read node by node: manifests of a hundred megabytes are real."""
    # dbt runs in its project's folder, the parent of `target/`, and resolves locations against it.
    folder = path.parent.parent
    tables: dict[str, DbtTable] = {}
    versioned = False
    for section, key, node in members(path):
        if section == "metadata" and key == "dbt_schema_version":
            _require_schema(config, node)
            versioned = True
        elif section in ("nodes", "sources") and node["resource_type"] in KINDS:
            table = _table(node, folder)
            tables[table.name] = table
    if not versioned:
        raise KeyError("metadata.dbt_schema_version")
    return tables


def _table(node: Mapping[str, Any], folder: Path) -> DbtTable:
    is_source = node["resource_type"] == "source"
    name = f"{node['source_name']}.{node['name']}" if is_source else node["name"]
    config = node.get("config") or {}
    location = config.get("location") or (node.get("meta") or {}).get("external_location")
    parquet = (folder / location).resolve() if isinstance(location, str) else None
    table = node.get("identifier" if is_source else "alias") or node["name"]
    schema = node.get("schema")
    return DbtTable(node["unique_id"], name, parquet, f"{schema}.{table}" if schema else table)
