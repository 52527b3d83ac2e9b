"""What a contract lacks, and what would mend it: edits of the canonical file, each with what motivated it.

Found are: columns and values that tools see and the contract does not say (drift, by collation), descriptions that a
column upstream bears, tests of what is promised or proven and not tested, and a draft of migration notes where a change
breaks readers. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...contract.changes import Impact
from ...diagnostics import Span
from ...frozen import dataclass
from ..candidate import Candidate, SuggestedEdit
from ..documents import Document, value_at
from ..parse.parsed import GeneratedAsset, GeneratedColumn
from ..pipeline import Checked


@dataclass(frozen=True, slots=True)
class Proposal:
    """An edit, and which kind of suggestion it is."""

    kind: str
    edit: SuggestedEdit


KINDS = {
    "drift": "Drift reconciled",
    "description": "Missing descriptions",
    "test": "Tests suggested",
    "migration": "Migration notes drafted",
}


def proposals(checked: Checked, candidate: Candidate) -> tuple[Proposal, ...]:
    """What to change in the contract of a sound candidate, in the order of its file."""
    document = next(
        f.contract.document for f in checked.parsed.files if f.path == candidate.file and f.contract is not None
    )
    known: dict[str, GeneratedAsset] = {}
    for table in checked.parsed.generated:  # compiled ones come first, and count
        for ref in table.refs:
            known.setdefault(ref, table)
    found = [
        *(Proposal("drift", edit) for edit in candidate.edits),
        *_descriptions(document, known),
        *_tests(document, candidate, known),
        *_migration(checked, document, candidate),
    ]
    places: dict[tuple[str | int, ...], Proposal] = {}
    for one in found:
        places.setdefault(one.edit.path, one)
    return tuple(places.values())


def _assets(document: Document) -> Iterator[tuple[int, Mapping[str, Any]]]:
    yield from enumerate(document.data.get("assets", ()))


def _table(asset: Mapping[str, Any], known: Mapping[str, GeneratedAsset]) -> GeneratedAsset | None:
    return known.get(asset.get("ref") or asset["id"]) or known.get(asset["id"])


def _descriptions(document: Document, known: Mapping[str, GeneratedAsset]) -> Iterator[Proposal]:
    """Of a column that nothing describes, the description of the one column that it is made of."""
    for number, asset in _assets(document):
        table = _table(asset, known)
        columns = {c.name: c for c in table.columns} if table else {}
        for place, column in enumerate(asset.get("columns", ())):
            seen = columns.get(column["name"])
            if seen is None or "description" in column or seen.description:
                continue
            source = _described(seen, known)
            if source is not None:
                where, described = source
                path = ("assets", number, "columns", place, "description")
                reason = f"`{column['name']}` is made of `{where}`, which is described so"
                span = described.span or (table.span if table else document.span(()))
                yield Proposal(
                    "description", SuggestedEdit(document.file, path, described.description, None, reason, span)
                )


def _described(column: GeneratedColumn, known: Mapping[str, GeneratedAsset]) -> tuple[str, GeneratedColumn] | None:
    """The described column that `column` alone is made of, however many steps upstream."""
    seen: set[tuple[str, str]] = set()
    while len(column.origins) == 1:
        origin = column.origins[0]
        table = known.get(origin.table)
        found = next((c for c in table.columns if c.name == origin.column), None) if table else None
        if found is None or (origin.table, origin.column) in seen:
            return None
        if found.description:
            return f"{origin.table}.{origin.column}", found
        seen.add((origin.table, origin.column))
        column = found
    return None


def _tests(document: Document, candidate: Candidate, known: Mapping[str, GeneratedAsset]) -> Iterator[Proposal]:
    """Tests of keys that are promised, and of columns that are proven never to be null, where none asks for them."""
    tests = document.data.get("tests", [])
    asked = {_asks(t) for t in candidate.data.get("tests", ())}
    ids = {str(t.get("id")) for t in candidate.data.get("tests", ())}
    count = len(tests)
    for number, asset in _assets(document):
        table = _table(asset, known)
        proven = {c.name for c in table.columns if c.nullable is False} if table and table.compiled else set()
        columns = asset.get("columns", ())
        key = [c["name"] for c in columns if c.get("primary_key")]
        open_ = [c["name"] for c in columns if c.get("nullable") is None and not c.get("primary_key")]
        never_null = [name for name in open_ if name in proven]
        for kind, names, why in (
            ("unique", key, "promised as key"),
            ("not_null", never_null, "proven never to be null by the compiler"),
        ):
            id_ = f"{asset['id']}_{kind}"
            if not names or (asset["id"], kind, frozenset(names)) in asked or id_ in ids:
                continue
            listed = ", ".join(f"`{n}`" for n in names)
            value = {
                "id": id_,
                "kind": "expectation",
                "severity": "informational",
                "asset": asset["id"],
                "expectation": {"type": kind, "columns": names},
            }
            reason = f"{why}, and asked for by no test: {listed} of `{asset['id']}`"
            span = table.span if table and kind == "not_null" else document.span(("assets", number))
            yield Proposal("test", SuggestedEdit(document.file, ("tests", count), value, None, reason, span))
            count += 1


def _asks(test: Mapping[str, Any]) -> tuple[str, str, frozenset[str]]:
    expectation = test.get("expectation") or {}
    return test.get("asset", ""), expectation.get("type", ""), frozenset(expectation.get("columns", ()))


def _migration(checked: Checked, document: Document, candidate: Candidate) -> Iterator[Proposal]:
    """A draft of the migration notes that a breaking change of a live contract needs."""
    verdict = checked.validated.compatibility.get(candidate.id)
    told = value_at(document.data, ("compatibility", "migration_notes"))
    breaking = [c for c in verdict.changes if c.impact is Impact.MAJOR] if verdict else []
    if verdict is None or verdict.verdict.value != "major-breaking" or told or not breaking:
        return
    lines = [f"- {c.where}: {c.rule.says}" for c in breaking]
    text = f"TODO: say what readers of {verdict.against} have to do.\n" + "\n".join(lines) + "\n"
    path = ("compatibility", "migration_notes")
    reason = f"{len(breaking)} changes break readers of {verdict.against}"
    span: Span = document.span(())
    yield Proposal("migration", SuggestedEdit(document.file, path, text, None, reason, span))
