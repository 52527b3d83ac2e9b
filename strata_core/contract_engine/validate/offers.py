"""Tables that two products list: W115, for nobody knows who answers for such a table, and the store keeps it once."""

from __future__ import annotations

from collections.abc import Sequence

from ...diagnostics import Related, Report, Severity
from ..collation.candidate import Candidate
from ..offered import offered_twice, tables_of
from ..parse.parsed import GeneratedAsset


def check_offers(candidates: Sequence[Candidate], generated: Sequence[GeneratedAsset], report: Report) -> None:
    """W115 at each asset of a product that an earlier one, by their ids, has among its assets."""
    for (owner, there), (candidate, here) in offered_twice(candidates, tables_of(generated)):
        asset, theirs = candidate.contract.assets[here], owner.contract.assets[there]
        message = f"`{asset.ref or asset.id}` is an asset of `{owner.id}` too: two products answer for one table"
        fix = (
            f"leave it to one of them, and name that one under `lineage.upstream` of the other (`product: {owner.id}`);"
            " where two tables are meant, give each its own `ref`, or the `location` of its rows"
        )
        related = (Related(owner.span(("assets", there, "id")), f"`{theirs.id}` of `{owner.id}` is the same table"),)
        path = ("assets", here, "ref" if asset.ref is not None else "id")
        report(candidate.finding("W115", message, path, fix, severity=Severity.WARNING, related=related))
