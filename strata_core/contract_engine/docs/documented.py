"""What documentation tells of: each product's view, with where its values come from, its versions and its readers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from ...frozen import dataclass, replace
from ..collation.candidate import Candidate, Provenance
from ..documents import Path, value_at
from ..parse.parsed import GeneratedAsset, Origin
from ..pipeline import Checked
from ..promotions import Promotion, histories
from ..runtime_view import RuntimeView


@dataclass(frozen=True, slots=True)
class Reader:
    """An asset of another product that is made of this one; `asset` `*` where only the product says so."""

    product: str
    asset: str
    upstream: str


@dataclass(frozen=True, slots=True)
class Documented:
    """A product as its documentation tells of it.

    `provenance` gives the source of each value of the contract, and `sources` the same by field path as people read
    it; both are empty where what is served is not what the files say by now. `origins` are by asset and column.
    `pending` is the verdict on a version that was not promoted.
    """

    view: RuntimeView
    provenance: Mapping[Path, Provenance]
    sources: tuple[tuple[str, Provenance], ...]
    origins: Mapping[tuple[str, str], tuple[Origin, ...]]
    history: tuple[Promotion, ...]
    readers: tuple[Reader, ...]
    pending: str | None = None


def documented(
    checked: Checked, views: Mapping[str, RuntimeView], fresh: Mapping[str, Promotion] | None = None
) -> tuple[Documented, ...]:
    """The products of `views`, by id. `fresh` holds promotions that are about to be recorded.

    Experimental tests are for owners and the agents that they name, and pages are for everybody: they are left out.
    """
    known = checked.collated.by_id
    recorded = histories(checked.setting.promotions)
    made = {ref: a for a in checked.parsed.generated if a.compiled or a.kind == "dbt_model" for ref in a.refs}
    readers: dict[str, list[Reader]] = defaultdict(list)
    for id_, view in sorted(views.items()):
        for edge in view.lineage:
            if edge.product is not None and edge.product != id_:
                readers[edge.product].append(Reader(id_, edge.asset, edge.upstream))
    found = []
    for id_, view in sorted(views.items()):
        history = recorded.get(id_, ())
        latest = (fresh or {}).get(id_)
        if latest is not None and (not history or history[-1].number < latest.number):
            history = (*history, latest)
        candidate = known.get(id_)
        served = candidate if candidate is not None and candidate.sound and _same(candidate, view) else None
        found.append(
            Documented(
                without_experiments(view),
                served.provenance if served else {},
                tuple(_sources(served)) if served else (),
                _origins(view, made),
                history,
                tuple(readers[id_]),
                _pending(checked, view, history),
            )
        )
    return tuple(found)


def without_experiments(view: RuntimeView) -> RuntimeView:
    """The view as everybody may see it."""
    hidden = {t.id for t in view.contract.tests if t.severity == "experimental"}
    contract = replace(view.contract, tests=tuple(t for t in view.contract.tests if t.id not in hidden))
    return replace(view, contract=contract, tests=tuple(t for t in view.tests if t.id not in hidden))


def _same(candidate: Candidate, view: RuntimeView) -> bool:
    return candidate.contract == view.contract


def _sources(candidate: Candidate) -> Iterator[tuple[str, Provenance]]:
    """The source of each single value, in the order of the contract; of lists of words, that of the list."""
    hidden = {n for n, t in enumerate(candidate.contract.tests) if t.severity == "experimental"}
    told: set[str] = set()
    for path, provenance in candidate.provenance.items():
        if not path or (path[0] == "tests" and len(path) > 1 and path[1] in hidden):
            continue
        value = value_at(candidate.data, path)
        if isinstance(value, Mapping) or (
            isinstance(value, list | tuple) and any(isinstance(i, Mapping) for i in value)
        ):
            continue
        spelled = candidate.spelled(path[:-1] if isinstance(path[-1], int) else path)
        if spelled not in told:
            told.add(spelled)
            yield spelled, provenance


def _origins(view: RuntimeView, made: Mapping[str, GeneratedAsset]) -> Mapping[tuple[str, str], tuple[Origin, ...]]:
    found = {}
    for asset in view.contract.assets:
        known = made.get(asset.ref or asset.id) or made.get(asset.id)
        for column in known.columns if known else ():
            if column.origins:
                found[asset.id, column.name] = column.origins
    return found


def _pending(checked: Checked, view: RuntimeView, history: tuple[Promotion, ...]) -> str | None:
    """The verdict on what the files say, where that version was not promoted yet."""
    verdict = checked.validated.compatibility.get(view.id)
    promoted = bool(history) and history[-1].version == view.version
    return None if verdict is None or promoted else verdict.verdict.value
