"""Tests of a contract: can they be what they say? Nothing is run here (Seed 2, step 5).

SQL is one read-only statement over the product's assets, dbt tests are in the manifest, expectations fit their columns,
a custom one is typed by the Strata compiler. Codes: E140 (SQL), E141 (dbt), E142 (expectation), E143 (an executor that
is not there, as `[contract_engine] unsupported_executors` says).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ...contract.ages import parse_age
from ...diagnostics import Diagnostic, Report, Severity, StrataError
from ...diagnostics.listing import listed
from ...diagnostics.suggest import did_you_mean
from ...diagnostics.wording import plural
from ...types import Bool, Date, Decimal, Float64, Int64, Money, String, Timestamp, ValueType
from ...types.spelling import TypeSpellingError, parse_type
from ..authored import Asset
from ..authored_tests import DbtTest, ExpectationTest, SqlTest
from ..collation.candidate import Candidate
from ..conditions import compiled_condition
from ..documents import Path
from ..naming import split_ref
from ..parse.parsed import Parsed
from ..sql_tables import tables_of

DIALECTS = frozenset({"duckdb"})
"""Dialects of SQL that the embedded engine runs."""
_NUMBERS = (Int64, Float64, Decimal, Money)


def dbt_tests(parsed: Parsed) -> tuple[frozenset[str], frozenset[str]] | None:
    """The names and the unique ids of dbt's tests; None where there is no manifest."""
    manifests = [file for file in parsed.files if file.kind == "dbt manifest"]
    if not manifests:
        return None
    tests = [t for file in manifests for t in file.tests]
    return frozenset(t.name for t in tests), frozenset(t.unique_id for t in tests)


def check_tests(
    candidate: Candidate, of_dbt: tuple[frozenset[str], frozenset[str]] | None, unsupported: str, report: Report
) -> None:
    """E140 to E143 of one contract's tests. `of_dbt` is what `dbt_tests` gives."""
    contract = candidate.contract
    assets = {a.id: a for a in contract.assets}
    for i, test in enumerate(contract.tests):
        path: Path = ("tests", i)
        match test:
            case SqlTest():
                for message, fix in sql_faults(test.sql, test.dialect or "duckdb", contract.assets):
                    report(candidate.finding("E140", message, (*path, "sql"), fix))
                if test.dialect is not None and test.dialect not in DIALECTS:
                    report(_unsupported(candidate, f"SQL of `{test.dialect}`", (*path, "dialect"), unsupported))
            case DbtTest():
                _check_dbt(candidate, test, of_dbt, path, unsupported, report)
            case ExpectationTest() if test.asset in assets:
                for message, where, fix in expectation_faults(test, assets[test.asset]):
                    report(candidate.finding("E142", message, (*path, "expectation", *where), fix))


def _unsupported(candidate: Candidate, what: str, path: Path, unsupported: str) -> Diagnostic:
    severity = Severity.ERROR if unsupported == "error" else Severity.WARNING
    fix = "run it elsewhere and hand in its result, or set `[contract_engine] unsupported_executors`"
    return candidate.finding("E143", f"nothing here runs {what}: the test is not run", path, fix, severity=severity)


def sql_faults(sql: str, dialect: str, assets: Iterable[Asset]) -> Iterator[tuple[str, str]]:
    """What keeps `sql` from being one read-only statement over `assets`, with the way out."""
    import sqlglot  # 100 ms, which contracts without SQL do not pay
    from sqlglot import exp

    names = {name.casefold() for asset in assets for name in asset.names}
    try:
        statements = [s for s in sqlglot.parse(sql, read=dialect) if s is not None and not isinstance(s, exp.Semicolon)]
    except ValueError:
        yield f"there is no SQL dialect `{dialect}`", f"dialects are for instance {', '.join(sorted(DIALECTS))}"
        return
    except sqlglot.errors.SqlglotError as error:
        told_of: list[dict[str, str]] = getattr(error, "errors", [])
        first = told_of[0] if told_of else {}
        at = f" (line {first['line']}, column {first['col']} of it)" if first.get("line") else ""
        told = first.get("description") or str(error).splitlines()[0]
        yield f"this is no SQL: {told}{at}", "write one SELECT that returns the rows that are wrong"
        return
    except RecursionError:
        yield "the SQL nests too deep", "write one SELECT that returns the rows that are wrong"
        return
    if len(statements) != 1:
        yield f"there are {len(statements)} statements", "a test is one SELECT: make several tests of it"
        return
    (statement,) = statements
    if not isinstance(statement, exp.Query):
        yield f"a {statement.key.upper()} is no test: it would change something", "write one SELECT"
        return
    if any(not select.expressions for select in statement.find_all(exp.Select)):
        yield "a SELECT asks for nothing", "name the columns of the rows that are wrong, or write `*`"
        return
    writes = next(statement.find_all(exp.DML, exp.DDL, exp.Command, exp.Into, exp.Lock), None)
    if writes is not None and not isinstance(writes, exp.Query):
        yield f"the query holds a {writes.key.upper()}: a test only reads", "write one SELECT without it"
    for called in statement.find_all(exp.Func):
        name = called.name.casefold() if isinstance(called, exp.Anonymous) else called.sql_name().casefold()
        as_table = isinstance(called.parent, exp.Table) and not isinstance(called, exp.GenerateSeries | exp.Unnest)
        if as_table or name in _READS_ELSEWHERE:
            yield f"`{name}` reads what is no asset of the product", "name its assets alone"
            return
    for name, _ in tables_of(statement):
        if name.casefold() not in names:
            fix = did_you_mean(name, names, f"its assets are {', '.join(sorted(names))}")
            yield f"`{name}` is no asset of the product", fix


_READS_ELSEWHERE = frozenset({"getenv", "getvariable", "current_setting", "read_text", "read_blob", "glob", "query"})
"""Functions of a value that tell of the machine and not of the rows."""


def _check_dbt(
    candidate: Candidate,
    test: DbtTest,
    of_dbt: tuple[frozenset[str], frozenset[str]] | None,
    path: Path,
    unsupported: str,
    report: Report,
) -> None:
    if of_dbt is None:
        report(_unsupported(candidate, f"the dbt test `{test.ref}`: there is no manifest", (*path, "ref"), unsupported))
        return
    names, ids = of_dbt
    if test.ref not in names and test.ref not in ids:
        fix = did_you_mean(test.ref, names, "name a test of the manifest, or run `dbt parse`")
        report(candidate.finding("E141", f"dbt knows no test `{test.ref}`", (*path, "ref"), fix))


Fault = tuple[str, Path, str]


def expectation_faults(test: ExpectationTest, asset: Asset) -> Iterator[Fault]:
    """What keeps an expectation from being asked of `asset`: a message, the place in it, and the way out."""
    expectation = test.expectation
    columns = {c.name: c for c in asset.columns}
    if columns:
        named = [("columns", n) for n in getattr(expectation, "columns", ())]
        named += [("column", expectation.column)] if hasattr(expectation, "column") else []
        for k, (field, name) in enumerate(named):
            if name not in columns:
                place: Path = (field, k) if field == "columns" else (field,)
                fix = did_you_mean(name, columns, f"columns are {listed(columns, 12)}")
                yield f"`{asset.id}` has no column `{name}`", place, fix
    kind = _type(asset, getattr(expectation, "column", None))
    match expectation.type:
        case "range":
            yield from _range_faults(expectation.min, expectation.max, kind)
        case "row_count":
            low, high = expectation.min, expectation.max
            if low is None and high is None:
                yield "a row count has a `min`, a `max` or both", (), "add one of them"
            elif low is not None and high is not None and low > high:
                yield f"no number is between {low} and {high}", ("min",), "swap the two"
        case "regex":
            if kind is not None and not isinstance(kind, String):
                yield f"a pattern is for texts, and the column is {kind}", ("column",), "name a column of texts"
            try:
                re.compile(expectation.pattern)
            except re.error as error:
                yield f"this is no pattern: {error}", ("pattern",), "correct it; escape what is meant as it stands"
            if (unknown := _NO_PATTERN.search(expectation.pattern)) is not None:
                message = f"no engine here looks around or back in a pattern, as `{unknown[1]}` does"
                yield message, ("pattern",), "say it without, or as a test of `kind: sql`"
        case "freshness":
            if kind is not None and not isinstance(kind, Date | Timestamp):
                fix = "name a date or timestamp column"
                yield f"an age is told from a date or timestamp, and the column is {kind}", ("column",), fix
            if parse_age(expectation.max_age) is None:
                yield "an age has a limit", ("max_age",), "write for instance `24h`"
        case "accepted_values":
            for k, value in enumerate(expectation.values):
                if kind is not None and not _fits(value, kind):
                    fix = f"write values of {kind}"
                    yield f"`{value}` is no value of {kind}", ("values", k), fix
        case "referential":
            if len(expectation.columns) != len(expectation.to):
                counts = f"{plural(len(expectation.columns), 'column')}, and {len(expectation.to)} to find them in"
                yield f"there are {counts}", ("to",), "name one for each"
            elif len({split_ref(ref)[:2] for ref in expectation.to}) > 1:
                yield "the columns to find values in are of several assets", ("to",), "name columns of one asset"
        case "custom":
            yield from _custom_faults(expectation.expression, asset)


_NO_PATTERN = re.compile(r"(?<!\\)(?:\\\\)*(\(\?(?:<?[=!]|P=)|\\[1-9])")
"""Lookahead, lookbehind and backreferences."""


def _type(asset: Asset, column: str | None) -> ValueType | None:
    spelled = next((c.type for c in asset.columns if c.name == column), None)
    try:
        return parse_type(spelled) if spelled else None
    except TypeSpellingError:
        return None


def _range_faults(low: Any, high: Any, kind: ValueType | None) -> Iterator[Fault]:
    if low is None and high is None:
        yield "a range has a `min`, a `max` or both", (), "add one of them"
        return
    for name, value in (("min", low), ("max", high)):
        if value is not None and kind is not None and not _fits(value, kind):
            yield f"`{value}` is no value of {kind}", (name,), f"write a value of {kind}"
            return
    if kind is not None and not isinstance(kind, (*_NUMBERS, Date, Timestamp)):
        yield f"a range is for numbers, dates and timestamps, and the column is {kind}", ("column",), "name another"
    elif low is not None and high is not None and type(low) is type(high) and low > high:
        yield f"nothing is between {low} and {high}", ("min",), "swap the two"


_DAY = r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z?)?"


def _fits(value: object, kind: ValueType) -> bool:
    match kind:
        case Bool():
            return isinstance(value, bool)
        case Int64():
            return isinstance(value, int) and not isinstance(value, bool)
        case Float64() | Decimal() | Money():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case Date() | Timestamp():
            return isinstance(value, str) and re.fullmatch(_DAY, value) is not None
        case String():
            return isinstance(value, str)
        case _:
            return True


def _custom_faults(expression: str, asset: Asset) -> Iterator[Fault]:
    """What keeps a condition from being asked of the asset's columns. Where one has no type that is known, as is told
    of the column, nothing is."""
    columns = {c.name: c.type for c in asset.columns if c.type is not None and _type(asset, c.name) is not None}
    if not columns or len(columns) != len(asset.columns):
        return
    try:
        compiled_condition(expression, columns)
    except StrataError as error:
        found = error.diagnostics[0]
        message = found.message if found.code == "E142" else f"{found.message} ({found.code})"
        yield message, ("expression",), found.fix or "correct the condition"
