"""The JSON Schemas (2020-12) of what goes in and out, generated from the models and kept beside this module.

`python -m strata_core.contract_engine.schemas` writes them; a test fails where they and the models differ. The root
folder `schemas/` is a link to them. At run time only the files are read: a check needs no model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("schemas")
DIALECT = "https://json-schema.org/draft/2020-12/schema"
AUTHORED = "data-product-contract.authored.v0.schema.json"
FRAGMENT = "data-product-contract.fragment.v0.schema.json"
RUNTIME_VIEW = "data-product-contract.runtime-view.v0.schema.json"

TITLES = {
    AUTHORED: "Data product contract, authored, v0",
    FRAGMENT: "Data product contract, fragment, v0",
    RUNTIME_VIEW: "Data product contract, runtime view, v0",
}


@cache
def read_schema(name: str) -> dict[str, Any]:
    """The schema in the file `name`."""
    schema: dict[str, Any] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return schema


def generated() -> dict[str, str]:
    """The text of each schema file, from the models."""
    from pydantic import TypeAdapter  # the schemas are files: only who writes them needs it

    from .authored import AuthoredContract, Fragment
    from .runtime_view import RuntimeView
    from .shape import Shape

    models: dict[str, type[Shape]] = {AUTHORED: AuthoredContract, FRAGMENT: Fragment, RUNTIME_VIEW: RuntimeView}
    return {name: _spelled(name, TypeAdapter(model).json_schema()) for name, model in models.items()}


def _spelled(name: str, schema: dict[str, Any]) -> str:
    document = {"$schema": DIALECT, "$id": name, **_plain(schema, schema["$defs"]), "title": TITLES[name]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _plain(node: Any, shapes: Mapping[str, Any]) -> Any:
    """The schema without what pydantic adds for itself.

    Where a field may be left out it may not be null: an empty value in YAML is a slip, and is told so. A choice by a
    discriminator becomes one `if` per choice, so that what is wrong is said of the choice that was made.
    """
    if isinstance(node, list):
        return [_plain(item, shapes) for item in node]
    if not isinstance(node, dict):
        return node
    if "discriminator" in node:
        return _chosen(node["discriminator"], node["anyOf"], shapes)
    if "anyOf" in node:
        choices = [choice for choice in node["anyOf"] if choice != {"type": "null"}]
        rest = {key: value for key, value in node.items() if key != "anyOf"}
        node = {**choices[0], **rest} if len(choices) == 1 else {**rest, "anyOf": choices}
    kept = {}
    for key, value in node.items():
        if key == "default" and value in (None, [], {}):
            continue
        if key == "title" and isinstance(value, str) and " " not in value:
            continue
        if key in ("properties", "$defs"):
            kept[key] = {name: _untitled(_plain(part, shapes)) for name, part in value.items()}
        else:
            kept[key] = _plain(value, shapes)
    return kept


def _untitled(part: Any) -> Any:
    return {key: value for key, value in part.items() if key != "title"} if isinstance(part, dict) else part


def _chosen(word: str, choices: Iterable[Mapping[str, str]], shapes: Mapping[str, Any]) -> dict[str, Any]:
    mapping = {}
    for choice in choices:
        mapping[shapes[choice["$ref"].rpartition("/")[2]]["properties"][word]["const"]] = choice["$ref"]
    return {
        "type": "object",
        "required": [word],
        "properties": {word: {"enum": sorted(mapping)}},
        "allOf": [
            {
                "if": {"properties": {word: {"const": value}}, "required": [word]},
                "then": {"$ref": reference},
            }
            for value, reference in sorted(mapping.items())
        ],
    }


def write() -> None:
    """Write the schema files."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in generated().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
