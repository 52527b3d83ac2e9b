"""A document of the standard, versions 3.0 to 3.2, as a contract.

Codes: E170 (it is no such document), W170 (a thing that contracts have no field for, and where it is kept).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...diagnostics import Diagnostic, Report, Severity
from ..authored import AuthoredContract
from ..documents import Document, Path, finding
from ..placeholders import ASKED
from ..schemas import AUTHORED
from ..shapes import kind_of, valid
from ..words import SEMVER, WORD
from . import constraints, quality
from .ages import age_of
from .custom import members, taken
from .rest import Entry, difference
from .types import strata
from .write import odcs

_VERSION = re.compile(r"v?3\.[012](\.[0-9]+)?")
_STATUSES = ("proposed", "draft", "active", "deprecated", "retired")


def contract_of(document: Document, product: str | None, layer: str, report: Report) -> AuthoredContract | None:
    """The contract that `document` is, as `product` where it does not say `<domain>.<product>` itself; of `layer`
    where it says none. None where it cannot be read: E170."""
    data = document.data
    faults = list(_faults(document))
    for one in faults:
        report(one)
    if faults:
        return None
    if data["apiVersion"].lstrip("v").startswith("3.0"):
        data = _upgraded(data)
    made = _contract(data, product, layer)
    if not valid(made, AUTHORED):
        _explain(document, made, report)
        return None
    plain = AuthoredContract.of(made)
    if plain.owner.team == ASKED:
        message, fix = f"the document names no team: `owner.team` is `{ASKED}`", "name who answers for the product"
        report(finding("W170", message, document, ("team",), fix, severity=Severity.WARNING))
    version = "3.2" if str(data["apiVersion"]).lstrip("v").startswith("3.2") else "3.1"
    entries = [e for e in difference(data, odcs(plain, version)) if e["at"] not in (["apiVersion"], ["kind"])]
    if entries:
        for entry in entries:
            report(_kept(document, entry))
        extensions = {**made.get("extensions", {}), "odcs": {"rest": entries}}
        plain = AuthoredContract.of({**made, "extensions": extensions})
    return plain


def _faults(document: Document) -> Iterator[Diagnostic]:
    """What keeps a document from being read at all."""
    data = document.data
    if not isinstance(data, Mapping):
        fix = "write its fields, `apiVersion: v3.1.0` and `kind: DataContract` first"
        yield finding("E170", f"this is {kind_of(data)}, not a contract of the standard", document, (), fix)
        return
    if data.get("kind") != "DataContract":
        said = f"`kind` is {_shown(data['kind'])}, not `DataContract`" if "kind" in data else "there is no `kind`"
        fix = "a contract of the standard begins with `kind: DataContract`; others are not read"
        yield finding("E170", said, document, ("kind",), fix)
    version = data.get("apiVersion")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        said = f"version {_shown(version)} is not read" if version is not None else "there is no `apiVersion`"
        yield finding("E170", said, document, ("apiVersion",), "write `apiVersion: v3.1.0`: 3.0 to 3.2 are read")
    tables = data.get("schema")
    if not isinstance(tables, list) or not tables:
        said = f"`schema` is {kind_of(tables)}, where a list is expected" if tables else "there is no `schema`"
        fix = "write a list of tables, each with a `name`: a data product has at least one"
        yield finding("E170", said, document, ("schema",), fix)
        return
    for number, table in enumerate(tables):
        where: Path = ("schema", number)
        if not isinstance(table, Mapping) or not isinstance(table.get("name"), str) or not table["name"].strip():
            yield finding("E170", "this table has no name", document, where, "write `name: …`")
            continue
        columns = table.get("properties", [])
        if not isinstance(columns, list):
            said = f"`properties` is {kind_of(columns)}, where a list is expected"
            yield finding("E170", said, document, (*where, "properties"), "write each as an item: `- name: …`")
            continue
        for place, column in enumerate(columns):
            if not isinstance(column, Mapping) or not isinstance(column.get("name"), str) or not column["name"]:
                at = (*where, "properties", place)
                yield finding("E170", "this property has no name", document, at, "write `name: …`")


def _shown(value: Any) -> str:
    return f"`{value}`" if isinstance(value, str | int | float) else kind_of(value)


def _upgraded(said: Any) -> Any:
    """What version 3.0 says, in terms of the later ones: a bound that is excluded has a field of its own there."""
    if isinstance(said, list):
        return [_upgraded(item) for item in said]
    if not isinstance(said, Mapping):
        return said
    found = {name: _upgraded(value) for name, value in said.items()}
    options = found.get("logicalTypeOptions")
    if isinstance(options, dict):
        for bound, excluded in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if isinstance(options.get(excluded), bool) and options.pop(excluded) and bound in options:
                options[excluded] = options.pop(bound)
    return found


def _explain(document: Document, made: Mapping[str, Any], report: Report) -> None:
    """E170 with what contracts do not accept."""
    from ..shapes import shaped

    found: list[Diagnostic] = []
    shaped(Document(document.file, made, {}, {}), AUTHORED, found.append)
    for one in found or [Diagnostic("E170", "it does not have the shape of a contract")]:
        report(finding("E170", f"{one.field_path or 'contract'}: {one.message}", document, (), one.fix))


def _kept(document: Document, entry: Entry) -> Diagnostic:
    """W170: the standard says it, and contracts have no field for it, or say it otherwise."""
    path = tuple(_steps(document.data, entry["at"], entry["value"]))
    spelled = document.spelled(path)
    how = "contracts say it otherwise" if "was" in entry else "contracts have no field for it"
    message = f"`{spelled}` is kept under `extensions.odcs`: {how}"
    return finding("W170", message, document, path, severity=Severity.INFO, at_key=True)


def _steps(data: Any, at: list[Any], value: Any) -> Iterator[str | int]:
    """The path of an entry in the document; an item without a name is found by its `value`."""
    here = data
    for step in at:
        if isinstance(step, str):
            yield step
            here = here.get(step) if isinstance(here, Mapping) else None
        else:
            ((key, name),) = step.items()
            items = here if isinstance(here, list) else []
            same = (
                n
                for n, i in enumerate(items)
                if isinstance(i, Mapping) and i.get(key) == name and (name is not None or i == value)
            )
            number = next(same, 0)
            yield number
            here = items[number] if number < len(items) else None


def _contract(data: Mapping[str, Any], product: str | None, layer: str) -> dict[str, Any]:
    own = taken(data)
    id_ = product or _id(data)
    made: dict[str, Any] = {"apiVersion": "strata/v0", "kind": "DataProductContract", "id": id_}
    made["name"] = _text(data.get("name")) or _text(data.get("dataProduct")) or id_
    made["version"] = _version(data.get("version"))
    status = str(data.get("status"))
    made["status"] = status if status in _STATUSES else "active" if status in ("production", "released") else "draft"
    made["layer"] = own.get("layer", layer)
    made["domain"] = id_.partition(".")[0]
    made["owner"] = _owner(data)
    made["assets"] = [_asset(table) for table in data["schema"]]
    names = {table["name"]: asset["id"] for table, asset in zip(data["schema"], made["assets"], strict=True)}
    description = data.get("description") if isinstance(data.get("description"), Mapping) else {}
    assert isinstance(description, Mapping)
    if purpose := _text(description.get("purpose")):
        made["purpose"] = purpose
    usage = {}
    for name, field in (("intended", "usage"), ("prohibited", "limitations")):
        lines = [line for line in str(_text(description.get(field)) or "").splitlines() if line.strip()]
        texts = own.get(name) if "\n".join(own.get(name) or ()) == description.get(field) else lines
        if texts:
            usage[name] = texts
    if usage:
        made["usage"] = usage
    _take_semantics(data, own, made)
    _take_levels(data, own, made, names)
    if tests := _tests(data, own, made):
        made["tests"] = tests
    for name in ("lineage", "agent_permissions", "compatibility", "declined_suggestions", "extensions"):
        if name in own:
            made[name] = own[name]
    return made


def _id(data: Mapping[str, Any]) -> str:
    """`<domain>.<product>`, of what the document says of either."""
    given = str(data.get("id") or "")
    if re.fullmatch(rf"{WORD}\.{WORD}", given):
        return given
    product = data.get("dataProduct") or data.get("name") or given or "product"
    return f"{_word(data.get('domain') or 'unknown')}.{_word(product)}"


def _word(text: object) -> str:
    word = re.sub(r"[^a-z0-9_]+", "_", str(text).lower()).strip("_")[:60]
    return word if re.match(r"[a-z]", word) else f"p_{word}".rstrip("_")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _version(value: object) -> str:
    """A semantic version: the document's, filled up where it has fewer parts."""
    text = str(value or "").strip().lstrip("v")
    for spelled in (text, f"{text}.0", f"{text}.0.0"):
        if re.fullmatch(SEMVER, spelled):
            return spelled
    return "0.1.0"


def _owner(data: Mapping[str, Any]) -> dict[str, Any]:
    team = data.get("team")
    people = [m for m in members(team.get("members") if isinstance(team, Mapping) else team) if m.get("username")]
    name = _text(team.get("name")) if isinstance(team, Mapping) else None
    owners = [str(m["username"]) for m in people if "owner" in str(m.get("role", "")).casefold()]
    owner: dict[str, Any] = {"team": name or next(iter([*owners, *(str(m["username"]) for m in people)]), ASKED)}
    if channel := next((c for s in members(data.get("support")) if (c := _text(s.get("channel")))), None):
        owner["contact"] = channel
    if approvers := [str(m["username"]) for m in people if m.get("role") == "approver"]:
        owner["approvers"] = approvers
    return owner


def _asset(table: Mapping[str, Any]) -> dict[str, Any]:
    own = taken(table)
    id_ = re.sub(r"[^A-Za-z0-9_-]", "_", table["name"])[:128]
    id_ = id_ if re.match(r"[A-Za-z_]", id_) else f"_{id_}"[:128]
    asset: dict[str, Any] = {"id": id_, "kind": own.get("kind", "table")}
    if ref := _text(table.get("physicalName")) or (table["name"] if table["name"] != id_ else None):
        asset["ref"] = ref
    if description := _text(table.get("description")):
        asset["description"] = description
    tags = table.get("tags")
    if isinstance(tags, list) and tags and all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,63}", str(t)) for t in tags):
        asset["tags"] = tags
    for name in ("documentation", "location", "closed"):
        if name in own:
            asset[name] = own[name]
    if columns := [_column(c) for c in members(table.get("properties"))]:
        asset["columns"] = columns
    return asset


def _column(column: Mapping[str, Any]) -> dict[str, Any]:
    own = taken(column)
    made: dict[str, Any] = {"name": column["name"]}
    if found := strata(column):
        made["type"] = found
    if description := _text(column.get("description")):
        made["description"] = description
    if isinstance(column.get("required"), bool):
        made["nullable"] = not column["required"]
    for field, name in (("unique", "unique"), ("primaryKey", "primary_key"), ("partitioned", "partition_by")):
        if isinstance(column.get(field), bool):
            made[name] = column[field]
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,63}", str(column.get("classification") or "")):
        made["classification"] = column["classification"]
    values = [i.get("value") for i in members(column.get("enum"))]
    if values and all(isinstance(v, str) for v in values):
        made["enum"] = values
    sources = column.get("transformSourceObjects")
    reference = r"([a-z][a-z0-9_]*\.[a-z][a-z0-9_]*/)?[A-Za-z_][A-Za-z0-9_-]*\.[^/]+"
    if isinstance(sources, list) and sources and all(re.fullmatch(reference, str(s)) for s in sources):
        made["derived_from"] = {"columns": sources}
        if how := _text(column.get("transformDescription")):
            made["derived_from"]["transformation"] = how
        made["derived_from"] |= own.get("derived_from") or {}
    for name in ("enum", "protected", "mask", "freshness"):
        if name in own:
            made[name] = own[name]
    return made


def _take_semantics(data: Mapping[str, Any], own: Mapping[str, Any], made: dict[str, Any]) -> None:
    semantics = dict(own.get("semantics") or {})
    grains = [g for t in data["schema"] if (g := _text(t.get("dataGranularityDescription")))]
    if len(data["schema"]) == 1 and grains:
        semantics["grain"] = grains[0]
    if semantics:
        made["semantics"] = semantics


def _take_levels(
    data: Mapping[str, Any], own: Mapping[str, Any], made: dict[str, Any], names: Mapping[str, str]
) -> None:
    """Freshness, retention and availability from service levels, and what else is intended."""
    governance = dict(own.get("governance") or {})
    basis = governance.pop("retention_basis", None)
    assets = {asset["id"]: asset for asset in made["assets"]}
    for level in members(data.get("slaProperties")):
        element, age = level.get("element"), age_of(level)
        match level.get("property"):
            case "freshness" if age and element is None and "freshness" not in made:
                made["freshness"] = {"max_age": age}
                if schedule := _text(level.get("schedule")):
                    made["freshness"]["schedule"] = schedule
            case "freshness" if age and isinstance(element, str):
                table, _, column = element.partition(".")
                asset = assets.get(names.get(table, table))
                known = {c["name"] for c in (asset or {}).get("columns", ())}
                if asset is not None and "freshness" not in asset and (not column or column in known or not known):
                    asset["freshness"] = {"max_age": age, **({"column": column} if column else {})}
            case "retention" if age and element is None and "retention" not in governance:
                governance["retention"] = {"period": age, **({"basis": basis} if basis else {})}
            case "availability" if _is_share(level) and element is None:
                governance["availability"] = level["value"]
    if governance:
        made["governance"] = governance


def _is_share(level: Mapping[str, Any]) -> bool:
    value = level.get("value")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 < value <= 100 and level.get("unit") in ("percent", "%")  # type: ignore[operator]


def _tests(data: Mapping[str, Any], own: Mapping[str, Any], made: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    ids: set[str] = set()

    def take(items: object, asset: str, column: str | None) -> None:
        for item in members(items):
            if (test := quality.test_of(item, asset, column, ids)) is not None:
                found.append(test)

    for table, asset in zip(data["schema"], made["assets"], strict=True):
        take(table.get("quality"), asset["id"], None)
        for column in members(table.get("properties")):
            take(column.get("quality"), asset["id"], column["name"])
    assets = {table["name"]: asset for table, asset in zip(data["schema"], made["assets"], strict=True)}
    for table in data["schema"]:
        for test in constraints.tests_of(table, assets):
            if test["id"] not in ids:
                ids.add(test["id"])
                found.append(test)
    order = own.get("test_order")
    if isinstance(order, list):
        places = {str(id_): n for n, id_ in enumerate(order)}
        found.sort(key=lambda test: places.get(test["id"], len(places)))
    return found
