"""Rendered diagnostics, as literal text."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.diagnostics import Diagnostic, Edit, Related, Severity, Span, Suggestion
from strata_core.diagnostics.render import legible, printable, render_json, render_text

SOURCE = """\
model a {
  from x
  filter (b
    or c
    or d)
\tselect { 日本 = "ab", e }
  take 1
  take 2
  take 3
}
"""


def text(*diagnostics: Diagnostic, source: str | None = SOURCE, color: bool = False, width: int = 80) -> str:
    return render_text(diagnostics, lambda file: source if file == "m.strata" else None, color, width)


def span(line: int, column: int, end_line: int, end_column: int) -> Span:
    return Span("m.strata", line, column, end_line, end_column)


def test_one_line():
    found = Diagnostic("E021", "no column `x`", span(2, 8, 2, 9), label="unknown", fix="did you mean `y`?")
    assert text(found) == (
        "error[E021]: no column `x`\n"
        " --> m.strata:2:8\n"
        "  |\n"
        "2 |   from x\n"
        "  |        ^ unknown\n"
        "  |\n"
        "  = help: did you mean `y`?\n"
        "\n"
    )


def test_a_byte_order_mark_is_in_no_column():
    found = Diagnostic("E001", "expected a declaration", span(1, 1, 1, 5))
    assert text(found, source="\ufeffmodl a {\n}\n") == (
        "error[E001]: expected a declaration\n --> m.strata:1:1\n  |\n1 | modl a {\n  | ^^^^\n\n"
    )


def test_a_file_is_looked_at_once_however_many_findings_it_has():
    asked = []

    def source(file: str) -> str:
        asked.append(file)
        return SOURCE

    found = [Diagnostic("E021", f"no column `x{n}`", span(2, 8, 2, 9)) for n in range(50)]
    assert render_text(found, source, color=False, width=80).count("  from x\n") == 50
    assert asked == ["m.strata"]


def test_tabs_and_wide_characters_are_aligned():
    found = Diagnostic("W001", "m", span(6, 16, 6, 20), severity=Severity.WARNING)
    assert text(found) == (
        'warning[W001]: m\n --> m.strata:6:16\n  |\n6 |     select { 日本 = "ab", e }\n  |                     ^^^^\n\n'
    )


def test_a_wide_operand_is_marked_over_its_whole_width():
    found = Diagnostic("W001", "m", span(6, 11, 6, 13), severity=Severity.INFO)
    assert text(found).splitlines()[3:5] == ['6 |     select { 日本 = "ab", e }', "  |              ^^^^"]


def test_several_lines_from_the_start_of_a_line():
    assert text(Diagnostic("E001", "m", span(1, 1, 10, 2), label="here")) == (
        "error[E001]: m\n"
        "  --> m.strata:1:1\n"
        "   |\n"
        " 1 | / model a {\n"
        " 2 | |   from x\n"
        " 3 | |   filter (b\n"
        "...\n"
        " 9 | |   take 3\n"
        "10 | | }\n"
        "   | |_^ here\n"
        "\n"
    )


def test_several_lines_from_within_a_line():
    found = Diagnostic("E001", "m", span(3, 10, 5, 10), notes=("one", "two"), fix="three")
    assert text(found) == (
        "error[E001]: m\n"
        " --> m.strata:3:10\n"
        "  |\n"
        "3 |     filter (b\n"
        "  |  __________^\n"
        "4 | |     or c\n"
        "5 | |     or d)\n"
        "  | |_________^\n"
        "  |\n"
        "  = note: one\n"
        "  = note: two\n"
        "  = help: three\n"
        "\n"
    )


def test_related_places():
    related = (Related(span(1, 7, 1, 8), "declared here"), Related(Span("other.strata", 3, 1, 3, 2), "and there"))
    assert text(Diagnostic("E023", "twice", span(7, 3, 7, 7), related=related)) == (
        "error[E023]: twice\n"
        " --> m.strata:7:3\n"
        "  |\n"
        "7 |   take 1\n"
        "  |   ^^^^\n"
        "note: declared here\n"
        " --> m.strata:1:7\n"
        "  |\n"
        "1 | model a {\n"
        "  |       ^\n"
        "note: and there\n"
        " --> other.strata:3:1\n"
        "\n"
    )


def test_without_a_place():
    found = Diagnostic("E092", "the store cannot be read", fix="check the path", notes=("it is a file",))
    assert text(found) == (
        "error[E092]: the store cannot be read\n  = note: it is a file\n  = help: check the path\n\n"
    )


def test_a_place_that_the_text_no_longer_has_is_named_only():
    assert text(Diagnostic("E001", "m", span(99, 1, 99, 2))) == "error[E001]: m\n  --> m.strata:99:1\n\n"
    assert text(Diagnostic("E001", "m", span(1, 1, 1, 2)), source=None) == "error[E001]: m\n --> m.strata:1:1\n\n"


def test_the_end_of_the_file_is_marked_with_one_caret():
    found = Diagnostic("E001", "m", span(11, 1, 11, 1))
    assert text(found) == "error[E001]: m\n  --> m.strata:11:1\n   |\n11 |\n   | ^\n\n"


def test_colors():
    found = Diagnostic("E021", "m", span(2, 8, 2, 9), label="l", fix="f")
    assert text(found, color=True) == (
        "\x1b[1;31merror[E021]\x1b[0m\x1b[1m: m\x1b[0m\n"
        " \x1b[1;34m-->\x1b[0m m.strata:2:8\n"
        "  \x1b[1;34m|\x1b[0m\n"
        "\x1b[1;34m2 |\x1b[0m   from x\n"
        "  \x1b[1;34m|\x1b[0m \x1b[1;31m       ^ l\x1b[0m\n"
        "  \x1b[1;34m|\x1b[0m\n"
        "  \x1b[1;34m=\x1b[0m \x1b[1mhelp\x1b[0m: f\n"
        "\n"
    )


def test_long_lines_are_cut_around_the_mark():
    line = "a" * 500 + "HERE" + "b" * 500
    found = Diagnostic("E001", "m", span(1, 501, 1, 505))
    assert text(found, source=line, width=34).splitlines()[3:5] == [
        "1 | …aaaaaaaaaHEREbbbbbbbbbbbbbbb…",
        "  |           ^^^^",
    ]


def test_long_lines_are_cut_at_their_start_and_end():
    line = "HERE" + "b" * 500
    shown = text(Diagnostic("E001", "m", span(1, 1, 1, 5)), source=line, width=34).splitlines()
    assert shown[3:5] == ["1 | HERE" + "b" * 24 + "…", "  | ^^^^"]
    shown = text(Diagnostic("E001", "m", span(1, 501, 1, 505)), source="b" * 500 + "HERE", width=34).splitlines()
    assert shown[3:5] == ["1 | …" + "b" * 24 + "HERE", "  | " + " " * 25 + "^^^^"]


def test_characters_that_steer_a_terminal_are_made_visible():
    found = Diagnostic("E001", "bad \x1b[31m\nname \u202e", span(1, 1, 1, 2), label="\x07")
    assert text(found, source="\x1b]0;x\u202e\r") == (
        "error[E001]: bad ␛[31m name �\n --> m.strata:1:1\n  |\n1 | ␛]0;x�\n  | ^ ␇\n\n"
    )


def test_a_document_keeps_lines_and_joiners_and_nothing_that_steers():
    assert legible("a\tb\nc\r\x1b[31m\x07\x85 \u202etxt\u2066 \ud800") == "a\tb\nc␍␛[31m␇� �txt� �"
    for kept in ("👩\u200d🚀", "\u200f\u05e2\u05d1\u200e", "\u0645\u06cc\u200c\u062e", "co\xadoperate", "línea"):
        assert legible(kept) == kept
    assert printable("a\u2028b\u2029c") == "a b c"


def test_json_has_a_stable_shape():
    found = Diagnostic(
        "E012", "é", span(1, 2, 3, 4), Severity.WARNING, "l", "f", ("n",), (Related(span(5, 6, 7, 8), "r"),), "p",
        suggestions=(Suggestion("t", (Edit(span(1, 2, 1, 2), "x"),)),),
    )  # fmt: skip
    assert json.loads(render_json([found, Diagnostic("E092", "m")])) == [
        {
            "code": "E012",
            "severity": "warning",
            "message": "é",
            "span": {"file": "m.strata", "line": 1, "column": 2, "end_line": 3, "end_column": 4},
            "label": "l",
            "fix": "f",
            "notes": ["n"],
            "related": [
                {"span": {"file": "m.strata", "line": 5, "column": 6, "end_line": 7, "end_column": 8}, "message": "r"}
            ],
            "field_path": "p",
            "blocks": False,
            "suggestions": [
                {
                    "title": "t",
                    "edits": [
                        {
                            "span": {"file": "m.strata", "line": 1, "column": 2, "end_line": 1, "end_column": 2},
                            "text": "x",
                        }
                    ],
                }
            ],
        },
        {
            "code": "E092",
            "severity": "error",
            "message": "m",
            "span": None,
            "label": None,
            "fix": None,
            "notes": [],
            "related": [],
            "field_path": None,
            "blocks": True,
            "suggestions": [],
        },
    ]


def test_nothing_is_an_empty_array():
    assert render_json([]) == "[]"
    assert text() == ""


def test_a_mark_behind_a_line_that_fills_the_width_is_within_it():
    rendered = text(Diagnostic("E001", "m", span(1, 21, 1, 21)), source="abcdefghijklmnopqrst", width=24)
    assert rendered.split("\n")[3:5] == ["1 | …cdefghijklmnopqrst", "  |                    ^"]


LINE = st.text(st.characters(exclude_characters="\n", exclude_categories=()), max_size=120)


@settings(max_examples=150, deadline=None)
@given(LINE, st.integers(1, 121), st.integers(0, 121), st.integers(0, 60))
def test_rendering_never_fails_and_keeps_to_the_width(line, column, length, width):
    from strata_core.diagnostics.render import _NARROWEST, terminal_width

    rendered = text(Diagnostic("E001", "m", span(1, column, 1, column + length)), source=line, width=width)
    rows = rendered.split("\n")[3:5]
    assert all(terminal_width(row) <= max(width, _NARROWEST + 4) for row in rows)


@settings(max_examples=100, deadline=None)
@given(st.lists(LINE, min_size=1, max_size=12), st.data())
def test_spans_over_lines_never_fail(lines, data):
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    begin = data.draw(st.integers(1, 122))
    end = data.draw(st.integers(begin if first == last else 1, 123))
    assert text(Diagnostic("E001", "m", span(first, begin, last, end)), source="\n".join(lines))
