"""Declared sources: where they are, what they hold, and which of their rows are read.

Codes: E070 (no columns, or a resource that cannot be), E021 and E051 (clocks), E023, E072, and those of the `filter`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnostics import Diagnostic, Report
from ..diagnostics.suggest import did_you_mean
from ..frozen import replace
from ..language import ast
from ..relation.build import filter_rows, ref
from ..relation.expressions import Expr
from ..types import TYPE_NAMES, Date, Timestamp
from .compiled import OptionValue, Resource, ResourceKind, Source
from .expressions import Context, predicate
from .fields import freshness_of, table_contract
from .names import unknown
from .scope import Clocks, Table, resolve, scope_of
from .tables import promised_table
from .types import Domains

FILE_KINDS: tuple[ResourceKind, ...] = ("csv", "parquet", "duckdb", "dbt")
TABLE_KEYS = ("table", "store", "dataset")
"""The entries that name a table of the store, the most telling first; without one the source's own name does."""
NAMESPACES = ("ns", "dataset", "store")
"""Entries that name a source in the 0.1 surface and say nothing about its file."""
BOUNDS = ("as_of", "valid_as_of", "available_as_of", "vintage")
"""What a clause may ask of the three clocks of a table of the store (Seed 1)."""
VINTAGES = ("latest", "first", "all")
"""Of a row that was restated: the newest vintage, the first one, or each as a row of its own."""
CLOCKS = {
    "valid_from": "the column since when a row holds, for `join_asof`",
    "valid_to": "the column until when a row holds, for `join_asof`",
    "available_time": "the column since when a row could be known, for `join_asof`",
}
"""The properties of a source that name columns (the fields of `Clocks`, Seed 1), and what an editor says of each."""
OPTIONS: dict[ResourceKind, tuple[str, ...]] = {
    "csv": ("null_text",),
    "parquet": (),
    "duckdb": ("table",),
    "dbt": (),
    "table": ("table", *BOUNDS),
}
"""What a resource clause may say besides the place. A CSV field that is `null_text` is null, as an empty one is."""


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
    clocks = _clocks(declared.properties, resource, table, found.append)
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
    relation = table.relation if condition is None else filter_rows(table.relation, condition)
    return source, replace(table, relation=relation, clocks=clocks)


def no_columns(declared: ast.Source) -> Diagnostic:
    """E070 for a source that is read and says no columns, or says them beside `columns`."""
    message = f"the source `{declared.name}` declares no columns, so nothing can be read from it"
    typed = [e for e in declared.properties if isinstance(e.value, ast.Name) and e.value.text in TYPE_NAMES]
    if typed:
        columns = ", ".join(f"{entry.key}: {entry.value}" for entry in typed)
        return Diagnostic("E070", message, typed[0].span, fix=f"write `columns: {{ {columns} }}`")
    fix = "declare them: `columns: { order_id: int64 nonnull primary_key, … }`"
    return Diagnostic("E070", message, declared.name.span, fix=fix)


def _clocks(written: Sequence[ast.Entry], resource: Resource, table: Table, report: Report) -> Clocks:
    """The clocks that the properties of a source declare; E021 and E051 for what is no column of instants."""
    named: dict[str, str] = {}
    for entry in written:
        if entry.key.text not in CLOCKS:
            continue
        if not isinstance(entry.value, ast.Name):
            message, fix = f"`{entry.key}` names a column", f"write `{entry.key}: column`"
            report(Diagnostic("E070", message, entry.span, fix=fix))
        elif entry.value.text not in table.columns:
            if table.complete:
                message = f"the source has no column `{entry.value}`"
                report(unknown("E021", message, entry.value, table.columns))
        else:
            column = table.columns[entry.value.text]
            type_ = None if column is None else table.relation.schema[column].inferred.type
            if isinstance(type_, Date | Timestamp):
                named[entry.key.text] = entry.value.text
            elif type_ is not None:
                message = f"`{entry.key}` is an instant, and `{entry.value}` is {type_}"
                fix = "name a column of `timestamp` or `date`"
                report(Diagnostic("E051", message, entry.value.span, fix=fix))
    one = resource.kind == "table" and resource.options.get("vintage") != "all"
    return Clocks(**named, one_vintage=one)


def resolve_resource(name: str, written: Sequence[ast.Entry], report: Report) -> Resource:
    """Where a table is, from its resource clause; E070 where it names two places or says what no source takes."""
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
        _check_options(kinds[0], written, report)
        return Resource(kinds[0], location, options)
    _check_options("table", written, report)
    key = next((k for k in TABLE_KEYS if isinstance(options.get(k), str)), None)
    return Resource("table", str(options[key]) if key else name, options)


def _check_options(kind: ResourceKind, written: Sequence[ast.Entry], report: Report) -> None:
    known = (*FILE_KINDS, *OPTIONS[kind], *NAMESPACES)
    values = entries(written)
    for entry in written:
        key = entry.key.text
        if key in OPTIONS[kind] and not isinstance(values.get(key), str):
            text = "…" if values.get(key) is None else str(values[key]).lower()
            text = "2014-05-01" if key in BOUNDS else text
            report(Diagnostic("E070", f"`{key}` takes text", entry.span, fix=f'write `{key}: "{text}"`'))
        elif kind == "table" and key in BOUNDS:
            _check_bound(entry, str(values[key]), report)
        if key not in known and kind == "table":
            fix = did_you_mean(key, known, f"say where it is with {', '.join(f'`{k}:`' for k in FILE_KINDS)}")
            report(Diagnostic("E070", f"a source has no `{key}:`", entry.key.span, fix=fix))
        elif key not in known:
            fix = did_you_mean(key, OPTIONS[kind], f"it takes {', '.join((kind, *OPTIONS[kind]))}")
            report(Diagnostic("E070", f"`{kind}:` has no option `{key}`", entry.key.span, fix=fix))


def _check_bound(entry: ast.Entry, text: str, report: Report) -> None:
    """E070 for what is no instant, or no vintage."""
    if entry.key.text == "vintage":
        if text not in VINTAGES:
            message = f"there is no vintage `{text}`"
            fix = did_you_mean(text, VINTAGES, "take `latest`, `first` or `all`")
            report(Diagnostic("E070", message, entry.span, fix=fix))
        return
    from ..instants import ACCEPTED, bound  # few projects read such tables, and time zones take time to load

    try:
        bound(text)
    except ValueError as fault:
        why = str(fault).removesuffix(f": give {ACCEPTED}")
        report(Diagnostic("E070", f"`{entry.key.text}`: {why}", entry.span, fix=f"give {ACCEPTED}"))


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
