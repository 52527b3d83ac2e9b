"""`strata check --format`: findings for other programs."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import pytest

BROKEN = "model broken { from nowhere select { id } }\n"


def test_sarif(cli):
    cli.write("models/broken.strata", BROKEN)
    ran = cli("check", "--format", "sarif")
    (run,) = json.loads(ran.out)["runs"]
    assert (ran.code, run["tool"]["driver"]["name"]) == (1, "strata")
    assert ("E020", "models/broken.strata") in [
        (r["ruleId"], r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]) for r in run["results"]
    ]


@pytest.mark.parametrize("verb", [("check",), ("lint",)])
def test_what_keeps_a_verb_from_its_work_is_told_in_the_format_asked_for(cli, verb):
    cli.write("strata.toml", "[project]\nname = 1\n")
    ran = cli(*verb, "--format", "sarif")
    (result,) = json.loads(ran.out)["runs"][0]["results"]
    assert (ran.code, result["ruleId"], ran.err) == (2, "E073", "")
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "strata.toml"
    (case,) = ElementTree.fromstring(cli(*verb, "--format", "junit").out).iter("testcase")
    assert case.find("failure").attrib["type"] == "E073"
    assert cli(*verb, "--format", "github").out.startswith("::error file=strata.toml,line=2,")
    assert json.loads(cli(*verb, "--format", "json").out)[0]["code"] == "E073"


def test_junit(cli):
    cli.write("models/broken.strata", BROKEN)
    suite = ElementTree.fromstring(cli("check", "--format", "junit").out)[0]
    failed = [case.attrib["name"] for case in suite if case.find("failure") is not None]
    assert failed == ["models/broken.strata"]


def test_annotations(cli):
    cli.write("models/broken.strata", BROKEN)
    lines = cli("check", "--format", "github").out.splitlines()
    assert any(line.startswith("::error file=models/broken.strata,line=1,col=21,title=E020 ") for line in lines)
