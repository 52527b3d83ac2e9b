"""Declarations of a shape that was met before are the trees, and the findings, that the parser makes of them."""

from __future__ import annotations

from random import Random

import pytest

from strata_core.language import shapes
from strata_core.language.parser import ParseResult, parse_module
from strata_core.language.scanner import scan
from strata_core.language.shapes import Program
from strata_core.language.tables import load_tables

from .programs import declaration, spaced

OTHERS = {
    "IDENT": ("other", "money", "x" * 300),
    "QUOTED": ("`other`", "`from`", "`${a}`", "`a ${b.c} d`"),
    "INT": ("7", "0_0", "9223372036854775807", "9223372036854775808", "9" * 400),
    "FLOAT": ("2.25", "1e308", "1e999", "0." + "1" * 39),
    "STRING": ('"other"', '""', '"a\nb"', r'"\q"', '"${a}"', '"$ {"', '"${"'),
    "DURATION": ("2w", "999999999999999d"),
}
"""Texts of the same kind, those that are told as errors, or are limits, among them."""


def known() -> dict[tuple[int, ...], object]:
    return shapes._known(load_tables())


def by_the_parser(text: str) -> ParseResult:
    known().clear()
    return parse_module(text, "f")


def with_others(random: Random, text: str) -> str:
    """`text` with other texts of the same kinds in some places."""
    tables, parts, end = load_tables(), [], 0
    for token in scan(text, tables)[:-1]:
        others = OTHERS.get(tables.kinds[token.kind], ()) if random.random() < 0.3 else ()
        parts += [text[end : token.start], random.choice(others) if others else token.text]
        end = token.end
    return "".join(parts) + text[end:]


@pytest.mark.parametrize("seed", range(150))
def test_a_shape_that_was_met_twice_gives_the_trees_of_the_parser(seed):
    random = Random(seed)
    text = spaced(random, declaration(random), 0.1)
    variants = [with_others(random, text) for _ in range(6)]
    expected = [by_the_parser(variant) for variant in variants]
    known().clear()
    for _ in range(2):
        parse_module(text, "f")
    for variant, parsed in zip(variants, expected, strict=True):
        again = parse_module(variant, "f")
        assert (again.module, again.diagnostics) == (parsed.module, parsed.diagnostics)


CONTRACT = "contract C { a: int64, b: string nonnull }"
LIMITS = (
    "model m { from t filter x > " + " + ".join(["1"] * 90) + " }",
    "model m { from t filter " + "(" * 99 + "x > 1" + ")" * 99 + " }",
    "model m { from t filter " + "not " * 99 + "x }",
    "contract C { a: int64 b: string",
    "contract C { a: @, b: string }",
    "model m -> contract C { from t }",
    "model m { from t\nmodel n { from t }",
    "fn f(a: string) -> model = model m { from t }",
    "test t { expect count() > 1 }",
    "import a.b",
    "// a comment alone\nmodel m { from t }",
    "stray words",
)


@pytest.mark.parametrize("text", LIMITS, ids=range(len(LIMITS)))
def test_what_is_no_common_declaration_is_told_each_time(text):
    expected = by_the_parser(text)
    for _ in range(4):
        again = parse_module(text, "f")
        assert (again.module, again.diagnostics) == (expected.module, expected.diagnostics)


def test_a_program_is_made_when_a_shape_is_met_for_the_second_time():
    by_the_parser(CONTRACT)
    assert [*known().values()] == [None]
    parse_module(CONTRACT.replace("int64", "date"), "f")
    assert [type(one) for one in known().values()] == [Program]


def test_shapes_without_end_are_forgotten(monkeypatch):
    monkeypatch.setattr(shapes, "MOST", 10)
    known().clear()
    for count in range(1, 30):
        parse_module(f"contract C {{ {', '.join(f'c{n}: int64' for n in range(count))} }}", "f")
    assert len(known()) <= 10
