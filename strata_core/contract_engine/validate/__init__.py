"""Validate: is the candidate a contract that may be promoted? (Seed 2, step 4)

Each layer is one module with one function from a candidate (and what is known around it) to findings; the shape itself
was checked while parsing, and is checked again of what came out of collation.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from ...contract.model import TableContract
from ...diagnostics import Diagnostic
from ...frozen import dataclass
from ...planning.config import ProjectConfig
from ..candidate import Candidate
from ..collate import Collated
from ..compatibility.verdict import Compatibility, uncompared
from ..levels import Levels
from ..lowering import table_contracts
from ..parse.parsed import Parsed
from ..promotions import Promotion
from .agents import check_agents
from .compatibility import check_compatibility
from .consumers import Consumers
from .governance import check_governance
from .inheritance import Sensitivity, check_inheritance
from .profiles import check_profile, profiles
from .references import check_cycles, check_references
from .test_shapes import check_tests, dbt_tests


@dataclass(frozen=True, slots=True)
class Validated:
    """The outcome: findings, the verdict on each product's version, and each product's table contracts."""

    diagnostics: tuple[Diagnostic, ...]
    compatibility: Mapping[str, Compatibility]
    tables: Mapping[str, Mapping[str, TableContract]]

    def passed(self, candidate: Candidate) -> bool:
        """Whether nothing that was found in the files that the candidate is made of blocks it."""
        files = frozenset(candidate.inputs)
        return candidate.sound and not any(
            d.blocks and d.span is not None and d.span.file in files for d in self.diagnostics
        )


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a candidate is validated against besides itself."""

    collated: Collated
    parsed: Parsed
    config: ProjectConfig
    promotions: Mapping[str, Promotion]
    today: date


def validate(around: Surroundings) -> Validated:
    """All layers for all sound candidates."""
    found: list[Diagnostic] = []
    known = profiles(around.config, found.append)
    levels = Levels(around.config.classification)
    consumers = Consumers(around.parsed, around.collated)
    of_dbt = dbt_tests(around.parsed)
    unsupported = around.config.contract_engine.unsupported_executors
    compatibility: dict[str, Compatibility] = {}
    tables: dict[str, Mapping[str, TableContract]] = {}
    sound = [c for c in around.collated.candidates if c.sound]
    for candidate in sound:
        tables[candidate.id] = table_contracts(candidate, found.append)
        check_profile(candidate, known, found.append)
        check_references(candidate, around.collated, found.append)
        check_tests(candidate, of_dbt, unsupported, found.append)
        check_governance(candidate, levels, found.append)
        check_agents(candidate, levels, around.today, found.append)
        check_compatibility(candidate, found.append)
        compatibility[candidate.id] = _compatibility(candidate, around, levels, consumers)
        found += compatibility[candidate.id].diagnostics
    check_cycles(sound, found.append)
    sensitivity = Sensitivity(around.collated, around.parsed)
    for candidate in sound:
        check_inheritance(candidate, sensitivity, levels, found.append)
    return Validated(tuple(found), compatibility, tables)


def _compatibility(candidate: Candidate, around: Surroundings, levels: Levels, consumers: Consumers) -> Compatibility:
    promotion = around.promotions.get(candidate.id)
    if promotion is None:
        return uncompared(candidate.contract.version)
    from ..compatibility.classify import classify  # which a tree without promotions needs not
    from ..compatibility.compare import compare

    before = promoted_candidate(promotion, around.config.contract_engine.promotions)
    changes = consumers.reached(compare(before, candidate, levels), candidate)
    return classify(candidate, promotion, changes, before.contract)


def promoted_candidate(promotion: Promotion, folder: str) -> Candidate:
    """The promoted contract as a candidate; it has no places any more but its record in `folder`."""
    file = f"{folder}/{promotion.number:020d}.json"
    return Candidate(file, promotion.product, promotion.contract, {}, True)
