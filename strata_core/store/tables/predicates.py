"""Conditions over rows, written in the Strata expression language and answered by Arrow, batch by batch.

Analysis gives them their types; what is taken of the language is what decides about rows: comparisons, `in`,
`is none`, `and`, `or`, `not`, constants, columns, and `principal.name`. Nothing in it can fail on a value, so no
message can quote one. It is answered here and not by an engine, because engines stand beside the store, and because
DuckDB's zoned timestamps stop at microseconds. A property test holds it against the reference interpreter.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal as Exact
from types import MappingProxyType
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ... import instants
from ...analysis.expressions import Context, predicate
from ...analysis.scope import Table, resolve, scope_of
from ...diagnostics import Diagnostic
from ...language import ast
from ...language.parser import parse_module
from ...relation.build import ref, scan
from ...relation.expressions import Call, Cast, ColumnRef, Expr, Literal, literal
from ...relation.schema import Column
from ...types import BOOL, DATE, FLOAT64, INT64, STRING, TIMESTAMP, Decimal, Inferred, ValueType
from ...types.physical import arrow_type
from . import times
from .errors import StoreError

PRINCIPAL = "principal"
"""`principal.region` in a condition is the attribute `region` of whoever reads."""
Attribute = str | int | float | bool | None
_HEAD = "source condition {\n  filter: "
_TAKEN = "comparisons, `in`, `is none`, `and`, `or`, `not`, constants and columns"


@dataclass(frozen=True, slots=True)
class Condition:
    """A typed condition over columns of a schema; `holds` answers it."""

    expr: Expr
    columns: frozenset[str]

    @classmethod
    def of(
        cls, table: str, text: str, schema: pa.Schema, attributes: Mapping[str, Attribute] | None = None
    ) -> Condition:
        """The condition that `text` writes; StoreFilterInvalid where it is none over these columns.

        `attributes` are those of the principal; None where the condition may not speak of one.
        """
        node = _parsed(table, text)
        columns = {f.name: type_ for f in schema if (type_ := _value_type(f.type)) is not None}
        relation = scan(table, tuple(Column(name, Inferred(type_, True)) for name, type_ in columns.items()))
        scope = scope_of(Table(relation), table)
        found: list[Diagnostic] = []
        used: set[str] = set()

        def column(name: ast.ColumnRef) -> Expr | None:
            if name.qualifier is not None and name.qualifier.text == PRINCIPAL:
                return _attribute(table, name.name.text, attributes)
            resolved = resolve(scope, name, found.append)
            if resolved is None:
                return None
            used.add(resolved)
            return ref(relation, resolved)

        expr = predicate(node, Context(column, {}, found.append, "a condition over rows"))
        errors = [d for d in found if d.blocks]  # a lint is for those who write models
        if errors or expr is None:
            first = errors[0] if errors else None
            raise _invalid(table, text, first.message if first else "it has no type", first.fix if first else None)
        _check(table, text, expr)
        return cls(expr, frozenset(used))

    def holds(self, batch: pa.RecordBatch) -> pa.Array:
        """For each row whether the condition is true: neither false nor null."""
        answer = _value(self.expr, batch)
        if isinstance(answer, pa.Scalar):
            return pa.repeat(pa.scalar(answer.as_py() is True), batch.num_rows)
        return pc.fill_null(answer, False)


def check_syntax(table: str, text: str) -> None:
    """StoreFilterInvalid where `text` is no condition, whatever the columns are."""
    _parsed(table, text)


def _parsed(table: str, text: str) -> ast.Expr:
    parsed = parse_module(f"{_HEAD}{text}\n}}", "condition")
    match parsed.module.declarations:
        case (ast.Source(filter=node, columns=None, properties=()),) if node is not None and not parsed.diagnostics:
            return node
        case _:
            why = parsed.diagnostics[0] if parsed.diagnostics else None
            raise _invalid(
                table, text, why.message if why else "it is more than one condition", why.fix if why else None
            )


def _invalid(table: str, text: str, why: str, fix: str | None) -> StoreError:
    message = f"table {table}: the condition `{text}` cannot be answered: {why}"
    return StoreError("StoreFilterInvalid", table, message, fix or f"a condition takes {_TAKEN}")


def _attribute(table: str, name: str, attributes: Mapping[str, Attribute] | None) -> Expr:
    if attributes is None or name not in attributes:
        message = f"table {table}: its rows depend on principal.{name}, and the reader has no such attribute"
        raise StoreError("StorePrincipalRequired", table, message, f"read with a principal that has `{name}`")
    return literal(attributes[name])


def _value_type(type_: pa.DataType) -> ValueType | None:
    """The value type of a column in a condition, None for one that takes no part."""
    types = pa.types
    if types.is_decimal128(type_) and 0 <= type_.scale <= type_.precision:
        return Decimal(type_.precision, type_.scale)
    return next((value for fits, value in _VALUE_TYPES if fits(type_)), None)


_VALUE_TYPES: tuple[tuple[Callable[[pa.DataType], bool], ValueType], ...] = (
    (lambda t: bool(pa.types.is_integer(t)) and t != pa.uint64(), INT64),
    (pa.types.is_floating, FLOAT64),
    (pa.types.is_string, STRING),
    (pa.types.is_boolean, BOOL),
    (pa.types.is_date32, DATE),
    (pa.types.is_timestamp, TIMESTAMP),
)


def _check(table: str, text: str, expr: Expr) -> None:
    """Refuses what `_value` does not answer."""
    match expr:
        case ColumnRef() | Literal():
            return
        case Cast(operand=Literal()):
            return
        case Cast(operand=operand) if _widens(operand.inferred.type, expr.inferred.type):
            _check(table, text, operand)
        case Call(function=function, args=args) if function in _ANSWERED:
            for argument in args:
                _check(table, text, argument)
        case _:
            raise _invalid(table, text, "it computes more than a condition over rows may", f"it takes {_TAKEN}")


def _widens(given: ValueType, wanted: ValueType) -> bool:
    """Whether a cast between numbers keeps them comparable: exact to exact, or anything to `double`."""
    number = given in (INT64, FLOAT64) or isinstance(given, Decimal)
    return given == wanted or (number and (wanted == FLOAT64 or isinstance(wanted, Decimal)))


Value: TypeAlias = Any
"""An Arrow array, or a scalar where the value does not depend on the row."""


def _value(expr: Expr, batch: pa.RecordBatch) -> Value:
    match expr:
        case ColumnRef():
            return _plain(batch.column(expr.name))
        case Literal():
            return _constant(expr.value, expr.inferred.type)
        case Cast(operand=Literal(value=value)):
            return _constant(value, expr.inferred.type)
        case Cast():
            return pc.cast(_value(expr.operand, batch), arrow_type(expr.inferred.type), safe=False)
        case Call():
            return _ANSWERED[expr.function](*(_value(argument, batch) for argument in expr.args))


def _plain(column: pa.Array) -> pa.Array:
    """A column as conditions compare it: numbers in their wide type, times in nanoseconds of UTC."""
    types, type_ = pa.types, column.type
    if types.is_integer(type_):
        return column.cast(pa.int64())
    if types.is_floating(type_):
        return column.cast(pa.float64())
    if types.is_timestamp(type_):
        return times.nanoseconds(column)
    return column


def _constant(value: object, type_: ValueType) -> pa.Scalar:
    if type_ == TIMESTAMP:
        return pa.scalar(None if value is None else instants.instant(_instant_literal(value)), pa.int64())
    if value is None:
        return pa.scalar(None, pa.null()) if not _has_arrow(type_) else pa.scalar(None, arrow_type(type_))
    if type_ == DATE and isinstance(value, str):
        value = datetime.date.fromisoformat(value)
    if isinstance(type_, Decimal):
        value = Exact(str(value)) if not isinstance(value, Exact) else value
    if type_ == FLOAT64:
        value = float(value)  # type: ignore[arg-type]
    return pa.scalar(value, arrow_type(type_))


def _instant_literal(value: object) -> instants.Literal:
    assert isinstance(value, str | datetime.date)
    return value


def _has_arrow(type_: ValueType) -> bool:
    try:
        arrow_type(type_)
    except ValueError:
        return False
    return True


def _is_nan(value: Value) -> Value:
    return pc.is_nan(value)


def _floats(left: Value, right: Value) -> bool:
    return bool(pa.types.is_floating(left.type) and pa.types.is_floating(right.type))


def _eq(left: Value, right: Value) -> Value:
    """NaN equals NaN."""
    same = pc.equal(left, right)
    return pc.or_kleene(same, pc.and_(_is_nan(left), _is_nan(right))) if _floats(left, right) else same


def _lt(left: Value, right: Value) -> Value:
    """NaN is larger than every number."""
    less = pc.less(left, right)
    if not _floats(left, right):
        return less
    return pc.or_kleene(less, pc.and_(pc.invert(_is_nan(left)), _is_nan(right)))


def _in(operand: Value, *items: Value) -> Value:
    answer = _eq(operand, items[0])
    for item in items[1:]:
        answer = pc.or_kleene(answer, _eq(operand, item))
    return answer


_ANSWERED: Mapping[str, Callable[..., Value]] = MappingProxyType(
    {
        "and": lambda *args: _fold(pc.and_kleene, args),
        "or": lambda *args: _fold(pc.or_kleene, args),
        "not": pc.invert,
        "eq": _eq,
        "ne": lambda a, b: pc.invert(_eq(a, b)),
        "lt": _lt,
        "gt": lambda a, b: _lt(b, a),
        "le": lambda a, b: pc.invert(_lt(b, a)),
        "ge": lambda a, b: pc.invert(_lt(a, b)),
        "is_null": lambda a: pc.is_null(a),
        "is_not_null": lambda a: pc.is_valid(a),
        "in": _in,
    }
)
"""What a condition may call, and how Arrow answers it."""


def _fold(combine: Callable[[Value, Value], Value], args: tuple[Value, ...]) -> Value:
    answer = args[0]
    for argument in args[1:]:
        answer = combine(answer, argument)
    return answer
