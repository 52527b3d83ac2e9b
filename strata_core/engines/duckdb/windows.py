"""Window calls in DuckDB. Its default frames are Strata's: the whole partition, or up to the current row's peers."""

from __future__ import annotations

from sqlglot import exp

from ...relation.expressions import Frame, WindowCall
from . import aggregates, sql
from .sql import SqlExpr

RANKINGS = frozenset(
    {"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile"}
    | {"lag", "lead", "first_value", "last_value", "nth_value"}
)


def is_whole_float_form(call: WindowCall) -> bool:
    """Whether `call` adds the float64 values of whole partitions."""
    whole = call.frame == Frame(None, None) or (call.frame is None and not call.order)
    return whole and aggregates.is_float_form(call)


def window(call: WindowCall, args: list[SqlExpr], partition: list[SqlExpr], order: list[exp.Ordered]) -> SqlExpr:
    """A window call over its partition."""

    def over(bare: SqlExpr) -> SqlExpr:
        return exp.Window(
            this=bare,
            partition_by=[p.copy() for p in partition],
            order=exp.Order(expressions=[o.copy() for o in order]) if order else None,
            spec=_frame(call.frame) if call.frame is not None else None,
        )

    if call.function in RANKINGS:
        return over(sql.fn(call.function, *args))
    if aggregates.is_float_form(call):
        return _float_form(call, args[0], over)
    return aggregates.aggregate(call, args, [], over)


def _frame(frame: Frame) -> exp.WindowSpec:
    start, start_side = _bound(frame.start, "PRECEDING")
    end, end_side = _bound(frame.end, "FOLLOWING")
    return exp.WindowSpec(kind="ROWS", start=start, start_side=start_side, end=end, end_side=end_side)


def _bound(offset: int | None, unbounded: str) -> tuple[str | SqlExpr, str | None]:
    match offset:
        case None:
            return "UNBOUNDED", unbounded
        case 0:
            return "CURRENT ROW", None
        case _:
            return sql.number(abs(offset)), "PRECEDING" if offset < 0 else "FOLLOWING"


def _float_form(call: WindowCall, x: SqlExpr, over: aggregates.Over) -> SqlExpr:
    """The reproducible sum of a frame, from the list of its values."""
    present = exp.Where(this=exp.Not(this=sql.is_null(sql.paren(x.copy()))))
    framed = over(exp.Filter(this=sql.fn("list", x.copy()), expression=present))

    def of(values: SqlExpr) -> SqlExpr:
        count = sql.cast(sql.fn("len", values.copy()), sql.BIGINT)
        if call.function not in aggregates.SPREADS:
            return aggregates.result_of(call, list_total(values), count)

        def spread(centre: SqlExpr) -> SqlExpr:
            value = sql.column(f"{sql.RESERVED}value")
            distance = exp.Paren(this=exp.Sub(this=value, expression=centre.copy()))
            squares = exp.Mul(this=distance, expression=distance.copy())
            distances = sql.fn("list_transform", values.copy(), sql.lambda_of([f"{sql.RESERVED}value"], squares))
            return sql.once("distances", distances, lambda d: aggregates.result_of(call, list_total(d), count.copy()))

        mean = exp.Div(this=list_total(values), expression=count)
        return sql.once("centre", mean, spread)

    return sql.once("framed", framed, of)


def list_total(values: SqlExpr) -> SqlExpr:
    """The reproducible sum (`engines/float_sum.py`) of a list of float64 values; null of a null list."""
    value, bucket = sql.column(f"{sql.RESERVED}value"), sql.column(f"{sql.RESERVED}bucket")

    def each(function: str, variable: exp.Column, body: SqlExpr, items: SqlExpr) -> SqlExpr:
        return sql.fn(function, items, sql.lambda_of([variable.name], body))

    buckets = sql.fn("list_distinct", each("list_transform", value, aggregates.float_bucket(value), values.copy()))
    same = exp.EQ(this=aggregates.float_bucket(value), expression=bucket.copy())
    members = each("list_filter", value, same, values.copy())
    digits = sql.fn("list_sum", each("list_transform", value, aggregates.digits_of(value, bucket), members))
    sums = each("list_transform", bucket, aggregates.value_of(digits, bucket), sql.fn("list_reverse_sort", buckets))
    infinite = exp.Not(this=sql.fn("isfinite", value.copy()))
    special = sql.fn("list_sum", each("list_filter", value, infinite, values.copy()))
    has_special = exp.GT(
        this=sql.fn("len", each("list_filter", value, infinite.copy(), values.copy())), expression=sql.number(0)
    )
    return sql.when((has_special, special), otherwise=aggregates.without_negative_zero(aggregates.added(sums)))
