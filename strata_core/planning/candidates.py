"""What an apply of a plan would make, told apart before it is made: who starts applies by itself asks for each once.

A candidate is what a model means together with what it would read: of a source, and of a model that is not in the plan,
the digest of its data; of one that is in the plan its candidate, whether that is to be made or is live already. So it
is the same before what is upstream is made and after. While it stays, another apply would make the same, or fail in
the same way. What blocking tests ask of it, and of which rows, is a part of it: a test that was mended, or a table that
it looks into, may let pass what was refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..digests import hexdigest
from ..periods import Period
from .applying.blocking_tests import NO_TESTS, BlockingTests
from .partitions.asked_periods import tables_of
from .partitions.pieces import inputs_of
from .plan import Plan, PlannedModel
from .workspace import Workspace

Key = tuple[str, str | None]
"""A model, and one of its partitions of time where it was planned by these."""


def candidates(workspace: Workspace, plan: Plan, tests: BlockingTests = NO_TESTS) -> dict[Key, str]:
    """The digest of each candidate of `plan`, upstream first; `tests` are those that may refuse its models."""
    live = workspace.live(plan.base)
    whole: dict[str, str] = {}
    found: dict[Key, str] = {}
    for planned in plan.models:
        meant = ("candidate", planned.fingerprint.local, planned.fingerprint.merkle)
        tables = {name: table for name, table in tables_of(planned, live).items() if name not in whole}
        there = {name: table.digest for name, table in tables.items()}
        above = {name: whole[name] for name in planned.inputs if name in whole}
        whole[planned.name] = hexdigest(*meant, *_texts(there), *_texts(above))
        stale = [*_stale(planned)]
        read = inputs_of(workspace.compiled.models[planned.name], (p for _, p in stale if p), tables)
        for key, period in stale:
            if key is None or period is None:
                found[planned.name, None] = whole[planned.name]
            else:
                found[planned.name, key] = hexdigest(*meant, key, *_texts(read[period]), *_texts(above))
    asked = _asked(plan, tests, whole)
    return {key: hexdigest(one, asked[key[0]]) if key[0] in asked else one for key, one in found.items()}


def _asked(plan: Plan, tests: BlockingTests, whole: Mapping[str, str]) -> dict[str, str]:
    """By model, a digest of what is asked of it, and of what it reads, before it goes live."""
    found: dict[str, str] = {}

    def rows(name: str) -> str:
        pointer = plan.base.models.get(name)
        return whole.get(name) or (pointer.digest if pointer is not None else "")

    for planned in plan.models:
        above = [found[name] for name in planned.inputs if name in found]
        own = [(t.product, t.id, t.meaning, *map(rows, sorted(t.reads))) for t in tests.of(planned.name)]
        if above or own:
            found[planned.name] = hexdigest("asked", *above, *(text for test in own for text in test))
    return found


def _stale(planned: PlannedModel) -> Iterator[tuple[str | None, Period | None]]:
    if planned.periods is not None:
        yield from ((p.key, p.period) for p in planned.periods if p.causes)
    elif planned.stale:
        yield None, None


def _texts(digests: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(digests):
        yield from (name, digests[name])
