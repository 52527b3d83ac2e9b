"""Whether what was published is what was written: the artifacts of tables, and the logs of environments.

Every artifact counts, live or not: a rollback makes an old one live again, and an apply takes up one that it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from ..diagnostics import Diagnostic, StrataError
from .artifacts import Artifact
from .files import Files, mismatch, side_by_side
from .manifest import Part
from .store import Store


@dataclass(frozen=True, slots=True)
class VerifiedArtifacts:
    """What was looked at of one table, and every finding (E094)."""

    artifacts: int
    parts: int
    findings: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class VerifiedEnvironment:
    """What was looked at of one environment, and every finding (E094)."""

    versions: int
    findings: tuple[Diagnostic, ...]


def verify_artifacts(
    store: Store,
    table: str,
    addresses: Sequence[str],
    contents: bool = True,
    progress: Callable[[str], None] = lambda _: None,
) -> VerifiedArtifacts:
    """Looks at the artifacts of `table` at `addresses`; without `contents` at presence and size of parts alone. What a
    killed apply left without a manifest is none. Errors: E092."""
    findings: dict[Diagnostic, None] = {}
    looked: dict[tuple[PurePath, int, str], str | None] = {}
    artifacts = parts = 0

    def look(files: Files, path: PurePath, part: Part, contents: bool) -> str | None:
        """`mismatch`, once of a part that is of several tables."""
        known = path, part.bytes, part.sha256
        if known not in looked:
            looked[known] = mismatch(files, path, part, contents)
        return looked[known]

    def found(address: str) -> Artifact | StrataError | None:
        try:
            return store.find(table, address)
        except StrataError as damaged:
            return damaged

    for number, one in enumerate(side_by_side(store.files, found, addresses), 1):
        progress(f"artifact {number:,} of {len(addresses):,}")
        if isinstance(one, StrataError):
            findings.update(dict.fromkeys(one.diagnostics))
        elif one is not None:
            damage = one.verify(contents, look)
            if damage and found(one.address) is None:
                continue  # it was collected meanwhile
            artifacts += 1
            parts += sum(part.artifact is None for part in one.manifest.parts)
            findings.update(dict.fromkeys(damage))  # a part of a piece is told once
    return VerifiedArtifacts(artifacts, parts, tuple(findings))


def verify_environment(store: Store, name: str) -> VerifiedEnvironment:
    """Reads every version of an environment, and looks whether what is live in the newest is there. Errors: E092."""
    environment = store.environment(name)
    findings: list[Diagnostic] = []
    versions = 0
    try:
        for _ in environment.history():
            versions += 1
        live = environment.head().models
    except StrataError as damaged:
        return VerifiedEnvironment(versions, damaged.diagnostics)
    for model, pointer in live.items():
        try:
            store.artifact(model, pointer)
        except StrataError as gone:
            findings += gone.diagnostics
    return VerifiedEnvironment(versions, tuple(findings))
