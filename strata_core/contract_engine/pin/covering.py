"""What contracts cover a table with: the assets of products, by the names that tables have, and the tests about each.

Small and kept by content, as an orchestrator loads it at every start; what is promised in full, `pipeline.Checked` has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from ...contract.ages import parse_age
from ...diagnostics import Diagnostic, Span, StrataError
from ...diagnostics.listing import listed
from ...diagnostics.suggest import did_you_mean
from ...frozen import dataclass
from ...planning import cache
from ..discover import discover
from ..naming import stored_as
from ..pipeline import Setting, outcome_key

if TYPE_CHECKING:  # which an unchanged tree does not need
    from ...contract.model import TableContract
    from ...planning.project import Project
    from ..authored import Asset, AuthoredContract
    from ..authored_tests import Test
    from ..collation.candidate import Candidate
    from ..pipeline import Checked

OWNERS_SEE = "experimental"
"""The severity of tests that only owners and agents in scope are shown."""


@dataclass(frozen=True, slots=True)
class CoveredTest:
    """A test of a product, as it is listed: `visible_to` names who is meant to look at it, nobody in particular where
    it is empty. `asset` is the one that it names, `ref` dbt's name of a test of dbt's."""

    product: str
    id: str
    kind: str
    severity: str
    description: str | None
    visible_to: tuple[str, ...]
    asset: str | None = None
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class CoveredColumn:
    """A promised column, as a contract spells it."""

    name: str
    type: str | None
    nullable: bool
    unique: bool
    primary_key: bool
    classification: str | None
    description: str | None


@dataclass(frozen=True, slots=True)
class Covered:
    """An asset of a product. `names` are those that tables may have to be it; `max_age` is the freshness that is
    promised of it, of the latest value of `dated` or, without, of its last run."""

    product: str
    asset: str
    kind: str
    names: tuple[str, ...]
    tests: tuple[CoveredTest, ...]
    columns: tuple[CoveredColumn, ...]
    max_age: timedelta | None
    dated: str | None
    description: str | None
    place: Span

    @property
    def reference(self) -> str:
        """`product/asset`."""
        return f"{self.product}/{self.asset}"

    @property
    def table(self) -> str:
        """The name that its rows are kept under in the store."""
        return self.stored[0]

    @property
    def stored(self) -> tuple[str, ...]:
        """The names under which the store may have its rows."""
        return stored_as(self.kind, self.names[0])


def covered(setting: Setting) -> tuple[Covered, ...]:
    """The assets of the products of a project whose contracts have the shape of one, from the cache where no file
    changed. Raises `StrataError` E073."""
    inventory = discover(setting.tree, setting.config, setting.root)
    key = outcome_key(setting, inventory, "covered")
    kept = cache.load(key)
    if isinstance(kept, tuple):
        return kept
    from ..pipeline import examine

    candidates = [c for c in examine(setting, inventory).collated.candidates if c.sound]
    made = tuple(one for candidate in candidates for one in covered_by(candidate))
    cache.save(key, made)
    return made


def covered_by(candidate: Candidate) -> Iterator[Covered]:
    """The assets of one sound contract."""
    contract = candidate.contract
    tests: dict[str, list[CoveredTest]] = {asset.id: [] for asset in contract.assets}
    for test in contract.tests:
        tests.setdefault(_about(test, contract), []).append(listed_test(test, contract))
    for i, asset in enumerate(contract.assets):
        age = asset.freshness.max_age if asset.freshness else None
        age = age or (contract.freshness.max_age if contract.freshness else None)
        yield Covered(
            contract.id,
            asset.id,
            asset.kind,
            asset.names,
            tuple(tests[asset.id]),
            tuple(_columns(asset)),
            parse_age(age) if age else None,
            asset.freshness.column if asset.freshness else None,
            asset.description,
            candidate.span(("assets", i)),
        )


def _columns(asset: Asset) -> Iterator[CoveredColumn]:
    for c in asset.columns:
        nullable = c.nullable is not False and not c.primary_key
        yield CoveredColumn(
            c.name, c.type, nullable, bool(c.unique), bool(c.primary_key), c.classification, c.description
        )


def _about(test: Test, contract: AuthoredContract) -> str:
    """The asset that a test is listed with: the one that it names, else the first one that its query reads."""
    first = contract.assets[0].id
    if test.asset is not None:
        return test.asset
    if test.kind != "sql" or len(contract.assets) == 1:
        return first
    from ..sql_tables import assets_read

    read = assets_read(test, contract.assets).values()
    return next((asset.id for asset in contract.assets if asset.id in read), first)


def listed_test(test: Test, contract: AuthoredContract) -> CoveredTest:
    """A test of `contract`, in few words."""
    owner = tuple(dict.fromkeys((contract.owner.team, *contract.owner.approvers)))
    return CoveredTest(
        contract.id,
        test.id,
        test.kind,
        test.severity,
        test.description,
        owner if test.severity == OWNERS_SEE else (),
        test.asset,
        test.ref if test.kind == "dbt" else None,
    )


def may_be_of_models(reference: str) -> bool:
    """Whether `reference` may name a `contract` of models, and not only an asset of a product."""
    return "/" not in reference and "." not in reference


def contract_of_models(project: Project, name: str) -> TableContract | None:
    """The `contract` of the project's models that is called `name`. Raises `StrataError` with what is wrong in it: less
    than what it says would be asked of rows."""
    from ...planning.project import compile_
    from ...types import UNKNOWN

    compiled = compile_(project)
    contract = compiled.contracts.get(name)
    if contract is None:
        declared = re.compile(rb"^[ \t]*contract\s+`?%b(?!\w)" % re.escape(name.encode()), re.MULTILINE)
        files = {file.path for file in project.files if declared.search(file.content)}
        faults = [d for d in compiled.errors if d.span is not None and d.span.file in files]
    else:
        faults = [d for d in compiled.errors if d.span and contract.span and _within(d.span, contract.span)]
        if not faults and any(field.type == UNKNOWN for field in contract.fields):  # as a domain that it uses is
            faults = [*compiled.errors]
    if faults:
        raise StrataError(*faults)
    return contract


def _within(inner: Span, outer: Span) -> bool:
    return inner.file == outer.file and outer.start <= inner.start and inner.end <= outer.end


def unusable_contracts(checked: Checked, reference: str) -> tuple[Diagnostic, ...]:
    """What keeps contracts from being used of which `reference` may name one."""
    unsound = [c for c in checked.collated.candidates if not c.sound]
    meant = [c for c in unsound if c.id == reference.partition("/")[0]] or unsound
    return (*checked.unread(), *(checked.blocking(*meant) if meant else ()))


def named_cover(
    reference: str,
    known: tuple[Covered, ...],
    *,
    others: Iterable[str] = (),
    unusable: Callable[[], Iterable[Diagnostic]] = tuple,
) -> Covered:
    """The asset that `reference` names: `product/asset`, the product of one asset, or a table's name that one product
    covers. Raises `StrataError` E036 with what there is, `others` being contracts that cover no asset, behind what
    keeps those from being used that are `unusable`."""
    found = [c for c in known if reference in (c.reference, c.product) or reference in c.names]
    if len(found) == 1:
        return found[0]
    if found:
        fix = f"name one of {listed([f'`{c.reference}`' for c in found], 8)}"
        raise StrataError(Diagnostic("E036", f"`{reference}` is covered by several contracts", fix=fix))
    there = [*sorted({c.reference for c in known}), *others]
    hint = f"contracts are {listed(there, 8)}" if there else "write `contracts/<domain>/<product>/contract.yaml`"
    fix = did_you_mean(reference, [*there, *(n for c in known for n in c.names)], hint)
    raise StrataError(*unusable(), Diagnostic("E036", f"no contract covers `{reference}`, or is called so", fix=fix))
