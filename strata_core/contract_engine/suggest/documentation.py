"""What the pages of a product could say better than its contract does: in the words that stand beside the asset, with
the names that columns have by now, and what a row is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..authored import Rename
from ..collation.candidate import Candidate, Confidence, SuggestedEdit
from ..documents import Document
from ..mentions import naming, texts
from .evidence import Evidence


def documentation(document: Document, candidate: Candidate, evidence: Evidence) -> Iterator[SuggestedEdit]:
    """The edits."""
    reworded = {e.path: e for e in candidate.edits if is_wording(e)}
    renamed = {e.path: e for e in _renamed(document, candidate)}
    yield from {**reworded, **renamed}.values()
    yield from _grain(document, candidate, evidence)


def is_wording(edit: SuggestedEdit) -> bool:
    """Whether an edit of collation changes nothing but words."""
    return edit.path[-1:] == ("description",)


def _renamed(document: Document, candidate: Candidate) -> Iterator[SuggestedEdit]:
    """Texts that name a column as it was called before its declared rename."""
    contract = candidate.contract
    columns = {a.id: {c.name for c in a.columns} for a in contract.assets}
    renames = [
        (n, r)
        for n, r in enumerate(contract.compatibility.renames if contract.compatibility else ())
        if r.before not in columns.get(r.asset, ()) and r.after in columns.get(r.asset, ())
    ]
    if not renames:
        return
    for path, text in texts(document.data):
        new, reasons, last = text, [], 0
        for number, rename in renames:
            changed = _with_new_name(new, rename)
            if changed != new:
                new, last = changed, number
                reasons.append(f"`{rename.asset}.{rename.before}` is called `{rename.after}` by now")
        if new != text:
            span = candidate.span(("compatibility", "renames", last))
            yield SuggestedEdit(document.file, path, new, text, "; ".join(reasons), span, Confidence.HIGH)


def _with_new_name(text: str, rename: Rename) -> str:
    """`text` with the new name. Who names the new one beside the old tells of the rename."""
    if re.search(rf"(?<!\w){re.escape(rename.after)}(?!\w)", text):
        return text
    return naming(rename.asset, rename.before).sub(lambda m: f"{m[1] or ''}{rename.after}", text)


def _grain(document: Document, candidate: Candidate, evidence: Evidence) -> Iterator[SuggestedEdit]:
    """The grain of a product of one asset, of the key that is promised or proven."""
    contract = candidate.contract
    if len(contract.assets) != 1 or (contract.semantics is not None and contract.semantics.grain is not None):
        return
    (asset,) = contract.assets
    promised = tuple(c.name for c in asset.columns if c.primary_key)
    proven = evidence.known.proofs.models.get(asset.ref or asset.id) if asset.kind == "strata_model" else None
    key = promised or (proven.keys[0] if proven and proven.keys else None)
    if key is None:
        return
    grain = f"one row per {' and '.join(filter(None, (', '.join(key[:-1]), key[-1])))}" if key else "one row"
    how = "promised as key" if promised else "proven by the compiler to be a key"
    reason = f"{' and '.join(f'`{name}`' for name in key) or 'a single row'} of `{asset.id}` is {how}"
    span = candidate.span(("assets", 0))
    yield SuggestedEdit(document.file, ("semantics", "grain"), grain, None, reason, span, Confidence.HIGH)
