"""Chains of thousands of operands in DuckDB, which takes a cube of time over nested operators.

From where its type stays the same, a chain is a list of its operands, reduced from the left. What stands before, and
every link that changes the type, is an operator as elsewhere; a type changes a few times at most.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from sqlglot import exp

from ...relation.expressions import BEFORE, Chain, ColumnRef, Link
from ...types import Inferred
from . import sql
from .casts import cast_value
from .functions import BUILDERS
from .sql import SqlExpr

SO_FAR, NEXT, POSITION = (f"{sql.RESERVED}{word}" for word in ("so_far", "next", "position"))
LETTERS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "modulo": "%", "concat_op": "|"}


def chained(chain: Chain, arguments: Sequence[SqlExpr]) -> SqlExpr:
    """`chain` in SQL; `arguments` are its first value and its operands."""
    value, *operands = arguments
    before = chain.first.inferred
    links = list(zip(chain.links, operands, strict=True))
    for steady, group in itertools.groupby(zip(links, _steady(chain), strict=True), key=lambda pair: pair[1]):
        run = [pair[0] for pair in group]
        if steady:
            value = _reduced(before, [one for one, _ in run], value, [operand for _, operand in run])
        else:
            for one, operand in run:
                value = _linked(one, before, value, operand)
                before = one.inferred
        before = run[-1][0].inferred
    return value


def _steady(chain: Chain) -> list[bool]:
    """For each link, whether what comes before it, its operand and its result are of one type."""
    types = [chain.first.inferred.type, *(one.inferred.type for one in chain.links)]
    return [
        before == one.left == one.operand.inferred.type == one.inferred.type
        for before, one in zip(types, chain.links, strict=False)
    ]


def _linked(link: Link, before: Inferred, value: SqlExpr, operand: SqlExpr) -> SqlExpr:
    left = value if before.type == link.left else cast_value(value, before.type, link.left)
    return BUILDERS[link.function](link.after(ColumnRef(BEFORE, before)), (left, operand))


def _reduced(before: Inferred, links: Sequence[Link], value: SqlExpr, operands: Sequence[SqlExpr]) -> SqlExpr:
    """The operands as one list; where the operators differ, a letter for each says which."""
    letters = [LETTERS[one.function] for one in links]
    by_letter = {LETTERS[one.function]: _linked(one, before, sql.column(SO_FAR), sql.column(NEXT)) for one in links}
    variables = [SO_FAR, NEXT]
    if len(by_letter) == 1:
        (step,) = by_letter.values()
    else:
        variables.append(POSITION)
        # The first step, which is at position 2, takes the first letter.
        nth = exp.Sub(this=sql.column(POSITION), expression=sql.number(1))
        letter = sql.fn("array_extract", sql.string("".join(letters)), nth)
        branches = [(exp.EQ(this=letter.copy(), expression=sql.string(one)), step) for one, step in by_letter.items()]
        step = sql.when(*branches)
    items = exp.Array(expressions=[value, *operands])
    return sql.fn("list_reduce", items, sql.lambda_of(variables, step))
