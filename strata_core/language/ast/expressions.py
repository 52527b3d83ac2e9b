"""Names, literals and expressions (language.md, "Expressions")."""

from __future__ import annotations

import typing

from ...diagnostics import Span
from ...frozen import dataclass

if typing.TYPE_CHECKING:
    from .declarations import Model

ComparisonOp = typing.Literal["==", "!=", "<", "<=", ">", ">="]
ArithmeticOp = typing.Literal["+", "-", "*", "/", "%", "||"]
BinaryOp = typing.Literal["or", "and"] | ComparisonOp | ArithmeticOp
UnaryOp = typing.Literal["-", "not"]


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier, without the backquotes it may have been written in (or a string that names something)."""

    text: str
    span: Span

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant. `value` is int, float, str, bool, or None for `none`/`null`.

    A minus directly before a number belongs to the literal. A float keeps its digits in `text`
    (sign, no underscores: `-1.50`), so that a context of type decimal reads it without loss.
    """

    value: int | float | str | bool | None
    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Template(Literal):
    """A string with interpolation, of a compile-time function: `parts` are texts and, for each `${…}`, what stands in
    it. `value` is the text as written."""

    parts: tuple[str | ColumnRef, ...] = ()


@dataclass(frozen=True, slots=True)
class NameTemplate(Name):
    """A name with interpolation, in backquotes or as a string; parts as those of `Template`."""

    parts: tuple[str | ColumnRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time such as `1d` or `12h`."""

    seconds: int
    span: Span


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """`name` or `qualifier.name`."""

    qualifier: Name | None
    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Binary:
    """`left op right`, for logic, comparison and arithmetic."""

    op: BinaryOp
    left: Expr
    right: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Link:
    """`op operand` of a `Chain`; `span` is that of the chain up to here."""

    op: BinaryOp
    operand: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Chain:
    """`first op operand op operand …`: arithmetic, grouped from the left, that is too long for a tree of `Binary`."""

    first: Expr
    links: tuple[Link, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Unary:
    """`-operand` or `not operand`."""

    op: UnaryOp
    operand: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class In:
    """`operand in values`; `values` is mostly a `ListExpr`."""

    operand: Expr
    values: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Like:
    """`operand like pattern` (SQL wildcards)."""

    operand: Expr
    pattern: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class RLike:
    """`operand rlike pattern` (regular expression)."""

    operand: Expr
    pattern: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class IsNone:
    """`operand is none`, or `operand is not none` where `negated`."""

    operand: Expr
    negated: bool
    span: Span


@dataclass(frozen=True, slots=True)
class ListExpr:
    """`[a, b]`."""

    items: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class KeywordArgument:
    """`days: 3` within a call."""

    name: Name
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """`function(a, b, key: c)`, also `if` and `case`; `count(*)` has `star`, `count(distinct x)` `distinct`."""

    function: Name
    arguments: tuple[Expr, ...]
    keywords: tuple[KeywordArgument, ...]
    span: Span
    distinct: bool = False
    star: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """`rows: first..last`, counted from the current row (0; before it negative); None is without bound."""

    first: int | None
    last: int | None
    span: Span


@dataclass(frozen=True, slots=True)
class SortKey:
    """One key of a `sort`: `e`, `e asc`, `e desc`, or `-e`, which is `e desc`."""

    expr: Expr
    descending: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Over:
    """`call over (partition_by: […], sort: […], rows: a..b)`."""

    call: Call
    partition_by: tuple[Expr, ...]
    sort: tuple[SortKey, ...]
    frame: Frame | None
    span: Span


@dataclass(frozen=True, slots=True)
class For:
    """`for name in values if condition` of a comprehension."""

    name: Name
    values: Expr
    condition: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Comprehension:
    """`[element for x in xs for y in ys]`, at compile time: a later `for` runs within those before it."""

    element: Expr
    loops: tuple[For, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ModelLiteral:
    """`model name { … }` as the value of a compile-time function."""

    model: Model
    span: Span


Expr = (
    Literal
    | ColumnRef
    | Binary
    | Chain
    | Unary
    | In
    | Like
    | RLike
    | IsNone
    | ListExpr
    | Call
    | Over
    | Comprehension
    | ModelLiteral
)
