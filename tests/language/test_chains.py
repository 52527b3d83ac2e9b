"""Flat chains of operators may be long: nesting is limited, length is not."""

from __future__ import annotations

import pickle

import pytest

from strata_core.language import ast
from strata_core.language.chains import LONGEST_SPINE, last_apart
from strata_core.language.format import format_text
from strata_core.language.parser import parse_module

LONG = 5_000


def predicate(text: str) -> ast.Expr:
    result = parse_module(f"model m {{ filter {text} }}", "f")
    assert result.diagnostics == ()
    (model,) = result.module.declarations
    assert isinstance(model, ast.Model)
    (statement,) = model.statements
    assert isinstance(statement, ast.Filter)
    return statement.condition


def leaves(expr: ast.Expr, op: str) -> list[ast.Expr]:
    """What `op` joins, in order."""
    if isinstance(expr, ast.Binary) and expr.op == op:
        return leaves(expr.left, op) + leaves(expr.right, op)
    return [expr]


def depth(expr: ast.Expr) -> int:
    return 1 + max(depth(expr.left), depth(expr.right)) if isinstance(expr, ast.Binary) else 1


@pytest.mark.parametrize("op", ["and", "or", "||"])
def test_a_long_chain_keeps_its_operands_in_order_and_is_shallow(op: str) -> None:
    found = predicate(f" {op} ".join(f"c{i}" for i in range(LONG)))
    assert [str(c.name) for c in leaves(found, op) if isinstance(c, ast.ColumnRef)] == [f"c{i}" for i in range(LONG)]
    assert depth(found) == 14
    assert pickle.loads(pickle.dumps(found)) == found


def test_a_node_of_a_long_chain_spans_its_operands() -> None:
    found = predicate(" or ".join("a" for _ in range(64)))
    assert isinstance(found, ast.Binary)
    assert (found.span.column, found.span.end_column) == (18, 18 + 64 + 63 * 4)
    assert (found.left.span.end_column, found.right.span.column) == (18 + 32 + 31 * 4, 18 + 32 * 5)


def test_a_short_chain_is_the_tree_that_the_grammar_makes() -> None:
    found = predicate(" or ".join("a" for _ in range(LONGEST_SPINE)))
    assert depth(found) == LONGEST_SPINE


def test_a_chain_within_brackets_within_a_chain() -> None:
    inner = " and ".join(f"(a == {i})" for i in range(LONG // 50))
    found = predicate(" or ".join(f"f({inner})" for _ in range(50)))
    (first, *_) = leaves(found, "or")
    assert isinstance(first, ast.Call)
    assert len(leaves(first.arguments[0], "and")) == LONG // 50
    assert depth(first.arguments[0]) == 9


def test_arithmetic_keeps_the_grouping_that_says_where_it_overflows() -> None:
    text = "a" + "".join(f" {op} c{i}" for i, op in enumerate("+-*/%" * (LONG // 5)))
    found = predicate(text)
    assert isinstance(found, ast.Chain)
    assert depth(found.first) <= LONGEST_SPINE + 4
    assert format_text(f"model m {{ filter {text} }}", "f").text is not None
    # `*`, `/` and `%` bind tighter: `a + c0 - c1 * c2 / c3 % c4 + …` has two links in five operators.
    assert [link.op for link in found.links[:4]] == ["-", "+", "-", "+"]
    assert len(found.links) == 2 * LONG // 5 - LONGEST_SPINE + 1
    product = found.links[0].operand
    assert isinstance(product, ast.Binary)
    assert (product.op, depth(product)) == ("%", 4)
    assert pickle.loads(pickle.dumps(found)) == found


def test_a_link_spans_the_chain_up_to_it() -> None:
    found = predicate("(" + " + ".join("a" for _ in range(LONGEST_SPINE)) + ") * b - c")
    assert isinstance(found, ast.Chain)
    width = 18 + 2 + LONGEST_SPINE + 3 * (LONGEST_SPINE - 1)
    assert [(link.op, link.span.column, link.span.end_column) for link in found.links] == [
        ("*", 18, width + 4),
        ("-", 18, width + 8),
    ]


def test_the_last_operation_of_a_chain_stands_apart() -> None:
    found = predicate(" * ".join(f"c{i}" for i in range(LONGEST_SPINE + 1)))
    assert isinstance(found, ast.Chain)
    last = last_apart(found)
    assert (last.op, last.left, last.right) == ("*", found.first, found.links[0].operand)


def test_a_long_chain_is_laid_out() -> None:
    found = format_text(f"model m {{ filter {' or '.join(['a'] * LONG)} }}", "f")
    assert found.text is not None
    assert format_text(found.text, "f").text == found.text
    assert predicate(found.text.split("filter")[1].rstrip("}\n")) is not None


@pytest.mark.parametrize("op", ["+", "*", "-"])
def test_a_long_chain_of_arithmetic_is_laid_out(op: str) -> None:
    found = format_text(f"model m {{ filter {f' {op} '.join(['a'] * LONG)} > 0 }}", "f")
    assert found.text is not None
    assert format_text(found.text, "f").text == found.text
