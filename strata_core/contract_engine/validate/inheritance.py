"""Classification inheritance: a column made of a classified one is classified at least as high (Seed 2, step 4).

Unless a transformation that an approver of the product approved lowers it. Origins come from `derived_from`, from
compiled Strata models (where they are proven) and from lineage that was seen. Code: E150.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from ...diagnostics import Related, Report, Span
from ..approvals import who_approves
from ..authored import AuthoredContract, ColumnContract
from ..collation.candidate import Candidate
from ..collation.collate import Collated
from ..documents import Path
from ..levels import Levels
from ..naming import split_ref
from ..parse.parsed import GeneratedAsset, GeneratedColumn, Parsed
from ..promotions import Promotion

Named = tuple[str, str]
"""A table, as tools or contracts name it, and a column of it."""


class Sensitivity:
    """The label of each column that has one, and where that was said: by contracts, and by Strata's own."""

    def __init__(self, collated: Collated, parsed: Parsed) -> None:
        # Of a manifest of thousands of models few are asked about: their columns are looked at then.
        self._assets: dict[str, list[GeneratedAsset]] = {}
        for asset in parsed.generated:
            for ref in asset.refs:
                self._assets.setdefault(ref, []).append(asset)
        self._columns: dict[str, dict[str, tuple[GeneratedColumn, Span]]] = {}
        self._labels: dict[Named, tuple[str | None, Span]] = {}
        self.products: dict[tuple[str, str, str], tuple[str | None, Span]] = {}
        for candidate in collated.candidates:
            if not candidate.sound:
                continue
            for i, one in enumerate(candidate.contract.assets):
                for j, promised in enumerate(one.columns):
                    lowered = promised.derived_from is not None and promised.derived_from.lowers_classification
                    if promised.classification is None and not lowered:
                        continue
                    said = (promised.classification, candidate.span(("assets", i, "columns", j, "classification")))
                    self.products[candidate.id, one.id, promised.name] = said
                    self._labels[one.ref or one.id, promised.name] = said

    def _known(self, table: str, column: str) -> tuple[GeneratedColumn, Span] | None:
        if table not in self._columns:
            listed = [(c, a.span) for a in reversed(self._assets.get(table, [])) for c in a.columns]
            self._columns[table] = {c.name: (c, c.span or span) for c, span in listed}
        return self._columns[table].get(column)

    def label(self, table: str, column: str) -> tuple[str | None, Span] | None:
        """The label of a column and where it was said; None where nobody said any."""
        if (said := self._labels.get((table, column))) is not None:
            return said
        known = self._known(table, column)
        return (known[0].classification, known[1]) if known and known[0].classification else None

    def origins(self, table: str, column: str) -> Iterator[tuple[Named, str | None, Span]]:
        """The nearest classified columns that a column is made of; what was declassified hides what is behind it."""
        known = self._known(table, column)
        waiting = [(o.table, o.column) for o in known[0].origins] if known else []
        seen: set[Named] = set()
        while waiting:
            here = waiting.pop()
            if here in seen:
                continue
            seen.add(here)
            if (said := self.label(*here)) is not None:
                yield here, *said
                continue
            behind = self._known(*here)
            waiting += [(o.table, o.column) for o in behind[0].origins] if behind else []

    def inherited(self, table: str, column: str, levels: Levels) -> str | None:
        """The highest label among what a column is made of."""
        labels = [label for _, label, _ in self.origins(table, column) if label is not None]
        return max(labels, key=levels.rank, default=None)


def check_inheritance(
    candidate: Candidate, sensitivity: Sensitivity, levels: Levels, promotion: Promotion | None, report: Report
) -> None:
    """E150 for each column that is classified lower than what it is made of. Who may allow that was settled by the
    `promotion` before."""
    contract = candidate.contract
    # Few contracts lower anything: the promoted one is read for those.
    approvers = cache(lambda: who_approves(contract, AuthoredContract.of(promotion.contract) if promotion else None))
    for i, asset in enumerate(contract.assets):
        for j, column in enumerate(asset.columns):
            path: Path = ("assets", i, "columns", j)
            sources: dict[str, tuple[str | None, Span]] = {}
            for ref in column.derived_from.columns if column.derived_from else ():
                product, table, name = split_ref(ref)
                said = sensitivity.products.get((product or contract.id, table, name))
                if said is not None:
                    sources[f"{product + '/' if product else ''}{table}.{name}"] = said
            for (table, name), label, span in sensitivity.origins(asset.ref or asset.id, column.name):
                sources.setdefault(f"{table}.{name}", (label, span))
            if sources:
                _check(candidate, f"{asset.id}.{column.name}", column, path, sources, levels, approvers, report)


def _check(
    candidate: Candidate,
    name: str,
    column: ColumnContract,
    path: Path,
    sources: Mapping[str, tuple[str | None, Span]],
    levels: Levels,
    approvers: Callable[[], tuple[str, ...]],
    report: Report,
) -> None:
    own = levels.rank(column.classification)
    higher = {s: said for s, said in sorted(sources.items()) if levels.rank(said[0]) > own}
    if not higher:
        return
    source, (label, span) = max(higher.items(), key=lambda item: levels.rank(item[1][0]))
    declared = column.derived_from
    said = f"is classified as `{column.classification}`" if column.classification else "is not classified"
    message = f"`{name}` is made of `{source}`, which is `{label}`, and {said}"
    fix = f"write `classification: {label}`"
    if declared is not None and declared.lowers_classification:
        if declared.transformation is None:
            fix = "say by what it is lowered: `derived_from: {transformation: …}`"
        elif declared.approved_by is None:
            fix = f"let an approver allow it: `derived_from: {{approved_by: {min(approvers())}}}`"
        elif declared.approved_by not in approvers():
            message = f"{message}; `{declared.approved_by}` may not allow that"
            fix = f"let {' or '.join(f'`{name}`' for name in sorted(approvers()))} approve it"
        else:
            return
    else:
        fix += ", or declare an approved transformation with `derived_from: {lowers_classification: true, …}`"
    related = (Related(span, f"classified as `{label}` here"),)
    report(candidate.finding("E150", message, path, fix, related=related))
