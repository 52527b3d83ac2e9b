"""Classified values do not reach the terminal (Seed 0 §3: a classification is a masking rule at the boundary)."""

from __future__ import annotations

import pytest

SECRET = "N14228-SECRET"
MODELS = """\
source planes(csv: "planes.csv") { columns: { seat: int64 nonnull, tail: string } }
contract Planes { seat: int64 primary_key  tail: string classification: "aircraft" mask: hash }
model aircraft -> contract Planes { from planes }
model tails { from aircraft select { seat, shouted = upper(tail) } }
"""


@pytest.fixture
def planes(empty):
    empty.write("models/planes.strata", MODELS)
    empty.write("strata.toml", '[engine]\nname = "reference"\n')
    empty.write("planes.csv", f"seat,tail\n2,\n1,{SECRET}\n")
    assert empty("apply").code == 0
    return empty


@pytest.mark.parametrize("model", ["aircraft", "tails"])
@pytest.mark.parametrize("format_", ["table", "csv", "json"])
def test_seed0_s3_a_classified_value_is_masked_here_and_downstream(planes, model, format_):
    ran = planes("show", model, "--format", format_)
    assert ran.code == 0
    assert SECRET not in ran.out + ran.err
    assert ran.out.count("‹masked›") == 1
    assert ran.err.startswith(f"masked by contract: {'tail' if model == 'aircraft' else 'shouted'}\n")


def test_a_null_of_a_masked_column_is_still_a_null(planes):
    assert planes("show", "aircraft", "--format", "csv").out == "seat,tail\n1,‹masked›\n2,\n"


def test_a_model_that_left_the_project_stays_masked(planes):
    planes.write("models/planes.strata", MODELS.split("model aircraft")[0])
    assert planes("show", "aircraft", "--format", "csv").out == "seat,tail\n1,‹masked›\n2,\n"


def test_rows_stand_in_the_order_of_the_contracts_key(planes):
    assert [line[0] for line in planes("show", "aircraft", "--format", "csv").out.splitlines()[1:]] == ["1", "2"]
