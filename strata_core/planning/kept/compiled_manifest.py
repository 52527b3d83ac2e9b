"""The compiled manifest: the outline of a project as a file, so that who loads a deployed project need not compile it.

`strata compile --manifest` writes it. It holds the digests of the texts that it was made from, and is used as long as
they are what lies in the project; what is missing, stale, half-written or of another project is E099, never guessed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...diagnostics import Diagnostic, Severity, Span, StrataError
from ...digests import hexdigest
from ...periods import Periods
from ...regular_files import read_regular
from ...uncommitted import uncommitted
from ...whole_files import write_whole
from ..project import Project, content_parts
from ..semantics import SEMANTICS_VERSION
from .outline import ColumnOutline, ModelOutline, Outline, SourceOutline

MANIFEST_PATH = ".strata/manifest.json"
FORMAT = 4
"""Raise it when the document changes."""
FIX = "run `strata compile --manifest`, or `dg utils refresh-defs-state` where it is the state of a component"


def manifest_path(project: Project) -> Path:
    """Where the manifest of `project` lies."""
    return project.root / MANIFEST_PATH


def write_manifest(project: Project, outline: Outline, path: Path | None = None) -> Path:
    """Write the manifest of `project` (to `path`, else where it is looked for), whole or not at all. Raises
    `StrataError` E092."""
    path = path or manifest_path(project)
    try:
        with uncommitted(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, sealed(_encode(project, outline)))
    except OSError as error:
        raise StrataError(Diagnostic("E092", f"`{path}` cannot be written: {error.strerror}")) from None
    return path


def read_manifest(project: Project, path: Path | None = None) -> Outline:
    """The outline that the manifest of `project` (at `path`, else where it is looked for) holds. Raises `StrataError`
    E099 where it is not one of this project as its texts are now."""
    path = path or manifest_path(project)
    try:
        content = read_regular(path)
    except FileNotFoundError:
        raise _unusable("there is no compiled manifest `{}`", path) from None
    except OSError as error:
        raise _unusable(f"the compiled manifest `{{}}` cannot be read: {error.strerror}", path) from None
    rest = content[len(_head(b"")) :]
    if content != _head(rest) + rest:
        raise _unusable("the compiled manifest `{}` is damaged or half-written", path)
    try:
        document = json.loads(b"{" + rest)
        if (document["format"], document["semantics"]) != (FORMAT, SEMANTICS_VERSION):
            raise _unusable("the compiled manifest `{}` was made by another release of Strata", path)
        if document["project"] != project.config.name:
            other = document["project"]
            message = f"the compiled manifest `{{}}` is of the project `{other}`, not of `{project.config.name}`"
            raise _unusable(message, path)
        if document["content"] != _content(project):
            changed = _changed(document["files"], project)
            raise _unusable(f"the compiled manifest `{{}}` is stale: {changed} since it was made", path)
        return _decode(document)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _unusable("`{}` is no compiled manifest", path) from None


def sealed(document: Mapping[str, Any]) -> bytes:
    """The bytes of a manifest: a JSON object whose first member is the digest of all that follows, so that damage is
    found without parsing it."""
    rest = json.dumps(document, separators=(",", ":")).encode()[1:]
    return _head(rest) + rest


def _head(rest: bytes) -> bytes:
    return b'{"sha256":"%s",' % hashlib.sha256(rest).hexdigest().encode()


def _unusable(message: str, path: Path) -> StrataError:
    return StrataError(Diagnostic("E099", message.format(path), fix=FIX))


def _content(project: Project) -> str:
    return hexdigest("compiled manifest", "\0".join(project.config.models), *content_parts(project))


def _digests(project: Project) -> dict[str, str]:
    return {file.path: hexdigest(file.content) for file in project.files}


def _changed(then: Mapping[str, str], project: Project) -> str:
    now = _digests(project)
    found = sorted(p for p in then.keys() | now.keys() if then.get(p) != now.get(p))
    if not found:
        return "`strata.toml` changed"
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"`{found[0]}`{more} changed"


def _encode(project: Project, outline: Outline) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "semantics": SEMANTICS_VERSION,
        "project": project.config.name,
        "content": _content(project),
        "files": _digests(project),
        "models": [_table(model) for model in outline.models.values()],
        "sources": [_table(source) for source in outline.sources.values()],
        "broken": list(outline.broken),
        "diagnostics": [
            {"code": d.code, "message": d.message, "span": d.span and asdict(d.span), "label": d.label, "fix": d.fix}
            for d in outline.diagnostics
            if d.blocks
        ],
    }


def _table(table: ModelOutline | SourceOutline) -> dict[str, Any]:
    """Columns are lists, without names: a project has many, and each load reads them all."""
    return {**asdict(table), "columns": [list(asdict(column).values()) for column in table.columns]}


def _decode(document: Mapping[str, Any]) -> Outline:
    models = (
        ModelOutline(
            **{
                **model,
                "columns": _columns(model["columns"]),
                "upstream": tuple(model["upstream"]),
                "span": Span(**model["span"]),
                "periods": model["periods"] and Periods(**model["periods"]),
                "own_time": tuple(model["own_time"]),
            }
        )
        for model in document["models"]
    )
    sources = (
        SourceOutline(**{**source, "columns": _columns(source["columns"]), "span": Span(**source["span"])})
        for source in document["sources"]
    )
    diagnostics = (
        Diagnostic(d["code"], d["message"], _span(d["span"]), label=d["label"], fix=d["fix"], severity=Severity.ERROR)
        for d in document["diagnostics"]
    )
    return Outline(
        {model.name: model for model in models},
        {source.name: source for source in sources},
        tuple(diagnostics),
        tuple(document["broken"]),
    )


def _span(note: Mapping[str, Any] | None) -> Span | None:
    return Span(**note) if note else None


def _columns(notes: list[list[Any]]) -> tuple[ColumnOutline, ...]:
    return tuple(
        ColumnOutline(
            name, type_, nullable, unique, key, protected, tuple(enum), classification, description, _origins(origins)
        )
        for name, type_, nullable, unique, key, protected, enum, classification, description, origins in notes
    )


def _origins(notes: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((node, column) for node, column in notes)
