"""Validate: is the candidate a contract that may be promoted? (Seed 2, step 4)

Each layer is one module with one function from a candidate (and what is known around it) to findings; the shape itself
was checked while parsing, and is checked again of what came out of collation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from ...contract.model import TableContract
from ...diagnostics import Diagnostic, Report
from ...digests import hexdigest
from ...frozen import dataclass, field
from ...planning.config import ProjectConfig
from ..collation.candidate import Candidate
from ..collation.collate import Collated
from ..collation.merge_rules import canonical
from ..compatibility.verdict import Compatibility, unchanged, uncompared
from ..kept import OwnFindings
from ..levels import Levels
from ..lowering import table_contracts
from ..parse.parsed import Parsed
from ..placeholders import check_placeholders
from ..promotions import Promotion, record_file
from .agents import check_agents
from .compatibility import check_compatibility
from .consumers import Consumers
from .governance import check_governance
from .inheritance import Sensitivity, check_inheritance
from .mentions import check_mentions
from .offers import check_offers
from .profiles import Profile, check_profile, profiles
from .references import check_cycles, check_references
from .removed import check_removed
from .test_shapes import check_tests, dbt_tests


@dataclass(frozen=True, slots=True)
class Validated:
    """The outcome: findings, the verdict on each product's version, and each product's table contracts. `own` is what
    was found in contracts that nothing else takes part in, by their files, to be kept."""

    diagnostics: tuple[Diagnostic, ...]
    compatibility: Mapping[str, Compatibility]
    tables: Mapping[str, Mapping[str, TableContract]]
    own: Mapping[str, OwnFindings] = field(default_factory=dict, repr=False)

    def passed(self, candidate: Candidate) -> bool:
        """Whether nothing that was found in the files that the candidate is made of blocks it."""
        files = frozenset(candidate.inputs)
        return candidate.sound and not any(
            d.blocks and d.span is not None and d.span.file in files for d in self.diagnostics
        )


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a candidate is validated against besides itself. `promotions` are the latest of all products that ever had
    one; `kept` is what was found before in contracts, by file."""

    collated: Collated
    parsed: Parsed
    config: ProjectConfig
    promotions: Mapping[str, Promotion]
    today: date
    kept: Mapping[str, OwnFindings] = field(default_factory=dict, repr=False)


def validate(around: Surroundings) -> Validated:
    """All layers for all sound candidates."""
    found: list[Diagnostic] = []
    rules = _rules(around, found.append)
    consumers = Consumers(around.parsed, around.collated)
    compatibility: dict[str, Compatibility] = {}
    own: dict[str, OwnFindings] = {}
    sound = [c for c in around.collated.candidates if c.sound]
    tables = _Tables(sound)
    for candidate in sound:
        kept = around.kept.get(candidate.file)
        alone = candidate.inputs == (candidate.file,)
        if alone and kept is not None and kept[0] == rules.context:
            own[candidate.file] = kept
            found += kept[1]
        else:
            here: list[Diagnostic] = []
            _check_own(candidate, rules, tables, here.append)
            found += here
            if alone:
                own[candidate.file] = rules.context, tuple(here)
        check_references(candidate, around.collated, found.append)
        compatibility[candidate.id] = _compatibility(candidate, around, rules.levels, consumers)
        found += compatibility[candidate.id].diagnostics
        check_mentions(candidate, compatibility[candidate.id].tombstones, found.append)
    check_cycles(sound, found.append)
    check_offers(sound, around.parsed.generated, found.append)
    folder = around.config.contract_engine.promotions
    check_removed(around.promotions, around.collated, around.parsed, folder, found.append)
    sensitivity = Sensitivity(around.collated, around.parsed)
    for candidate in sound:
        check_inheritance(candidate, sensitivity, rules.levels, around.promotions.get(candidate.id), found.append)
    return Validated(tuple(found), compatibility, tables, own)


@dataclass(frozen=True, slots=True)
class _Rules:
    """What a contract by itself is held against; `context` is a digest of all of it."""

    profiles: Mapping[str, Profile]
    levels: Levels
    of_dbt: tuple[frozenset[str], frozenset[str]] | None
    unsupported: str
    today: date
    context: str


def _rules(around: Surroundings, report: Report) -> _Rules:
    of_dbt = dbt_tests(around.parsed)
    listed = repr(of_dbt and [sorted(names) for names in of_dbt])
    context = hexdigest(repr(around.config), around.today.isoformat(), listed)
    unsupported = around.config.contract_engine.unsupported_executors
    levels = Levels(around.config.classification)
    return _Rules(profiles(around.config, report), levels, of_dbt, unsupported, around.today, context)


def _check_own(candidate: Candidate, rules: _Rules, tables: _Tables, report: Report) -> None:
    """All that a candidate is asked of which no other product knows anything."""
    tables.check(candidate, report)
    check_profile(candidate, rules.profiles, report)
    check_tests(candidate, rules.of_dbt, rules.unsupported, report)
    check_governance(candidate, rules.levels, report)
    check_agents(candidate, rules.levels, rules.today, report)
    check_compatibility(candidate, report)
    check_placeholders(candidate, report)


class _Tables(Mapping[str, Mapping[str, TableContract]]):
    """The table contracts of each product, made when they are asked for."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._candidates = {c.id: c for c in candidates}
        self._made: dict[str, Mapping[str, TableContract]] = {}

    def check(self, candidate: Candidate, report: Report) -> None:
        """Make those of a candidate, and tell what is wrong with them."""
        self._made[candidate.id] = table_contracts(candidate, report)

    def __getitem__(self, product: str) -> Mapping[str, TableContract]:
        if product not in self._made:
            self.check(self._candidates[product], lambda _: None)
        return self._made[product]

    def __iter__(self) -> Iterator[str]:
        return iter(self._candidates)

    def __len__(self) -> int:
        return len(self._candidates)


def _compatibility(candidate: Candidate, around: Surroundings, levels: Levels, consumers: Consumers) -> Compatibility:
    promotion = around.promotions.get(candidate.id)
    if promotion is None:
        return uncompared(candidate.contract.version)
    if canonical(promotion.contract) == canonical(candidate.data):
        return unchanged(promotion)
    from ..compatibility.classify import classify  # not needed where the tree says what was promoted
    from ..compatibility.compare import compare

    before = promoted_candidate(promotion, around.config.contract_engine.promotions)
    changes = consumers.reached(compare(before, candidate, levels), candidate)
    return classify(candidate, promotion, changes, before.contract, around.today)


def promoted_candidate(promotion: Promotion, folder: str) -> Candidate:
    """The promoted contract as a candidate; it has no places any more but its record in `folder`."""
    file = record_file(folder, promotion.number)
    return Candidate(file, promotion.product, promotion.contract, {}, True)
