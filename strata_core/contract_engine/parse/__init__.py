"""Parse: each file of the inventory becomes one value (Seed 2, step 2). A file whose content was parsed before is not
parsed again; one that cannot be parsed hides no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType

from ...diagnostics import Diagnostic, Report, Span
from ..discover import Input, InputKind, Inventory
from ..tree import Tree
from .parsed import GeneratedAsset, Parsed, ParsedFile

Parser = Callable[[Input, Tree, Report], ParsedFile]

PARSERS: Mapping[InputKind, tuple[str, str]] = MappingProxyType(
    {
        InputKind.CONTRACT: ("contracts", "parse_contract"),
        InputKind.FRAGMENT: ("contracts", "parse_fragment"),
        InputKind.DBT_YAML: ("dbt_yaml", "parse_dbt_yaml"),
        InputKind.SQL: ("sql_comments", "parse_sql"),
        InputKind.PYTHON: ("python_assets", "parse_python"),
        InputKind.DBT_MANIFEST: ("dbt_manifest", "parse_manifest"),
        InputKind.DBT_CATALOG: ("dbt_catalog", "parse_catalog"),
        InputKind.DBT_RUN_RESULTS: ("dbt_catalog", "parse_run_results"),
        InputKind.DBT_SOURCES: ("dbt_catalog", "parse_sources"),
        InputKind.DLT_SCHEMA: ("dlt_schema", "parse_dlt_schema"),
        InputKind.OPENLINEAGE: ("openlineage", "parse_events"),
    }
)
"""How each kind is parsed: a module of this package, loaded where there is such a file, and its function. Strata models
are compiled as one project, not file by file."""


def parse(
    tree: Tree,
    inventory: Inventory,
    kept: Mapping[str, ParsedFile] = MappingProxyType({}),
    compiled: tuple[GeneratedAsset, ...] = (),
) -> Parsed:
    """What the files of `inventory` say. `kept` holds what was parsed before, by `kept_key`."""
    files = []
    for one in inventory.inputs:
        if one.kind not in PARSERS:
            continue
        files.append(kept.get(kept_key(one)) or parse_file(one, tree))
    return Parsed(tuple(files), compiled, {i.path: i.digest for i in inventory.inputs})


def kept_key(one: Input) -> str:
    """The key under which a parsed file is kept: its place counts, since findings name it."""
    return f"{one.kind.value}:{one.digest}:{one.path}"


def parse_file(one: Input, tree: Tree) -> ParsedFile:
    """What one file says, with what is wrong in it."""
    found: list[Diagnostic] = []
    try:
        module, function = PARSERS[one.kind]
        parser: Parser = getattr(import_module(f".{module}", __package__), function)
        parsed = parser(one, tree, found.append)
    except OSError as error:
        message = f"the file cannot be read: {error.strerror or error}"
        found.append(Diagnostic("E100", message, Span(one.path, 1, 1, 1, 1), fix="give leave to read it"))
        parsed = ParsedFile(one.path, one.kind, one.digest)
    return ParsedFile(
        parsed.path,
        parsed.kind,
        parsed.digest,
        parsed.contract,
        parsed.fragments,
        parsed.generated,
        parsed.tests,
        parsed.results,
        parsed.runs,
        tuple(found),
    )
