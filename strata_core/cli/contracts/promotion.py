"""What promotion mode needs besides a check: who promotes, from which commit, and what was seen."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from importlib.metadata import version

from ...contract_engine.git_state import changed, checked_out
from ...contract_engine.observations import utc_now
from ...contract_engine.pipeline import Checked
from ...contract_engine.serving.observed import observed
from ...contract_engine.serving.publish import Prepared, Provenance, prepare
from ...diagnostics import Diagnostic, StrataError
from ...diagnostics.listing import listed


def prepared(checked: Checked, products: Sequence[str], by: str | None = None, commit: str | None = None) -> Prepared:
    """What promoting `products` would publish. Raises `StrataError` E160 with all that keeps them from it."""
    provenance = Provenance(by or _user(), commit or _commit(checked, products), version("strata-tables"), utc_now())
    return prepare(checked, products, observed(checked, provenance.now), provenance)


def _user() -> str:
    """Who is at work; E160 where this machine knows no name, as in a container whose user is a number."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        message = "nobody can tell later who promoted this: no user is known"
        raise StrataError(Diagnostic("E160", message, fix="say who promotes with `--by NAME`")) from None


def _commit(checked: Checked, products: Sequence[str]) -> str:
    """The commit that is checked out; E160 where it does not have the files as they are."""
    root = checked.setting.root
    commit = checked_out(root)
    if commit is None:
        fix = "commit the contracts, or name the commit with `contract-engine publish --commit`"
        raise StrataError(
            Diagnostic("E160", "nobody can tell later where this comes from: there is no commit", fix=fix)
        )
    chosen = [c for c in checked.collated.candidates if not products or c.id in products]
    files = {path for c in chosen for path in c.inputs if (root / path).is_file()}
    if dirty := changed(root, sorted(files)):
        message = f"what is promoted is not what is committed: {listed(dirty, 5)}"
        fix = "commit it first, or name its commit with `contract-engine publish --commit`"
        raise StrataError(Diagnostic("E160", message, fix=fix))
    return commit
