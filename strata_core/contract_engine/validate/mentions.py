"""Texts and SQL of tests that still name a column or an asset which was removed: W114."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ...diagnostics import Report, Severity
from ..authored import Asset
from ..authored_tests import SqlTest
from ..collation.candidate import Candidate
from ..mentions import naming, texts
from ..sql_tables import query_of, tables_of


def check_mentions(candidate: Candidate, removed: Mapping[str, str], report: Report) -> None:
    """W114 for each column or asset among those that were `removed` (`asset.column`, `asset`) which a text or the SQL
    of a test names. One whose old name is kept as an alias is still there."""
    contract = candidate.contract
    assets = {asset.id: asset for asset in contract.assets}
    renames = {(r.asset, r.before): r for r in (contract.compatibility.renames if contract.compatibility else ())}
    for name in removed:
        asset, _, column = name.partition(".")
        rename = renames.get((asset, column))
        if (asset in assets) is not bool(column) or (rename is not None and rename.alias):
            continue
        fix = f"say `{rename.after}`, as it is called by now" if rename else "say what is there by now, or drop it"
        for path, text in texts(candidate.data):
            if naming(asset, column).search(text):
                message = f"`{candidate.spelled(path)}` names `{name}`, which was removed"
                report(candidate.finding("W114", message, path, fix, severity=Severity.WARNING))
        for number in _tests(candidate, assets, asset, column) if column else ():
            test = contract.tests[number]
            message = f"the test `{test.id}` asks for `{name}`, which was removed"
            path = ("tests", number, "sql")
            report(candidate.finding("W114", message, path, fix, severity=Severity.WARNING))


def _tests(candidate: Candidate, assets: Mapping[str, Asset], asset: str, column: str) -> Iterator[int]:
    """The SQL tests that ask for the column of the asset, and can mean no other."""
    word = re.compile(rf"(?<!\w){re.escape(column)}(?!\w)", re.IGNORECASE)
    for number, test in enumerate(candidate.contract.tests):
        if test.kind == "sql" and word.search(test.sql) and _asks(test, assets, asset, column):
            yield number


def _asks(test: SqlTest, assets: Mapping[str, Asset], asset: str, column: str) -> bool:
    query = query_of(test)
    if query is None:
        return False
    from sqlglot import exp  # where a test may name what was removed

    known = {name.casefold(): one for one in assets.values() for name in one.names}
    read = {}
    for name, table in tables_of(query):
        one = known.get(name.casefold())
        if one is not None:
            read[table.alias_or_name.casefold()] = one.id
    if asset not in read.values():
        return False
    elsewhere = any(
        c.name.casefold() == column.casefold() for i in {*read.values()} - {asset} for c in assets[i].columns
    )
    made = {item.alias.casefold() for item in query.find_all(exp.Alias)}
    for found in query.find_all(exp.Column):
        if found.name.casefold() == column.casefold():
            qualifier = found.table.casefold()
            if read.get(qualifier) == asset or (not qualifier and not elsewhere and column.casefold() not in made):
                return True
    return False
