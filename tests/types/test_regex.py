from __future__ import annotations

import re

import pytest

from strata_core.types.functions.regex import RegexError, groups, to_python

# pattern, text, first match
MATCHES = [
    (r"\d+", "٣4", "4"),
    (r"\w+", "é_1", "_1"),
    (r"a$", "a\n", None),
    (r"[^\d]", "1a", "a"),
    (r"a.c", "a\nc", None),
    (r"x{2,3}?", "xxxx", "xx"),
    (r"[]]", "]", "]"),
    (r"[a&&b]", "&", "&"),
    (r"\$\.", "$.", "$."),
    (r"(?:ab)+", "abab", "abab"),
    (r"\bb", "éb", "b"),
]


@pytest.mark.parametrize(("pattern", "text", "expected"), MATCHES)
def test_the_common_subset_means_what_re2_means(pattern: str, text: str, expected: str | None) -> None:
    found = re.search(to_python(pattern), text)
    assert (found[0] if found else None) == expected


REFUSED = [
    "(?=a)",
    "(?<a>b)",
    "(?i)a",
    r"(a)\1",
    r"\pL",
    "a**",
    "a++",
    "[[:alpha:]]",
    "[a",
    "(a",
    r"\A",
    "{",
    "a{2000}",
]


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_engines_differ_in_is_refused(pattern: str) -> None:
    with pytest.raises(RegexError):
        to_python(pattern)


def test_groups_are_counted() -> None:
    assert groups(r"(a)(?:b)(c)") == 2
