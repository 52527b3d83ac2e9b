"""Live products whose contract is gone: E131. Nothing breaks readers more, and it has the same way as every other
breaking change: the owner retires the product, with all that goes with that, and removes the contract then."""

from __future__ import annotations

from collections.abc import Mapping

from ...diagnostics import Diagnostic, Report, Span
from ..collation.collate import Collated
from ..discover import InputKind
from ..parse.parsed import Parsed
from ..promotions import Promotion, record_file


def check_removed(
    promotions: Mapping[str, Promotion], collated: Collated, parsed: Parsed, folder: str, report: Report
) -> None:
    """E131 for each product that was promoted as live and not as retired, and has no contract. Where a contract cannot
    be read, it may be that one: then nothing is said. `folder` is that of the promotion record."""
    known = collated.by_id.keys()
    files = {c.file for c in collated.candidates}
    if any(f.kind is InputKind.CONTRACT and f.path not in files for f in parsed.files):
        return
    for product, promotion in sorted(promotions.items()):
        if product not in known and promotion.live and promotion.contract.get("status") != "retired":
            message = f"`{product}` {promotion.version} is live, and its contract is gone"
            fix = "bring it back with `status: retired`, promote that, and remove it then; a product is known by its id"
            report(Diagnostic("E131", message, Span(record_file(folder, promotion.number), 1, 1, 1, 1), fix=fix))
