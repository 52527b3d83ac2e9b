"""What each rule of grammar.lark makes: a table from the rule's name to a function that builds its node.

An action gets its children (nodes, and the text of kept tokens), the span of the whole production and a
function that takes diagnostics. Parts of a node that come in any order travel upward as `Clause` values.
Codes: E001 for a part that is given twice, E003 for numbers out of range, E023 for a key given twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..diagnostics import Diagnostic, Related, Report, Span
from ..frozen import dataclass
from . import ast
from .literals import (
    INT_MAX,
    Action,
    constant,
    duration,
    float_literal,
    int_literal,
    int_range,
    int_value,
    name,
    string,
    text_name,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A named part of the node above: `word` says which."""

    word: str
    value: Any
    span: Span


def _clauses(children: list[Any], report: Report) -> dict[str, Any]:
    """The clauses among `children` by word; one that is given twice is reported."""
    found: dict[str, Clause] = {}
    for clause in children:
        if not isinstance(clause, Clause):
            continue
        if first := found.get(clause.word):
            report(
                Diagnostic(
                    "E001",
                    f"`{clause.word}` is given twice",
                    clause.span,
                    fix="keep one of the two",
                    related=(Related(first.span, "first given here"),),
                )
            )
        else:
            found[clause.word] = clause
    return {word: clause.value for word, clause in found.items()}


def _entries(children: list[Any], report: Report) -> tuple[ast.Entry, ...]:
    """The `key: value` entries among `children`; a key that is given twice is reported."""
    found: dict[str, ast.Entry] = {}
    for entry in children:
        if not isinstance(entry, ast.Entry):
            continue
        if first := found.get(entry.key.text):
            related = (Related(first.key.span, "first given here"),)
            message = f"`{entry.key}` is given twice"
            report(Diagnostic("E023", message, entry.key.span, fix="keep one of the two", related=related))
        else:
            found[entry.key.text] = entry
    return tuple(found.values())


def _all(children: list[Any], kind: Any) -> tuple[Any, ...]:
    return tuple(child for child in children if isinstance(child, kind))


def _clause(word: str) -> Action:
    """An action that hands its one child upward under `word`."""
    return lambda c, span, report: Clause(word, c[0], span)


def _list_clause(word: str) -> Action:
    return lambda c, span, report: Clause(word, tuple(c), span)


def _node(make: Callable[..., Any]) -> Action:
    """An action for a node whose children stand in the order of its fields."""
    return lambda c, span, report: make(*c, span)


def _tuple_node(make: Callable[..., Any]) -> Action:
    """An action for a node that holds all its children in one tuple."""
    return lambda c, span, report: make(tuple(c), span)


# --- expressions


def _binary(c: list[Any], span: Span, report: Report) -> ast.Expr:
    left, op, right = c
    match op:
        case "in":
            return ast.In(left, right, span)
        case "like":
            return ast.Like(left, right, span)
        case "rlike":
            return ast.RLike(left, right, span)
        case _:
            return ast.Binary(op, left, right, span)


def _unary(c: list[Any], span: Span, report: Report) -> ast.Expr:
    match c:
        case ["-", ast.Literal(value=bool())]:
            return ast.Unary("-", c[1], span)
        case ["-", ast.Literal(value=int() | float() as value, text=text)] if not text.startswith("-") and value >= 0:
            return ast.Literal(-value, span, f"-{text}" if text else "")
        case _:
            return ast.Unary(c[0], c[1], span)


def _column(c: list[Any], span: Span, report: Report) -> ast.ColumnRef:
    qualifier, name = (None, c[0]) if len(c) == 1 else c
    return ast.ColumnRef(qualifier, name, span)


def _call(c: list[Any], span: Span, report: Report) -> ast.Call:
    match c[1:]:
        case [Clause("all_rows")]:
            return ast.Call(c[0], (), (), span, star=True)
        case [Clause("distinct"), argument]:
            return ast.Call(c[0], (argument,), (), span, distinct=True)
        case arguments:
            keywords = _all(arguments, ast.KeywordArgument)
            positional = tuple(a for a in arguments if not isinstance(a, ast.KeywordArgument))
            return ast.Call(c[0], positional, keywords, span)


def _comprehension(c: list[Any], span: Span, report: Report) -> ast.Comprehension:
    return ast.Comprehension(c[0], tuple(c[1:]), span)


def _for(c: list[Any], span: Span, report: Report) -> ast.For:
    name, values, *condition = c
    return ast.For(name, values, condition[0] if condition else None, span)


def _over(c: list[Any], span: Span, report: Report) -> ast.Over:
    parts = _clauses(c[1:], report)
    return ast.Over(c[0], parts.get("partition_by", ()), parts.get("sort", ()), parts.get("rows"), span)


def _frame_bound(word: str) -> Action:
    def bound(c: list[Any], span: Span, report: Report) -> Clause:
        value = int_value(c[-1], span, report, INT_MAX)
        return Clause(word, -value if c[0] == "-" else value, span)

    return bound


def _frame(c: list[Any], span: Span, report: Report) -> Clause:
    ends = _clauses(c, report)
    first, last = ends.get("first"), ends.get("last")
    if first is not None and last is not None and first > last:
        report(Diagnostic("E003", "the frame ends before it begins", span, fix=f"write `rows: {last}..{first}`"))
    return Clause("rows", ast.Frame(first, last, span), span)


def _sort_key(c: list[Any], span: Span, report: Report) -> ast.SortKey:
    match c:
        case [expr, str(direction)]:
            return ast.SortKey(expr, direction == "desc", span)
        case [ast.Unary("-", operand)]:
            return ast.SortKey(operand, True, span)
        case [expr]:
            return ast.SortKey(expr, False, span)
        case _:
            raise AssertionError(c)


# --- statements


def _star(c: list[Any], span: Span, report: Report) -> ast.Star:
    parts = _clauses(c, report)
    return ast.Star(next(iter(_all(c, ast.Name)), None), parts.get("except", ()), span)


def _from(c: list[Any], span: Span, report: Report) -> ast.From:
    return ast.From(c[0], _clauses(c, report).get("as"), span)


def _join(c: list[Any], span: Span, report: Report) -> ast.Join:
    kind, table, *rest = c
    parts = _clauses(rest, report)
    condition = next(part for part in rest if not isinstance(part, Clause))
    return ast.Join(kind.value, table, parts.get("as"), condition, parts.get("expect"), span)


def _cross_join(c: list[Any], span: Span, report: Report) -> ast.Join:
    return ast.Join("cross", c[0], _clauses(c, report).get("as"), None, None, span)


def _asof_join(c: list[Any], span: Span, report: Report) -> ast.AsofJoin:
    kind, table, *rest = c
    parts = _clauses(rest, report)
    *on, at = (part for part in rest if not isinstance(part, Clause))
    condition = on[0] if on else None
    available, within = parts.get("available_as_of"), parts.get("within")
    return ast.AsofJoin(kind.value, table, parts.get("as"), condition, at, available, within, span)


def _asof_kind(c: list[Any], span: Span, report: Report) -> Clause:
    return Clause("join", "inner" if c[0] == "join_asof_inner" else "left", span)


def _join_kind(c: list[Any], span: Span, report: Report) -> Clause:
    return Clause("join", c[0].removeprefix("join_"), span)


def _group(c: list[Any], span: Span, report: Report) -> ast.Group:
    return ast.Group(c[0].value, tuple(c[1:]), span)


def _take(c: list[Any], span: Span, report: Report) -> ast.Take:
    if len(c) == 1:
        return ast.Take(1, _in_range(c[0], report), span)
    first, last = (_in_range(bound, report) for bound in c)
    if first < 1 or last < first:
        fix = "rows count from 1, both ends included: `take 5..10`"
        report(Diagnostic("E003", f"`take {first}..{last}` takes no rows", span, fix=fix))
    return ast.Take(first, last, span)


def _in_range(literal: ast.Literal, report: Report) -> int:
    value = literal.value
    assert isinstance(value, int)
    if value > INT_MAX:
        report(int_range(literal.span))
        return INT_MAX
    return value


def _set_operation(c: list[Any], span: Span, report: Report) -> ast.SetOperation:
    *words, table = c
    return ast.SetOperation(" ".join(words), table, span)  # type: ignore[arg-type]


def _dedup(c: list[Any], span: Span, report: Report) -> ast.Dedup:
    return ast.Dedup(_clauses(c, report).get("by", ()), (), span)


def _statements(parts: list[Any]) -> tuple[ast.Statement, ...]:
    """The statements among `parts`; a `sort` right after `dedup by` is a part of it."""
    found: list[ast.Statement] = []
    for part in parts:
        match found[-1:], part:
            case _, Clause() | ast.Entry():
                pass
            case [ast.Dedup(keys=[_, *_], sort=()) as dedup], ast.Sort():
                found[-1] = ast.Dedup(dedup.keys, part.keys, dedup.span)
            case _:
                found.append(part)
    return tuple(found)


def _expand(c: list[Any], span: Span, report: Report) -> ast.Expand:
    """Without a name the element takes the one, and the place, of the column that it comes from."""
    array, *names = c
    return ast.Expand(array, names[0] if names else array.name, span)


def _freshness(c: list[Any], span: Span, report: Report) -> ast.Freshness:
    limits = tuple(limit for limit in c if not isinstance(limit, Clause))
    return ast.Freshness(limits, _clauses(c, report).get("freshness_column"), span)


def _incremental(c: list[Any], span: Span, report: Report) -> ast.Incremental:
    parts = _clauses(c, report)
    keys = parts.get("key", ())
    return ast.Incremental(parts.get("strategy") or ("upsert" if keys else "append"), keys, parts.get("cursor"), span)


# --- types, fields, declarations


def _type(c: list[Any], span: Span, report: Report) -> ast.TypeExpr:
    match c:
        case [ast.Name("money"), ast.TypeExpr(name=currency, arguments=(), currency=None, nonnull=False)]:
            return ast.TypeExpr(c[0], (), currency, span)
        case [name, *arguments]:
            return ast.TypeExpr(name, tuple(arguments), None, span)
        case _:
            raise AssertionError(c)


def _nonnull_element(c: list[Any], span: Span, report: Report) -> ast.TypeExpr:
    inner: ast.TypeExpr = c[0]
    return ast.TypeExpr(inner.name, inner.arguments, inner.currency, span, nonnull=True)


def _field(c: list[Any], span: Span, report: Report) -> ast.FieldDecl:
    return ast.FieldDecl(c[0], c[1], tuple(c[2:]), span)


def _source(c: list[Any], span: Span, report: Report) -> ast.Source:
    parts = _clauses(c, report)
    ages = [Clause("freshness", part, part.span) for part in c if isinstance(part, ast.Freshness)]
    return ast.Source(
        name=c[0],
        resource=parts.get("resource", ()),
        columns=parts.get("columns"),
        freshness=_clauses(ages, report).get("freshness"),
        filter=parts.get("filter"),
        properties=_entries(c, report),
        span=span,
    )


def _model(c: list[Any], span: Span, report: Report) -> ast.Model:
    return ast.Model(c[0], _clauses(c, report).get("contract"), _entries(c, report), _statements(c[1:]), span)


def _pipeline(c: list[Any], span: Span, report: Report) -> ast.Pipeline:
    parts = _clauses(c, report)
    return ast.Pipeline(c[0], parts.get("env"), parts.get("models", ()), parts.get("sources", ()), span)


def _test(c: list[Any], span: Span, report: Report) -> ast.Test:
    name, *rest = c
    parts = _clauses(rest, report)
    title = next(iter(_all(rest, ast.Name)), None)
    return ast.Test(name, title, _all(rest, ast.Expectation), _all(rest, ast.Given), parts.get("expect"), span)


def _extern(c: list[Any], span: Span, report: Report) -> ast.Extern:
    name, *rest = c
    (returns,) = _all(rest, ast.TypeExpr)
    promises = {clause.value for clause in _all(rest, Clause)}
    parameters, bindings = _all(rest, ast.TypeField), _entries(rest, report)
    return ast.Extern(name, parameters, returns, "nonnull" in promises, "deterministic" in promises, bindings, span)


def _table(c: list[Any], span: Span, report: Report) -> ast.LiteralTable:
    header, *rows = c
    return ast.LiteralTable(header.value, tuple(rows), span)


def _moment(c: list[Any], span: Span, report: Report) -> ast.Moment:
    """The date, and the time behind a space."""
    return ast.Moment("".join(c[:5]) + (" " + "".join(c[5:]) if c[5:] else ""), span)


def _fn(c: list[Any], span: Span, report: Report) -> ast.Fn:
    name, *parameters, returns, body = c
    return ast.Fn(name, tuple(parameters), returns, body, span)


def _generator(c: list[Any], span: Span, report: Report) -> ast.Generator:
    return ast.Generator(_call(c, span, report), span)


def _override(c: list[Any], span: Span, report: Report) -> ast.SourceOverride:
    return ast.SourceOverride(c[0], c[1].value if len(c) > 1 else (), span)


ACTIONS: dict[str, Action] = {
    "name": name,
    "text_name": text_name,
    "int": int_literal,
    "float": float_literal,
    "string": string,
    "true": constant(True),
    "false": constant(False),
    "none": constant(None),
    "duration": duration,
    "binary": _binary,
    "unary": _unary,
    "is_none": lambda c, span, report: ast.IsNone(c[0], c[2] == "not", span),
    "column": _column,
    "list": _tuple_node(ast.ListExpr),
    "comprehension": _comprehension,
    "for": _for,
    "call": _call,
    "distinct": lambda c, span, report: Clause("distinct", True, span),
    "all_rows": lambda c, span, report: Clause("all_rows", True, span),
    "keyword": _node(ast.KeywordArgument),
    "over": _over,
    "over_partition": _list_clause("partition_by"),
    "over_sort": _list_clause("sort"),
    "frame": _frame,
    "frame_first": _frame_bound("first"),
    "frame_last": _frame_bound("last"),
    "assign": _node(ast.Assign),
    "star": _star,
    "except": _list_clause("except"),
    "sort_key": _sort_key,
    "from": _from,
    "join": _join,
    "join_kind": _join_kind,
    "cross_join": _cross_join,
    "asof_join": _asof_join,
    "asof_kind": _asof_kind,
    "available_as_of": _clause("available_as_of"),
    "within": _clause("within"),
    "alias": _clause("as"),
    "expect": lambda c, span, report: Clause("expect", c[1], span),
    "filter": _node(ast.Filter),
    "let": _node(ast.Let),
    "derive": _tuple_node(ast.Derive),
    "select": _tuple_node(ast.Select),
    "aggregate": _tuple_node(ast.Aggregate),
    "group": _group,
    "keys": _list_clause("keys"),
    "sort": _tuple_node(ast.Sort),
    "take": _take,
    "set_operation": _set_operation,
    "dedup": _dedup,
    "dedup_keys": _list_clause("by"),
    "expand": _expand,
    "freshness": _freshness,
    "freshness_column": _clause("freshness_column"),
    "partition_by": _tuple_node(ast.PartitionBy),
    "incremental": _incremental,
    "strategy": lambda c, span, report: Clause("strategy", c[2], span),
    "increment_key": _list_clause("key"),
    "cursor": _clause("cursor"),
    "type": _type,
    "value_type": _type,
    "element": lambda c, span, report: c[0],
    "nonnull_element": _nonnull_element,
    "type_field": _node(ast.TypeField),
    "flag": _node(ast.Flag),
    "enum": _tuple_node(ast.EnumOf),
    "classification": _node(ast.Classification),
    "mask": lambda c, span, report: ast.Mask(c[0], tuple(c[1:]), span),
    "field": _field,
    "entry": _node(ast.Entry),
    "property": _node(ast.Entry),
    "import": _tuple_node(ast.Import),
    "resource": lambda c, span, report: Clause("resource", _entries(c, report), span),
    "columns": _list_clause("columns"),
    "source_filter": _clause("filter"),
    "source": _source,
    "contract": lambda c, span, report: ast.Contract(c[0], tuple(c[1:]), span),
    "domain": _node(ast.Domain),
    "conforms": _clause("contract"),
    "model": _model,
    "env": _clause("env"),
    "models": _list_clause("models"),
    "override": _override,
    "overrides": _list_clause("sources"),
    "pipeline": _pipeline,
    "fn": _fn,
    "parameter": _node(ast.Parameter),
    "model_literal": _node(ast.ModelLiteral),
    "generator": _generator,
    "test": _test,
    "expectation": _node(ast.Expectation),
    "extern": _extern,
    "promise": lambda c, span, report: Clause("promise", c[0], span),
    "given": _node(ast.Given),
    "expected": _clause("expect"),
    "table": _table,
    "header": _list_clause("header"),
    "row": _tuple_node(ast.Row),
    "moment": _moment,
    "word": lambda c, span, report: c[0],
    "cells": _tuple_node(ast.ListCell),
    "record": _tuple_node(ast.Record),
    "member": _node(ast.Member),
}
