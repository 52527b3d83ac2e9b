"""Contracts and the declared columns of sources become table contracts (Seed 0 §3).

Codes: E023 (a field given twice), E070 (an annotation that cannot be), E072 (types).
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from ..contract.ages import AGES, age_of, parse_age
from ..contract.model import ContractError, ContractField, Freshness, Mask, MaskRule, TableContract
from ..diagnostics import Diagnostic, Report, Span
from ..diagnostics.suggest import nearest
from ..frozen import replace
from ..language import ast
from ..types import UNKNOWN, ValueType
from .names import duplicate
from .types import Domains, resolve_type

_AGE_FIX = "write for instance `freshness: <= 12h`; units are s, min, h, d and w"


def table_contract(
    name: str,
    declared: tuple[ast.FieldDecl, ...],
    domains: Domains,
    report: Report,
    *,
    span: Span,
    freshness: Freshness | None = None,
    description: str | None = None,
) -> TableContract:
    """The table contract of some declared fields; what is wrong with them is reported and left out."""
    kept: dict[str, ContractField] = {}
    first: dict[str, Span] = {}
    for one in declared:
        if one.name.text in first:
            report(duplicate("the field", one.name, first[one.name.text], "keep one of the two"))
            continue
        first[one.name.text] = one.name.span
        kept[one.name.text] = _field(one, domains, report)
    try:
        return TableContract(name, tuple(kept.values()), freshness, description=description, span=span)
    except ContractError as error:
        report(Diagnostic("E070", error.message, first.get(error.field or "", span), fix=error.fix))
        return TableContract(name, tuple(kept.values()), description=description, span=span)


def _field(declared: ast.FieldDecl, domains: Domains, report: Report) -> ContractField:
    type_ = resolve_type(declared.type, domains, partial(_annotation_or_type, declared, report))
    flags: set[str] = set()
    enum: tuple[str, ...] | None = None
    classification: str | None = None
    mask: Mask | None = None
    age: timedelta | None = None
    for annotation in declared.annotations:
        match annotation:
            case ast.Flag():
                flags.add(annotation.word)
            case ast.EnumOf():
                enum = tuple(v.text for v in annotation.values)
            case ast.Classification():
                classification = annotation.label.text
            case ast.Mask():
                mask = _mask(annotation, type_, report)
            case ast.Freshness():
                if annotation.column is not None:
                    message = "the freshness of a column is told by the column itself"
                    report(Diagnostic("E070", message, annotation.column.span, fix="leave `freshness_column` out"))
                age = max_age(annotation, report)
    try:
        return ContractField(
            declared.name.text,
            type_,
            nullable="nonnull" not in flags,
            unique="unique" in flags,
            primary_key="primary_key" in flags,
            protected="protected" in flags,
            enum=enum,
            classification=classification,
            mask=mask,
            partition_by="partition_by" in flags,
            freshness=age,
            span=declared.span,
        )
    except ContractError as error:
        fix = error.fix or "change the type, or leave the annotation out"
        report(Diagnostic("E070", error.message, declared.span, fix=fix))
        return ContractField(declared.name.text, UNKNOWN, span=declared.span)


def _annotation_or_type(declared: ast.FieldDecl, report: Report, fault: Diagnostic) -> None:
    """Report a `fault` of a type; of an annotation behind a comma, which reads as a field, that the comma is one."""
    if declared.name.text in ("classification", "mask"):
        fault = replace(
            fault, fix=f"leave the comma before `{declared.name}` out, which belongs to the column before it"
        )
    report(fault)


def _mask(written: ast.Mask, type_: ValueType, report: Report) -> Mask:
    """The mask of a column of `type_`; one that is in error hides all, so that nothing further is said of the field."""
    rules = [rule.value for rule in MaskRule]
    if written.rule.text not in rules:
        near = nearest(written.rule.text, rules)
        fix = f"write `{near}`" if near else f"masks are {', '.join(rules)}"
        report(Diagnostic("E070", f"`{written.rule}` is no mask", written.rule.span, fix=fix))
        return Mask(MaskRule.DROP)
    match [argument.value for argument in written.arguments]:
        case []:
            keep = 0
        case [int() as keep] if not isinstance(keep, bool):
            pass
        case _:
            report(Diagnostic("E070", "a mask takes at most one number", written.span, fix="write `mask: partial(4)`"))
            return Mask(MaskRule.DROP)
    try:
        mask = Mask(MaskRule(written.rule.text), keep)
        mask.require_fits(type_)
    except ContractError as error:
        report(Diagnostic("E070", error.message, written.span, fix=error.fix))
        return Mask(MaskRule.DROP)
    return mask


def freshness_of(written: ast.Freshness | None, report: Report) -> Freshness | None:
    """The freshness clause of a source or model; `None` where there is no limit."""
    age = max_age(written, report) if written is not None else None
    if written is None or age is None:
        return None
    return Freshness(age, written.column.text if written.column else None)


def max_age(written: ast.Freshness, report: Report) -> timedelta | None:
    """The strictest of the limits, or `None` where there is none."""
    ages: list[timedelta] = []
    for limit in written.limits:
        match limit:
            case ast.Duration():
                age = age_of(limit.seconds)
            case ast.Name(text=text) | ast.Literal(value=str(text)):
                age = parse_age(text)
                if text in AGES and age is None:
                    continue
            case ast.Literal():
                age = None
        if age is None:
            report(Diagnostic("E070", "a freshness is a length of time", limit.span, fix=_AGE_FIX))
        else:
            ages.append(age)
    return min(ages, default=None)
