"""Does a document have the shape that its JSON Schema says? (Seed 2, "JSON Schema validation")

`jsonschema-rs` finds what is wrong; here it becomes a finding at the key or value, with what would be accepted. Unknown
fields are taken out, so that the rest of the document is still looked at; what else is wrong makes it unsound.
Codes: E104 (unknown field), E105 (type), E106 (missing), E107 (value).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from ..diagnostics import Diagnostic, Report
from ..diagnostics.suggest import nearest
from ..frozen import replace
from .documents import Document, Path, finding, value_at
from .fits import fits
from .schemas import read_schema

WORDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "nothing",
    "number": "a number",
    "object": "a mapping of fields",
    "string": "a text",
}
_TRUE, _FALSE = frozenset({"yes", "y", "on", "true", "1"}), frozenset({"no", "n", "off", "false", "0"})
_SHOWN = 60


@cache
def _validator(name: str) -> Any:
    import jsonschema_rs  # what is as it should be does not need it

    return jsonschema_rs.Draft202012Validator(read_schema(name))


def shaped(document: Document, name: str, report: Report) -> tuple[Document, bool]:
    """`document` without unknown fields, and whether the rest has the shape of the schema `name`."""
    if fits(name)(document.data):
        return document, True
    unknown: list[Path] = []
    sound = True
    schema = read_schema(name)
    for error in _validator(name).iter_errors(document.data):
        path: Path = tuple(error.instance_path)
        kind, facts = error.kind.name, error.kind.as_dict()
        around = value_at(schema, error.schema_path[:-1]) or {}
        if kind == "additionalProperties":
            for field in facts["unexpected"]:
                unknown.append((*path, field))
                report(_unknown(document, path, field, around))
            continue
        sound = False
        report(_wrong(document, path, kind, facts, around, schema))
    return (without(document, unknown) if unknown else document), sound


def valid(data: Any, name: str) -> bool:
    """Whether `data` has the shape of the schema `name`."""
    return fits(name)(data) or bool(_validator(name).is_valid(data))


def without(document: Document, paths: Iterable[Path]) -> Document:
    """`document` without what stands at `paths`."""
    left_out = set(paths)

    def copied(value: Any, path: Path) -> Any:
        if isinstance(value, Mapping):
            return {k: copied(v, (*path, k)) for k, v in value.items() if (*path, k) not in left_out}
        if isinstance(value, list):
            return [copied(item, (*path, i)) for i, item in enumerate(value)]
        return value

    return replace(document, data=copied(document.data, ()))


def _unknown(document: Document, path: Path, field: str, schema: Mapping[str, Any]) -> Diagnostic:
    known = list(schema.get("properties", ()))
    given = value_at(document.data, path)
    near = nearest(field, known)
    if near is not None:
        fix = f"did you mean `{near}`{', which is given already' if near in (given or ()) else ''}?"
    elif field == "<<":
        fix = "YAML 1.2 has no merge keys: write the fields out, or use an alias for the whole value"
    else:
        fix = f"the fields here are {', '.join(known)}"
    if not path and near is None:
        fix += "; what is none of them goes under `extensions`"
    return finding("E104", f"there is no field `{field}` here", document, (*path, field), fix, at_key=True)


def _wrong(
    document: Document,
    path: Path,
    kind: str,
    facts: Mapping[str, Any],
    schema: Mapping[str, Any],
    root: Mapping[str, Any],
) -> Diagnostic:
    """What is wrong with the value at `path`. `schema` is the part of the schema `root` that says so."""
    value = value_at(document.data, path)
    name = f"`{_last(path)}`" if path else "the document"
    match kind:
        case "required":
            missing = facts["property"]
            part = value_at(schema, ("properties", missing)) or {}
            fix = f"add `{missing}: {_example(part, root)}`"
            where = f"`{document.spelled(path)}`" if path else "the contract"
            return finding("E106", f"{where} has no `{missing}`", document, path, fix, at_key=True)
        case "type" | "anyOf":
            types = facts.get("types") or [t for c in schema.get("anyOf", ()) if (t := c.get("type"))]
            return _mistyped(document, path, value, types, schema)
        case "enum" | "const":
            options = facts.get("options") or [facts.get("expected_value", schema.get("const"))]
            near = nearest(value, [str(o) for o in options]) if isinstance(value, str) else None
            accepted = f"accepted: {', '.join(str(o) for o in options)}"
            fix = f"did you mean `{near}`? ({accepted})" if near else accepted
            return finding("E107", f"{name} cannot be {_shown(document, path, value)}", document, path, fix)
        case "pattern" | "minLength" if isinstance(value, str) and not value.strip():
            return finding("E107", f"{name} is blank", document, path, "give it a value, or leave the field out")
        case "pattern":
            fix = _like(str(value), str(facts.get("pattern")), schema.get("examples", ()))
            return finding("E107", f"{name} cannot be {_shown(document, path, value)}", document, path, fix)
        case "minItems":
            return finding("E107", f"{name} is an empty list", document, path, "name at least one")
        case "maxLength":
            return finding("E107", f"{name} is too long", document, path, f"use at most {facts['limit']} characters")
        case _:
            bound = facts.get("limit", "")
            fix = f"{_BOUNDS.get(kind, kind)} {bound}".strip()
            return finding("E107", f"{name} cannot be {_shown(document, path, value)}", document, path, fix)


_BOUNDS = {
    "minimum": "give a number of at least",
    "exclusiveMinimum": "give a number above",
    "maximum": "give a number of at most",
    "exclusiveMaximum": "give a number below",
}


def _like(value: str, pattern: str, examples: Sequence[str]) -> str:
    """How to write a text that does not match a pattern: as it was meant, where that is plain, else like the examples.

    >>> _like("Bronze", "^[a-z]+$", ["flights"]), _like("v2.1.0", r"^[0-9]+\\.[0-9]+\\.[0-9]+$", ["1.0.0"])
    ('write `bronze`', 'write `2.1.0`')
    >>> _like("1 day", "^[0-9]+[hd]$", ["24h", "7d"])
    'write it like `24h` or `7d`'
    """
    lower = value.strip().lower()
    for meant in (
        value.strip(),
        lower,
        value.lstrip("vV"),
        f"{value}.0",
        re.sub(r"[^a-z0-9_]+", "_", lower).strip("_"),
    ):
        if meant and re.search(pattern, meant):
            return f"write `{meant}`"
    return f"write it like {' or '.join(f'`{e}`' for e in examples)}" if examples else f"it must match `{pattern}`"


def _mistyped(
    document: Document, path: Path, value: Any, types: Sequence[str], schema: Mapping[str, Any]
) -> Diagnostic:
    wanted = " or ".join(WORDS[t] for t in types)
    written = document.written.get(path, str(value))
    if not path:
        message, fix = f"this is {kind_of(value)}, not a contract", "write the fields of a contract, `apiVersion` first"
        return finding("E105", message, document, path, fix)
    message = f"`{_last(path)}` is {kind_of(value)}, where {wanted} is expected"
    if value is None:
        message, fix = f"`{_last(path)}` is empty", f"give it {wanted}, or leave the field out"
    elif "boolean" in types and isinstance(value, str | int) and written.lower() in _TRUE | _FALSE:
        fix = f"write `{'true' if written.lower() in _TRUE else 'false'}`: YAML 1.2 knows no other words for it"
    elif "string" in types and not isinstance(value, list | dict):
        text = written.lower() if isinstance(value, bool) else written
        texts: Mapping[str, Any] = next((s for s in (schema, *schema.get("anyOf", ())) if "pattern" in s), {})
        fits = re.search(texts.get("pattern", ""), text)
        fix = f'put it in quotes: `"{text}"`' if fits else _like(text, texts["pattern"], texts.get("examples", ()))
    elif "array" in types and not isinstance(value, dict):
        fix = f"write it as a list: `[{written}]`"
    elif "array" in types:
        fix = "write it as a list: each item begins with `- `"
    elif "object" in types and isinstance(value, list):
        fix = "take the `- ` away: this is one mapping, not a list"
    else:
        fix = f"give it {wanted}"
    return finding("E105", message, document, path, fix)


def kind_of(value: Any) -> str:
    """What a value is, for people."""
    match value:
        case None:
            return "empty"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "a mapping of fields"


def _last(path: Path) -> str:
    named = [step for step in path if isinstance(step, str)]
    return named[-1] if named else str(path[-1])


def _shown(document: Document, path: Path, value: Any) -> str:
    text = document.written.get(path, str(value)) if not isinstance(value, dict | list) else kind_of(value)
    return f"`{text if len(text) <= _SHOWN else text[:_SHOWN] + '…'}`"


def _example(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """What may stand for a field, in few words."""
    if "$ref" in schema:
        shape = root["$defs"][schema["$ref"].rpartition("/")[2]]
        needed = ", ".join(f"{n}: {_example(shape['properties'][n], root)}" for n in shape.get("required", ()))
        return f"{{{needed or '…'}}}"
    if schema.get("examples"):
        return str(schema["examples"][0])
    if "const" in schema:
        return str(schema["const"])
    if schema.get("enum"):
        return str(schema["enum"][0])
    return {"array": "[…]", "object": "{…}", "boolean": "true", "integer": "1", "number": "1"}.get(
        schema.get("type", "string"), "…"
    )
