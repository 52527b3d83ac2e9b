"""Which tables a query reads, and which of them are assets of a product."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from .authored import Asset
from .authored_tests import SqlTest

if TYPE_CHECKING:  # 100 ms, which contracts without SQL do not pay
    from sqlglot import exp


def query_of(test: SqlTest) -> exp.Expr | None:
    """The query of a test, in its dialect; None where it is no SQL, which E140 tells."""
    import sqlglot

    try:
        return sqlglot.parse_one(test.sql, read=test.dialect or "duckdb")
    except (ValueError, RecursionError, sqlglot.errors.SqlglotError):
        return None


def tables_of(query: exp.Expr) -> Iterator[tuple[str, exp.Table]]:
    """The tables that a query reads, each with the name that the query gives it; none that the query makes itself."""
    from sqlglot import exp

    for table in query.find_all(exp.Table):
        if table.name and not (len(table.parts) == 1 and _is_cte(table)):
            yield ".".join(part.name for part in table.parts), table


def assets_read(test: SqlTest, assets: Iterable[Asset]) -> Mapping[str, str]:
    """The assets that a test reads: their ids, by the names that they have in its query."""
    query = query_of(test)
    known = {name.casefold(): asset.id for asset in assets for name in asset.names}
    names = [name for name, _ in tables_of(query)] if query is not None else []
    return {name: known[name.casefold()] for name in names if name.casefold() in known}


def _is_cte(table: exp.Table) -> bool:
    """Whether `table` is a common table expression that its place in the query sees."""
    from sqlglot import exp

    name, node = table.name.casefold(), table.parent
    below: exp.Expr = table
    while node is not None:
        seen: Sequence[exp.Expr] = ()
        if isinstance(node, exp.With):
            siblings = node.expressions
            seen = siblings if node.recursive else siblings[: siblings.index(below)]
        elif isinstance(node, exp.Query) and not isinstance(below, exp.With):
            seen = node.ctes
        if any(cte.alias.casefold() == name for cte in seen):
            return True
        below, node = node, node.parent
    return False
