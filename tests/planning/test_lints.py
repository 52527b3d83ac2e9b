"""Severities of lints from strata.toml, and allowances in comments."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata_core.diagnostics import Diagnostic, Severity, Span, StrataError
from strata_core.planning.kept.findings import findings
from strata_core.planning.lints import ruled
from strata_core.planning.project import compile_sound, read_project
from strata_core.planning.texts import SourceText

FIELD = '  address: string classification: "address"'
CONTRACT = f"contract Office {{\n{FIELD}\n}}\n"
ALLOWED = "strata: allow W004 because it is public"


def found(root: Path, text: str, lint: str = "") -> list[str]:
    (root / "models").mkdir(exist_ok=True)
    (root / "models/office.strata").write_text(text, encoding="utf-8")
    (root / "strata.toml").write_text(f"[lint]\n{lint}\n", encoding="utf-8")
    told = findings(read_project(root)).diagnostics
    return [f"{d.severity} {d.code} {d.span.line if d.span else ''} {d.message}" for d in told]


LINT = "warning W004 2 `address` is classified as `address` but has no mask"


@pytest.mark.parametrize(
    ("lint", "severity"), [("", "warning"), ('W004 = "error"', "error"), ('W004 = "warning"', "warning")]
)
def test_a_lint_has_the_severity_that_the_project_gives_it(tmp_path, lint, severity):
    assert found(tmp_path, CONTRACT, lint) == [LINT.replace("warning", severity, 1)]


def test_a_change_of_severity_alone_is_seen(tmp_path):
    assert found(tmp_path, CONTRACT) == [LINT]
    assert found(tmp_path, CONTRACT, 'W004 = "off"') == []
    assert found(tmp_path, CONTRACT, 'W004 = "error"') == [LINT.replace("warning", "error", 1)]
    with pytest.raises(StrataError, match="W004"):
        compile_sound(read_project(tmp_path))


@pytest.mark.parametrize(
    ("lint", "message"),
    [
        ('W004 = "loud"', "`lint.W004` is not valid"),
        ('E012 = "off"', "unknown key `E012`"),
        ('W04 = "off"', "unknown key `W04`"),
    ],
)
def test_what_lint_does_not_take(tmp_path, lint, message):
    with pytest.raises(StrataError) as caught:
        found(tmp_path, CONTRACT, lint)
    (one,) = caught.value.diagnostics
    assert (one.code, one.message) == ("E073", message)
    assert one.fix


@pytest.mark.parametrize(
    "text",
    [
        CONTRACT.replace(FIELD, f"{FIELD}  // {ALLOWED}"),
        CONTRACT.replace(FIELD, f"  // {ALLOWED}\n{FIELD}"),
        CONTRACT.replace(FIELD, f"  # {ALLOWED}\n\n  // another remark\n{FIELD}"),
        CONTRACT.replace(FIELD, f"  /* {ALLOWED} */ {FIELD}"),
        CONTRACT.replace(FIELD, f'  address: string\n    classification: "address"  // {ALLOWED}'),
    ],
)
def test_an_allowance_with_a_reason_takes_the_lint_away(tmp_path, text):
    assert found(tmp_path, text) == []
    assert found(tmp_path, text, 'W004 = "error"') == []
    assert found(tmp_path, text, 'W004 = "off"') == []


@pytest.mark.parametrize(
    ("comment", "message", "fix"),
    [
        ("strata: allow W004", "`W004` is allowed without a reason", "write `// strata: allow W004 because …`"),
        ("strata: allow W004 because", "`W004` is allowed without a reason", "write `// strata: allow W004 because …`"),
        (
            "strata: allow W005 because so",
            "`W005` is allowed here, and there is nothing to allow",
            "take the comment out",
        ),
        ("strata: allow E012 because so", "`E012` is no lint", "only lints (W…) can be allowed"),
        ("strata: allow W04 because so", "`W04` is no lint", "did you mean W004?"),
    ],
)
def test_an_allowance_of_no_use_is_a_lint_and_takes_nothing_away(tmp_path, comment, message, fix):
    text = CONTRACT.replace(FIELD, f"{FIELD} // {comment}")
    assert found(tmp_path, text) == [LINT, f"warning W090 2 {message}"]
    assert found(tmp_path, text, 'W090 = "off"') == [LINT]
    (in_vain,) = ruled((), [SourceText("o.strata", text.encode())], {})
    assert in_vain.fix == fix


def test_an_allowance_is_for_its_place_alone(tmp_path):
    text = f'contract Office {{\n{FIELD}\n  city: string classification: "address" // {ALLOWED}\n}}\n'
    assert found(tmp_path, text) == [LINT]


def test_no_word_about_allowances_beside_an_error(tmp_path):
    text = f"// {ALLOWED}\ncontract Office {{ address: strng }}\n"
    assert [line.split()[1] for line in found(tmp_path, text)] == ["E072"]


def test_a_text_that_mentions_an_allowance_is_none(tmp_path):
    text = f'model m {{ description: "{ALLOWED}" from t }}'
    assert ruled((), [SourceText("m.strata", text.encode())], {}) == ()


def test_errors_and_findings_without_a_place_stay():
    text = f"// {ALLOWED.replace('W004', 'E012')}\nmodel m {{ from t }}"
    error = Diagnostic("E012", "x", Span("m.strata", 2, 1, 2, 6))
    placeless = Diagnostic("W004", "y", severity=Severity.WARNING)
    assert ruled((error, placeless), [SourceText("m.strata", text.encode())], {}) == (placeless, error)
