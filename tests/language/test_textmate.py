"""The TextMate grammar: made from the language's own tables, and kept in the extension as it is made.

That it colours every program is tested by `npm test` in editors/vscode (`make editor`).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from strata_core.language.tables import load_tables
from strata_core.language.textmate import textmate, word_classes

KEPT = Path(__file__).resolve().parents[2] / "editors" / "vscode" / "syntaxes" / "strata.tmLanguage.json"


def test_the_extension_has_the_grammar_of_this_language() -> None:
    made = "made anew with `strata grammar --format textmate > editors/vscode/syntaxes/strata.tmLanguage.json`"
    assert KEPT.read_text() == textmate(), made


def test_each_keyword_has_one_class() -> None:
    classes = word_classes()
    assert sorted(word for words in classes.values() for word in words) == sorted(load_tables().keywords)
    assert classes["constant"] == {"false", "none", "null", "true"}
    assert classes["operator"] == {"and", "or", "in", "is", "like", "rlike"}
    assert {"from", "filter", "select", "join_left", "union", "dedup"} <= classes["statement"]
    assert {"source", "model", "contract", "domain", "pipeline", "import", "test"} <= classes["declaration"]
    assert {"nonnull", "primary_key", "enum", "mask"} <= classes["annotation"]


def test_numbers_are_those_of_the_scanner() -> None:
    numbers = [one["match"] for one in json.loads(textmate())["repository"]["numbers"]["patterns"]]
    found = [next(n for n, p in enumerate(numbers) if re.match(p, text)) for text in ("12h", "1.5", "1e9", "1_000")]
    assert found == [0, 1, 1, 2]
