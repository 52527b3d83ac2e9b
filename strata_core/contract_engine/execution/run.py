"""Tests of products are asked of their rows, and what comes of it is an observation like any other (Seed 2, step 5).

SQL and expectations run here; dbt's tests are dbt's, and their results are read from its files. A test whose rows are
out of reach, or whose SQL is of another dialect, is not run, and its status says why. Whether that blocks is for
validation to say (E143), whether a failure does for promotion (E160).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from datetime import datetime
from functools import cache
from types import MappingProxyType

from ...contract.model import TableContract
from ...contract.report import shown_row
from ...diagnostics import StrataError
from ...frozen import dataclass, replace
from ...instants import iso_seconds
from ...planning.inputs.reachable import Answer, ReachableTables, TableInput
from ...relation.schema import Column
from ...types import UNKNOWN
from ...types.inferred import Inferred
from ..authored import Asset, AuthoredContract
from ..authored_tests import Custom, DbtTest, ExpectationTest, Referential, SqlTest
from ..conditions import TABLE, compiled_condition
from ..naming import split_ref
from ..observations import Observations, Outcome, SeenTest, not_asked
from ..pipeline import Checked
from ..sql_tables import assets_read
from ..validate.test_shapes import DIALECTS
from .masks import masked_columns
from .statements import statement

SECONDS = 60.0
"""The longest that a test may take."""
SAMPLES = 3


@dataclass(frozen=True, slots=True)
class _Place:
    """An asset, what is promised of its table, and the columns whose values are not shown: those that the contract
    classifies, and those that the model does which makes the rows."""

    asset: Asset
    promised: TableContract | None
    hidden: frozenset[str]


def run_tests(
    checked: Checked,
    tables: ReachableTables,
    now: datetime,
    products: Set[str] | None = None,
    *,
    only: Set[tuple[str, str]] | None = None,
    rows: Mapping[tuple[str, str], TableInput] = MappingProxyType({}),
) -> Observations:
    """The results of the tests of sound products (of `products` alone, if given) at the instant `now` (UTC).

    `only` names tests by product and id, where others are not to be run; `rows` holds candidates, by product and asset:
    they are asked in the place of what is there now.
    """
    candidates = {c.id: c for c in checked.collated.candidates}

    @cache
    def place(product: str, asset: str) -> _Place | None:
        candidate = candidates.get(product)
        if candidate is None or not checked.validated.passed(candidate):
            return None
        found = next((a for a in candidate.contract.assets if a.id == asset), None)
        if found is None:
            return None
        return _place(found, checked.validated.tables[product].get(asset), tables)

    wanted = set(candidates) if only is None else {product for product, _ in only}
    results = [
        result
        for candidate in checked.collated.candidates
        if candidate.id in wanted and (products is None or candidate.id in products)
        if checked.validated.passed(candidate)
        for result in _of_product(candidate.contract, place, tables, now, only, rows)
    ]
    return Observations(tests=tuple(results))


def _place(asset: Asset, promised: TableContract | None, tables: ReachableTables) -> _Place:
    model = asset.model
    hidden = promised.hidden if promised is not None else frozenset[str]()
    return _Place(asset, promised, hidden | (tables.hidden(model) if model is not None else frozenset()))


def _of_product(
    contract: AuthoredContract,
    place: Callable[[str, str], _Place | None],
    tables: ReachableTables,
    now: datetime,
    only: Set[tuple[str, str]] | None,
    rows: Mapping[tuple[str, str], TableInput],
) -> Iterator[SeenTest]:
    for test in contract.tests:
        if not isinstance(test, DbtTest) and (only is None or (contract.id, test.id) in only):
            yield _of_test(contract, test, place, tables, now, rows)


def _of_test(
    contract: AuthoredContract,
    test: SqlTest | ExpectationTest,
    place: Callable[[str, str], _Place | None],
    tables: ReachableTables,
    now: datetime,
    rows: Mapping[tuple[str, str], TableInput],
) -> SeenTest:
    at = iso_seconds(now)
    if isinstance(test, SqlTest) and (test.dialect or "duckdb") not in DIALECTS:
        return not_asked(contract.id, test.id, f"nothing here runs SQL of {test.dialect}", "unsupported")
    try:
        read = _read(contract, test)
        named = {name: found for name, key in read.items() if (found := place(*key)) is not None}
        if lost := sorted({product for name, (product, _) in read.items() if name not in named}):
            why = f"the contract of {', '.join(f'`{product}`' for product in lost)} does not pass validation"
            return SeenTest(contract.id, test.id, "error", at, message=f"{why}: where its rows are is not known")
        inputs = {
            name: rows[read[name]] if read[name] in rows else asset_rows(one.asset, one.promised, tables)
            for name, one in named.items()
        }
    except StrataError as error:
        return not_asked(contract.id, test.id, f"its rows are out of reach: {error.diagnostics[0].message}")
    try:
        outcome, offenders, message = _asked(test, named, inputs, tables, now)
        return SeenTest(contract.id, test.id, outcome, at, offenders, message)
    except StrataError as error:
        return SeenTest(contract.id, test.id, "error", at, message=_fault(error, named.values()))


def _fault(error: StrataError, places: Iterable[_Place]) -> str:
    """Why a test could not be answered; an engine names the value that it failed on, which may be a classified one."""
    if error.diagnostics[0].code == "E090" and any(p.hidden for p in places):
        return "the query failed; why is not shown, for it may name values of classified columns"
    return error.diagnostics[0].message


def _read(contract: AuthoredContract, test: SqlTest | ExpectationTest) -> Mapping[str, tuple[str, str]]:
    """The tables that a test reads: the names that they have in its query, with product and asset."""
    match test:
        case SqlTest():
            # The others need not be in reach.
            return {name: (contract.id, asset) for name, asset in assets_read(test, contract.assets).items()}
        case ExpectationTest(expectation=Referential(to=to)):
            other, asset, _ = split_ref(to[0])
            product = other or contract.id
            name = asset if product == contract.id else f"{product}/{asset}"
            return {test.asset: (contract.id, test.asset), name: (product, asset)}
        case ExpectationTest():
            return {test.asset: (contract.id, test.asset)}


def tables_read(contract: AuthoredContract, test: SqlTest | ExpectationTest) -> frozenset[tuple[str, str]]:
    """The tables that a test reads, by product and asset."""
    return frozenset(_read(contract, test).values())


def asset_rows(asset: Asset, promised: TableContract | None, tables: ReachableTables) -> TableInput:
    """The rows of an asset where its contract says that they are; raises `StrataError` where they are out of reach."""
    if asset.location is not None and "://" not in asset.location:
        return tables.file(asset.location, _columns(promised))
    return tables.dbt_model(asset.names[0]) if asset.model is None else tables.model(asset.model)


def _columns(promised: TableContract | None) -> tuple[Column, ...]:
    """The columns of a file that has no types of its own. Nothing that is promised of nulls is taken for granted."""
    return tuple(Column(f.name, Inferred(f.type, nullable=True)) for f in promised.fields) if promised else ()


Result = tuple[Outcome, int | None, str | None]


def _asked(
    test: SqlTest | ExpectationTest,
    named: Mapping[str, _Place],
    inputs: Mapping[str, TableInput],
    tables: ReachableTables,
    now: datetime,
) -> Result:
    hidden = frozenset(name for place in named.values() for name in place.hidden)
    if isinstance(test, SqlTest):
        answer = tables.ask(test.sql, inputs, seconds=SECONDS, samples=SAMPLES)
        masked = masked_columns(test.sql, hidden, answer.columns)
        return _told(answer, masked)
    if isinstance(test.expectation, Custom):
        return _condition(test.expectation.expression, named[test.asset], inputs[test.asset], tables)
    other = next((name for name in inputs if name != test.asset), test.asset)
    query = statement(test.expectation, test.asset, other, now)
    assert query is not None, "every other expectation is a query"
    answer = tables.ask(query, inputs, seconds=SECONDS, samples=SAMPLES)
    masked = named[test.asset].hidden
    if getattr(test.expectation, "column", None) in masked:
        masked |= {"latest"}
    return _told(answer, masked)


def _told(answer: Answer, masked: Set[str]) -> Result:
    if answer.rows == 0:
        return "passed", 0, None
    rows = [shown_row(dict(zip(answer.columns, row, strict=True)), masked) for row in answer.samples]
    return "failed", answer.rows, _message(answer.rows, "; ".join(rows))


def _message(rows: int, samples: str) -> str:
    return f"{'a row is' if rows == 1 else f'{rows:,} rows are'} wrong, for instance {samples}"


def _condition(expression: str, place: _Place, table: TableInput, tables: ReachableTables) -> Result:
    """A condition in the Strata language; what is null does not break it, as in `test` blocks."""
    from ...planning.testing import asked

    columns = _columns(place.promised)
    if not columns or any(c.inferred.type == UNKNOWN for c in columns):
        return "not_run", None, "the types of its columns are not known"
    condition = compiled_condition(expression, {c.name: str(c.inferred.type) for c in columns})
    # What is tested is what was published, not a promise about it: the rows stand for the model.
    tested = asked(tables.engine, condition, {TABLE: replace(table, columns=columns)}, place.hidden)
    if tested.broken == 0:
        return "passed", 0, None
    if not tested.samples:
        return "failed", tested.broken, "it does not hold for the table as a whole"
    return "failed", tested.broken, _message(tested.broken, "; ".join(tested.samples))
