"""Small builders of sqlglot trees: the only place where names, literals and types become SQL.

Names are data and always quoted (design `architecture.md`, Decision 9); a tree is rendered once, in `render`.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from ...types import (
    Array,
    Bool,
    Date,
    Decimal,
    Float64,
    Int64,
    Json,
    Map,
    Money,
    String,
    Struct,
    Timestamp,
    Unknown,
    Uuid,
    ValueType,
)
from ...types.functions import LiteralValue
from ...types.values import MONEY_SCALE
from .session import MARK

SqlExpr = exp.Expr

HUGEINT = exp.DataType(this=exp.DataType.Type.INT128)
DOUBLE = exp.DataType(this=exp.DataType.Type.DOUBLE)
BIGINT = exp.DataType(this=exp.DataType.Type.BIGINT)
VARCHAR = exp.DataType(this=exp.DataType.Type.TEXT)
BOOLEAN = exp.DataType(this=exp.DataType.Type.BOOLEAN)


def render(tree: SqlExpr, *, pretty: bool = False) -> str:
    """The SQL text of a tree, in DuckDB's dialect."""
    return tree.sql(dialect="duckdb", pretty=pretty, copy=False)


def identifier(name: str) -> exp.Identifier:
    """A quoted name."""
    return exp.Identifier(this=name, quoted=True)


def column(name: str) -> exp.Column:
    """A reference to a column."""
    return exp.Column(this=identifier(name))


def table(*path: str) -> exp.Table:
    """A reference to a table, by its name or its path of catalog, schema and name."""
    parts = [identifier(p) for p in path]
    catalog, schema = (parts[0], parts[1]) if len(parts) == 3 else (None, None)
    return exp.Table(this=parts[-1], db=schema, catalog=catalog)


def alias(tree: SqlExpr, name: str) -> exp.Alias:
    """`tree AS "name"`."""
    return exp.Alias(this=tree, alias=identifier(name))


def named(tree: SqlExpr, name: str) -> SqlExpr:
    """`tree` under a name; a column of that name has it already."""
    if isinstance(tree, exp.Column) and tree.name == name:
        return tree
    return alias(tree, name)


def fn(name: str, *args: SqlExpr) -> exp.Anonymous:
    """A call of a DuckDB function by its own name."""
    return exp.Anonymous(this=name, expressions=list(args))


def string(value: str) -> exp.Literal:
    """A string literal."""
    return exp.Literal.string(value)


def number(value: int) -> SqlExpr:
    """A bare whole number."""
    literal = exp.Literal.number(str(abs(value)))
    return exp.Paren(this=exp.Neg(this=literal)) if value < 0 else literal


def cast(tree: SqlExpr, type_: exp.DataType) -> exp.Cast:
    """`CAST(tree AS type)`: raises at run time where the value does not fit."""
    return exp.Cast(this=tree, to=type_.copy())


def try_cast(tree: SqlExpr, type_: exp.DataType) -> exp.TryCast:
    """`TRY_CAST(tree AS type)`: null where the value does not fit."""
    return exp.TryCast(this=tree, to=type_.copy())


def null(type_: exp.DataType) -> exp.Cast:
    """A null of a type."""
    return cast(exp.Null(), type_)


def is_null(tree: SqlExpr) -> exp.Is:
    """`tree IS NULL`."""
    return exp.Is(this=tree, expression=exp.Null())


def negated(tree: SqlExpr) -> exp.Not:
    """`NOT (tree)`."""
    return exp.Not(this=paren(tree))


def paren(tree: SqlExpr) -> SqlExpr:
    """`tree`, in parentheses where another operator could bind tighter."""
    needs = isinstance(tree, exp.Binary | exp.Unary | exp.Is | exp.In | exp.Between) and not isinstance(
        tree, exp.Paren | exp.Dot
    )
    return exp.Paren(this=tree) if needs else tree


def both(left: SqlExpr, right: SqlExpr) -> exp.And:
    """`left AND right`."""
    return exp.And(this=paren(left), expression=paren(right))


def when(*branches: tuple[SqlExpr, SqlExpr], otherwise: SqlExpr | None = None) -> exp.Case:
    """`CASE WHEN condition THEN value … [ELSE otherwise] END`: evaluates a value only where its condition holds."""
    return exp.Case(ifs=[exp.If(this=c, true=v) for c, v in branches], default=otherwise)


def ordered(tree: SqlExpr, *, descending: bool = False) -> exp.Ordered:
    """A sort key, nulls last in both directions (design `engines.md`)."""
    return exp.Ordered(this=tree, desc=descending, nulls_first=False)


def join(first: SqlExpr, *rest: SqlExpr) -> SqlExpr:
    """Texts joined; null where one is null."""
    joined = first
    for part in rest:
        joined = exp.DPipe(this=joined, expression=paren(part))
    return joined


def raise_error(message: SqlExpr | str, type_: exp.DataType) -> SqlExpr:
    """An expression that aborts the computation with `message`."""
    text = string(MARK + message) if isinstance(message, str) else join(string(MARK), message)
    return cast(fn("error", text), type_)


def decimal_type(precision: int, scale: int) -> exp.DataType:
    """`DECIMAL(precision, scale)`."""
    params = [exp.DataTypeParam(this=exp.Literal.number(str(n))) for n in (precision, scale)]
    return exp.DataType(this=exp.DataType.Type.DECIMAL, expressions=params)


WIDE_DECIMAL = 19
"""The precision from which DuckDB computes decimals in 128 bits; two narrower ones are multiplied in 64."""


def sql_type(type_: ValueType) -> exp.DataType:
    """The DuckDB type that holds values of `type_`; uuid and json are text, as in `types.physical`."""
    kinds = exp.DataType.Type
    match type_:
        case Int64():
            return BIGINT.copy()
        case Float64():
            return DOUBLE.copy()
        case Decimal():
            return decimal_type(type_.precision, type_.scale)
        case Money():
            return decimal_type(38, MONEY_SCALE)
        case String() | Uuid() | Json():
            return VARCHAR.copy()
        case Bool():
            return BOOLEAN.copy()
        case Date():
            return exp.DataType(this=kinds.DATE)
        case Timestamp():
            return exp.DataType(this=kinds.TIMESTAMP)
        case Array():
            return exp.DataType(this=kinds.ARRAY, expressions=[sql_type(type_.element)], nested=True)
        case Map():
            members = [VARCHAR.copy(), sql_type(type_.value)]
            return exp.DataType(this=kinds.MAP, expressions=members, nested=True)
        case Struct():
            fields = [exp.ColumnDef(this=identifier(f.name), kind=sql_type(f.type)) for f in type_.fields]
            return exp.DataType(this=kinds.STRUCT, expressions=fields, nested=True)
        case Unknown():
            return exp.DataType(this=kinds.NULL)


def literal(value: LiteralValue, type_: ValueType) -> SqlExpr:
    """A constant of exactly `type_`."""
    target = sql_type(type_)
    match value:
        case None:
            return exp.Null() if isinstance(type_, Unknown) else null(target)
        case bool():
            return exp.Boolean(this=value)
        case int() if isinstance(type_, Int64):
            return cast(number(value), target)
        case float() | int() if isinstance(type_, Float64):
            return float_literal(float(value))
        case int() | decimal.Decimal():
            return cast(string(format(decimal.Decimal(value), "f")), target)
        case datetime.datetime():
            return cast(string(value.isoformat(sep=" ")), target)
        case datetime.date():
            return cast(string(value.isoformat()), target)
        case str():
            return string(value) if isinstance(type_, String) else cast(string(value), target)
        case _:
            raise ValueError(f"{value!r} is no literal of {type_}")


def float_literal(value: float) -> SqlExpr:
    """A double. The exponent keeps DuckDB from reading a decimal first, which would round twice."""
    if not math.isfinite(value):
        return cast(string(str(value)), DOUBLE)
    text = repr(abs(value))
    unsigned = exp.Literal.number(text if "e" in text else f"{text}e0")
    return exp.Paren(this=exp.Neg(this=unsigned)) if math.copysign(1.0, value) < 0 else unsigned


RESERVED = "__strata_"
"""How names begin that the engine makes; columns that begin so are renamed inside a query."""


def once(name: str, value: SqlExpr, body: Callable[[SqlExpr], SqlExpr]) -> SqlExpr:
    """`body(value)` where `value` may stand several times: what is more than a column or literal is bound to `name`.

    Without it nested calls would double at every level.
    """
    if isinstance(value, exp.Column | exp.Literal | exp.Null | exp.Boolean):
        return body(value)
    variable = f"{RESERVED}{name}"
    bound = fn("list_transform", exp.Array(expressions=[value]), lambda_of([variable], body(column(variable))))
    return fn("list_extract", bound, number(1))


def lambda_of(variables: list[str], body: SqlExpr) -> exp.Lambda:
    """A function of `variables`, for DuckDB's list functions."""
    return exp.Lambda(this=body, expressions=[identifier(v) for v in variables])


def struct(members: Mapping[str, SqlExpr]) -> exp.Struct:
    """A struct value."""
    return exp.Struct(expressions=[exp.PropertyEQ(this=identifier(k), expression=v) for k, v in members.items()])


def member(value: SqlExpr, name: str) -> SqlExpr:
    """A member of a struct value."""
    return fn("struct_extract", value.copy(), string(name))


def all_of(conditions: Sequence[SqlExpr]) -> SqlExpr:
    """The conjunction of at least one condition."""
    whole = conditions[0].copy() if len(conditions) == 1 else paren(conditions[0].copy())
    for condition in conditions[1:]:
        whole = exp.And(this=whole, expression=paren(condition.copy()))
    return whole


def option(name: str, value: SqlExpr) -> exp.EQ:
    """A named argument of a table function."""
    return exp.EQ(this=exp.Var(this=name), expression=value)
