"""Each product in few words, for who lists products and renews what is served of them: what it is, what it is made of,
what is wrong with it, and a digest of all that its view and documentation say but what was seen at run time.

A product is told apart by the place of its contract, so that one whose file cannot be read is a product still.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Mapping

from ...diagnostics import Diagnostic, Severity
from ...digests import hexdigest
from ...frozen import dataclass, field, replace
from ...planning import cache
from ..collation.candidate import Candidate
from ..collation.merge_rules import canonical
from ..discover import InputKind, Inventory, discover
from ..parse.parsed import GeneratedAsset, Parsed
from ..pin.covering import CoveredTest, listed_test
from ..pipeline import Checked, Setting, examine, outcome_key

VERSION_CODES = ("E130", "E131", "E132", "E133")
"""What is found about the version of a contract, rather than about the contract."""


@dataclass(frozen=True, slots=True)
class Product:
    """What is to be known of a product. Of a contract that is not sound, what can be read of it.

    `place` leads to the contract's folder from the folder of contracts; `digest` is of everything that what is served
    of it is made of. `assets` has the names that each asset may have where it is made, and `stored` are those under
    which the store may have published them.
    """

    id: str
    place: tuple[str, ...]
    file: str
    sound: bool
    digest: str
    findings: tuple[Diagnostic, ...]
    verdict: str | None = None
    against: str | None = None
    name: str | None = None
    purpose: str | None = None
    version: str | None = None
    status: str | None = None
    layer: str | None = None
    domain: str | None = None
    team: str | None = None
    assets: tuple[tuple[str, ...], ...] = ()
    tests: tuple[CoveredTest, ...] = ()
    stored: tuple[str, ...] = field(default=())

    @property
    def about_contract(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the contract and what it is made of, notes left out."""
        return tuple(d for d in self.findings if d.code not in VERSION_CODES and d.severity is not Severity.INFO)

    @property
    def about_version(self) -> tuple[Diagnostic, ...]:
        """What is wrong with its version, against the one that was promoted."""
        return tuple(d for d in self.findings if d.code in VERSION_CODES)


@dataclass(frozen=True, slots=True)
class Products:
    """The products of a project, and what was found that is of none of them."""

    products: tuple[Product, ...]
    other_findings: tuple[Diagnostic, ...]


def products_of(setting: Setting) -> Products:
    """The products, from the cache where nothing changed."""
    inventory = discover(setting.tree, setting.config, setting.root)
    key = outcome_key(setting, inventory, "products")
    kept = cache.load(key)
    if isinstance(kept, Products):
        return kept
    with cache.uncollected():
        found = listed(examine(setting, inventory))
        cache.save(key, found)
    return found


def listed(checked: Checked) -> Products:
    """The products of what was examined, by the place of their contracts."""
    by_file = {c.file: c for c in checked.collated.candidates}
    findings: dict[str, list[Diagnostic]] = defaultdict(list)
    for diagnostic in checked.diagnostics:
        if diagnostic.span is not None:
            findings[diagnostic.span.file].append(diagnostic)
    made_of = _Facts(checked)
    found = []
    for file in contract_files(checked.inventory):
        candidate = by_file.get(file)
        inputs = candidate.inputs if candidate else (file,)
        own = tuple(d for path in inputs for d in findings.get(path, ()))
        place = _place(file, checked.setting.config.contracts)
        told = _told(candidate, checked) if candidate is not None else _unread(file, place)
        facts = made_of.of(candidate) if candidate is not None else ()
        promotion = checked.promotions.get(told.id)
        parts = (repr(own), repr(promotion and (promotion.number, promotion.version)), *facts, *_texts(checked, inputs))
        found.append(replace(told, place=place, findings=own, digest=hexdigest(*parts)))
    owned = {d for p in found for d in p.findings}
    rest = (d for d in checked.diagnostics if d not in owned and d.severity is not Severity.INFO)
    return Products(tuple(found), tuple(rest))


def contract_files(inventory: Inventory) -> list[str]:
    """The files of canonical contracts."""
    return [i.path for i in inventory.of_kind(InputKind.CONTRACT)]


def _place(file: str, roots: Iterable[str]) -> tuple[str, ...]:
    folder = posixpath.dirname(file)
    for root in roots:
        inside = posixpath.normpath(root)
        if folder.startswith(f"{inside}/"):
            return tuple(folder[len(inside) + 1 :].split("/"))
    return (posixpath.basename(folder) or "contract",)


def _unread(file: str, place: tuple[str, ...]) -> Product:
    return Product(".".join(place), place, file, False, "", (), domain=place[0] if len(place) > 1 else None)


def _told(candidate: Candidate, checked: Checked) -> Product:
    if not candidate.sound:
        place = _place(candidate.file, checked.setting.config.contracts)
        return replace(_unread(candidate.file, place), id=candidate.id)
    contract = candidate.contract
    verdict = checked.validated.compatibility.get(candidate.id)
    return Product(
        candidate.id,
        (),
        candidate.file,
        True,
        "",
        (),
        verdict.verdict.value if verdict else None,
        verdict.against if verdict else None,
        contract.name,
        contract.purpose,
        contract.version,
        contract.status,
        contract.layer,
        contract.domain,
        contract.owner.team,
        tuple(asset.names for asset in contract.assets),
        tuple(listed_test(test, contract) for test in contract.tests),
        tuple(dict.fromkeys(name for asset in contract.assets for name in asset.stored)),
    )


def _texts(checked: Checked, inputs: Iterable[str]) -> list[str]:
    """The digests of the files that people wrote. dbt's manifest is another at every parse, and what it says of the
    product is among the facts."""
    written = {i.path: i.digest for i in checked.inventory.inputs if i.kind in _WRITTEN}
    return [f"{path} {written[path]}" for path in inputs if path in written]


_WRITTEN = frozenset({InputKind.CONTRACT, InputKind.FRAGMENT, InputKind.DBT_YAML, InputKind.SQL, InputKind.PYTHON})


class _Facts:
    """What tools say of products' assets and tests, by the names that these have."""

    def __init__(self, checked: Checked) -> None:
        candidates = [c for c in checked.collated.candidates if c.sound]
        names = {n for c in candidates for a in c.contract.assets for n in a.names}
        parsed: Parsed = checked.parsed
        self.assets: dict[str, list[GeneratedAsset]] = defaultdict(list)
        for asset in parsed.generated:
            for ref in names.intersection(asset.refs):
                self.assets[ref].append(asset)
        self.tests = {t.name: t.unique_id for f in parsed.files for t in f.tests}
        self.results: Mapping[str, str] = {
            r.unique_id: repr((f.kind, r.status, r.at, r.failures)) for f in parsed.files for r in f.results
        }
        self.runs: dict[str, list[str]] = defaultdict(list)
        for run in (run for f in parsed.files for run in f.runs):
            for ref in names.intersection((run.output, run.output.rpartition(".")[2])):
                self.runs[ref].append(repr(run))

    def of(self, candidate: Candidate) -> list[str]:
        if not candidate.sound:
            return []
        parts = [canonical(candidate.data), repr(sorted(candidate.provenance.items(), key=repr))]
        for asset in candidate.contract.assets:
            for name in asset.names:
                parts += self.runs.get(name, ())
                for made in self.assets.get(name, ()):
                    parts.append(repr((made.kind, made.upstream, made.columns, made.complete)))
                    parts += [self.results[ref] for ref in made.refs if ref in self.results]
        for test in candidate.contract.tests:
            if test.kind == "dbt":
                known = self.tests.get(test.ref, test.ref)
                parts += [known, self.results.get(known, "")]
        return parts


def live_versions(setting: Setting, environment: str) -> tuple[int, Mapping[str, str]]:
    """A number that grows with each publication and each refusal in the environment, and what each table that it has
    published points at, or had refused since. Raises `StrataError` where the store cannot be read: what is not known is
    not nothing."""
    from ...planning.guarded.refusals import standing_refusals
    from ...planning.stores import store_of

    store = store_of(setting.root, setting.config)
    if not store.exists():
        return 0, {}
    published = store.environment(environment).head()
    times, refusals = standing_refusals(store, published, environment)
    told = {name: f"{p.address} {p.digest}" for name, p in published.models.items()}
    for name, refusal in refusals.items():
        told[name] = f"{told.get(name, '')} refused {refusal.at}"
    return published.number + times, told


def inputs_digest(product: Product, live: Mapping[str, str]) -> str:
    """What the served view of a product is made of, what is live of its assets included."""
    return hexdigest(product.digest, *(f"{name} {live[name]}" for name in product.stored if name in live))
