"""Names of other languages lead to what is here, and stand for nothing that is here."""

from __future__ import annotations

import re

from strata_core.types import parse_type
from strata_core.types.elsewhere import FUNCTIONS, TYPES
from strata_core.types.functions import CATALOG
from strata_core.types.spelling import TYPE_NAMES


def test_each_function_is_one_of_the_catalog_and_its_other_name_is_none() -> None:
    called = {name for text in FUNCTIONS.values() for name in re.findall(r"(\w+)\(", re.sub(r'"[^"]*"', "", text))}
    assert called <= {*CATALOG, "try_cast", "cast"}
    assert not {*FUNCTIONS} & {*CATALOG}


def test_each_type_is_one_and_its_other_name_is_none() -> None:
    assert [str(parse_type(text)) for text in dict.fromkeys(TYPES.values())] == [
        "string",
        "int64",
        "float64",
        "decimal(18,2)",
        "bool",
        "timestamp",
        "json",
        "array(string)",
        "map(string, string)",
    ]
    assert not {*TYPES} & {*TYPE_NAMES}
