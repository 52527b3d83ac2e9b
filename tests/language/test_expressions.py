"""language.md, "Expressions": every form, and the table of precedence."""

# ruff: noqa: E501  (tables of literal expectations, one row a case)
from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", "a"),
        ("t.a", "t.a"),
        ("(a)", "a"),
        ("-a", "(- a)"),
        ("- -a", "(- (- a))"),
        ("--1", "(- -1)"),
        ("not a", "(not a)"),
        ("a in [1, 2,]", "In(operand=a values=ListExpr(items=[1, 2]))"),
        ("a in tags", "In(operand=a values=tags)"),
        ('a like "x%"', "Like(operand=a pattern='x%')"),
        ('a rlike "^x"', "RLike(operand=a pattern='^x')"),
        ("a is none", "IsNone(operand=a)"),
        ("a is null", "IsNone(operand=a)"),
        ("a is not none", "IsNone(operand=a negated=True)"),
        ("[]", "ListExpr()"),
        ("[a, [1]]", "ListExpr(items=[a, ListExpr(items=[1])])"),
        ("f()", "Call(function=f)"),
        ("f(a, 1,)", "Call(function=f arguments=[a, 1])"),
        ("date_add(d, days: 3)", "Call(function=date_add arguments=[d] keywords=[KeywordArgument(name=days value=3)])"),
        ("count(*)", "Call(function=count star=True)"),
        ("count(distinct a)", "Call(function=count arguments=[a] distinct=True)"),
        ("if(a, 1, 2)", "Call(function=if arguments=[a, 1, 2])"),
        ("case(a, 1, 2)", "Call(function=case arguments=[a, 1, 2])"),
        ('cast(e, "decimal(10,2)")', "Call(function=cast arguments=[e, 'decimal(10,2)'])"),
        ("rank() over ()", "Over(call=Call(function=rank))"),
        (
            "sum(x) over (partition_by: [k, t.l], sort: [a desc, -b], rows: -2..0)",
            "Over(call=Call(function=sum arguments=[x]) partition_by=[k, t.l] sort=[SortKey(expr=a descending=True), "
            "SortKey(expr=b descending=True)] frame=Frame(first=-2 last=0))",
        ),
        (
            "rank() over (sort: [a asc] partition_by: [k])",
            "Over(call=Call(function=rank) partition_by=[k] sort=[SortKey(expr=a)])",
        ),
        ("sum(x) over (rows: ..0)", "Over(call=Call(function=sum arguments=[x]) frame=Frame(last=0))"),
        ("sum(x) over (rows: 1..)", "Over(call=Call(function=sum arguments=[x]) frame=Frame(first=1))"),
        ("sum(x) over (rows: ..)", "Over(call=Call(function=sum arguments=[x]) frame=Frame())"),
    ],
)
def test_expression(expression, text, tree):
    assert expression(text) == tree


# From the loosest to the tightest, as in language.md; the operators of one level associate to the left.
LEVELS = (("or",), ("and",), ("==", "!=", "<", "<=", ">", ">="), ("+", "-", "||"), ("*", "/", "%"))
PAIRS = [
    (loose, tight) for i, level in enumerate(LEVELS) for loose in level for tighter in LEVELS[i + 1 :] for tight in tighter
]  # fmt: skip


@pytest.mark.parametrize(("loose", "tight"), PAIRS)
def test_precedence(expression, loose, tight):
    assert expression(f"a {loose} b {tight} c") == f"(a {loose} (b {tight} c))"
    assert expression(f"a {tight} b {loose} c") == f"((a {tight} b) {loose} c)"


@pytest.mark.parametrize("level", LEVELS)
def test_operators_of_one_level_associate_to_the_left(expression, level):
    for first in level:
        for second in level:
            assert expression(f"a {first} b {second} c") == f"((a {first} b) {second} c)"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("not a == b", "(not (a == b))"),
        ("not a and b", "((not a) and b)"),
        ("a and not b or c", "((a and (not b)) or c)"),
        ("not not a", "(not (not a))"),
        ("not a in [1]", "(not In(operand=a values=ListExpr(items=[1])))"),
        ("not a is none", "(not IsNone(operand=a))"),
        ("a + b in [1] and c", "(In(operand=(a + b) values=ListExpr(items=[1])) and c)"),
        ("a || b like c || d", "Like(operand=(a || b) pattern=(c || d))"),
        ("a == b is none", "IsNone(operand=(a == b))"),
        ("-a * b", "((- a) * b)"),
        ("a - -1", "(a - -1)"),
        ("a -1", "(a - 1)"),
        ("a * (b + c)", "(a * (b + c))"),
    ],
)
def test_precedence_of_the_other_forms(expression, text, tree):
    assert expression(text) == tree
