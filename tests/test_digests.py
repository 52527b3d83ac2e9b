"""Digests tell their parts apart, and never change: artifacts of earlier releases are found by them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from strata_core.digests import digest, hexdigest, packed

PARTS = st.lists(st.binary(max_size=4), max_size=4)


def test_a_digest_is_sha256_of_parts_behind_their_lengths() -> None:
    assert packed("é", b"") == b"\x00\x00\x00\x00\x00\x00\x00\x02\xc3\xa9\x00\x00\x00\x00\x00\x00\x00\x00"
    assert hexdigest() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert hexdigest("a", "bc") == "3fafa1cf2f19a7c1129beb20cf0983f73a489a221fc0dd2f16d1be292d089205"
    assert digest("a").hex() == hexdigest(b"a")


def test_half_of_a_surrogate_pair_has_a_digest() -> None:
    assert packed("\ud800")[8:] == b"\xed\xa0\x80"


@given(PARTS, PARTS)
def test_other_parts_have_another_form(one: list[bytes], other: list[bytes]) -> None:
    assert (packed(*one) == packed(*other)) is (one == other)
