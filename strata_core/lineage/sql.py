"""Column lineage read out of a SQL query: what dbt models say of themselves, inferred and not known.

sqlglot parses and qualifies the query; the origins are then gathered scope by scope, each once, so that common table
expressions that read each other twice cost no more than they are long. Upstream models stand as tables: the graph goes
through them. Loading sqlglot takes longer than a check, so it is loaded here alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlglot import Dialect, exp, parse_one
from sqlglot.dialects.dialect import NormalizationStrategy
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, build_scope

from ..relation.schema import Origin, Role, RowEdge, Transform

Find = Callable[[exp.Table], str | None]
"""The name in the graph of a table of the query; `None` where it is none of the project's."""


class SqlLineage(NamedTuple):
    """The outputs of a query with their origins, and what decides about its rows.

    `untraced` names columns of the query whose table could not be told.
    """

    columns: Mapping[str, tuple[Origin, ...]]
    edges: frozenset[RowEdge]
    untraced: tuple[str, ...]


class UntracedError(Exception):
    """A query whose columns cannot be traced; the message says why."""


ADAPTERS: Mapping[str, str] = {
    "sqlserver": "tsql",
    "synapse": "tsql",
    "fabricspark": "spark",
    "glue": "spark",
    "greenplum": "postgres",
    "cratedb": "postgres",
    "vertica": "postgres",
    "materialize": "risingwave",
    "timescaledb": "postgres",
    "firebolt": "postgres",
    "motherduck": "duckdb",
}
"""The dialects of dbt's adapters that are not called as their dialect is."""
ANY_CASE = ", normalization_strategy=case_insensitive"


@cache
def dialect_of(adapter: str) -> str:
    """The dialect that the models of a dbt adapter are written in; of one that nobody knows, SQL as such.

    Names of warehouses that fold them upwards (Snowflake, Oracle) are told in lower case, as catalogs are read.
    """
    name = ADAPTERS.get(adapter, adapter)
    dialect = Dialect.get(name) if name else None
    if dialect is None:
        return ""
    return name + ANY_CASE if dialect.NORMALIZATION_STRATEGY is NormalizationStrategy.UPPERCASE else name


def sql_lineage(
    text: str, dialect: str, find: Find, columns: Mapping[str, Sequence[str]], outputs: Sequence[str] = ()
) -> SqlLineage:
    """The lineage of the query `text`; `columns` gives those of the tables that `find` names, as far as they are known,
    and `outputs` what it is known to give, in case that a star hides it.

    Raises `UntracedError` where the query cannot be parsed, is no query, or takes columns of tables with unknown ones.
    """
    try:
        query = parse_one(text, dialect=dialect)
        if not isinstance(query, exp.Query):
            raise UntracedError(f"it is no query but {type(query).__name__.upper()}")
        names = _stand_ins(query, find)
        schema = {stand_in: dict.fromkeys(columns.get(table, ()), "text") for table, stand_in in names.items()}
        qualified = qualify(
            query,
            dialect=dialect,
            schema={name: known for name, known in schema.items() if known},
            validate_qualify_columns=False,
            identify=False,
            quote_identifiers=False,
        )
        root = build_scope(qualified)
    except ParseError as error:
        places = [f" at line {e['line']}, column {e['col']}" for e in error.errors[:1]]
        raise UntracedError(f"its SQL does not parse{''.join(places)}") from None
    except (SqlglotError, RecursionError, ValueError) as error:
        raise UntracedError(f"its SQL is beyond what is understood ({type(error).__name__})") from None
    if root is None:
        raise UntracedError("its columns depend on its rows")
    return _Tracing({stand_in: table for table, stand_in in names.items()}, columns).trace(root, outputs)


def _stand_ins(query: exp.Query, find: Find) -> dict[str, str]:
    """Give each table of the project that the query reads a plain name in it; those names by the graph's."""
    names: dict[str, str] = {}
    root = build_scope(query)
    for scope in root.traverse() if root is not None else ():
        for source in scope.sources.values():
            if not isinstance(source, exp.Table) or (table := find(source)) is None:
                continue
            name = names.setdefault(table, f"strata_table_{len(names)}")
            alias = source.alias_or_name
            source.set("this", exp.to_identifier(name))
            source.set("db", None)
            source.set("catalog", None)
            if alias:
                source.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    return names


Found = frozenset[Origin]
NOTHING: Found = frozenset()


class _Tracing:
    """One walk over the scopes of a query, inner ones first; `tables` names those of the graph, with their columns as
    far as they are known."""

    def __init__(self, tables: Mapping[str, str], columns: Mapping[str, Sequence[str]]) -> None:
        self._tables, self._columns = tables, columns
        self._outputs: dict[int, dict[str, Found]] = {}
        self._starred: dict[int, list[exp.Table | Scope]] = {}
        self._edges: set[RowEdge] = set()
        self._untraced: dict[str, None] = {}

    def trace(self, root: Scope, wanted: Sequence[str]) -> SqlLineage:
        for scope in root.traverse():
            self._outputs[id(scope.expression)] = self._scope(scope)
        outputs = self._outputs[id(root.expression)]
        if id(_leftmost(root.expression)) in self._starred:
            outputs = {name: self._of(root, name) for name in (*outputs, *wanted)}
            if not wanted:
                raise UntracedError("it takes all columns of a table whose columns are not known")
        columns = {name: tuple(sorted(found)) for name, found in outputs.items()}
        return SqlLineage(columns, frozenset(self._edges), tuple(self._untraced))

    def _scope(self, scope: Scope) -> dict[str, Found]:
        expression = scope.expression
        if isinstance(expression, exp.SetOperation):
            return self._combined(expression)
        if not isinstance(expression, exp.Select):
            # An unnest or a lateral: each of its columns comes from all that it reads, which decides about rows.
            read = self._read(scope, expression)
            self._edges |= _edges([read], Role.EXPAND)
            return {"": _marked(read, Transform.DERIVED)}
        joined = {join.alias_or_name for join in expression.args.get("joins") or ()}
        group = expression.args.get("group")
        keys = {key.sql() for key in group.expressions} if group is not None else set()
        outputs: dict[str, Found] = {}
        for item in expression.selects:
            if item.is_star:
                self._starred.setdefault(id(expression), []).extend(_all_of(scope, item))
                continue
            found = self._read(scope, item.unalias(), joined)
            outputs[item.alias_or_name] = _as(item.unalias(), found, keys)
        self._shape(scope, expression, outputs)
        if expression.args.get("distinct"):
            self._edges |= _edges(outputs.values(), Role.GROUP)
        return outputs

    def _combined(self, expression: exp.SetOperation) -> dict[str, Found]:
        """Columns by their place, under the names of the left side; of a difference the left side alone."""
        sides = [self._outputs.get(id(_inner(side)), {}) for side in (expression.left, expression.right)]
        left, right = ([*side.items()] for side in sides)
        if not isinstance(expression, exp.Union):
            self._edges |= _edges((found for side in sides for found in side.values()), Role.JOIN)
        if isinstance(expression, exp.Except):
            return dict(left)
        merged = {name: found | other for (name, found), (_, other) in zip(left, right, strict=False)}
        if isinstance(expression, exp.Union) and expression.args.get("distinct"):
            self._edges |= _edges(merged.values(), Role.GROUP)
        return merged or dict(left)

    def _shape(self, scope: Scope, select: exp.Select, outputs: Mapping[str, Found]) -> None:
        """The edges of everything that decides about rows or their order, which may name outputs."""
        parts: list[tuple[Role, Any]] = [
            (Role.FILTER, select.args.get(clause)) for clause in ("where", "having", "qualify")
        ]
        parts.append((Role.GROUP, select.args.get("group")))
        if select.args.get("limit") or select.args.get("offset"):  # else the order of a table's rows means nothing
            parts.append((Role.SORT, select.args.get("order")))
        for join in select.args.get("joins") or ():
            parts.append((Role.JOIN, join.args.get("on")))
            parts += [(Role.JOIN, column) for column in join.args.get("using") or ()]
        for window in select.find_all(exp.Window):
            if window.parent_select is select:
                parts += [
                    (Role.WINDOW, part) for part in (*window.args.get("partition_by", ()), window.args.get("order"))
                ]
        for role, part in parts:
            if part is not None:
                self._edges |= _edges([self._read(scope, part, aliases=outputs)], role)

    def _read(
        self,
        scope: Scope,
        expression: exp.Expr,
        joined: Iterable[str] = (),
        aliases: Mapping[str, Found] | None = None,
    ) -> Found:
        """The origins of all that an expression reads; of a query inside it, those of its outputs."""
        found: set[Origin] = set()
        for node in _own_nodes(expression):
            if isinstance(node, exp.Query):
                inner = self._outputs.get(id(_inner(node)), {})
                found |= {o for part in inner.values() for o in _marked(part, Transform.DERIVED)}
            elif isinstance(node, exp.Column):
                own = self._column(scope, node, aliases or {})
                if node.table in joined:
                    own = frozenset(map(_joined, own))
                found |= own
        return frozenset(found)

    def _column(self, scope: Scope, column: exp.Column, aliases: Mapping[str, Found]) -> Found:
        if not column.table and column.name in aliases:
            return aliases[column.name]
        source = _named(scope, column.table) if column.table else self._owner(scope, column.name)
        if isinstance(source, exp.Table | Scope):
            return self._of(source, column.name)
        self._untraced[column.name] = None
        return NOTHING

    def _of(self, source: exp.Table | Scope, column: str) -> Found:
        """The origins of a column of a source; through stars over what has unknown columns, as far as they lead."""
        while isinstance(source, Scope):
            expression = _leftmost(source.expression)
            outputs = self._outputs.get(id(source.expression), {})
            if column in outputs or "" in outputs:
                return outputs.get(column) or outputs.get("") or NOTHING
            starred = self._starred.get(id(expression), [])
            holders = [one for one in starred if column in (self._names(one) or ())] or [
                one for one in starred if self._names(one) is None
            ]
            if len(holders) != 1:
                return NOTHING
            source = holders[0]
        table = self._tables.get(source.name)
        return NOTHING if table is None else frozenset({Origin(table, column)})

    def _owner(self, scope: Scope, column: str) -> exp.Table | Scope | None:
        """The one source that a column without a table can be of: that has it, or whose columns are not known."""
        known = [(source, self._names(source)) for _, source in scope.selected_sources.values()]
        holders = [source for source, names in known if names is not None and column in names]
        candidates = holders or [source for source, names in known if names is None]
        return candidates[0] if len(candidates) == 1 else None

    def _names(self, source: exp.Table | Scope) -> Iterable[str] | None:
        """The columns of a source; `None` where they are not all known."""
        if not isinstance(source, Scope):
            return self._columns.get(self._tables.get(source.name, "")) or None
        if id(_leftmost(source.expression)) in self._starred:
            return None
        return self._outputs.get(id(source.expression))


def _named(scope: Scope | None, table: str) -> exp.Table | Scope | None:
    """The source of that name, of the query itself or of one around it."""
    while scope is not None:
        if isinstance(source := scope.sources.get(table), exp.Table | Scope):
            return source
        scope = scope.parent
    return None


def _all_of(scope: Scope, star: exp.Expr) -> list[exp.Table | Scope]:
    """The sources that `*` or `t.*` means."""
    sources = {name: source for name, (_, source) in scope.selected_sources.items()}
    table = star.table if isinstance(star, exp.Column) else ""
    return [sources[table]] if table in sources else [*sources.values()]


def _leftmost(expression: exp.Expr) -> exp.Expr:
    """The query that names the outputs of a set operation."""
    while isinstance(expression, exp.SetOperation | exp.Subquery):
        expression = expression.this
    return expression


def _own_nodes(expression: exp.Expr) -> Iterator[exp.Expr]:
    """The queries and columns in an expression, without what is inside those queries or windows' orders."""
    stack = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, exp.Query | exp.Column):
            yield node
        elif isinstance(node, exp.Window):
            stack.append(node.this)
        else:
            stack.extend(node.iter_expressions())


def _inner(query: exp.Expr) -> exp.Expr:
    while isinstance(query, exp.Subquery):
        query = query.this
    return query


def _as(expression: exp.Expr, found: Found, keys: set[str]) -> Found:
    """The origins of an output, by what its expression does to them (Seed 0 §4)."""
    if expression.sql() in keys:
        return _marked(found, Transform.GROUPED)
    if isinstance(expression, exp.Column):
        return found
    windowed = any(isinstance(node.parent, exp.Window) for node in expression.find_all(exp.AggFunc))
    if expression.find(exp.AggFunc) is not None and not windowed:
        return _marked(found, Transform.AGGREGATED)
    return _marked(found, Transform.DERIVED)


def _edges(found: Iterable[Found], role: Role) -> set[RowEdge]:
    return {RowEdge(origin.node, origin.column, role) for part in found for origin in part}


def _marked(found: Found, transform: Transform) -> Found:
    return frozenset(Origin(o.node, o.column, transform, o.joined) for o in found)


def _joined(origin: Origin) -> Origin:
    return Origin(origin.node, origin.column, origin.transform, True)
