"""Publish: views, index and whatever other targets there are, all of them or none, with a promotion record (Seed 2,
step 8).

What is published is a *release*: a folder of files under the digest of their content. It is written whole, the record
is appended (a create-if-absent: the one commit point, for all products at once), then the link `current` is turned to
it in one rename. Who dies in between leaves either nothing, or a record whose release lies there complete; the next
publication turns the link. Code: E160.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from ...contract.changes import Impact
from ...diagnostics import Diagnostic, Span, StrataError
from ...diagnostics.suggest import did_you_mean
from ...digests import hexdigest
from ...frozen import dataclass, replace
from ...instants import iso_seconds
from ...store.log import LogConflictError
from ...uncommitted import uncommitted
from .. import promotions
from ..collation.candidate import Candidate
from ..collation.merge_rules import canonical
from ..discover import is_contract
from ..observations import Observations
from ..pipeline import Checked
from ..promotions import Promotion
from ..runtime_view import RuntimeView
from .project import Known, document, project, view_faults

try:
    import fcntl
except ImportError:  # where the operating system has no such locks, publications of one machine do not take turns
    fcntl = None  # type: ignore[assignment]

CURRENT = "current"
RELEASES = "releases"


@dataclass(frozen=True, slots=True)
class Publication:
    """What targets make files of: every product that is live or promoted now, with its view and its promotions."""

    checked: Checked
    views: Mapping[str, RuntimeView]
    promotions: Mapping[str, Promotion]


@dataclass(frozen=True, slots=True)
class Target:
    """A place that is published to: a name, and the files that it wants, by path below the release."""

    name: str
    files: Callable[[Publication], Mapping[str, bytes]]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who promotes, from which commit, with which version of this program, when."""

    by: str
    commit: str | None
    engine_version: str
    now: datetime


@dataclass(frozen=True, slots=True)
class Published:
    """What came of it: the promotions that were recorded now, and where the release lies."""

    promoted: tuple[Promotion, ...]
    release: Path
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A publication that nothing keeps from being made, and what it promotes, for a record of `expected` entries."""

    publication: Publication
    fresh: tuple[Promotion, ...]
    expected: int


def prepare(checked: Checked, products: Sequence[str], seen: Observations, provenance: Provenance) -> Prepared:
    """What promoting `products` (empty: all) would publish; nothing is written.

    A product whose promoted contract did not change is published anew without a new promotion. Raises `StrataError`
    E160 with everything that keeps a product from promotion, E093 where somebody promoted since the check: versions
    were held against what had been promoted then.
    """
    chosen = _chosen(checked, products)
    problems = [d for c in chosen for d in _obstacles(checked, c)]
    problems += _unread(checked) if not products else ()
    if problems:
        raise StrataError(*problems)
    expected = promotions.head(checked.setting.promotions)
    digests = {i.path: i.digest for i in checked.inventory.inputs}
    made = (_promotion(checked, c, provenance, digests) for c in chosen)
    fresh = tuple(replace(p, number=expected + 1) for p in made if p is not None)
    promoted = promotions.latest(checked.setting.promotions)[0]
    if promoted != checked.promotions:
        raise StrataError(_came_first())
    known = {**promoted, **{p.product: p for p in fresh}}
    current = {c.id: c for c in chosen}
    views = _views(checked, known, current, seen, provenance)
    for promotion in fresh:
        problems += _failed_tests(views[promotion.product], current[promotion.product])
    if problems:
        raise StrataError(*problems)
    return Prepared(Publication(checked, views, known), fresh, expected)


def refreshed(checked: Checked, seen: Observations, provenance: Provenance) -> Prepared:
    """A publication that promotes nothing: what was promoted, as it stands now. What the files say by now, and what is
    wrong in them, does not matter to it. Raises `StrataError` E161 where the promotion record is damaged."""
    known, problems = promotions.latest(checked.setting.promotions)
    if problems:
        raise StrataError(*problems)
    same = {
        id_: checked.collated.by_id[id_]
        for id_, promotion in known.items()
        if id_ in checked.collated.by_id and _says_the_same(checked.collated.by_id[id_], promotion)
    }
    views = _views(checked, known, same, seen, provenance)
    return Prepared(Publication(checked, views, known), (), promotions.head(checked.setting.promotions))


def _views(
    checked: Checked,
    known: Mapping[str, Promotion],
    current: Mapping[str, Candidate],
    seen: Observations,
    provenance: Provenance,
) -> dict[str, RuntimeView]:
    """The view of each product in `known`, of what its files say where it is in `current`, else of what was promoted.
    Raises `StrataError` E160 where one has not the shape of a view."""
    around = Known(checked.parsed, seen, checked.collated.candidates)
    views: dict[str, RuntimeView] = {}
    problems: list[Diagnostic] = []
    for id_, promotion in sorted(known.items()):
        candidate = current.get(id_) or _as_promoted(promotion)
        views[id_] = project(candidate, around, promotion, provenance.engine_version, provenance.now)
        problems += view_faults(views[id_], candidate)
    if problems:
        raise StrataError(*problems)
    return views


def publish(prepared: Prepared, targets: Sequence[Target], out: Path) -> Published:
    """Publish a release of everything that was ever promoted.

    Raises `StrataError` E160 where it cannot be written, E093 where another publication came first.
    """
    checked = prepared.publication.checked
    files = {path: content for target in targets for path, content in target.files(prepared.publication).items()}
    _check_free(out / CURRENT)
    release = _stage(out, files)
    recorded: tuple[Promotion, ...] = ()
    if prepared.fresh:
        named = [replace(p, release=release.name) for p in prepared.fresh]
        try:
            recorded = promotions.record(checked.setting.promotions, named, prepared.expected)
        except LogConflictError:
            raise StrataError(_came_first()) from None
    _turn(out, release)
    return Published(recorded, release, tuple(sorted(files)))


def _came_first() -> Diagnostic:
    message = "another publication came first: the versions were held against what had been promoted before"
    return Diagnostic("E093", message, fix="publish again; nothing was published")


def _chosen(checked: Checked, products: Sequence[str]) -> list[Candidate]:
    known = checked.collated.by_id
    for id_ in products:
        if id_ not in known:
            fix = did_you_mean(id_, known, "`contract-engine discover` lists contracts")
            raise StrataError(*checked.unread(), Diagnostic("E073", f"there is no product `{id_}`", fix=fix))
    return [known[id_] for id_ in products] if products else list(known.values())


def _unread(checked: Checked) -> Iterable[Diagnostic]:
    """What keeps files from being contracts, where all products are meant: one of them may be of a file's."""
    found = checked.unread()
    yield from found
    for file in sorted({d.span.file for d in found if d.span is not None}):
        message = f"`{file}` cannot be promoted: it is no contract as it stands"
        fix = "mend it, or name the products that are meant; nothing was published"
        yield Diagnostic("E160", message, Span(file, 1, 1, 1, 1), fix=fix)


def _obstacles(checked: Checked, candidate: Candidate) -> Iterable[Diagnostic]:
    """What was found in the product's own files and blocks it, and that it does."""
    blocking = checked.blocking(candidate)
    if blocking or not candidate.sound:
        yield from blocking
        message = f"`{candidate.id}` cannot be promoted: {_counted(len(blocking))} it"
        yield Diagnostic("E160", message, Span(candidate.file, 1, 1, 1, 1), fix="mend them; nothing was published")


def _counted(findings: int) -> str:
    return "1 finding blocks" if findings == 1 else f"{findings} findings block"


def _failed_tests(view: RuntimeView, candidate: Candidate) -> Iterable[Diagnostic]:
    """A blocking test that was run and failed keeps a new version from promotion."""
    for test in view.tests:
        if test.severity == "blocking" and test.outcome in ("failed", "error"):
            message = f"the blocking test `{test.id}` of `{view.id}` {test.outcome}: {test.message or 'see its result'}"
            number = next(i for i, t in enumerate(candidate.contract.tests) if t.id == test.id)
            yield candidate.finding("E160", message, ("tests", number), "repair the data, run it again and publish")


def _promotion(
    checked: Checked, candidate: Candidate, provenance: Provenance, digests: Mapping[str, str]
) -> Promotion | None:
    """The promotion of a candidate; None where the promoted contract says the same."""
    before = checked.promotions.get(candidate.id)
    if before is not None and _says_the_same(candidate, before):
        return None
    verdict = checked.validated.compatibility[candidate.id]
    told = candidate.contract.compatibility
    return Promotion(
        candidate.id,
        candidate.contract.version,
        verdict.verdict.value,
        json.loads(canonical(candidate.data)),
        {p: digests[p] for p in candidate.inputs if p in digests},
        tuple(a.plain() for a in told.approvals) if told else (),
        tuple(f"{c.short} {c.where}: {c.rule.id}" for c in verdict.changes if c.impact is not Impact.PATCH),
        dict(verdict.tombstones) or (dict(before.tombstones) if before else {}),
        provenance.by,
        provenance.commit,
        provenance.engine_version,
        at=iso_seconds(provenance.now),
    )


def _says_the_same(candidate: Candidate, promotion: Promotion) -> bool:
    return candidate.sound and canonical(promotion.contract) == canonical(candidate.data)


def _as_promoted(promotion: Promotion) -> Candidate:
    """What is served of a product that is not promoted now: the promoted contract, whatever its file says by now."""
    inputs = tuple(promotion.inputs)
    file = next(filter(is_contract, inputs), "")
    return Candidate(file, promotion.product, promotion.contract, {}, True, (), inputs)


def _stage(out: Path, files: Mapping[str, bytes]) -> Path:
    """The folder of a release, complete on disk. What has the same content is the same release."""
    digest = hexdigest(*(part for path in sorted(files) for part in (path, files[path])))[:16]
    place = out / RELEASES / digest
    if place.is_dir():
        with contextlib.suppress(OSError):
            os.utime(place)  # it is in use again
        return place
    new = out / RELEASES / f".new-{secrets.token_hex(8)}"
    try:
        for path, content in files.items():
            target = new / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if _linked(out / CURRENT / path, target, content):
                continue
            with open(target, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            new.rename(place)
    except OSError as error:
        message = f"the release cannot be written to `{place}`: {error.strerror}"
        raise StrataError(Diagnostic("E160", message, fix="free the place; nothing was published")) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return place


def _linked(served: Path, target: Path, content: bytes) -> bool:
    """Whether what is served has this very file: then it is the same file in the new release, and takes no space. Files
    of a release are never written to."""
    try:
        if served.stat().st_size != len(content) or served.read_bytes() != content:
            return False
        os.link(served, target)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def publishing(out: Path) -> Iterator[None]:
    """Publications in `out` by processes of this machine take turns; the lock of one that dies is free.

    Promotion does not need it, since its record is the one commit point. A refresh does: it reads what is served and
    writes it anew.
    """
    try:
        with uncommitted(out):
            out.mkdir(parents=True, exist_ok=True)
        lock = os.open(out / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        message = f"nothing can be published in `{out}`: {error.strerror}"
        raise StrataError(Diagnostic("E160", message, fix="publish to another folder with `--out`")) from error
    try:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _check_free(link: Path) -> None:
    """E160 where something stands that a rename cannot replace: it is found before anything is recorded."""
    if link.exists() and not link.is_symlink():
        message = f"`{link}` is no link to a release: it was not made by `publish`"
        raise StrataError(Diagnostic("E160", message, fix="remove it, or publish to another folder with `--out`"))


def _turn(out: Path, release: Path) -> None:
    """`current` names the release from now on: one rename, which readers see before or after."""
    link = out / f".{CURRENT}-{secrets.token_hex(8)}"
    try:
        link.symlink_to(Path(RELEASES) / release.name, target_is_directory=True)
        os.replace(link, out / CURRENT)
    except OSError as error:
        with contextlib.suppress(OSError):
            link.unlink()
        message = f"`{out / CURRENT}` cannot be turned to the new release: {error.strerror}"
        fix = "remove what stands in its place and publish again: the promotion is recorded"
        raise StrataError(Diagnostic("E160", message, fix=fix)) from error


def view_files(publication: Publication) -> Mapping[str, bytes]:
    """The runtime views: `views/<domain>/<product>.json`."""
    return {
        f"views/{id_.replace('.', '/')}.json": _json(document(view)) for id_, view in sorted(publication.views.items())
    }


def index_files(publication: Publication) -> Mapping[str, bytes]:
    """The discovery index: one entry per product, for search and for agents."""
    products = [
        {
            "id": view.id,
            "name": view.contract.name,
            "version": view.version,
            "layer": view.contract.layer,
            "domain": view.contract.domain,
            "owner": view.contract.owner.team,
            "purpose": view.contract.purpose,
            "status": view.contract.status,
            "state": view.status.state,
            "assets": [
                {"id": a.id, "description": a.description, "columns": [c.name for c in a.columns]}
                for a in view.contract.assets
            ],
            "upstream": sorted({e.product for e in view.lineage if e.product}),
            "view": f"views/{id_.replace('.', '/')}.json",
        }
        for id_, view in sorted(publication.views.items())
    ]
    return {"index.json": _json({"apiVersion": "strata/v0", "kind": "DataProductIndex", "products": products})}


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def docs_files(publication: Publication) -> Mapping[str, bytes]:
    """The documentation: a site below `docs/`."""
    from ..docs.documented import documented
    from ..docs.site import site

    products = documented(publication.checked, publication.views, publication.promotions)
    return {f"docs/{path}": content for path, content in site(products).items()}


TARGETS = (Target("views", view_files), Target("index", index_files), Target("docs", docs_files))
"""What is published to."""
