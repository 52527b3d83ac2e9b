"""The tables of a dbt project with their lineage, read from its manifest: models by their SQL, marked as inferred.

A Strata source `dbt: "orders"` reads the dbt model of that name. The other way round, a dbt source is known to be a
Strata model by `meta.strata` (`orders`, or `{project: shop, model: orders}`), by the asset key that Dagster's
convention `meta.dagster.asset_key` gives it, or by the source's name `strata`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..diagnostics import Diagnostic, Report, Severity
from ..frozen import dataclass, replace
from ..relation.schema import Origin, Role, RowEdge
from .tables import DBT, Table, TableId, TableKind

if TYPE_CHECKING:
    from sqlglot import exp

KINDS: Mapping[str, TableKind] = {
    "model": TableKind.DBT_MODEL,
    "seed": TableKind.DBT_MODEL,
    "snapshot": TableKind.DBT_MODEL,
    "source": TableKind.DBT_SOURCE,
}
_CONFIG = re.compile(r"\{\{\s*config\(.*?\)\s*\}\}", re.DOTALL)
_REF = re.compile(r"""\{\{\s*ref\(\s*(?:['"][\w.-]+['"]\s*,\s*)?['"]([\w.-]+)['"]\s*\)\s*\}\}""")
_SOURCE = re.compile(r"""\{\{\s*source\(\s*['"]([\w.-]+)['"]\s*,\s*['"]([\w.-]+)['"]\s*\)\s*\}\}""")
_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)

Node = Mapping[str, Any]


def dbt_tables(
    manifest: Node, catalog: Node | None, strata: Mapping[str, Iterable[str]], report: Report
) -> tuple[Table, ...]:
    """The tables of `manifest`, each after what it reads. `catalog` is dbt's `catalog.json`, where there is one;
    `strata` gives the columns of the Strata models that dbt sources may stand for.

    W030 where SQL cannot be traced: then the model is known to read its tables, and nothing of its columns.
    """
    nodes = {
        unique_id: node
        for group in ("sources", "nodes")
        for unique_id, node in manifest[group].items()
        if node.get("resource_type") in KINDS
    }
    known = (catalog or {}).get("nodes", {}) | (catalog or {}).get("sources", {})
    from .sql import ANY_CASE, dialect_of

    dialect = dialect_of(str(manifest.get("metadata", {}).get("adapter_type") or ""))
    reading = _Reading(nodes, dialect, report)
    tables: dict[str, Table] = {}
    for unique_id in _ordered(nodes):
        node = nodes[unique_id]
        types = _types(node, known.get(unique_id, {}), any_case=dialect.endswith(ANY_CASE))
        if node["resource_type"] == "source":
            tables[unique_id] = _source(node, types, strata)
        else:
            tables[unique_id] = reading.model(node, types, tables)
    return tuple(_with_read_columns(tables))


def _with_read_columns(tables: Mapping[str, Table]) -> Iterator[Table]:
    """Sources whose columns are not documented have those that somebody reads."""
    read: dict[str, dict[str, None]] = {}
    for table in tables.values():
        mentioned = [(o.node, o.column) for _, origins in table.columns.values() for o in origins]
        for node, column in (*mentioned, *((e.node, e.column) for e in sorted(table.edges))):
            read.setdefault(node, {})[column] = None
    for table in tables.values():
        more = {column: ("", ()) for column in read.get(table.id.name, ()) if column not in table.columns}
        yield replace(table, columns={**table.columns, **more}) if more else table


def name_of(node: Node) -> str:
    """The name that a `dbt:` clause uses: of a source `source_name.table`."""
    is_source = node["resource_type"] == "source"
    return f"{node['source_name']}.{node['name']}" if is_source else str(node["name"])


def _ordered(nodes: Mapping[str, Node]) -> Iterator[str]:
    """The nodes, each after those that it depends on, without recursion; a circle, which dbt makes none of, is cut."""
    begun, done = set[str](), set[str]()
    for start in nodes:
        stack = [(start, False)]
        while stack:
            unique_id, ready = stack.pop()
            if unique_id in done:
                continue
            if ready:
                done.add(unique_id)
                yield unique_id
                continue
            if unique_id in begun:
                continue
            begun.add(unique_id)
            stack.append((unique_id, True))
            stack.extend((above, False) for above in _depends(nodes[unique_id], nodes) if above not in done)


def _depends(node: Node, nodes: Mapping[str, Node]) -> list[str]:
    return [one for one in (node.get("depends_on") or {}).get("nodes") or () if one in nodes]


def _types(node: Node, known: Node, *, any_case: bool) -> dict[str, str]:
    """The columns of a node with their types: as the database has them, else as they are documented. Where a name means
    the same in any case, it is told in lower case, as those of catalogs are."""
    written = {
        name.lower() if any_case else name: str(c.get("data_type") or "")
        for name, c in (node.get("columns") or {}).items()
    }
    stored = {name.lower(): str(c.get("type") or "") for name, c in (known.get("columns") or {}).items()}
    return {**stored, **{name: type_ or stored.get(name.lower(), "") for name, type_ in written.items()}}


def _source(node: Node, types: Mapping[str, str], strata: Mapping[str, Iterable[str]]) -> Table:
    stands_for = _strata_model(node)
    columns = {name: (type_, ()) for name, type_ in types.items()}
    if stands_for is not None:
        columns = dict.fromkeys(strata.get(stands_for.name, ()), ("", ())) | columns
    table = TableId(DBT, name_of(node))
    return Table(table, TableKind.DBT_SOURCE, columns, stands_for=stands_for, owner=_owner(node))


def _meta(node: Node) -> Node:
    return {**((node.get("config") or {}).get("meta") or {}), **(node.get("meta") or {})}


def _owner(node: Node) -> str | None:
    owner = _meta(node).get("owner") or node.get("group")
    return owner if isinstance(owner, str) else None


def _strata_model(node: Node) -> TableId | None:
    match _meta(node):
        case {"strata": str(model)}:
            return TableId("", model)
        case {"strata": {"model": str(model), **rest}}:
            return TableId(str(rest.get("project") or ""), model)
        case {"dagster": {"asset_key": [*_, str(model)]}}:
            return TableId("", model)
        case _ if node["source_name"] == "strata":
            return TableId("", str(node.get("identifier") or node["name"]))
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the models of one manifest are read with."""

    nodes: Mapping[str, Node]
    dialect: str
    report: Report

    def model(self, node: Node, types: Mapping[str, str], tables: Mapping[str, Table]) -> Table:
        """A model after all that it reads; a seed reads nothing."""
        above = [tables[one] for one in _depends(node, self.nodes) if one in tables]
        names = {table.id.name: [*table.columns] for table in above}
        table = TableId(DBT, name_of(node))
        columns: dict[str, tuple[str, tuple[Origin, ...]]] = {name: (type_, ()) for name, type_ in types.items()}
        edges = frozenset(RowEdge(name, column, Role.READ) for name, known in names.items() for column in known)
        if node["resource_type"] == "model":
            from .sql import UntracedError, sql_lineage

            try:
                found = sql_lineage(self._query(node), self.dialect, self._finder(node), names, [*types])
            except UntracedError as error:
                self._untraced(node, str(error), "its columns are taken to come from all that it reads")
            else:
                columns |= {name: (types.get(name, ""), origins) for name, origins in found.columns.items()}
                edges = found.edges
                if found.untraced:
                    which = ", ".join(f"`{name}`" for name in found.untraced)
                    self._untraced(node, f"the table of {which} cannot be told", "qualify it, or document its columns")
        return Table(table, TableKind.DBT_MODEL, columns, edges, tuple(names), owner=_owner(node), inferred=True)

    def _query(self, node: Node) -> str:
        """The SQL that dbt compiled, else what was written, as far as its Jinja is plain references."""
        from .sql import UntracedError

        compiled = node.get("compiled_code") or node.get("compiled_sql")
        if isinstance(compiled, str) and compiled.strip():
            return compiled
        if node.get("language", "sql") != "sql":
            raise UntracedError(f"it is written in {node['language']}")
        written = _COMMENT.sub("", _CONFIG.sub("", str(node.get("raw_code") or node.get("raw_sql") or "")))
        written = _REF.sub(lambda m: f'"__ref__"."{m[1]}"', written)
        written = _SOURCE.sub(lambda m: f'"__source__"."{m[1]}.{m[2]}"', written)
        if "{{" in written or "{%" in written:
            raise UntracedError("it is not compiled, and its Jinja is more than references: run `dbt compile`")
        return written

    def _finder(self, node: Node) -> Any:
        """Which of the tables that `node` depends on a table of its SQL is."""
        from sqlglot import exp, parse_one
        from sqlglot.errors import SqlglotError

        known: dict[str, str] = {}
        for one in _depends(node, self.nodes):
            other = self.nodes[one]
            name = name_of(other)
            known[f"__{'source' if other['resource_type'] == 'source' else 'ref'}__.{name}".lower()] = name
            if relation := other.get("relation_name"):
                try:
                    table = parse_one(f"SELECT * FROM {relation}", dialect=self.dialect).find(exp.Table)
                except SqlglotError:
                    table = None
                if table is not None:
                    known[_key(table)] = name

        def find(table: exp.Table) -> str | None:
            return known.get(_key(table))

        return find

    def _untraced(self, node: Node, why: str, then: str) -> None:
        path = node.get("original_file_path") or node["name"]
        message = f"the columns of dbt model `{node['name']}` cannot all be traced: {why}"
        notes = (f"it is written in {path}",)
        self.report(Diagnostic("W030", message, None, Severity.WARNING, fix=then, notes=notes))


def _key(table: exp.Table) -> str:
    """A table as it is named, whatever its alias and quotes."""
    parts = [part.name if hasattr(part, "name") and part.name else part.sql() for part in table.parts]
    return ".".join(parts).lower()
