"""A module parsed in pieces is the module parsed as a whole, and an edited one the edited text parsed afresh."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_core.diagnostics.placing import placed
from strata_core.language import pieces
from strata_core.language.parser import parse_module
from strata_core.language.pieces import known_before

LINES = (
    "model a { from t }",
    "model a { from t",
    "model b -> contract C {",
    "  filter x > 1",
    "}",
    "contract C { a: int64 }",
    "contract C {",
    "  a: int64, model: string",
    "source s { columns: {",
    "import a.b",
    "import",
    "model",
    "model filter { from t }",
    "model b ->",
    "domain d = string",
    "domain d =",
    "pipeline p { env: prod }",
    "test a { expect x > 1 }",
    "test",
    "test a {",
    "stray words",
    "  model c { from t }",
    'model "quoted" { owner: "x" from t }',
    "model `b c` { from t }",
    'owner: "no end',
    'no beginning" }',
    "/* no end",
    "no beginning */",
    "// comment",
    "# model d { from t }",
    "`",
    "'",
    "größe",
    "\0",
    "",
)


@given(st.lists(st.sampled_from(LINES), max_size=12))
def test_parsing_in_pieces_is_parsing_the_whole(lines):
    text = "\n".join(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "_stretches", lambda text, tables, start: iter([(0, len(text), "")]))
        whole = parse_module(text, "f")
    cut = parse_module(text, "f")
    assert "".join(piece.text for piece in cut.pieces) == text
    assert (cut.module, cut.diagnostics) == (whole.module, whole.diagnostics)


def standing(parsed):
    """What was parsed, where the text has it."""
    declarations = placed(parsed.module.declarations, parsed.numbering.placed)
    pieces = [(piece.text, piece.lines, piece.following) for piece in parsed.pieces]
    return declarations, parsed.module.span, parsed.diagnostics, pieces


@given(st.lists(st.sampled_from(LINES), max_size=8), st.lists(st.sampled_from(LINES), max_size=8))
def test_an_edited_text_is_parsed_as_it_would_be_afresh(before, after):
    old = parse_module("\n".join(before), "f")
    edited = parse_module("\n".join(after), "f", known_before(old.pieces))
    assert standing(edited) == standing(parse_module("\n".join(after), "f"))


@given(st.lists(st.sampled_from(LINES), max_size=12), st.data())
def test_a_text_that_is_edited_again_and_again_is_parsed_as_it_would_be_afresh(lines, data):
    text = "\n".join(lines)
    known = parse_module(text, "f")
    for _ in range(4):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 30)))
        typed = data.draw(
            st.sampled_from((*LINES, "x", "\n", " ", '"', "}", "\nmodel z { from t }\n", text[start:end]))
        )
        text = text[:start] + typed + text[end:]
        known = parse_module(text, "f", known_before(known.pieces))
        assert standing(known) == standing(parse_module(text, "f"))


TEXT = "domain a = string\nmodel m { from t }\nmodel n { from t filter x > }\n"


@pytest.mark.parametrize(
    ("edited", "same"),
    [
        (TEXT.replace("from t }", "from u }", 1), [True, False, True]),
        (TEXT.replace("from t }", "from t\n}", 1), [True, False, True]),
        ("// größer\r\n\n" + TEXT, [False, True, True, True]),
        (TEXT.replace("model m", "domain b = string\nmodel m"), [False, False, True, True]),
        (TEXT.removeprefix("domain a = string\n"), [True, True]),
        ("model m { from t }\n" + TEXT, [False, True, True, True]),
    ],
    ids=["in place", "a line more", "a comment above", "a declaration more", "one less", "one twice"],
)
def test_pieces_that_did_not_change_are_the_same_wherever_they_stand(edited, same):
    before = parse_module(TEXT, "f")
    after = parse_module(edited, "f", known_before(before.pieces))
    assert [any(a is b for b in before.pieces) for a in after.pieces] == same


def test_a_moved_line_keeps_its_number_and_is_told_where_it_stands():
    before = parse_module(TEXT, "f")
    after = parse_module("\n\n" + TEXT, "f", known_before(before.pieces))
    *_, last = after.module.declarations
    assert (last.span.line, after.numbering.placed(last.span).line, after.numbering.number(5)) == (3, 5, 3)
    assert (before.numbering.is_plain, after.numbering.is_plain) == (True, False)
    (finding,) = after.diagnostics
    assert (finding.span.line, finding.span.column) == (5, 29)
