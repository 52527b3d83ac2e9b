"""The checks of an apply on real data: sources before they are read, joins' expectations, candidates.

A source's declaration is what the compiler's proofs rest on, so its rows are checked once per content and
declaration; a candidate is checked for what its contract promises (Seed 0 §5 C).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from contextlib import closing
from datetime import datetime
from pathlib import Path

from ...analysis.compiled import CompiledModel, JoinExpectation, Source
from ...analysis.scope import fresh
from ...contract.assertions import MOST_SAMPLES, Holds
from ...contract.freshness import age_at, outdated
from ...contract.model import TableContract
from ...contract.report import PinReport, shown_row
from ...contract.write_pin import pin
from ...diagnostics import Diagnostic
from ...engines.protocol import Engine, ParquetTable, TableInput, as_text
from ...frozen import replace
from ...relation.build import aggregate_rows, filter_rows, limit_rows, ref
from ...relation.expressions import aggregate, call, literal
from ...relation.nodes import AggregateItem, Item, Relation
from ..faults import told_at
from ..hidden import columns_from
from ..promised import held_to


def pin_source(
    engine: Engine, source: Source, table: TableInput, now: datetime, hidden: Set[str] = frozenset()
) -> PinReport:
    """The report on a source's rows against its declaration. No sample shows a value of a `hidden` column."""
    with told_at(source):
        report = pin(engine, table, source.contract, now=now, raw=as_text(table), masked=hidden)
    return replace(report, source=True)


def source_outdated(source: Source, written: datetime | None, now: datetime) -> Diagnostic | None:
    """E085 where a source promises a freshness of no column of its own, and its rows were `written` longer ago."""
    if written is None:
        return None
    age = age_at(written, now)
    return outdated(source.freshness, age, f"the data of source `{source.name}` was written", "it", source.span)


def pin_candidate(
    engine: Engine,
    model: CompiledModel,
    paths: Sequence[Path],
    now: datetime,
    hidden: Set[str],
    *,
    proven: bool = True,
    contract: TableContract | None = None,
    also: Sequence[Holds] = (),
) -> PinReport:
    """The report on the files of a candidate against its model's contract, or against `contract`, and what is asked
    `also`; without a contract nothing is promised.

    No sample shows a value of a `hidden` column. What is proven of a model's rows is only `proven` of rows that were
    computed at once: where some were added to others, every promise is asked.
    """
    columns = model.relation.schema.columns
    contract = contract or held_to(model)
    table = ParquetTable(paths, columns, ours=True)
    also = [*(a for a in model.assertions if isinstance(a, Holds)), *also]
    return pin(engine, table, contract, now=now, proofs=model.proofs if proven else (), also=also, masked=hidden)


def unmet_expectations(
    engine: Engine, model: CompiledModel, tables: Mapping[str, TableInput], hidden: Mapping[str, Set[str]]
) -> tuple[Diagnostic, ...]:
    """E087 for each `expect` of the model's joins that the data does not keep, with sample keys.

    Values of columns that come from a `hidden` one (column names by source and model) are not shown.
    """
    found = []
    for expectation in model.expectations:
        with closing(engine.execute(_repeated(expectation), tables)) as reader:
            rows = reader.read_all().to_pylist()
        if rows:
            found.append(_unmet(expectation, rows, columns_from(expectation.relation, hidden)))
    return tuple(found)


def _repeated(expectation: JoinExpectation) -> Relation:
    """A few keys that more than one row has, the most frequent first."""
    rows = expectation.relation
    for name in expectation.columns:
        if rows.schema[name].inferred.nullable:
            rows = filter_rows(rows, call("is_not_null", ref(rows, name)))
    keys, count = [Item(name, ref(rows, name)) for name in expectation.columns], _count(expectation)
    counted = aggregate_rows(rows, keys, [AggregateItem(count, aggregate("count", grouped=True))])
    repeated = filter_rows(counted, call("gt", ref(counted, count), literal(1)))
    return limit_rows(repeated, (), 0, MOST_SAMPLES)


def _count(expectation: JoinExpectation) -> str:
    """The column that counts the rows of a key, which may be called anything but what a key is."""
    return fresh("rows", expectation.columns)


def _unmet(expectation: JoinExpectation, rows: list[dict[str, object]], hidden: Set[str]) -> Diagnostic:
    keys = (shown_row({name: row[name] for name in expectation.columns}, hidden) for row in rows)
    samples = "; ".join(f"{key} ({row[_count(expectation)]} rows)" for key, row in zip(keys, rows, strict=True))
    return Diagnostic(
        "E087",
        f"`{expectation.text}` does not hold: several rows have one key",
        expectation.span,
        label="checked on the data of this apply",
        fix="make the joined table unique by these columns, or drop the expectation",
        notes=(f"for instance {samples}",),
    )
