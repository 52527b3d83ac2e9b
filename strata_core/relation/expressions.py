"""Typed expressions over the columns of one relation. Every node knows what inference proved of its value.

`call` is the only way to build a call: it resolves the function's rule, so that arguments stand cast to
the types the rule asks for and engines decide nothing about types.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterable, Iterator, Sequence

from ..diagnostics.wording import plural
from ..frozen import dataclass
from ..types import (
    BOOL,
    DATE,
    FLOAT64,
    INT64,
    NULL,
    STRING,
    TIMESTAMP,
    Decimal,
    Float64,
    Inferred,
    Int64,
    Money,
    String,
    ValueType,
    castable,
    widens,
)
from ..types.functions import (
    CATALOG,
    Argument,
    Constant,
    Kind,
    LiteralValue,
    Resolution,
    SignatureError,
    tighten_in_group,
)
from ..types.functions.operands import decimal_of
from .extern import Extern


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """The value of a column of the input relation."""

    name: str
    inferred: Inferred


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; `inferred` gives its type (a decimal literal is exact)."""

    value: LiteralValue
    inferred: Inferred


@dataclass(frozen=True, slots=True)
class Call:
    """A scalar function or operator of the catalog, its arguments cast to what its rule asks for."""

    function: str
    args: tuple[Expr, ...]
    inferred: Inferred


@dataclass(frozen=True, slots=True)
class Cast:
    """A change of type. `safe` casts (`try_cast`) give null where the value does not fit, others abort."""

    operand: Expr
    inferred: Inferred
    safe: bool = False


@dataclass(frozen=True, slots=True)
class ExternCall:
    """A call of a declared function, its arguments cast to the types of its parameters."""

    function: Extern
    args: tuple[Expr, ...]
    inferred: Inferred


BEFORE = ""
"""What no column is called: stands for what came before a link, where its call is looked at alone."""


@dataclass(frozen=True, slots=True)
class Link:
    """One step of a `Chain`: `function` of what came before, cast to `left`, and of `operand`."""

    function: str
    left: ValueType
    operand: Expr
    inferred: Inferred

    def after(self, before: Expr) -> Call:
        """The call that the step is, of a value that stands for what came before."""
        return Call(self.function, (coerce(before, self.left), self.operand), self.inferred)


@dataclass(frozen=True, slots=True)
class Chain:
    """`first` and then link after link, as nested calls of the same meaning would be: for thousands of operands.

    There is at least one link; the value is that of the last one.
    """

    first: Expr
    links: tuple[Link, ...]

    @property
    def inferred(self) -> Inferred:
        """What is proven of the value."""
        return self.links[-1].inferred


Expr = ColumnRef | Literal | Call | Chain | Cast | ExternCall


@dataclass(frozen=True, slots=True)
class SortKey:
    """One key of an order. Nulls stand last in both directions (design `engines.md`)."""

    expr: Expr
    descending: bool = False


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate over the rows of a group; `order` is given for functions that depend on one."""

    function: str
    args: tuple[Expr, ...]
    inferred: Inferred
    distinct: bool = False
    order: tuple[SortKey, ...] = ()


@dataclass(frozen=True, slots=True)
class Frame:
    """Rows of a window relative to the current one; `None` is unbounded, negative precedes."""

    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A window function or aggregate over a partition."""

    function: str
    args: tuple[Expr, ...]
    inferred: Inferred
    partition: tuple[Expr, ...] = ()
    order: tuple[SortKey, ...] = ()
    frame: Frame | None = None


def literal(value: LiteralValue) -> Literal:
    """A literal with the type of Seed 0 §2: int64, float64, string, bool, nonnull; `none` is unknown and null."""
    match value:
        case None:
            return Literal(None, NULL)
        case bool():
            return Literal(value, Inferred(BOOL, False))
        case int():
            return Literal(value, Inferred(INT64, False, nonzero=value != 0))
        case float():
            return Literal(value, Inferred(FLOAT64, False, nonzero=value != 0))
        case str():
            return Literal(value, Inferred(STRING, False, frozenset({value})))
        case decimal.Decimal():
            exact = decimal_of(value)
            if exact is None:
                raise ValueError(f"{value} has more than 38 digits")
            return Literal(value, Inferred(exact, False, nonzero=value != 0))
        case datetime.datetime():
            return Literal(value, Inferred(TIMESTAMP, False))
        case datetime.date():
            return Literal(value, Inferred(DATE, False))


def argument(expr: Expr) -> Argument:
    """An expression as the function catalog sees it."""
    return Argument(expr.inferred, Constant(expr.value) if isinstance(expr, Literal) else None)


def call(function: str, *args: Expr) -> Call:
    """A call of the catalog's scalar `function`; raises `SignatureError` where no reading exists."""
    resolution = CATALOG[function].rule(tuple(map(argument, args)))
    return Call(function, _coerced(args, resolution), resolution.result)


def link(before: Inferred, function: str, operand: Expr) -> Link:
    """A step of a chain after a value that is no literal; raises `SignatureError` where no reading exists."""
    resolution = CATALOG[function].rule((Argument(before), argument(operand)))
    left, right = resolution.parameters
    return Link(function, left, coerce(operand, right), resolution.result)


def aggregate(
    function: str, *args: Expr, grouped: bool, distinct: bool = False, order: tuple[SortKey, ...] = ()
) -> AggregateCall:
    """An aggregate call; `grouped` says that the group has at least one key and so is never empty.

    Where the result depends on an order, rows that `order` does not tell apart are ordered by the arguments, so
    that every engine gives the same.
    """
    resolution = CATALOG[function].rule(tuple(map(argument, args)))
    coerced = _coerced(args, resolution)
    result = resolution.result
    if grouped:
        result = tighten_in_group(function, result, tuple(a.inferred for a in coerced))
    if CATALOG[function].ordered:
        sorted_by = {k.expr for k in order}
        order += tuple(SortKey(a) for a in coerced if a not in sorted_by)
    return AggregateCall(function, coerced, result, distinct, order)


def window(
    function: str,
    *args: Expr,
    partition: tuple[Expr, ...] = (),
    order: tuple[SortKey, ...] = (),
    frame: Frame | None = None,
) -> WindowCall:
    """A window call; raises `SignatureError` where no reading exists.

    An aggregate or an edge of a frame that holds the current row sees at least one row.
    """
    resolution = CATALOG[function].rule(tuple(map(argument, args)))
    coerced = _coerced(args, resolution)
    result = resolution.result
    if (CATALOG[function].kind is Kind.AGGREGATE or function in FRAME_EDGES) and _holds_current_row(frame):
        result = tighten_in_group(function, result, tuple(a.inferred for a in coerced))
    return WindowCall(function, coerced, result, partition, order, frame)


FRAME_EDGES = frozenset({"first_value", "last_value"})


def _holds_current_row(frame: Frame | None) -> bool:
    return frame is None or ((frame.start or 0) <= 0 <= (frame.end or 0))


def _coerced(args: tuple[Expr, ...], resolution: Resolution) -> tuple[Expr, ...]:
    return tuple(
        [a if a.inferred.type is t else coerce(a, t) for a, t in zip(args, resolution.parameters, strict=True)]
    )


def uncoerced(function: str, args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """`args` of a call without the casts that the function's rule would put in by itself: what somebody wrote."""
    bare = tuple(a.operand if isinstance(a, Cast) and not a.safe else a for a in args)
    if all(a is b for a, b in zip(args, bare, strict=True)):
        return args
    try:
        wanted = CATALOG[function].rule(tuple(map(argument, bare))).parameters
    except SignatureError:
        return args
    return bare if all(a.inferred.type == t for a, t in zip(args, wanted, strict=True)) else args


def written_operands(chain: Chain) -> Iterator[tuple[str, Expr]]:
    """The function and the operand of each link, as somebody wrote it (`uncoerced`)."""
    before = chain.first.inferred
    for one in chain.links:
        yield one.function, uncoerced(one.function, one.after(ColumnRef(BEFORE, before)).args)[1]
        before = one.inferred


def coerce(expr: Expr, type_: ValueType) -> Expr:
    """`expr` as a value of `type_`, to which it is known to widen: a literal is retyped, else a cast is put in."""
    if expr.inferred.type == type_:
        return expr
    inferred = Inferred(type_, expr.inferred.nullable, expr.inferred.values, expr.inferred.nonzero)
    if isinstance(expr, Literal):
        match expr.value, type_:
            case None, _:
                return Literal(None, inferred)
            case ((int() | float() as number), Decimal()):
                return Literal(decimal.Decimal(str(number)), inferred)
            case ((int() as number), Float64()):
                return Literal(float(number), inferred)
            case _:
                pass
    return Cast(expr, inferred)


def extern_call(function: Extern, args: Sequence[Expr]) -> ExternCall:
    """A call of a declared function; raises `SignatureError` E060 where an argument does not fit."""
    if len(args) != len(function.parameters):
        count = len(function.parameters)
        raise SignatureError(
            "E060",
            f"{plural(count, 'argument')} expected, {len(args)} given",
            fix=f"the signature is `{function.signature}`",
        )
    coerced: list[Expr] = []
    for position, (arg, parameter) in enumerate(zip(args, function.parameters, strict=True)):
        given = arg.inferred.type
        untyped = isinstance(arg, Literal) and arg.value is None
        if not untyped and given != parameter.type and not widens(given, parameter.type):
            raise SignatureError(
                "E060",
                f"argument {position + 1} of `{function.name}` is {parameter.type}, not {given}",
                position,
                f'cast it: `cast(x, "{parameter.type}")`',
            )
        if parameter.nonnull and arg.inferred.nullable:
            message = f"argument {position + 1} of `{function.name}` may be null, and its declaration says nonnull"
            raise SignatureError("E060", message, position, "filter the nulls away, or give a value with `coalesce`")
        coerced.append(coerce(arg, parameter.type))
    return ExternCall(function, tuple(coerced), function.result(tuple(a.inferred for a in coerced)))


def cast(expr: Expr, type_: ValueType, *, safe: bool = False) -> Expr:
    """An explicit `cast` (or `try_cast`); raises `SignatureError` E056 where the types cannot be cast.

    A cast is where narrowing is allowed (Seed 0 §1): a value that does not fit aborts the apply.
    """
    source = expr.inferred.type
    if not castable(source, type_):
        fix = None
        if isinstance(source, Money) and isinstance(type_, Money):
            fix = f"a conversion takes a rate: `convert(x, rate, {type_.currency})`"
        raise SignatureError("E056", f"{source} cannot be cast to {type_}", 0, fix)
    keeps_values = isinstance(type_, String) and isinstance(source, String)
    inferred = Inferred(
        type_,
        expr.inferred.nullable or safe,
        expr.inferred.values if keeps_values else None,
        expr.inferred.nonzero and isinstance(source, Int64) and isinstance(type_, Float64 | Decimal),
    )
    return Cast(expr, inferred, safe)


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct operands of an expression."""
    match expr:
        case Call() | ExternCall():
            return expr.args
        case Chain():
            return (expr.first, *(one.operand for one in expr.links))
        case Cast():
            return (expr.operand,)
        case ColumnRef() | Literal():
            return ()


def externs_in(exprs: Iterable[Expr]) -> frozenset[str]:
    """The names of the declared functions that expressions call."""
    return frozenset(n.function.name for e in exprs for n in walk(e) if isinstance(n, ExternCall))


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and all expressions inside it, outermost first."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def columns_read(expr: Expr) -> frozenset[str]:
    """The names of the columns that an expression reads."""
    names: set[str] = set()
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, ColumnRef):
            names.add(node.name)
        elif not isinstance(node, Literal):
            stack += children(node)
    return frozenset(names)


def conjuncts(predicate: Expr) -> tuple[Expr, ...]:
    """The parts of a conjunction, in order."""
    if isinstance(predicate, Call) and predicate.function == "and":
        return tuple(part for a in predicate.args for part in conjuncts(a))
    return (predicate,)
