"""The sections of a page about where a product comes from: its versions, and the source of each value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...diagnostics.wording import plural
from ..authored import AuthoredContract
from ..collation.candidate import TIERS
from .blocks import Block, Code, Facts, Folded, Line, Mark, Paragraph, Row, Table, Tone, compact, joined
from .documented import Documented

_VERDICTS: Mapping[str, Tone] = {"major-breaking": "bad", "minor-compatible": "good", "patch-compatible": "good"}
_SHOWN = 24
"""A longer table of values' sources is folded."""


def versions(product: Documented, _: Mapping[str, str]) -> Iterator[Block]:
    """What was promoted, and what its readers have to know of the change."""
    if product.pending:
        tone = _VERDICTS.get(product.pending, "plain")
        yield Paragraph((f"{product.view.version} is not promoted: ", Mark(product.pending, tone), "."))
    if product.history:
        rows = tuple(
            Row(
                (
                    (Code(p.version),),
                    (Mark(p.verdict, _VERDICTS.get(p.verdict, "plain")),),
                    (p.at[:10],),
                    (p.by,),
                    (Code(p.commit[:12]) if p.commit else "",),
                    joined(Code(c) for c in p.changes),
                )
            )
            for p in reversed(product.history)
        )
        head = ("version", "verdict", "promoted", "by", "commit", "what changed for readers")
        yield compact(Table("Versions", head, rows))
    yield from _compatibility(product.view.contract)


def _compatibility(contract: AuthoredContract) -> Iterator[Block]:
    told = contract.compatibility
    if told is None:
        return
    rows: list[tuple[str, Line]] = []
    if told.deprecation:
        rows.append(("Version before", (f"announced {told.deprecation.announced}, gone {told.deprecation.sunset}",)))
    if told.consumer_impact:
        rows.append(("Impact on readers", (told.consumer_impact,)))
    if told.migration_notes:
        rows.append(("How to migrate", (told.migration_notes,)))
    for rename in told.renames:
        says = f"{rename.asset}.{rename.before} is now {rename.after}"
        rows.append(("Renamed", (says + (", and the old name still works" if rename.alias else ""),)))
    if rows:
        yield Facts(tuple(rows))


def provenance(product: Documented, _: Mapping[str, str]) -> Iterator[Block]:
    """The files that it was made of, and where each of its values stands."""
    made = product.view.provenance
    facts: list[tuple[str, Line]] = [("Engine", (made.engine_version,))]
    if made.promoted_at:
        facts.append(("Promoted", (f"{made.promoted_at} by {made.promoted_by or 'nobody named'}",)))
    if made.git_commit:
        facts.append(("Commit", (Code(made.git_commit),)))
    yield Facts(tuple(facts))
    inputs = tuple(Row(((Code(i.path),), (Code(i.sha256),))) for i in made.inputs)
    if inputs:
        yield Folded(f"Made of {plural(len(inputs), 'file')}", (Table("Files", ("file", "sha256"), inputs),))
    values = tuple(
        Row(((Code(path),), (TIERS[p.tier],), (Code(f"{p.span.file}:{p.span.line}"),))) for path, p in product.sources
    )
    if values:
        table = Table("Where each value comes from", ("value", "from", "at"), values)
        yield Folded(f"Where each of {len(values)} values comes from", (table,)) if len(values) > _SHOWN else table
