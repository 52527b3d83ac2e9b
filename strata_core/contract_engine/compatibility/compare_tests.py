"""What changed of a product's tests: which are gone, which pass more or less than before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..authored import AuthoredContract
from ..authored_tests import ExpectationTest, SqlTest
from ..collation.merge_rules import canonical
from ..documents import Path
from .changes import ProductChange, Sides, age_direction, by_id

_WEIGHT = {"blocking": 3, "degrading": 2, "informational": 1, "experimental": 0}


def compare_tests(sides: Sides, old: AuthoredContract, new: AuthoredContract) -> Iterator[ProductChange]:
    """Each change of a test."""
    before, after = by_id(old.tests), by_id(new.tests)
    for id_, (i, test) in before.items():
        where, path = f"tests[{id_}]", ("tests", i)
        if id_ not in after:
            rule = "blocking-test-removed" if test.severity == "blocking" else "test-removed"
            yield sides.change(rule, where, test.severity, None, path, ("tests",), asset=test.asset)
            continue
        j, now = after[id_]
        paths: tuple[Path, Path] = path, ("tests", j)
        weight = _WEIGHT[now.severity] - _WEIGHT[test.severity]
        if weight:
            demoted = "blocking-test-demoted" if test.severity == "blocking" else "text-changed"
            rule = demoted if weight < 0 else "test-tightened"
            yield sides.change(rule, f"{where}.severity", test.severity, now.severity, *paths, asset=test.asset)
        said, says = _asked(test), _asked(now)
        if said == says:
            continue
        direction = _expected(test, now)
        if direction is None:
            rule = "test-changed"
        elif direction < 0:
            rule = "test-tightened"
        else:
            rule = "blocking-test-loosened" if test.severity == "blocking" else "text-changed"
        yield sides.change(rule, where, said, says, *paths, asset=test.asset)
    for id_, (j, now) in after.items():
        if id_ not in before:
            yield sides.change("test-added", f"tests[{id_}]", None, now.severity, ("tests",), ("tests", j))


def _asked(test: Any) -> Any:
    if isinstance(test, SqlTest):
        # Layout of a query is no change of it.
        return {"sql": " ".join(test.sql.split()), "asset": test.asset, "dialect": test.dialect}
    return test.plain(("id", "severity", "description"))


def _expected(before: Any, after: Any) -> int | None:
    """-1 where the test passes less than before, 1 where it passes more, None where nobody can tell."""
    if not isinstance(before, ExpectationTest) or not isinstance(after, ExpectationTest):
        return None
    if before.asset != after.asset or before.expectation.type != after.expectation.type:
        return None
    old, new = before.expectation.plain(), after.expectation.plain()
    moved = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    match before.expectation.type:
        case "range" | "row_count" if moved <= {"min", "max"}:
            return _together(_bound(old.get("min"), new.get("min"), 1), _bound(old.get("max"), new.get("max"), -1))
        case "accepted_values" if moved == {"values"}:
            said, says = set(map(canonical, old["values"])), set(map(canonical, new["values"]))
            return -1 if says < said else 1 if said < says else None
        case "freshness" if moved == {"max_age"}:
            return age_direction(old["max_age"], new["max_age"])
        case "not_null" if moved == {"columns"}:
            columns = set(old["columns"]), set(new["columns"])
            return -1 if columns[0] < columns[1] else 1 if columns[1] < columns[0] else None
        case "unique" if moved == {"columns"}:
            columns = set(old["columns"]), set(new["columns"])
            return -1 if columns[1] < columns[0] else 1 if columns[0] < columns[1] else None
        case _:
            return None


def _bound(before: Any, after: Any, sign: int) -> int | None:
    """How a bound moved: -1 inwards, 1 outwards, 0 not. `sign` is 1 for a lower bound."""
    if before == after:
        return 0
    if before is None or after is None:
        return -1 if before is None else 1
    if isinstance(before, str) != isinstance(after, str):
        return None
    return -sign if after > before else sign


def _together(*directions: int | None) -> int | None:
    found = {d for d in directions if d != 0}
    return found.pop() if len(found) == 1 else None
