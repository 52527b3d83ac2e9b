"""Comparisons that compile and are likely not meant: of floats (W012), with a text that the column never is (W020)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..diagnostics import Diagnostic, Severity, Span
from ..diagnostics.diagnostic import replacement
from ..diagnostics.suggest import nearest
from ..language import ast
from ..relation.expressions import Call, Literal
from ..types import Float64

EQUALITIES = frozenset({"eq", "ne", "in"})


def doubtful(comparison: Call, nodes: Sequence[ast.Expr], span: Span) -> Iterator[Diagnostic]:
    """What is doubtful in `comparison` at `span`, whose operands are `nodes`."""
    if comparison.function in ("eq", "ne"):
        yield from _floats(comparison, span)
    operand, *others = comparison.args
    pairs = [(operand, one, node) for one, node in zip(others, nodes[1:], strict=True)]
    if comparison.function in ("eq", "ne"):
        pairs.append((others[0], operand, nodes[0]))
    for one, other, node in pairs:
        values = one.inferred.values
        if values and isinstance(other, Literal) and isinstance(other.value, str) and other.value not in values:
            yield _never(nodes[0] if one is operand else nodes[1], other.value, values, node.span)


def _floats(comparison: Call, span: Span) -> Iterator[Diagnostic]:
    """W012: floats that should be equal seldom are; zero is, and whether a value is it may be asked."""
    zero = any(isinstance(a, Literal) and a.value == 0 for a in comparison.args)
    if not zero and any(isinstance(a.inferred.type, Float64) for a in comparison.args):
        fix = "round both sides, or ask whether they are near: `abs(x - y) < 0.001`"
        message = "floats are compared for equality: results that should be the same differ in their last digits"
        yield Diagnostic("W012", message, span, Severity.WARNING, fix=fix)


def _never(node: ast.Expr, text: str, values: frozenset[str], span: Span) -> Diagnostic:
    """W020: a misspelled value of an enum gives no error and no rows."""
    what = f"`{node.name}`" if isinstance(node, ast.ColumnRef) else "this"
    message = f'{what} is never "{text}" here'
    near = nearest(text, values)
    if near is None:
        listed = ", ".join(f'`"{value}"`' for value in sorted(values)[:8])
        return Diagnostic("W020", message, span, Severity.WARNING, fix=f"it can be {listed}")
    fix = f'write `"{near}"`'
    changes = (replacement(span, f'"{near}"'),)
    return Diagnostic("W020", message, span, Severity.WARNING, f'did you mean `"{near}"`?', fix, suggestions=changes)
