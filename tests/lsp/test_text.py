"""Positions of the protocol and places of the language in one text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position, Range

from strata_core.diagnostics import Span
from strata_core.lsp.text import Text

ODD = "a🎉b\r\nשם\rc\u2028d\n\ne"


def test_positions_count_units_of_the_agreed_encoding() -> None:
    for encoding, character in (("utf-16", 3), ("utf-8", 5), ("utf-32", 2)):
        text = Text(ODD, encoding)
        assert text.position(2) == Position(0, character)
        assert text.offset(Position(0, character)) == 2
    assert Text(ODD).offset(Position(0, 2)) == 1  # within the emoji: before it


def test_lines_of_the_protocol_are_others_than_those_of_the_language() -> None:
    text = Text(ODD)
    # `\r` ends a line of the protocol, and no line separator of Unicode does.
    assert [text.position(ODD.index(c)).line for c in "abcde"] == [0, 0, 2, 2, 4]
    assert text.place(Position(2, 0)) == (2, 4)
    assert text.range(Span("f", 2, 4, 2, 7)) == Range(Position(2, 0), Position(2, 3))


def test_what_lies_outside_is_taken_to_the_nearest_end() -> None:
    text = Text("ab\nc")
    assert text.offset(Position(0, 99)) == 2
    assert text.offset(Position(9, 0)) == 4
    assert text.range(Span("f", 1, 50, 9, 1)) == Range(Position(0, 2), Position(1, 1))


def test_a_byte_order_mark_is_no_part_of_the_program() -> None:
    text = Text("\ufeffmodel")
    assert text.program == "model"
    assert text.place(Position(0, 1)) == (1, 1)
    assert text.range(Span("f", 1, 1, 1, 6)) == Range(Position(0, 1), Position(0, 6))


TEXTS = st.lists(st.sampled_from(["a", "🎉", "\r", "\n", "\r\n", "\u2028", "\ufeff", "é"]), max_size=12).map("".join)
PLACES = st.tuples(st.integers(0, 6), st.integers(0, 8)).map(lambda p: Position(*p))


@given(TEXTS, st.lists(st.tuples(PLACES, PLACES, TEXTS), min_size=1, max_size=4))
def test_edits_give_the_text_that_a_new_one_would_be(content: str, edits: list) -> None:
    text = Text(content)
    for start, end, new in edits:
        first, last = text.offset(start), max(text.offset(start), text.offset(end))
        expected = f"{text.content[:first]}{new}{text.content[last:]}"
        text = text.changed(Range(start, end), new)
        assert text.content == expected
        fresh = Text(expected)
        for offset in range(len(expected) + 1):
            assert text.position(offset) == fresh.position(offset)
            assert text.place(fresh.position(offset)) == fresh.place(fresh.position(offset))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@given(content=TEXTS)
def test_a_position_leads_back_to_its_offset(encoding: str, content: str) -> None:
    text = Text(content, encoding)
    for offset in range(len(content) + 1):
        back = text.offset(text.position(offset))
        # Between `\r` and `\n` is no place: it is the end of the line.
        assert back == (offset - 1 if content[offset - 1 : offset + 1] == "\r\n" else offset)
