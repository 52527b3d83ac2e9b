"""What of an answer to a query may be shown: values of classified columns may not, whatever they are called there.

A value is shown where it surely is one of a column that is not hidden. In doubt it is masked.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

import sqlglot
from sqlglot import exp


def masked_columns(query: str, hidden: Set[str], columns: Sequence[str]) -> frozenset[str]:
    """Those of the answer's `columns` that are not to be shown; `hidden` are the names of hidden columns of all
    tables that the query reads."""
    if not hidden:
        return frozenset()
    tree = sqlglot.parse_one(query, read="duckdb")
    names = {n.casefold() for n in hidden}
    if not _plain(tree):
        return frozenset(columns)
    assert isinstance(tree, exp.Select)
    shown: set[str] = set()
    computed: set[str] = set()
    for item in tree.expressions:
        if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
            if item.find(exp.Alias) is not None:  # `* REPLACE (email AS id)`
                return frozenset(columns)
            shown.update(c for c in columns if c.casefold() not in names)
        elif _mentions(item, names, tree):
            computed.add(item.alias_or_name.casefold())
        else:
            shown.add(item.alias_or_name)
    shown_names = {s.casefold() for s in shown}
    return frozenset(c for c in columns if c.casefold() in computed or c.casefold() not in shown_names)


def _plain(tree: exp.Expr) -> bool:
    """One SELECT over tables, in which a name is that of a column: nothing is nested, renamed or taken as a whole."""
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Query))) != 1:
        return False
    if any(alias.args.get("columns") for alias in tree.find_all(exp.TableAlias)):
        return False
    if tree.find(exp.Pivot, exp.PositionalColumn, exp.Parameter, exp.Placeholder) is not None:
        return False
    tables = {t.alias_or_name.casefold() for t in tree.find_all(exp.Table)}
    return not any(c.name.casefold() in tables for c in tree.find_all(exp.Column)) and not any(
        isinstance(f, exp.Anonymous | exp.Columns) for f in tree.find_all(exp.Func)
    )


def _mentions(item: exp.Expr, names: Set[str], tree: exp.Select) -> bool:
    """Whether a hidden column is in `item`, itself or by the alias of another item."""
    known = {i.alias.casefold(): i for i in tree.expressions if isinstance(i, exp.Alias)}
    waiting, seen = [item], set()
    while waiting:
        # Every name counts: of a column, and of what a field is taken from.
        for part in waiting.pop().find_all(exp.Identifier):
            name = part.name.casefold()
            if name in names:
                return True
            if name in known and name not in seen:
                seen.add(name)
                waiting.append(known[name].this)
    return False
