"""Where lines above come and go, features tell of the text as it is: the same as in one that was never edited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol.types import Position, Range

from strata_core.lsp.actions import RefusedError, code_actions, prepare_rename, rename
from strata_core.lsp.hints import inlay_hints
from strata_core.lsp.hover import hover
from strata_core.lsp.navigation import definitions, highlights, implementations, references
from strata_core.lsp.outline import document_symbols, folding, workspace_symbols
from strata_core.lsp.state import State
from strata_core.lsp.text import Text
from strata_core.lsp.tokens import semantic_tokens
from strata_core.planning.config import ProjectConfig
from strata_core.planning.kept.revisions import Revision, first_revision, revised
from strata_core.planning.project import Project
from strata_core.planning.texts import SourceText

FILE = "models/a.strata"
START = (
    'source orders(csv: "o.csv") { columns: { id: int64 nonnull primary_key, amount: float64 } }',
    "contract Paid { id: int64 primary_key, amount: float64 nonnull }",
    "model paid -> contract Paid { from orders select { id, amount = coalesce(amount, 0.0) } }",
    "model plain { from paid filter amount > 1.0 select { id, double = amount * 2.0 } }",
    "model last { from plain sort { id } select { double } }",
    "test paid { expect amount > 0.0 }",
    "fn both() -> List<Model> [",
    '  model "one" { from plain select { id } },',
    '  model "two" { from plain select { double, nothing } },',
    "]",
    "both()",
)
LINES = st.sampled_from(
    (
        *START,
        "",
        "\r",
        "// größer als 🦆\r",
        'model größte { owner: "🦆 größer" from paid select { id, größe = amont } }\r',
        "model other { from last select { double } }",
        "model other {\n  from orders\n  select {\n    id,\n    amount,\n  }\n}",
        "model plain { from paid select { id",
        "/* no end",
    )
)
EDIT = st.tuples(st.sampled_from(["insert", "replace", "remove"]), st.integers(0, 12), LINES)


def project_of(text: str) -> Project:
    return Project(Path("/nowhere"), ProjectConfig(name="p", models=("models",)), (SourceText(FILE, text.encode()),))


def state_of(revision: Revision, text: str, before: State | None = None) -> State:
    return State(revision, {FILE: Text(text)}, lambda path: path, before.index if before is not None else None)


def told(state: State, text: str) -> list[Any]:
    """What an editor is told of the whole file, and of each of some places in it."""
    whole = Range(Position(0, 0), Position(999, 0))
    found: list[Any] = [
        document_symbols(state, FILE),
        workspace_symbols([state], "a"),
        semantic_tokens(state, FILE),
        semantic_tokens(state, FILE, Range(Position(2, 0), Position(4, 0))),
        inlay_hints(state, FILE, whole),
        folding(state, FILE),
        code_actions(state, FILE, whole),
    ]
    for line, content in enumerate(text.split("\n")):
        for character in range(6, len(content), 12):
            here = Position(line, character)
            found += [f(state, FILE, here) for f in (hover, definitions, implementations, highlights)]
            found += [references(state, FILE, here, True), code_actions(state, FILE, Range(here, here))]
    return found


@settings(max_examples=40)
@given(st.lists(EDIT, min_size=1, max_size=5))
def test_after_any_edits_features_tell_what_they_do_of_a_text_that_was_never_edited(edits):
    lines = [*START]
    state = state_of(first_revision(project_of("\n".join(lines))), "\n".join(lines))
    for what, at, line in edits:
        at = min(at, len(lines))
        lines = lines[:at] + ([line] if what != "remove" else []) + lines[at + (what != "insert") :]
        text = "\n".join(lines)
        state = state_of(revised(state.revision, {FILE: text.encode()}), text, state)
        afresh = state_of(first_revision(project_of(text)), text)
        assert told(state, text) == told(afresh, text)


@pytest.fixture
def moved() -> State:
    """The project with two lines more above it, and one within."""
    revision = first_revision(project_of("\n".join(START)))
    text = "\n".join(("// größer", "", *START[:3], "", *START[3:]))
    return state_of(revised(revision, {FILE: text.encode()}), text, state_of(revision, "\n".join(START)))


def test_a_rename_edits_the_lines_where_they_stand(moved):
    edits = rename(moved, FILE, Position(6, 8), "simple").edits[FILE]
    assert [(e.range.start.line, e.range.start.character, e.new_text) for e in edits] == [
        (6, 6, "simple"),
        (7, 18, "simple"),
        (10, 21, "simple"),
        (11, 21, "simple"),
    ]
    assert prepare_rename(moved, FILE, Position(6, 8)).range == Range(Position(6, 6), Position(6, 11))


def test_a_refused_rename_names_the_line_where_it_stands(moved):
    with pytest.raises(RefusedError, match="already"):
        rename(moved, FILE, Position(6, 8), "paid")
