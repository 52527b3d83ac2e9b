"""Declared functions (`extern fn`) in DuckDB: the template's tree, with the arguments in the place of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sqlglot import exp

from ...relation.expressions import ExternCall
from ...relation.templates import parameter, parsed
from ..protocol import no_translation
from . import sql
from .sql import SqlExpr

ENGINE = "duckdb"


def extern(call: ExternCall, args: Sequence[SqlExpr]) -> SqlExpr:
    """The value as the declared type; E090 while the query runs where it is null against the declaration."""
    function = call.function
    template = function.binding(ENGINE)
    if template is None:
        raise no_translation(function, ENGINE)
    target = sql.sql_type(function.type)

    def computed(values: tuple[SqlExpr, ...]) -> SqlExpr:
        names = {p.name: v for p, v in zip(function.parameters, values, strict=True)}

        def placed(node: exp.Expr) -> exp.Expr:
            name = parameter(node)
            return node if name is None else exp.Paren(this=names[name].copy())

        return sql.cast(exp.Paren(this=_tree(template).copy().transform(placed)), target)

    def checked(value: SqlExpr) -> SqlExpr:
        message = f"`{function.name}` gave null, and its declaration says nonnull"
        return sql.when((sql.is_null(value.copy()), sql.raise_error(message, target)), otherwise=value.copy())

    def bound(values: tuple[SqlExpr, ...], rest: Sequence[SqlExpr]) -> SqlExpr:
        if rest:
            return sql.once(f"argument{len(values)}", rest[0], lambda v: bound((*values, v), rest[1:]))
        value = computed(values)
        value = sql.once("given", value, checked) if function.nonnull else value
        if not values:
            return value
        absent = exp.or_(*(sql.is_null(sql.paren(v.copy())) for v in values), copy=False)
        return sql.when((absent, sql.null(target)), otherwise=value)

    return bound((), args)


@lru_cache(maxsize=64)
def _tree(template: str) -> exp.Expr:
    return parsed(template, ENGINE)
