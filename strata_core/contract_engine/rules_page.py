"""`docs/contract-rules.md`: every table of rules that the engine works by, printed from those tables.

`python -m strata_core.contract_engine.rules_page` writes it; a test fails where the two differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..contract.changes import ChangeRule
from ..diagnostics.markdown import markdown_cell
from .collation.candidate import TIERS, Tier
from .collation.merge_rules import RULES, MergeRule
from .compatibility.examples import EXAMPLES, Example
from .compatibility.rules import ALL_RULES, PRODUCT_RULES
from .documents import spell_path
from .validate.profiles import DEFAULTS, REQUIREMENTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "contract-rules.md"
_HEAD = """\
# The rules of contracts

Printed from the tables that the engine works by (`python -m strata_core.contract_engine.rules_page`); each line of the
tables of changes is run as two tests, one that raises it and one that does not.
"""


def page() -> str:
    """The text of the page."""
    return "\n".join((_HEAD, *_changes(), *_merging(), *_layers())) + "\n"


def _changes() -> Iterator[str]:
    yield "## What a change does to consumers\n"
    yield (
        "*major* breaks them, *minor* adds, *patch* changes words; of a *review* only the owner can tell. A change that"
        " touches a `protected` column is major. What is asked for besides a version stands in the third column.\n"
    )
    yield "### Columns and tables\n"
    yield from _table(rule for rule in ALL_RULES.values() if rule.id not in PRODUCT_RULES)
    yield "\n### Products\n"
    yield from _table(PRODUCT_RULES.values())
    yield ""


def _table(rules: Iterable[ChangeRule]) -> Iterator[str]:
    yield "| rule | impact | besides | what happens | raised by | not by |"
    yield "|---|---|---|---|---|---|"
    for rule in rules:
        example = EXAMPLES[rule.id]
        where = _spelled(example)
        raised = f"{where}: {_shown(example.before)} → {_shown(example.after)}"
        not_by = "no change" if example.instead == example.before else f"→ {_shown(example.instead)}"
        besides = rule.demand.value if rule.demand else ""
        besides = "; ".join(filter(None, (besides, rule.unless)))
        cells = (f"`{rule.id}`", rule.impact.value, besides, markdown_cell(rule.says), raised, not_by)
        yield f"| {' | '.join(cells)} |"


def _spelled(example: Example) -> str:
    before, after, _ = example.contracts()
    path = tuple(int(s) if s.isdigit() else s for s in example.where.split("."))
    return f"`{spell_path(before if example.before is not None else after, path)}`"


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"`{text.replace('|', chr(92) + '|')}`"


def _merging() -> Iterator[str]:
    yield "## How sources are merged\n"
    yield (
        "The contract counts most, then fragments, then tools. A value that counts less fills a gap where the table"
        " says so, and never overwrites: where it disagrees, E114 names both places (W111 where only the wording"
        " differs). A field without a line belongs to the contract alone.\n"
    )
    yield "| field | merged | gaps are filled by | note |"
    yield "|---|---|---|---|"
    for rule in RULES:
        where = f"`{rule.where}`" if rule.where else "the contract"
        yield f"| {where} | {rule.how.value} | {_fillers(rule)} | {rule.says} |"
    yield ""


def _fillers(rule: MergeRule) -> str:
    return ", ".join(TIERS[tier] for tier in rule.fill if tier is not Tier.CANONICAL) or "nobody"


def _layers() -> Iterator[str]:
    yield "## What layers ask for\n"
    yield "`[layers.NAME]` of `strata.toml` takes these names in `requires`; a layer `extends` another.\n"
    yield "| requirement | what must be there | asked for by default from |"
    yield "|---|---|---|"
    for name, requirement in REQUIREMENTS.items():
        layers = [layer for layer, profile in DEFAULTS.items() if name in profile.requires]
        yield f"| `{name}` | {requirement.says} | {', '.join(layers)} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
