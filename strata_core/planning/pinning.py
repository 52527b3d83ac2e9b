"""The checks of an apply on real data: sources before they are read, joins' expectations, candidates.

A source's declaration is what the compiler's proofs rest on, so its rows are checked once per content and
declaration; a candidate is checked for what its contract promises (Seed 0 §5 C).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

from ..analysis.compiled import CompiledModel, JoinExpectation, Source
from ..contract.assertions import Holds
from ..contract.model import TableContract
from ..contract.report import PinReport
from ..contract.write_pin import pin
from ..diagnostics import Diagnostic
from ..engines.protocol import CsvTable, Engine, ParquetTable, TableInput
from ..relation.build import aggregate_rows, filter_rows, limit_rows, ref
from ..relation.expressions import aggregate, call, literal
from ..relation.nodes import AggregateItem, Item, Relation
from ..relation.schema import Column
from ..store.artifacts import Candidate
from ..store.environments import EnvironmentVersion
from ..store.store import Store
from ..types import STRING, Inferred


class Verified:
    """Which sources were checked already, in this apply or by the artifacts that are live."""

    def __init__(self, store: Store, version: EnvironmentVersion) -> None:
        self._store, self._version = store, version
        self._known: set[tuple[str, str, str]] | None = None

    def knows(self, source: Source, digest: str) -> bool:
        """Whether rows of this digest were found to keep this declaration."""
        return (source.name, digest, source.contract.digest) in self._facts()

    def learn(self, source: Source, digest: str) -> None:
        """Note that they do."""
        self._facts().add((source.name, digest, source.contract.digest))

    def _facts(self) -> set[tuple[str, str, str]]:
        if self._known is None:
            self._known = set()
            for name, pointer in self._version.models.items():
                artifact = self._store.find(name, pointer.address)
                note = artifact.manifest.provenance if artifact else {}
                inputs, contracts = note.get("inputs"), note.get("source_contracts")
                if isinstance(inputs, Mapping) and isinstance(contracts, Mapping):
                    self._known |= {(str(u), str(inputs[u]), str(c)) for u, c in contracts.items() if u in inputs}
        return self._known


def pin_source(engine: Engine, source: Source, table: TableInput, digest: str, verified: Verified) -> PinReport:
    """The report on a source's rows against its declaration; what passes is not asked again."""
    report = pin(engine, table, source.contract, now=datetime.now(UTC), raw=_as_text(table))
    if report.passed:
        verified.learn(source, digest)
    return report


def _as_text(table: TableInput) -> CsvTable | None:
    """A CSV file with every field as the text that it is; other formats have types of their own."""
    if not isinstance(table, CsvTable):
        return None
    text = Inferred(STRING, nullable=True)
    return replace(table, columns=tuple(Column(c.name, text) for c in table.columns))


def pin_candidate(engine: Engine, model: CompiledModel, candidate: Candidate) -> PinReport:
    """The report on a candidate against its model's contract; without a contract nothing is asked."""
    columns = model.relation.schema.columns
    contract = model.contract or TableContract(model.name, ())
    table = ParquetTable(candidate.paths, columns)
    also = [a for a in model.assertions if isinstance(a, Holds)]
    return pin(engine, table, contract, now=datetime.now(UTC), proofs=model.proofs, also=also)


def unmet_expectations(
    engine: Engine, model: CompiledModel, tables: Mapping[str, TableInput]
) -> tuple[Diagnostic, ...]:
    """E087 for each `expect` of the model's joins that the data does not keep, with sample keys."""
    found = []
    for expectation in model.expectations:
        with closing(engine.execute(_repeated(expectation), tables)) as reader:
            rows = reader.read_all().to_pylist()
        if rows:
            found.append(_unmet(expectation, rows))
    return tuple(found)


def _repeated(expectation: JoinExpectation) -> Relation:
    """A few keys that more than one row has, the most frequent first."""
    rows = expectation.relation
    for name in expectation.columns:
        if rows.schema[name].inferred.nullable:
            rows = filter_rows(rows, call("is_not_null", ref(rows, name)))
    keys = [Item(name, ref(rows, name)) for name in expectation.columns]
    counted = aggregate_rows(rows, keys, [AggregateItem(COUNT, aggregate("count", grouped=True))])
    repeated = filter_rows(counted, call("gt", ref(counted, COUNT), literal(1)))
    return limit_rows(repeated, (), 0, SAMPLES)


COUNT = "rows of this key"
SAMPLES = 5


def _unmet(expectation: JoinExpectation, rows: list[dict[str, object]]) -> Diagnostic:
    samples = "; ".join(
        ", ".join(f"{name} = {row[name]!r}" for name in expectation.columns) + f" ({row[COUNT]} rows)" for row in rows
    )
    return Diagnostic(
        "E087",
        f"`{expectation.text}` does not hold: several rows have one key",
        expectation.span,
        label="checked on the data of this apply",
        fix="make the joined table unique by these columns, or drop the expectation",
        notes=(f"for instance {samples}",),
    )
