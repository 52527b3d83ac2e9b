"""Operators and maths in DuckDB: native forms where they mean the same, guarded ones where they do not.

A builder takes the call (for its types and literal words) and its arguments in SQL. Every argument stands once in
the result unless it is cheap, so that nested calls do not grow without bound; `sql.once` binds those that stand twice.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ...relation.expressions import Call, Expr, Literal
from ...types import Decimal, Float64, Int64, Money
from . import sql
from .sql import SqlExpr

Builder = Callable[[Call, tuple[SqlExpr, ...]], SqlExpr]


def word(call: Call, position: int) -> str:
    """The literal word at `position`, such as a unit or a rounding mode."""
    argument = call.args[position]
    assert isinstance(argument, Literal)
    return str(argument.value)


def binary(kind: type[exp.Binary]) -> Builder:
    """An operator that DuckDB has with the same meaning."""

    def build(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        left, right = args
        return kind(this=sql.paren(left), expression=sql.paren(right))

    return build


def native(name: str) -> Builder:
    """A function that DuckDB has with the same meaning."""

    def build(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        return sql.fn(name, *args)

    return build


def _arithmetic(kind: type[exp.Binary]) -> Builder:
    operator = binary(kind)

    def build(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        if isinstance(call.args[0].inferred.type, Decimal | Money):
            # DuckDB grows the precision of a sum by a digit; the relation has settled the type.
            return sql.cast(operator(call, args), sql.sql_type(call.inferred.type))
        return operator(call, args)

    return build


def _multiply(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    left, right = args
    match call.args[0].inferred.type, call.inferred.type:
        case Decimal(precision=own, scale=scale), Decimal(precision=needed) if own < sql.WIDE_DECIMAL <= needed:
            left = sql.cast(left, sql.decimal_type(sql.WIDE_DECIMAL, scale))
        case _:
            pass
    return _arithmetic(exp.Mul)(call, (left, right))


def _add(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    if sql.sql_type(call.inferred.type) == sql.VARCHAR:
        return joined(call, args)
    return _arithmetic(exp.Add)(call, args)


OVERFLOWING = frozenset({"add", "subtract", "multiply", "negate"})


def _comparison(kind: type[exp.Binary]) -> Builder:
    """A comparison of computed values. DuckDB solves `n + 1 > 5` for `n`, and then no row overflows: an operand that
    would is put behind an operator which it does not see through."""
    compare = binary(kind)

    def held(argument: Expr, value: SqlExpr) -> SqlExpr:
        solvable = isinstance(argument, Call) and argument.function in OVERFLOWING
        if not (solvable and isinstance(argument.inferred.type, Int64)):
            return value
        return exp.BitwiseOr(this=exp.Paren(this=value), expression=sql.number(0))

    def build(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        return compare(call, tuple(held(a, v) for a, v in zip(call.args, args, strict=True)))

    return build


def _divide(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    left, right = (
        sql.cast(a, sql.DOUBLE) if not isinstance(e.inferred.type, Float64) else a
        for e, a in zip(call.args, args, strict=True)
    )
    return exp.Div(this=sql.paren(left), expression=sql.fn("nullif", right, sql.number(0)))


def _modulo(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    left, right = args
    return exp.Mod(this=sql.paren(left), expression=sql.fn("nullif", right, sql.number(0)))


def joined(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    """Texts or arrays one after the other; null where one is, unlike DuckDB's `concat`."""
    return sql.join(sql.paren(args[0]), *args[1:])


def _logical(kind: type[exp.Connector]) -> Builder:
    def build(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        result = sql.paren(args[0])
        for part in args[1:]:
            result = kind(this=result, expression=sql.paren(part))
        return result

    return build


def _not(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return sql.negated(args[0])


def _negate(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    negative = exp.Neg(this=exp.Paren(this=args[0]))
    # Of a constant DuckDB makes a wider number.
    return sql.cast(negative, sql.BIGINT) if isinstance(call.inferred.type, Int64) else negative


def _in(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return exp.In(this=sql.paren(args[0]), expressions=list(args[1:]))


def _is_null(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return sql.is_null(sql.paren(args[0]))


def _is_not_null(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return exp.Not(this=sql.is_null(sql.paren(args[0])))


def _case(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    pairs = [(args[i], args[i + 1]) for i in range(0, len(args) - 1, 2)]
    return sql.when(*pairs, otherwise=args[-1] if len(args) % 2 else None)


def _sign(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    def guarded(x: SqlExpr) -> SqlExpr:
        below = (exp.LT(this=x.copy(), expression=sql.number(0)), sql.cast(sql.number(-1), sql.BIGINT))
        above = (exp.GT(this=x.copy(), expression=sql.number(0)), sql.cast(sql.number(1), sql.BIGINT))
        zero = (exp.EQ(this=x.copy(), expression=sql.number(0)), sql.cast(sql.number(0), sql.BIGINT))
        return sql.when(below, above, zero)

    return sql.once("signed", args[0], guarded)


def _random(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    """The first 52 bits of the digest of seed and key, over 2^52."""
    seed, key = args
    text = sql.join(sql.cast(seed, sql.VARCHAR), sql.string(":"), key)
    bits = sql.cast(sql.join(sql.string("0x"), sql.fn("left", sql.fn("sha256", text), sql.number(13))), sql.BIGINT)
    return exp.Div(this=sql.cast(bits, sql.DOUBLE), expression=sql.float_literal(2.0**52))


OPERATORS: dict[str, Builder] = {
    "add": _add,
    "subtract": _arithmetic(exp.Sub),
    "multiply": _multiply,
    "divide": _divide,
    "modulo": _modulo,
    "concat_op": joined,
    "eq": _comparison(exp.EQ),
    "ne": _comparison(exp.NEQ),
    "lt": _comparison(exp.LT),
    "le": _comparison(exp.LTE),
    "gt": _comparison(exp.GT),
    "ge": _comparison(exp.GTE),
    "and": _logical(exp.And),
    "or": _logical(exp.Or),
    "not": _not,
    "negate": _negate,
    "like": binary(exp.Like),
    "rlike": native("regexp_matches"),
    "in": _in,
    "is_null": _is_null,
    "is_not_null": _is_not_null,
    "if": _case,
    "case": _case,
    "coalesce": native("coalesce"),
    "nullif": native("nullif"),
    "greatest": native("greatest"),
    "least": native("least"),
    "abs": native("abs"),
    "sign": _sign,
    "sqrt": native("sqrt"),
    "exp": native("exp"),
    "ln": native("ln"),
    "log10": native("log10"),
    "power": native("pow"),
    "pi": native("pi"),
    **{f: native(f) for f in ("log2", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "degrees", "radians")},
    "is_nan": native("isnan"),
    "is_finite": native("isfinite"),
    "bit_and": binary(exp.BitwiseAnd),
    "bit_or": binary(exp.BitwiseOr),
    "bit_xor": native("xor"),
    "random": _random,
}
