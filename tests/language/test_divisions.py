"""`//` where a division was meant: told where what follows can be an operand, and nowhere else."""

from __future__ import annotations

import pytest

from strata_core.diagnostics import Diagnostic, Severity
from strata_core.diagnostics.edits import applied
from strata_core.language.format import format_text
from strata_core.language.parser import parse_module

SOURCE = 'source t(csv: "t.csv") { columns: { qty: int64, n: int64, note: string, d: date } }\n'


def found(text: str) -> list[Diagnostic]:
    return [d for d in parse_module(SOURCE + text, "m.strata").diagnostics if d.code == "W019"]


@pytest.mark.parametrize(
    ("body", "operand"),
    [
        ("derive { half = qty // 2\n}", "2"),
        ("derive { half = qty//2\n}", "2"),
        ("derive { half = qty // 2 }\n}", "2"),
        ("derive { half = qty // 2, other = n }\n", "2"),
        ("derive { half = qty // 2 } select { half }\n", "2"),
        ("let half = qty // 2 filter half > 1\n", "2"),
        ("filter qty // 2 > 1", "2"),
        ("derive { half = qty // 2,\n other = n }", "2"),
        ("derive { half = (qty + 1) // 2 // rounded\n}", "2"),
        ("derive { half = qty // n\n} filter n > 0", "n"),
        ("derive { half = t.qty // t.n\n} filter n > 0", "t.n"),
        ("derive { half = qty // (n + 1)\n} filter n > 0", "(n + 1)"),
        ("derive { half = qty // abs(n)\n} filter n > 0", "abs(n)"),
        ("derive { half = 1_000 // 2.5 * n\n} filter n > 0", "2.5 * n"),
        ("derive { half = `qty` // 2 # pairs\n}", "2"),
        ("derive { half = qty // 2 per box\n}", None),
        ("derive { half = qty // pairs\n}", None),
        ("derive { half = qty // (see below)\n}", None),
        ("derive { half = qty } // 2", None),
        ("derive { half = qty, // 2\n}", "2"),
        ("derive { half = abs(qty),  // n\n} filter n > 0", "n"),
        ("derive { half = qty, // pairs\n}", None),
        ("select { qty, // 2\n n }", None),
        ("filter qty in [n, // 2\n 3]", None),
        ("derive { half = qty\n // 2\n}", None),
        ("derive { half = qty # 2\n}", None),
        ("derive { half = qty /* 2 */ }", None),
        ('filter note == "http://2"', None),
        ('filter note == "a" // 2', None),
        ("filter qty > 1 // and n < 2", None),
        ("filter qty > 1 // n < 2", None),
        ("take 10 // rows", None),
    ],
)
def test_a_comment_is_told_where_it_reads_as_a_divisor(body: str, operand: str | None) -> None:
    told = [d.message for d in found(f"model m {{ from t {body} }}")]
    assert told == ([] if operand is None else [f"`// {operand}` is a comment: nothing is divided here"])


@pytest.mark.parametrize(
    "text",
    [
        "contract C { qty: int64 // 2\n}",
        "contract C { amount: decimal(9,2) // 2\n}",
        'source s(csv: "s") { columns: { qty: int64 // 2\n } }',
        "import finance // 2",
        "// 2\nmodel m { from t }",
    ],
)
def test_where_nothing_is_computed_a_comment_is_a_comment(text: str) -> None:
    assert found(text) == []


def test_it_stands_at_the_sign_and_is_mended_by_one() -> None:
    (told,) = found("\nmodel m {\n  from t\n  derive { half = qty // 2\n }\n}")
    assert (told.severity, str(told.span), told.fix) == (
        Severity.WARNING,
        "m.strata:5:23",
        "write `/ 2`, and `floor(…)` around the division for a whole number",
    )
    assert [[(str(e.span), e.text) for e in s.edits] for s in told.suggestions] == [[("m.strata:5:23", "/")]]


def test_it_is_told_and_mended_as_the_formatter_writes_it() -> None:
    text = SOURCE + "model m {\n  from t\n  derive { half = qty // 2\n , other = n\n } }\n"
    formatted = format_text(text, "m.strata").text
    assert formatted is not None
    (told,) = (d for d in parse_module(formatted, "m.strata").diagnostics)
    assert told.code == "W019"
    (change,) = told.suggestions
    assert "half = qty,  // 2\n" in formatted
    assert "half = qty / 2,\n" in applied(formatted, change.edits)


def test_a_bracket_that_goes_with_the_comment_is_told_beside_what_is_missing() -> None:
    parsed = parse_module(SOURCE + "model m { from t derive { half = qty // 2 } }\n", "m.strata")
    assert [d.code for d in parsed.diagnostics] == ["E001", "W019"]
    shown = [(str(r.span), r.message) for r in parsed.diagnostics[0].related]
    assert shown[-1] == ("m.strata:2:38", "this begins a comment: is `/` meant?")
    below = parse_module("model a { filter ) }\n" + SOURCE + "model m { from t filter qty // 2\n}", "m.strata")
    assert [(d.code, len(d.related)) for d in below.diagnostics] == [("E001", 0), ("W019", 0)]


def test_it_is_told_of_a_model_whose_shape_was_met_before() -> None:
    one, other = (f"model {name} {{\n  from t\n  derive {{ half = qty // 2\n  }}\n}}\n" for name in "ab")
    assert [d.span.line for d in found(one + other) if d.span is not None] == [4, 9]
