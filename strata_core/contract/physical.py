"""How data lies against how its contract says it lies: the part of the write pin that reads no row (Seed 0 §5 C).

Strict on purpose: a type that merely converts (an int where a decimal was promised) is what the pin is there to
stop. Accepted besides `types.physical.arrow_type` itself: the other layouts of text (`large_string`,
`string_view`, dictionary-encoded) and of lists (`large_list`), which hold the same values.
"""

from __future__ import annotations

import pyarrow as pa

from ..diagnostics.suggest import nearest
from ..frozen import dataclass
from ..types import (
    Array,
    Decimal,
    Json,
    Map,
    Money,
    String,
    Struct,
    StructField,
    Timestamp,
    Unknown,
    Uuid,
    ValueType,
    parse_type,
)
from ..types.physical import TYPE_KEY, arrow_type
from ..types.values import MONEY_SCALE
from .model import ContractField, TableContract
from .report import shown
from .rules import Fact, Rule


@dataclass(frozen=True, slots=True)
class PhysicalFinding:
    """A promise that the data's schema breaks: E080 (another type), E084 (no such column), E088 (extra column).

    Where types are text, E080 counts the rows whose field is no value of the promised type, with samples.
    """

    fact: Fact
    code: str
    found: str
    fix: str
    offenders: int = 0
    samples: tuple[dict[str, object], ...] = ()


def check_physical(schema: pa.Schema, contract: TableContract, *, text: bool = False) -> tuple[PhysicalFinding, ...]:
    """What `schema` breaks of `contract`.

    `text` says that the format has no types of its own (CSV): only the columns are checked then, and whether
    fields can be read as their types is a question about the rows.
    """
    findings = [f for one in contract.fields if (f := _of_field(one, schema, contract, text)) is not None]
    extra = [n for n in schema.names if n not in contract]
    if contract.closed and extra:
        found = ", ".join(f"`{n}`" for n in extra)
        fix = "leave them out of the data, or promise them in the contract"
        findings.append(PhysicalFinding(Fact(Rule.CLOSED, ()), "E088", found, fix))
    return tuple(findings)


def _of_field(one: ContractField, schema: pa.Schema, contract: TableContract, text: bool) -> PhysicalFinding | None:
    fact = Fact(Rule.TYPE, (one.name,))
    positions = schema.get_all_field_indices(one.name)
    if not positions:
        near = nearest(one.name, (n for n in schema.names if n not in contract))
        hint = f"is it the column `{near}`? Name it `{one.name}`" if near else f"write `{one.name}` into the data"
        return PhysicalFinding(fact, "E084", "no such column", f"{hint}, or take it out of the contract")
    if len(positions) > 1:
        return PhysicalFinding(fact, "E080", f"{len(positions)} columns of this name", "give each column its own name")
    field = schema.field(positions[0])
    if text:
        return None
    spelled = (field.metadata or {}).get(TYPE_KEY, b"").decode(errors="replace")
    if holds(field.type, one.type) and (not spelled or _same_but_nulls(spelled, one.type)):
        return None
    found = f"{shown(spelled)} (as {shown(field.type)})" if spelled else shown(field.type)
    return PhysicalFinding(fact, "E080", found, f"cast it to {one.type} where the data is made: {accepted(one.type)}")


def holds(physical: pa.DataType, promised: ValueType) -> bool:
    """Whether data of the Arrow type `physical` is data of the promised type, without any conversion."""
    kind = pa.types
    match promised:
        case String() | Uuid() | Json():
            return _is_text(physical)
        case Array():
            listed = kind.is_list(physical) or kind.is_large_list(physical)
            return listed and holds(physical.value_type, promised.element)
        case Map():
            return kind.is_map(physical) and _is_text(physical.key_type) and holds(physical.item_type, promised.value)
        case Struct():
            return (
                kind.is_struct(physical)
                and [f.name for f in physical] == [f.name for f in promised.fields]
                and all(holds(a.type, b.type) for a, b in zip(physical, promised.fields, strict=True))
            )
        case Unknown():
            return False
        case _:
            return bool(physical == arrow_type(promised))


def accepted(type_: ValueType) -> str:
    """What the pin accepts as `type_`, for people.

    >>> from strata_core.types import TIMESTAMP, Decimal
    >>> accepted(TIMESTAMP)
    'accepted is timestamp[us] without a time zone, holding UTC'
    >>> accepted(Decimal(10, 2))
    'accepted is decimal128(10, 2), exactly'
    """
    match type_:
        case String() | Uuid() | Json():
            return "accepted is string, large_string, string_view or dictionary-encoded text"
        case Decimal():
            return f"accepted is decimal128({type_.precision}, {type_.scale}), exactly"
        case Money():
            return f"accepted is decimal128(38, {MONEY_SCALE}) of {type_.currency}"
        case Timestamp():
            return "accepted is timestamp[us] without a time zone, holding UTC"
        case Array():
            return f"accepted is a list or large_list; of its elements, {accepted(type_.element)}"
        case Map():
            return f"accepted is a map from text; of its values, {accepted(type_.value)}"
        case Struct():
            return f"accepted is a struct of {', '.join(f.name for f in type_.fields)}, in this order"
        case Unknown():
            return "its declared type was never resolved"
        case _:
            return f"accepted is {arrow_type(type_)}"


def _is_text(physical: pa.DataType) -> bool:
    kind = pa.types
    if kind.is_dictionary(physical):
        return _is_text(physical.value_type)
    return bool(kind.is_string(physical) or kind.is_large_string(physical) or kind.is_string_view(physical))


def _same_but_nulls(spelled: str, promised: ValueType) -> bool:
    """Whether the type in the field's metadata is the promised one; nested nulls are counted, not believed.

    Metadata comes with the data and so may say anything; what is no type is not the promised one.
    """
    try:
        return _bare(parse_type(spelled)) == _bare(promised)
    except ValueError:
        return False


def _bare(type_: ValueType) -> ValueType:
    match type_:
        case Array():
            return Array(_bare(type_.element))
        case Map():
            return Map(_bare(type_.value))
        case Struct():
            return Struct(tuple(StructField(f.name, _bare(f.type)) for f in type_.fields))
        case _:
            return type_
