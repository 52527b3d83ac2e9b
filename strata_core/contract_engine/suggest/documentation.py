"""What the pages of a product could say and its contract does not: what a row is."""

from __future__ import annotations

from collections.abc import Iterator

from ..candidate import Candidate, SuggestedEdit
from ..documents import Document
from .evidence import Evidence


def documentation(document: Document, candidate: Candidate, evidence: Evidence) -> Iterator[SuggestedEdit]:
    """The grain of a product of one asset, of the key that is promised or proven."""
    contract = candidate.contract
    if len(contract.assets) != 1 or (contract.semantics is not None and contract.semantics.grain is not None):
        return
    (asset,) = contract.assets
    promised = tuple(c.name for c in asset.columns if c.primary_key)
    proven = evidence.proven.get(asset.ref or asset.id) if asset.kind == "strata_model" else None
    key = promised or (proven.keys[0] if proven and proven.keys else None)
    if key is None:
        return
    grain = f"one row per {' and '.join(filter(None, (', '.join(key[:-1]), key[-1])))}" if key else "one row"
    how = "promised as key" if promised else "proven by the compiler to be a key"
    reason = f"{' and '.join(f'`{name}`' for name in key) or 'a single row'} of `{asset.id}` is {how}"
    yield SuggestedEdit(document.file, ("semantics", "grain"), grain, None, reason, candidate.span(("assets", 0)))
