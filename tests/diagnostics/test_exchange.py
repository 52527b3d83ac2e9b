"""Findings in the formats of other programs."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

from hypothesis import given
from hypothesis import strategies as st
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as SarifLog

from strata_core.diagnostics import Diagnostic, Related, Severity, Span
from strata_core.diagnostics.exchange import render_github, render_junit, render_sarif

PLACE = Span("contracts/a b/contract.yaml", 3, 5, 3, 9)
FOUND = [
    Diagnostic(
        "E114",
        "two: 100%, say",
        PLACE,
        fix="make them\nthe same",
        notes=("a note",),
        related=(Related(Span("models/x.sql", 1, 1, 2, 1), "made here"),),
        field_path="assets[orders].columns[amount].type",
    ),
    Diagnostic("W110", "more <columns> & such", Span("x.yaml", 1, 1, 4, 1), Severity.INFO),
    Diagnostic("E132", "to review", None, Severity.WARNING, blocking=True),
]


def test_sarif_has_the_shape_of_2_1_0() -> None:
    log = json.loads(render_sarif(FOUND, "contract-engine", "0.1.0"))
    assert (log["version"], log["$schema"]) == ("2.1.0", "https://json.schemastore.org/sarif-2.1.0.json")
    (run,) = log["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["tool"]["driver"] == {
        "name": "contract-engine",
        "version": "0.1.0",
        "rules": [
            {"id": "E114", "shortDescription": {"text": "sources disagree"}},
            {"id": "E132", "shortDescription": {"text": "change has to be reviewed by the owner"}},
            {"id": "W110", "shortDescription": {"text": "columns that the contract does not name"}},
        ],
    }
    first, second, third = run["results"]
    assert first == {
        "ruleId": "E114",
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": "two: 100%, say\na note\nFix: make them\nthe same"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "contracts/a%20b/contract.yaml", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 9},
                },
                "logicalLocations": [{"fullyQualifiedName": "assets[orders].columns[amount].type"}],
            }
        ],
        "relatedLocations": [
            {
                "id": 0,
                "physicalLocation": {
                    "artifactLocation": {"uri": "models/x.sql", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 1, "startColumn": 1, "endLine": 2, "endColumn": 1},
                },
                "message": {"text": "made here"},
            }
        ],
        "properties": {"blocks": True},
    }
    assert (second["level"], second["properties"]) == ("note", {"blocks": False})
    assert (third["level"], third["locations"], third["properties"]) == ("warning", [], {"blocks": True})


def test_junit_has_a_case_per_file_which_fails_where_something_blocks() -> None:
    suite = ElementTree.fromstring(render_junit(FOUND, ["clean.yaml", "x.yaml"], "contract-engine"))[0]
    assert suite.attrib == {"name": "contract-engine", "tests": "4", "failures": "2", "errors": "0", "skipped": "0"}
    cases = {case.attrib["name"]: case for case in suite}
    assert list(cases["clean.yaml"]) == []
    (failure,) = cases["contracts/a b/contract.yaml"]
    assert failure.attrib == {"type": "E114", "message": "two: 100%, say"}
    assert (failure.text or "").startswith("contracts/a b/contract.yaml:3:5: error[E114]: two: 100%, say\na note\n")
    assert (failure.text or "").endswith("\nFix: make them\nthe same\nmodels/x.sql:1:1: made here")
    (output,) = cases["x.yaml"]
    assert (output.tag, output.text) == ("system-out", "x.yaml:1:1: info[W110]: more <columns> & such")
    assert [c.tag for c in cases["contract-engine"]] == ["failure"]


def test_annotations_are_escaped_as_workflow_commands() -> None:
    assert render_github(FOUND).split("\n") == [
        "::error file=contracts/a b/contract.yaml,line=3,col=5,title=E114 sources disagree,endColumn=9,endLine=3"
        "::two: 100%25, say%0Aa note%0AFix: make them%0Athe same%0Amodels/x.sql:1:1: made here",
        "::notice file=x.yaml,line=1,col=1,title=W110 columns that the contract does not name,endLine=4"
        "::more <columns> & such",
        "::warning title=E132 change has to be reviewed by the owner::to review",
    ]


ANY = st.text(st.characters(exclude_categories=()), max_size=20)


@given(ANY, ANY, ANY)
def test_law_no_text_breaks_a_format(message: str, fix: str, file: str) -> None:
    found = [Diagnostic("E114", message, Span(file, 1, 1, 1, 1), fix=fix)]
    ElementTree.fromstring(render_junit(found, [], "t").encode("utf-8"))
    assert len(render_github(found).splitlines()) == 1 or "\n" not in render_github(found)
    assert json.loads(render_sarif(found, "t", "1"))["runs"][0]["results"][0]["ruleId"] == "E114"


SPANS = st.builds(lambda file, line, column: Span(file, line, column, line, column + 1), ANY, *[st.integers(1, 9)] * 2)
FINDINGS = st.builds(
    Diagnostic,
    st.sampled_from(["E114", "W110", "E073"]),
    ANY,
    st.none() | SPANS,
    st.sampled_from(Severity),
    fix=st.none() | ANY,
    notes=st.lists(ANY, max_size=2).map(tuple),
    related=st.lists(st.builds(Related, SPANS, ANY), max_size=2).map(tuple),
    field_path=st.none() | ANY,
    blocking=st.none() | st.booleans(),
)


@given(st.lists(FINDINGS, max_size=3))
def test_law_every_log_is_of_the_schema_of_sarif(found: list[Diagnostic]) -> None:
    SarifLog.model_validate(json.loads(render_sarif(found, "t", "1")))


def test_half_of_a_surrogate_pair_breaks_no_format() -> None:
    found = [Diagnostic("E114", "a\ud800", Span("\udcff.yaml", 1, 1, 1, 1), fix="b\ud800")]
    for text in (render_sarif(found, "t", "1"), render_junit(found, ["\ud800"], "t"), render_github(found)):
        assert text.encode()
