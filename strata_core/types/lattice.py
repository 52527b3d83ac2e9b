"""Subtyping, casts and least upper bounds (Seed 0 §1 "Subtyping"; design `language.md`, "Widening").

Widening without a word is allowed only where no value can be lost; everything else takes a `cast`.
Narrowing never happens implicitly.
"""

from __future__ import annotations

from .values import (
    FLOAT64,
    MAX_PRECISION,
    Array,
    Bool,
    Date,
    Decimal,
    Float64,
    Int64,
    Map,
    Money,
    String,
    Struct,
    StructField,
    Timestamp,
    Unknown,
    ValueType,
)

INT64_DIGITS = 19


def widens(inferred: ValueType, promised: ValueType) -> bool:
    """Whether every value of `inferred` is a value of `promised`, so that a boundary may cast silently.

    >>> from strata_core.types.values import INT64, FLOAT64, Decimal, DATE, TIMESTAMP
    >>> widens(INT64, FLOAT64), widens(INT64, Decimal(38, 2)), widens(FLOAT64, Decimal(38, 2))
    (True, True, False)
    >>> widens(DATE, TIMESTAMP)
    False
    """
    match inferred, promised:
        case Unknown(), _:
            return True
        case Int64(), Float64():
            return True
        case Int64(), Decimal():
            return promised.whole_digits >= INT64_DIGITS
        case Decimal(), Decimal():
            return promised.whole_digits >= inferred.whole_digits and promised.scale >= inferred.scale
        case Array(), Array():
            same = inferred.element == promised.element
            return same and (promised.element_nullable or not inferred.element_nullable)
        case Map(), Map():
            return inferred.value == promised.value and (promised.value_nullable or not inferred.value_nullable)
        case Struct(), Struct():
            return len(inferred.fields) == len(promised.fields) and all(
                a.name == b.name and a.type == b.type and (b.nullable or not a.nullable)
                for a, b in zip(inferred.fields, promised.fields, strict=True)
            )
        case _:
            return inferred == promised


def castable(source: ValueType, target: ValueType) -> bool:
    """Whether a `cast` from `source` to `target` exists.

    >>> from strata_core.types.values import BOOL, DATE, INT64, STRING, Money
    >>> castable(INT64, BOOL), castable(STRING, DATE), castable(DATE, INT64), castable(Money("EUR"), Money("USD"))
    (True, True, False, False)
    """
    match source, target:
        case Unknown(), _:
            return True
        case Array(), Array() if source != target:
            return castable(source.element, target.element)
        case (Array() | Map() | Struct(), _) | (_, Array() | Map() | Struct()):
            return source == target
        case (_, String()) | (String(), _):
            return True
        case ((Int64() | Float64() | Decimal()), (Int64() | Float64() | Decimal() | Money())):
            return True
        case Money(), (Int64() | Float64() | Decimal()):
            return True
        case (Bool(), Int64()) | (Int64(), Bool()) | (Date(), Timestamp()) | (Timestamp(), Date()):
            return True
        case _:
            return source == target


def least_upper_bound(a: ValueType, b: ValueType) -> ValueType | None:
    """The smallest type that holds every value of both, or `None` where only a cast could make one.

    >>> from strata_core.types.values import INT64, FLOAT64, STRING, Decimal, Money
    >>> str(least_upper_bound(INT64, Decimal(10, 2)))
    'decimal(21,2)'
    >>> least_upper_bound(Money("EUR"), Money("USD")) is None
    True
    """
    match a, b:
        case Unknown(), _:
            return b
        case _, Unknown():
            return a
        case (Int64(), Float64()) | (Float64(), Int64()):
            return FLOAT64
        case Int64(), Decimal():
            return _decimal(max(INT64_DIGITS, b.whole_digits), b.scale)
        case Decimal(), Int64():
            return least_upper_bound(b, a)
        case Decimal(), Decimal():
            return _decimal(max(a.whole_digits, b.whole_digits), max(a.scale, b.scale))
        case Array(), Array() if a.element == b.element:
            return Array(a.element, a.element_nullable or b.element_nullable)
        case Map(), Map() if a.value == b.value:
            return Map(a.value, a.value_nullable or b.value_nullable)
        case Struct(), Struct() if [(f.name, f.type) for f in a.fields] == [(f.name, f.type) for f in b.fields]:
            return Struct(
                tuple(
                    StructField(x.name, x.type, x.nullable or y.nullable)
                    for x, y in zip(a.fields, b.fields, strict=True)
                )
            )
        case _:
            return a if a == b else None


def _decimal(whole_digits: int, scale: int) -> Decimal | None:
    precision = whole_digits + scale
    return Decimal(precision, scale) if precision <= MAX_PRECISION else None
