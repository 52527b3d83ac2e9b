"""The map is true: ARCHITECTURE.md names files that exist, and the house has no room that it leaves out."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAP = (ROOT / "ARCHITECTURE.md").read_text()


def test_every_path_that_is_named_exists() -> None:
    named = set(re.findall(r"`(\w+/(?:[\w/]*/|[\w/]+\.(?:py|lark))?)`", MAP))
    assert len(named) > 40
    places = (ROOT, ROOT / "strata_core")
    assert sorted(n for n in named if not any((place / n).exists() for place in places)) == []


def test_every_package_is_on_the_map() -> None:
    packages = [path.parent.name for path in (ROOT / "strata_core").glob("*/__init__.py")]
    assert sorted(name for name in packages if f"`strata_core/{name}/`" not in MAP) == []


def test_every_section_of_seed_0_that_is_built_has_tests_of_its_name() -> None:
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    sections = ("s1", "s2", "s3", *(f"s4_rule{n}" for n in range(1, 7)), "s5a", "s5b", "s5c", "s6", "s7")
    assert [s for s in sections if f"def test_seed0_{s}_" not in tests] == []
