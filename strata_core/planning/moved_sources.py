"""Phase B against what is really there: do the files of a plan's sources have what the sources declare (Seed 0 §5 B)?

Only the schema is looked at, once for each content of a file and each declaration; rows are the write pin's. A column
that is gone is E030, one that seems to have another name E031, one of another type E032, each at its declaration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..analysis.compiled import Source
from ..contract.model import ContractField
from ..diagnostics import Diagnostic, StrataError
from ..diagnostics.listing import listed
from ..diagnostics.suggest import nearest
from . import cache
from .faults import told_at
from .inputs.sources import ResolvedSource
from .plan import Plan
from .workspace import Workspace

if TYPE_CHECKING:
    import pyarrow as pa

    from ..engines.protocol import Engine


def moved_sources(workspace: Workspace, plan: Plan) -> tuple[Diagnostic, ...]:
    """What the sources that stale models read do not find where they are. A source that is missing altogether is told
    elsewhere (`Workspace.missing`), and published models by the catalog."""
    engine: Engine | None = None
    found: list[Diagnostic] = []
    for name in sorted({u for planned in plan.stale for u in planned.inputs if u in workspace.sources}):
        source, resolved = workspace.compiled.sources[name], workspace.sources[name]
        if source.resource.kind == "table" and resolved.clocked is None:
            continue
        declared = (source.contract.digest, str(source.span))
        key = cache.content_key("physical", *(part.encode() for part in (resolved.digest, *declared)))
        kept = cache.load(key)
        if not isinstance(kept, tuple):
            engine = engine or workspace.engine()
            try:
                with told_at(source):
                    kept = tuple(_moved(source, engine.physical_schema(resolved.table), _called(resolved)))
            except StrataError as error:  # not readable at all; that may pass, so it is not kept
                found += error.diagnostics
                continue
            cache.save(key, kept)
        found += kept
    return tuple(found)


def _called(resolved: ResolvedSource) -> str:
    return resolved.files[0].name if resolved.files else resolved.name


def _moved(source: Source, schema: pa.Schema, file: str) -> Sequence[Diagnostic]:
    from ..contract.physical import check_physical

    text = source.resource.kind == "csv"
    findings = check_physical(schema, source.contract, text=text)
    lost = sum(finding.code == "E084" for finding in findings)
    found: list[Diagnostic] = []
    for finding in findings:
        for field in (source.contract[name] for name in finding.fact.columns):
            if finding.code == "E084":
                found.append(_lost(field, source, schema, file, text=text, alone=lost == 1))
            else:
                message = f"`{field.name}` of `{file}` is {finding.found}, and declared as {field.type}"
                found.append(Diagnostic("E032", message, field.span, fix=finding.fix))
    return found


def _lost(field: ContractField, source: Source, schema: pa.Schema, file: str, *, text: bool, alone: bool) -> Diagnostic:
    from ..contract.physical import holds

    new = [n for n in schema.names if n not in source.contract]
    alike = [n for n in new if text or holds(schema.field(n).type, field.type)]
    renamed = nearest(field.name, alike) or (alike[0] if alone and len(alike) == 1 else None)
    message = f"`{file}` has no column `{field.name}`"
    if renamed is not None:
        fix = f"declare `{renamed}` in its place, or name it `{field.name}` where the file is made"
        return Diagnostic("E031", f"{message}: it seems to be called `{renamed}` now", field.span, fix=fix)
    fix = f"its columns are {listed(schema.names, 8)}"
    return Diagnostic("E030", message, field.span, fix=fix)
