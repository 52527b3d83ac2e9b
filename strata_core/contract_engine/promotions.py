"""The promotion record: which version of each product was promoted when, by whom, from what, with which verdict.

One commit log for all products (`store/log.py`), in `[contract_engine] promotions`, to be committed to Git: an entry is
one publication, so that all products of it are promoted or none. What was promoted is what later versions are held
against (Seed 2, "Compatibility Rules"), not the latest Git file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..diagnostics import Diagnostic, Span, StrataError
from ..frozen import dataclass, field
from .naming import is_draft

if TYPE_CHECKING:  # where nothing was promoted, no log is read
    from ..store.log import CommitLog, Entry

KIND = "promotion"


@dataclass(frozen=True, slots=True)
class Promotion:
    """One promoted version of a product. `inputs` are the digests of the files that it was made of; `tombstones` names
    what was ever removed, `asset` or `asset.column`, with what it was, so that a name does not come back with another
    meaning. `number`, `at`, `by`, `commit` and `release` are those of the publication."""

    product: str
    version: str
    verdict: str
    contract: Mapping[str, Any] = field(repr=False)
    inputs: Mapping[str, str] = field(default_factory=dict)
    approvals: tuple[Mapping[str, Any], ...] = ()
    changes: tuple[str, ...] = ()
    tombstones: Mapping[str, str] = field(default_factory=dict)
    by: str = ""
    commit: str | None = None
    engine_version: str = ""
    release: str = ""
    number: int = 0
    at: str = ""

    @property
    def live(self) -> bool:
        """Whether the version is a promise: from 1.0.0 on."""
        return not is_draft(self.version)


_OF_PRODUCT = ("version", "verdict", "contract", "inputs", "approvals", "changes", "tombstones")
_OF_ALL = ("by", "commit", "engine_version", "release")


def record(folder: Path, promotions: list[Promotion], expected: int) -> tuple[Promotion, ...]:
    """Append one publication, made for a record with `expected` entries. Raises `StrataError` E093, E092."""
    first = promotions[0]
    products = {p.product: {name: _plain(getattr(p, name)) for name in _OF_PRODUCT} for p in promotions}
    payload = {**{name: getattr(first, name) for name in _OF_ALL}, "products": products}
    entry = _log(folder).append(KIND, payload, expected)
    return tuple(_promotions(entry))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value


def _log(folder: Path) -> CommitLog:
    from ..store.log import CommitLog

    return CommitLog(folder)


def record_file(folder: str, number: int) -> str:
    """The file of a publication in `folder`."""
    return f"{folder.rstrip('/')}/{number:020d}.json"


def head(folder: Path) -> int:
    """How many publications there are. Raises `StrataError` E094."""
    return _log(folder).head()


def latest(folder: Path, products: set[str] | None = None) -> tuple[dict[str, Promotion], tuple[Diagnostic, ...]]:
    """The latest promotion of each of `products` (None: of all) that has one; E161 where the record is damaged."""
    found: dict[str, Promotion] = {}
    if not folder.is_dir():
        return found, (_no_folder(folder),) if folder.exists() else ()
    log, number = _log(folder), None
    try:
        for number in range(log.head(), 0, -1):
            if products is not None and found.keys() >= products:
                break
            for promotion in _promotions(log.read(number)):
                if products is None or promotion.product in products:
                    found.setdefault(promotion.product, promotion)
    except StrataError as error:
        place = Path(record_file(folder.as_posix(), _missing(folder) if number is None else number))
        return found, tuple(_damaged(place, d) for d in error.diagnostics)
    return found, ()


def history(folder: Path, product: str) -> tuple[Promotion, ...]:
    """All promotions of a product, oldest first. Raises `StrataError` E094, E161."""
    if not folder.is_dir():
        return ()
    return tuple(p for e in _log(folder).entries() for p in _promotions(e) if p.product == product)


def histories(folder: Path) -> dict[str, tuple[Promotion, ...]]:
    """All promotions of all products, oldest first, read once. Raises `StrataError` E094, E161."""
    found: dict[str, list[Promotion]] = {}
    if folder.is_dir():
        for entry in _log(folder).entries():
            for promotion in _promotions(entry):
                found.setdefault(promotion.product, []).append(promotion)
    return {product: tuple(all_) for product, all_ in found.items()}


def _promotions(entry: Entry) -> Iterator[Promotion]:
    from ..store.instant import spell

    told: Any = entry.payload
    try:
        common = {name: told[name] for name in _OF_ALL}
        for product, own in told["products"].items():
            lists = {name: tuple(own[name]) for name in ("approvals", "changes")}
            fields = {name: own[name] for name in _OF_PRODUCT} | lists
            yield Promotion(product=product, **fields, **common, number=entry.number, at=spell(entry.at))
    except (KeyError, TypeError, AttributeError) as error:
        message = f"entry {entry.number} is no publication: {error}"
        raise StrataError(Diagnostic("E161", message, fix="restore it from Git")) from error


def _no_folder(place: Path) -> Diagnostic:
    message = "the promotion record cannot be used: a file stands where its folder should be"
    fix = "move it away and restore the folder from Git, or name another in `[contract_engine] promotions`"
    return Diagnostic("E161", message, Span(place.as_posix(), 1, 1, 1, 1), fix=fix)


def _missing(folder: Path) -> int:
    """The first record that is not there."""
    there = {int(file.stem) for file in folder.glob("*.json") if file.stem.isdigit()}
    return next(number for number in count(1) if number not in there)


def _damaged(place: Path, why: Diagnostic) -> Diagnostic:
    """E161 at the file of the record that cannot be used, which Git has as it was."""
    told = why.message.replace(f"{place}", f"`{place.name}`")
    fix = f"restore it from Git: `git checkout -- {place.name}` in its folder"
    return Diagnostic(
        "E161", f"the promotion record cannot be used: {told}", Span(place.as_posix(), 1, 1, 1, 1), fix=fix
    )
