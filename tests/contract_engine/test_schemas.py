"""The JSON Schemas are those of the models, and say the same of a document as the models do."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from strata_core.contract_engine import schemas
from strata_core.contract_engine.authored import AuthoredContract
from strata_core.contract_engine.fits import _made, fits

MODEL = TypeAdapter(AuthoredContract)
ROOT = Path(__file__).resolve().parents[2]
CONTRACT: dict[str, Any] = {
    "apiVersion": "strata/v0",
    "kind": "DataProductContract",
    "id": "shop.orders",
    "name": "Orders",
    "version": "1.0.0",
    "status": "active",
    "layer": "gold",
    "domain": "shop",
    "owner": {"team": "orders"},
    "assets": [{"id": "orders", "kind": "table", "columns": [{"name": "order_id", "type": "int64"}]}],
    "tests": [
        {
            "id": "keys",
            "kind": "expectation",
            "severity": "blocking",
            "asset": "orders",
            "expectation": {"type": "unique", "columns": ["order_id"]},
        },
        {"id": "none", "kind": "sql", "severity": "degrading", "sql": "select 1 from orders"},
    ],
}


@pytest.mark.parametrize("name", [schemas.AUTHORED, schemas.FRAGMENT, schemas.RUNTIME_VIEW])
def test_seed2_the_schema_files_are_those_of_the_models(name: str) -> None:
    found = (ROOT / "schemas" / name).read_text(encoding="utf-8")
    assert found == schemas.generated()[name], "run: python -m strata_core.contract_engine.schemas"


@pytest.mark.parametrize("name", [schemas.AUTHORED, schemas.FRAGMENT, schemas.RUNTIME_VIEW])
def test_the_schema_files_are_json_schema_2020_12(name: str) -> None:
    schema = schemas.read_schema(name)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)


def changed(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """`CONTRACT` with another value at `path`; `...` takes it out."""
    document = copy.deepcopy(CONTRACT)
    here: Any = document
    for step in path[:-1]:
        here = here[step]
    if value is ...:
        del here[path[-1]]
    else:
        here[path[-1]] = value
    return document


WRONG = [
    (("owner",), ...),
    (("owner",), None),
    (("owner",), {"team": " "}),
    (("color",), "red"),
    (("version",), "1.0"),
    (("version",), 1.0),
    (("id",), "../orders"),
    (("id",), "Shop.Orders"),
    (("status",), "live"),
    (("assets",), []),
    (("assets", 0, "columns", 0, "enum"), "a"),
    (("assets", 0, "columns", 0, "enum"), []),
    (("assets", 0, "columns", 0, "nullable"), "no"),
    (("assets", 0, "columns", 0, "colour"), "red"),
    (("assets", 0, "columns", 0, "derived_from"), {"columns": ["orders"]}),
    (("tests", 0, "severity"), "fatal"),
    (("tests", 0, "kind"), "python"),
    (("tests", 0, "expectation"), {"type": "unique"}),
    (("tests", 0, "expectation"), {"type": "unique", "columns": []}),
    (("tests", 0, "expectation"), {"type": "uniqe", "columns": ["order_id"]}),
    (("tests", 1, "sql"), ...),
    (("freshness",), {"max_age": "soon"}),
    (("governance",), {"lawful_basis": "because"}),
    (("agent_permissions",), [{"agent": "a", "actions": ["delete"]}]),
    (("agent_permissions",), [{"agent": "a", "actions": []}]),
]
RIGHT = [
    (("extensions",), {"color": ["red", 1, None]}),
    (("status",), "retired"),
    (("freshness",), {"max_age": "24h"}),
    (("assets", 0, "columns", 0, "derived_from"), {"columns": ["shop.raw/lines.order_id", "orders.order id"]}),
]


def verdicts(document: dict[str, Any]) -> tuple[bool, bool]:
    """What the fast validator and the reference say. What is told to fit without either, fits."""
    schema = schemas.read_schema(schemas.AUTHORED)
    fast = jsonschema_rs.Draft202012Validator(schema).is_valid(document)
    assert fits(schemas.AUTHORED)(document) == fast
    return fast, jsonschema.Draft202012Validator(schema).is_valid(document)


PATHS = [
    path
    for base in (("version",), ("owner", "team"), ("assets", 0), ("tests", 0), ("tests", 1), ("freshness",), ("usage",))
    for path in (base, (*base, "id"), (*base, "kind"), (*base, "columns"), (*base, "max_age"))
]
PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-1, 2)
    | st.floats(0, 2)
    | st.sampled_from(["", "a", "1.0.0", "1.0.0\n", "24h"])
)
ANY = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["id", "x"]), inner)
)


@given(st.sampled_from(PATHS), ANY)
def test_law_what_is_told_to_fit_without_the_library_fits(path: tuple[str | int, ...], value: Any) -> None:
    document: Any = copy.deepcopy(CONTRACT)
    here = document
    for step in path[:-1]:
        here = here.get(step) if isinstance(here, dict) else here[step] if isinstance(here, list) else None
        assume(isinstance(here, dict | list))
    here[path[-1]] = value
    library = jsonschema_rs.Draft202012Validator(schemas.read_schema(schemas.AUTHORED)).is_valid(document)
    assert library or not fits(schemas.AUTHORED)(document)


def test_every_shape_of_the_schemas_can_be_told() -> None:
    """A keyword that `fits` does not know would be asked for here, and not when the first such value comes."""
    for name in (schemas.AUTHORED, schemas.FRAGMENT, schemas.RUNTIME_VIEW):
        for shape in schemas.read_schema(name)["$defs"].values():
            assert not _made(shape, lambda _: lambda _: True)(None)


@pytest.mark.parametrize(("path", "value"), RIGHT)
def test_right_documents_pass_everywhere(path: tuple[str | int, ...], value: Any) -> None:
    assert verdicts(changed(path, value)) == (True, True)


@pytest.mark.parametrize(("path", "value"), WRONG)
def test_wrong_documents_fail_by_both_validators(path: tuple[str | int, ...], value: Any) -> None:
    assert verdicts(changed(path, value)) == (False, False)


@pytest.mark.parametrize(("path", "value"), RIGHT)
def test_what_is_built_is_what_the_model_validates(path: tuple[str | int, ...], value: Any) -> None:
    """At run time values are built without pydantic."""
    document = changed(path, value)
    assert AuthoredContract.of(document) == MODEL.validate_python(document)
    assert AuthoredContract.of(AuthoredContract.of(document).plain()) == AuthoredContract.of(document)


def test_no_field_that_may_be_left_out_may_be_null() -> None:
    assert verdicts(changed(("purpose",), None)) == (False, False)
