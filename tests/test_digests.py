"""Digests tell their parts apart, and never change: artifacts of earlier releases are found by them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_core.digests import digest, hexdigest, of_value, packed

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


@dataclass(frozen=True)
class Pair:
    left: object
    right: object


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats() | st.text(max_size=2) | st.binary(max_size=2),
    lambda inner: (
        st.tuples(inner, inner)
        | st.lists(inner, max_size=2)
        | st.builds(Pair, inner, inner)
        | st.dictionaries(st.text(max_size=1), inner, max_size=2)
    ),
    max_leaves=6,
)


def spelled(value: object) -> str:
    """An oracle that goes through everything again wherever it stands."""
    if isinstance(value, dict):
        return f"{{{sorted((k, spelled(v)) for k, v in value.items())}}}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}{[spelled(v) for v in value]}"
    if isinstance(value, Pair):
        return f"Pair{spelled(value.left), spelled(value.right)}"
    return f"{type(value).__name__}:{value!r}"


@given(VALUES, VALUES)
def test_values_have_one_digest_exactly_where_they_are_spelled_the_same(one: object, other: object) -> None:
    assert (of_value(one) == of_value(other)) is (spelled(one) == spelled(other))


def test_the_digest_of_a_value_is_that_of_any_other_process() -> None:
    program = (
        "from strata_core.digests import of_value; from enum import Enum; Colour = Enum('Colour', 'RED BLUE');"
        "print(of_value((frozenset(map(str, range(50))), {'b': 1, 'a': [2.5]}, Colour.RED)).hex())"
    )
    found = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        found.add(subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True).stdout)
    assert b"" not in found
    assert len(found) == 1


@pytest.mark.parametrize("without", ["sys.modules['_blake2'] = None", "import _blake2; _blake2.blake2b = forbidden"])
def test_a_python_without_blake2_checks_and_keeps_all_the_same(tmp_path: Path, without: str) -> None:
    program = (
        "import sys\ndef forbidden(*given): raise ValueError('in FIPS mode')\n"
        f"{without}\nfrom strata_core.cli.main import main\nmain()"
    )
    (tmp_path / "a.strata").write_text('source s (csv: "a.csv") { columns: { id: int64 } }\nmodel m { from s }\n')
    environment = {**os.environ, "STRATA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", program, "check", str(tmp_path / "a.strata")]
    for _ in range(2):
        ran = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        assert "1 model in 1 file: 0 errors" in ran.stderr
    (kept_tables,) = (tmp_path / "cache" / "grammars").iterdir()
    assert kept_tables.stat().st_size > 10_000


def test_what_is_shared_is_gone_through_once_and_depth_has_no_end() -> None:
    shared: object = ()
    for _ in range(5_000):  # as a tree it has more nodes than there are atoms
        shared = (shared, shared)
    chain: object = ()
    for number in range(50_000):
        chain = Pair(number, chain)
    assert of_value(shared) != of_value(chain)


def test_a_value_that_says_nothing_of_itself_has_no_digest() -> None:
    with pytest.raises(TypeError, match="object has no digest"):
        of_value((1, object()))
