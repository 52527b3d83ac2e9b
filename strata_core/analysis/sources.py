"""Declared sources: where they are, what they hold, and which of their rows are read.

Codes: E070 (no columns, or a resource that cannot be), E023, E072, and those of the `filter` expression.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnostics import Diagnostic, Report
from ..language import ast
from ..relation.build import filter_rows, ref
from ..relation.expressions import Expr
from .compiled import OptionValue, Resource, ResourceKind, Source
from .expressions import Context, predicate
from .fields import freshness_of, table_contract
from .scope import Table, resolve, scope_of
from .tables import promised_table
from .types import Domains

FILE_KINDS: tuple[ResourceKind, ...] = ("csv", "parquet", "duckdb", "dbt")
TABLE_KEYS = ("table", "store", "dataset")
"""The entries that name a table of the store, the most telling first; without one the source's own name does."""


def resolve_source(declared: ast.Source, domains: Domains, report: Report) -> tuple[Source, Table]:
    """The source as the run needs it, and as models read it: filtered. Incomplete where it has errors."""
    found: list[Diagnostic] = []
    name = declared.name.text
    properties = entries(declared.properties)
    description = properties.get("description")
    contract = table_contract(
        name,
        declared.columns or (),
        domains,
        found.append,
        span=declared.span,
        freshness=freshness_of(declared.freshness, found.append),
        description=description if isinstance(description, str) else None,
    )
    table = promised_table(name, contract, complete=declared.columns is not None)
    condition = None
    if declared.filter is not None:
        scope = scope_of(table, name)

        def column(node: ast.ColumnRef) -> Expr | None:
            resolved = resolve(scope, node, found.append)
            return None if resolved is None else ref(table.relation, resolved)

        reader = Context(column, domains, found.append, "the filter of a source")
        condition = predicate(declared.filter, reader)
    resource = resolve_resource(name, declared.resource, found.append)
    source = Source(
        name,
        table.relation.schema.columns,
        contract,
        resource,
        condition,
        contract.freshness,
        contract.description,
        declared.span,
    )
    for diagnostic in found:
        report(diagnostic)
    if condition is not None:
        table = Table(filter_rows(table.relation, condition), table.unresolved, table.complete)
    return source, table


def resolve_resource(name: str, written: Sequence[ast.Entry], report: Report) -> Resource:
    """Where a table is, from its resource clause; E070 where the clause names two places or none fit."""
    options = entries(written)
    kinds = [kind for kind in FILE_KINDS if kind in options]
    if len(kinds) > 1:
        second = next(e for e in written if e.key.text == kinds[1])
        message = f"a source is in one place, not in `{kinds[0]}` and in `{kinds[1]}`"
        report(Diagnostic("E070", message, second.span, fix="keep one of the two"))
    if kinds:
        location = options.pop(kinds[0])
        if not isinstance(location, str) or not location:
            entry = next(e for e in written if e.key.text == kinds[0])
            message = f"`{kinds[0]}` takes a path or name"
            report(Diagnostic("E070", message, entry.span, fix=f'write `{kinds[0]}: "…"`'))
            location = ""
        return Resource(kinds[0], location, options)
    key = next((k for k in TABLE_KEYS if isinstance(options.get(k), str)), None)
    return Resource("table", str(options[key]) if key else name, options)


def entries(written: Sequence[ast.Entry]) -> dict[str, OptionValue]:
    """The values of `key: value` entries; a length of time is in seconds."""
    values: dict[str, OptionValue] = {}
    for entry in written:
        match entry.value:
            case ast.Name(text=text):
                values[entry.key.text] = text
            case ast.Literal(value=value):
                values[entry.key.text] = value
            case ast.Duration(seconds=seconds):
                values[entry.key.text] = seconds
    return values
