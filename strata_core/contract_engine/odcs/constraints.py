"""Tests between contracts and the constraints of the standard: bounds and patterns in `logicalTypeOptions`, foreign
keys in `relationships`.

Such a constraint has no name, severity or words of its own. So it is a blocking test with an id that follows from what
it asks, and only such a test is written as one; every other is a quality check, which bears it whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..authored import Asset
from ..authored_tests import ExpectationTest
from ..validate.test_shapes import expectation_faults
from .custom import members

Test = Mapping[str, Any]
Assets = Mapping[str, Mapping[str, Any]]
"""The assets of a contract, by the names of their tables in the document."""

_SHORTHAND = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\.([A-Za-z_][A-Za-z0-9_]*)")
_BOUNDS = (("min", "minimum"), ("max", "maximum"))


def tests_of(table: Mapping[str, Any], assets: Assets) -> Iterator[dict[str, Any]]:
    """The tests that the constraints of a table are; what contracts cannot ask for is left alone."""
    asset = assets[table["name"]]
    for relationship in members(table.get("relationships")):
        yield from _referential(relationship.get("from"), relationship, table["name"], assets)
    for column in members(table.get("properties")):
        options = column.get("logicalTypeOptions")
        if isinstance(options, Mapping):
            for expectation in (*_range(column, options), *_regex(column, options)):
                yield from _test(f"{column['name']}_{expectation['type']}", asset, expectation)
        for relationship in members(column.get("relationships")):
            if "from" not in relationship:
                yield from _referential(f"{table['name']}.{column['name']}", relationship, table["name"], assets)


def lay(test: Test, table: dict[str, Any], assets: Assets) -> bool:
    """Write `test` as a constraint of `table`, the written table of its asset, where it is read as the same again; says
    whether."""
    expectation = test.get("expectation", {})
    named = expectation.get("columns") or [expectation.get("column")]
    column = next((c for c in table.get("properties", ()) if c["name"] == named[0]), None)
    if column is None:
        return False
    place: dict[str, Any]
    value: Any
    match expectation.get("type"):
        case "range":
            bounds = {field: expectation[name] for name, field in _BOUNDS if name in expectation}
            place, field, value = column, "logicalTypeOptions", {**column.get("logicalTypeOptions", {}), **bounds}
        case "regex":
            pattern = {"pattern": _anchored(expectation["pattern"])}
            place, field, value = column, "logicalTypeOptions", {**column.get("logicalTypeOptions", {}), **pattern}
        case "referential" if len(named) == 1:
            more: Any = {"type": "foreignKey", "to": expectation["to"][0]}
            place, field, value = column, "relationships", [*column.get("relationships", ()), more]
        case "referential":
            own = [f"{table['name']}.{name}" for name in named]
            more = {"type": "foreignKey", "from": own, "to": list(expectation["to"])}
            place, field, value = table, "relationships", [*table.get("relationships", ()), more]
        case _:
            return False
    before = place.get(field)
    place[field] = value
    if test in list(tests_of(table, assets)):
        return True
    if before is None:
        del place[field]
    else:
        place[field] = before
    return False


def _test(what: str, asset: Mapping[str, Any], expectation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The blocking test of an expectation, where it fits its asset."""
    id_ = re.sub(r"[^A-Za-z0-9_.-]+", "_", f"{asset['id']}_{what}")[:128]
    head = {"id": id_, "kind": "expectation", "severity": "blocking", "asset": asset["id"]}
    test = {**head, "expectation": expectation}
    if not any(expectation_faults(ExpectationTest.of(test), Asset.of(asset))):
        yield test


def _range(column: Mapping[str, Any], options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Bounds that are included: contracts have no others."""
    found = {name: options[field] for name, field in _BOUNDS if _is_bound(column, options.get(field))}
    if found:
        yield {"type": "range", "column": column["name"], **found}


def _is_bound(column: Mapping[str, Any], value: object) -> bool:
    if column.get("logicalType") in ("integer", "number"):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return column.get("logicalType") in ("date", "timestamp") and isinstance(value, str)


def _regex(column: Mapping[str, Any], options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A pattern that the whole text is held to; one that a part of it may match, contracts cannot ask for."""
    pattern = options.get("pattern")
    if column.get("logicalType") != "string" or not isinstance(pattern, str):
        return
    for form in (r"\^\(\?:(.+)\)\$", r"\^(.+)\$"):
        match = re.fullmatch(form, pattern, re.DOTALL)
        if match is not None and _anchored(match[1]) == pattern:
            yield {"type": "regex", "column": column["name"], "pattern": match[1]}
            return


def _anchored(pattern: str) -> str:
    """A pattern that says what `pattern` says of the whole text.

    >>> _anchored("[A-Z]{3}"), _anchored("a|b")
    ('^[A-Z]{3}$', '^(?:a|b)$')
    """
    simple = "|" not in pattern and "(?" not in pattern and not pattern.endswith("\\")
    return f"^{pattern}$" if simple else f"^(?:{pattern})$"


def _referential(said: object, relationship: Mapping[str, Any], table: str, assets: Assets) -> Iterator[dict[str, Any]]:
    """The columns of `table` that are looked up in those of another table of the document."""
    own, other = _columns(said, assets), _columns(relationship.get("to"), assets)
    if relationship.get("type", "foreignKey") != "foreignKey" or own is None or other is None or own[0] != table:
        return
    id_ = assets[other[0]]["id"]
    to = [f"{id_}.{column}" for column in other[1]]
    what = f"{'_'.join(own[1])}_in_{id_}_{'_'.join(other[1])}"
    yield from _test(what, assets[table], {"type": "referential", "columns": own[1], "to": to})


def _columns(said: object, assets: Assets) -> tuple[str, list[str]] | None:
    """A table of the document and columns of it; None where something else is named."""
    names = [said] if isinstance(said, str) else said
    if not isinstance(names, list) or not names:
        return None
    found = [_SHORTHAND.fullmatch(name) if isinstance(name, str) else None for name in names]
    tables = {match[1] if match else None for match in found}
    (table, *others) = tables
    if table is None or others or table not in assets:
        return None
    columns = [match[2] for match in found if match]
    known = {column["name"] for column in assets[table].get("columns", ())}
    return (table, columns) if known.issuperset(columns) else None
