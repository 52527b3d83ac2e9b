"""Tests between contracts and the standard's quality checks.

A check of the standard's library is one where the standard has it (nulls, duplicates, rows, invalid values); SQL is a
query that counts what is wrong; everything else is a custom check of the engine `strata`. Each check that is written
bears the test itself besides, so that nothing of it is lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .custom import custom, taken

_SEVERITIES = {"blocking": "error", "degrading": "warning", "informational": "info", "experimental": "info"}
_FROM_SEVERITY = {"error": "blocking", "warning": "degrading", "info": "informational"}
Test = Mapping[str, Any]


def place(test: Test, first: str) -> tuple[str, str | None]:
    """Where a check stands: the asset (`first` where the test names none), and the column where it is of one alone."""
    expectation = test.get("expectation", {})
    columns = expectation.get("columns", [])
    one = expectation.get("column") or (columns[0] if len(columns) == 1 else None)
    library = expectation.get("type") in ("not_null", "unique", "accepted_values", "regex")
    return test.get("asset", first), one if library else None


def check(test: Test) -> dict[str, Any]:
    """A test as a check."""
    said: dict[str, Any] = {"name": test["id"], **_said(test), "severity": _SEVERITIES[test["severity"]]}
    if "description" in test:
        said["description"] = test["description"]
    return {**said, "customProperties": [custom("test", dict(test))]}


def _said(test: Test) -> dict[str, Any]:
    if test["kind"] == "sql" and test.get("dialect", "duckdb") == "duckdb":
        counted = f"SELECT count(*) FROM (\n{test['sql'].rstrip().rstrip(';')}\n) AS wrong"
        return {"type": "sql", "query": counted, "mustBe": 0}
    expectation = test.get("expectation", {})
    match expectation.get("type"):
        case "not_null" if len(expectation["columns"]) == 1:
            return {"type": "library", "metric": "nullValues", "mustBe": 0}
        case "unique":
            listed = expectation["columns"]
            named = {"arguments": {"properties": list(listed)}} if len(listed) > 1 else {}
            return {"type": "library", "metric": "duplicateValues", "mustBe": 0, **named}
        case "accepted_values":
            arguments = {"validValues": list(expectation["values"])}
            return {"type": "library", "metric": "invalidValues", "mustBe": 0, "arguments": arguments}
        case "regex":
            arguments = {"pattern": expectation["pattern"]}
            return {"type": "library", "metric": "invalidValues", "mustBe": 0, "arguments": arguments}
        case "row_count" if "min" in expectation and "max" in expectation:
            bounds = [expectation["min"], expectation["max"]]
            if bounds[0] != bounds[1]:
                return {"type": "library", "metric": "rowCount", "mustBeBetween": bounds}
            return {"type": "library", "metric": "rowCount", "mustBe": bounds[0]}
        case "row_count":
            low = "min" in expectation
            operator = "mustBeGreaterOrEqualTo" if low else "mustBeLessOrEqualTo"
            return {"type": "library", "metric": "rowCount", operator: expectation["min" if low else "max"]}
        case _:
            body = {k: v for k, v in test.items() if k in ("expectation", "ref", "sql", "dialect")}
            return {"type": "custom", "engine": "dbt" if test["kind"] == "dbt" else "strata", "implementation": body}


def test_of(item: Mapping[str, Any], asset: str, column: str | None, taken_ids: set[str]) -> dict[str, Any] | None:
    """The test that a check is; None where contracts have no such test."""
    own = taken(item).get("test")
    if isinstance(own, Mapping) and _same(item, own):
        taken_ids.add(str(own["id"]))
        return dict(own)
    expectation = _expectation(item, column)
    if expectation is None:
        return None
    id_ = re.sub(r"[^A-Za-z0-9_.-]+", "_", str(item.get("name") or item.get("id") or "")).strip("_")
    id_ = id_ or "_".join(filter(None, (asset, column, str(item.get("metric") or item.get("rule"))))).replace(" ", "_")
    id_ = id_ if re.match(r"[A-Za-z_]", id_) else f"t_{id_}"
    unique, number = id_[:120], 2
    while unique in taken_ids:
        unique, number = f"{id_[:120]}_{number}", number + 1
    taken_ids.add(unique)
    severity = _FROM_SEVERITY.get(str(item.get("severity", "error")), "informational")
    test = {"id": unique, "kind": "expectation", "severity": severity, "asset": asset, "expectation": expectation}
    if isinstance(item.get("description"), str) and item["description"].strip():
        test["description"] = item["description"]
    return test


def _same(item: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
    """Whether nobody changed the check since it was written."""
    try:
        return {k: v for k, v in check(own).items() if k != "customProperties"} == {
            k: v for k, v in item.items() if k != "customProperties"
        }
    except (KeyError, TypeError, AttributeError):
        return False


def _expectation(item: Mapping[str, Any], column: str | None) -> dict[str, Any] | None:
    metric = item.get("metric") or item.get("rule")
    arguments = item.get("arguments") if isinstance(item.get("arguments"), Mapping) else {}
    assert isinstance(arguments, Mapping)
    none_wrong = item.get("mustBe") == 0 and item.get("unit", "rows") in ("rows", "percent")
    match metric:
        case "nullValues" if none_wrong and column is not None:
            return {"type": "not_null", "columns": [column]}
        case "duplicateValues" if none_wrong:
            listed = arguments.get("properties")
            columns = [column] if column is not None else listed
            strings = isinstance(columns, list) and columns and all(isinstance(c, str) for c in columns)
            return {"type": "unique", "columns": columns} if strings else None
        case "invalidValues" if none_wrong and column is not None:
            if isinstance(arguments.get("validValues"), list) and arguments["validValues"] and len(arguments) == 1:
                return {"type": "accepted_values", "column": column, "values": arguments["validValues"]}
            if isinstance(arguments.get("pattern"), str) and len(arguments) == 1:
                return {"type": "regex", "column": column, "pattern": arguments["pattern"]}
        case "rowCount" if item.get("unit", "rows") == "rows":
            return _row_count(item)
    return None


def _row_count(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """The bounds of a check of rows, where it says them as this program would."""
    between = item.get("mustBeBetween")
    if isinstance(between, list) and len(between) == 2:
        low, high = between
    else:
        low = item.get("mustBe", item.get("mustBeGreaterOrEqualTo"))
        high = item.get("mustBe", item.get("mustBeLessOrEqualTo"))
    bounds = {k: v for k, v in (("min", low), ("max", high)) if v is not None}
    whole = all(isinstance(v, int) and not isinstance(v, bool) and v >= 0 for v in bounds.values())
    return {"type": "row_count", **bounds} if bounds and whole else None
