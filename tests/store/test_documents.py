"""JSON text and instants: what is read back, and what they refuse."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_core.store import document, instant


@given(st.integers(0, 2**62))
def test_every_instant_is_read_back_and_spelled_in_order(at: int) -> None:
    assert instant.parse(instant.spell(at)) == at
    assert instant.spell(at) < instant.spell(at + 1)


@pytest.mark.parametrize(
    "text", ["2023-11-14T22:13:20Z", "2023-11-14T22:13:20.000000001", "2023-13-14T22:13:20.000000001Z"]
)
def test_other_spellings_of_an_instant_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"instant|month"):
        instant.parse(text)


def test_what_is_no_json_is_not_written() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        document.to_text({"x": math.nan})


def test_a_document_that_nests_too_deep_is_none() -> None:
    with pytest.raises(ValueError, match="it nests too deep"):
        document.from_text("[" * 100_000)
