"""Types as written become value types; domains are looked through (Seed 0 §1).

`UNKNOWN` stands for a type whose error was reported, here and in contracts; whoever meets it stays quiet.
Codes: E072 (no type), E070 (a domain that is defined through itself), E023, E060 (a `cast` to no string).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..diagnostics import Diagnostic, Report
from ..diagnostics.diagnostic import replacement
from ..diagnostics.suggest import nearest
from ..language import ast
from ..types import (
    TYPE_NAMES,
    UNKNOWN,
    Array,
    Map,
    Money,
    String,
    Struct,
    StructField,
    TypeSpellingError,
    Unknown,
    ValueType,
    decimal_type,
    money_type,
    parse_type,
)
from ..types.currencies import CURRENCIES, DEFAULT_CURRENCY
from ..types.elsewhere import TYPES
from ..types.spelling import FORMS, SIMPLE
from .names import duplicate, unknown

Domains = Mapping[str, ValueType]

_WORD = r"[A-Za-z_][A-Za-z0-9_]*(?!\s*:)\b"


def resolve_domains(declared: Mapping[str, ast.Domain], broken: frozenset[str], report: Report) -> Domains:
    """The type behind each domain; `broken` names those whose declaration did not parse."""
    resolved: dict[str, ValueType] = dict.fromkeys(broken, UNKNOWN)
    for name in declared:
        _resolve_domain(name, declared, resolved, report)
    return resolved


def _resolve_domain(
    name: str, declared: Mapping[str, ast.Domain], resolved: dict[str, ValueType], report: Report
) -> None:
    """Resolve `name` after the domains that it uses, with a stack of its own: chains may be long."""
    open_: dict[str, None] = {name: None}
    while open_:
        current = next(reversed(open_))
        domain = declared[current]
        waiting = [n for n in _names(domain.type) if n.text in declared and n.text not in resolved]
        cyclic = [n for n in waiting if n.text in open_]
        if cyclic:
            chain = [*open_]
            cycle = [*chain[chain.index(cyclic[0].text) :], cyclic[0].text]
            message = f"the domain `{cyclic[0]}` is defined through itself: {' → '.join(cycle)}"
            report(Diagnostic("E070", message, cyclic[0].span, fix="end the chain in a type such as `string`"))
            for member in cycle:
                resolved[member] = UNKNOWN
                open_.pop(member, None)
        elif waiting:
            open_[waiting[0].text] = None
        else:
            if current not in resolved:
                resolved[current] = resolve_type(domain.type, resolved, report)
            del open_[current]


def _names(written: ast.TypeExpr) -> list[ast.Name]:
    names = [written.name]
    for argument in written.arguments:
        match argument:
            case ast.TypeExpr():
                names += _names(argument)
            case ast.TypeField():
                names += _names(argument.type)
            case _:
                pass
    return names


def resolve_type(written: ast.TypeExpr, domains: Domains, report: Report) -> ValueType:
    """The value type of `written`, or `UNKNOWN` where its error is or was reported."""
    name = written.name.text
    if name in FORMS:
        try:
            return _composed(written, domains, report)
        except TypeSpellingError as error:
            report(_misspelled(written, str(error)))
            return UNKNOWN
    if name not in SIMPLE and name not in domains:
        report(_no_type(written.name, domains))
        return UNKNOWN
    if written.arguments or written.currency:
        report(Diagnostic("E072", f"`{name}` takes no arguments", written.span, fix=f"write `{name}`"))
        return UNKNOWN
    return SIMPLE[name] if name in SIMPLE else domains[name]


def _misspelled(written: ast.TypeExpr, message: str) -> Diagnostic:
    currency = written.currency
    if currency is not None and currency.text.upper() in CURRENCIES:
        code = currency.text.upper()
        changes = (replacement(currency.span, code),)
        return Diagnostic("E072", message, currency.span, fix=f"write `{code}`", suggestions=changes)
    return Diagnostic("E072", message, written.span, fix=f"the form is `{FORMS[written.name.text]}`")


def _no_type(name: ast.Name, domains: Domains) -> Diagnostic:
    """E072, with the type that another language's name means."""
    message = f"`{name}` is no type"
    here = TYPES.get(name.text.lower())
    if here is None or nearest(name.text, domains) is not None:
        return unknown("E072", message, name, [*TYPE_NAMES, *domains])
    change = replacement(name.span, here)
    return Diagnostic("E072", message, name.span, fix=f"write `{here}`", suggestions=(change,))


def _composed(written: ast.TypeExpr, domains: Domains, report: Report) -> ValueType:
    match written.name.text, written.arguments:
        case "decimal", (ast.Literal(value=int() as precision), ast.Literal(value=int() as scale)):
            return decimal_type(precision, scale)
        case "money", ():
            return money_type(written.currency.text) if written.currency else Money(DEFAULT_CURRENCY)
        case "array", (ast.TypeExpr() as element,):
            inner = resolve_type(element, domains, report)
            return UNKNOWN if inner == UNKNOWN else Array(inner, not element.nonnull)
        case "map", (ast.TypeExpr() as key, ast.TypeExpr() as value):
            keys, inner = (resolve_type(part, domains, report) for part in (key, value))
            if not isinstance(keys, String | Unknown):
                raise TypeSpellingError(f"the keys of a map are string, not {keys}")
            return UNKNOWN if UNKNOWN in (keys, inner) else Map(inner, not value.nonnull)
        case "struct", fields if fields:
            return _struct([f for f in fields if isinstance(f, ast.TypeField)], len(fields), domains, report)
        case _:
            raise TypeSpellingError(f"`{written.name}` needs other arguments")


def _struct(fields: list[ast.TypeField], given: int, domains: Domains, report: Report) -> ValueType:
    if len(fields) != given:
        raise TypeSpellingError("each field of a struct has a name")
    seen: dict[str, ast.TypeField] = {}
    for one in fields:
        if one.name.text in seen:
            report(duplicate("the field", one.name, seen[one.name.text].name.span, "rename one of the two"))
            return UNKNOWN
        seen[one.name.text] = one
    members = [StructField(f.name.text, resolve_type(f.type, domains, report), not f.type.nonnull) for f in fields]
    return UNKNOWN if any(m.type == UNKNOWN for m in members) else Struct(tuple(members))


def spelled_type(text: ast.Literal, domains: Domains, report: Report) -> ValueType | None:
    """The type that a string such as the one in `cast(x, "decimal(10,2)")` spells; domains are allowed in it."""
    spelling = str(text.value)
    used = {word for word in re.findall(_WORD, spelling) if word in domains}
    if any(domains[word] == UNKNOWN for word in used):
        return None
    try:
        return parse_type(re.sub(_WORD, lambda m: str(domains[m[0]]) if m[0] in used else m[0], spelling))
    except TypeSpellingError as error:
        here = TYPES.get(spelling.strip().lower())
        fix = f'write `"{here}"`' if here is not None else 'write a type such as "decimal(10,2)"'
        changes = () if here is None else (replacement(text.span, f'"{here}"'),)
        report(Diagnostic("E072", str(error), text.span, fix=fix, suggestions=changes))
        return None


def no_type_in_quotes(node: ast.Call, domains: Domains) -> Diagnostic:
    """E060 for a `cast` whose type is not a string, with the string where its name is one."""
    message = f"`{node.function}` takes a value and the name of a type in quotes"
    match node.arguments:
        case (_, ast.ColumnRef(qualifier=None, name=name, span=span)):
            written = TYPES.get(name.text.lower(), name.text)
            if written in TYPE_NAMES or written in domains:
                change = replacement(span, f'"{written}"')
                return Diagnostic("E060", message, span, fix=f'write `"{written}"`', suggestions=(change,))
        case _:
            pass
    return Diagnostic("E060", message, node.span, fix=f'write `{node.function}(x, "decimal(10,2)")`')
