"""Refresh: what was promoted is published anew as it stands now. Nothing is promoted, and what contracts say by now, or
what is wrong in them, keeps nobody from seeing the state of what is served (Seed 2, "Runtime Observations").

Publications take turns (`publishing`), so that none puts back what another saw later; results of tests that were not
run again are those of the views that are served.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Set
from datetime import datetime
from pathlib import Path
from typing import Any

from ...frozen import dataclass, replace
from ...planning.config import MAIN
from ..observations import Observations, SeenTest
from ..pipeline import Checked
from ..promotions import histories
from ..runtime_view import RuntimeView
from .observed import results_of_tests, seen_of_assets
from .project import Known, document, project
from .publish import CURRENT, RELEASES, TARGETS, Provenance, publish, publishing, refreshed
from .standing import served_products, served_view

KEPT_SECONDS = 3600.0
"""How long a release that was replaced is left to who still reads it."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What is served now: the view of each product that was ever promoted, and the release that they lie in.

    `drafts` are the views, which nobody is served, of the products that were asked for and never promoted; `tests` the
    results of the tests that were run.
    """

    views: Mapping[str, RuntimeView]
    release: Path | None
    drafts: Mapping[str, RuntimeView]
    tests: tuple[SeenTest, ...]


def refresh(
    checked: Checked,
    out: Path,
    clock: Callable[[], datetime],
    engine_version: str,
    products: Set[str] | None = None,
    *,
    environment: str = MAIN,
    others: Callable[[], Observations] = Observations,
) -> Refreshed:
    """Publish in `out` what was promoted, with the tests of `products` (None: of all) run again and with what `others`
    saw. `clock` (UTC) is read for the tests, and once it is this publication's turn: tests may take long, and others
    need not wait for them. Raises `StrataError` E160, E161."""
    ran = results_of_tests(checked, clock(), products, environment)
    with publishing(out):
        now = clock()
        seen = seen_of_assets(checked, environment, others()).with_(ran)
        before = {id_: served_view(out, id_) for id_ in served_products(out)}
        prepared = refreshed(checked, served_tests(before).with_(seen), Provenance("", None, engine_version, now))
        served = {id_: _as_it_was(id_, v, before, products) for id_, v in prepared.publication.views.items()}
        prepared = replace(prepared, publication=replace(prepared.publication, views=served))
        release = publish(prepared, TARGETS, out).release if served else None
        if release is not None:
            _collect(out, checked.setting.promotions, now)
    around = Known(checked.parsed, seen, checked.collated.candidates)
    drafts = {
        c.id: project(c, around, None, engine_version, now)
        for c in checked.collated.candidates
        if c.id not in served and (products is None or c.id in products) and checked.validated.passed(c)
    }
    return Refreshed(served, release, drafts, ran.tests)


def _collect(out: Path, record: Path, now: datetime) -> None:
    """Remove releases that nobody reads any more: not the one that is served, not those that the promotion record
    names, and none that is so young that somebody may be within it."""
    named = {p.release for all_ in histories(record).values() for p in all_}
    kept = {*named, (out / CURRENT).resolve().name}
    for release in (out / RELEASES).iterdir():
        with contextlib.suppress(OSError):  # what cannot be removed now is looked at again next time
            if release.name not in kept and now.timestamp() - release.stat().st_mtime > KEPT_SECONDS:
                shutil.rmtree(release)


def _as_it_was(
    product: str, view: RuntimeView, before: Mapping[str, Mapping[str, Any] | None], asked: Set[str] | None
) -> RuntimeView:
    """A view that nobody asked to renew, and that says what it said, keeps its moment, and so its files."""
    old = before.get(product)
    if old is None or asked is None or product in asked:
        return view
    at = old["provenance"].get("projected_at")
    kept = replace(view, provenance=replace(view.provenance, projected_at=at))
    return kept if json.loads(json.dumps(document(kept))) == old else view


def served_tests(views: Mapping[str, Mapping[str, Any] | None]) -> Observations:
    """The results of tests that views hold, by product."""
    return Observations(tests=tuple(t for id_, view in views.items() for t in _tests(id_, view)))


def _tests(product: str, view: Mapping[str, Any] | None) -> Iterator[SeenTest]:
    for test in view["tests"] if view is not None else ():
        if test.get("at") is not None and test["kind"] != "dbt":
            yield SeenTest(product, test["id"], test["outcome"], test["at"], test.get("offenders"), test.get("message"))
