"""Phase B, the reader's side: a source that is a table of another project in the same store (Seed 0 §5 B).

The source's declaration is held against what is published and against the catalog: a column that is gone (E030), that
has another name now (E031), or of which less is promised than before (E032) is told at the declaration, before any row
is read.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...analysis.compiled import CompiledProject, Resource, Source
from ...contract.model import ContractField
from ...diagnostics import Diagnostic, StrataError
from ...diagnostics.listing import listed
from ...diagnostics.suggest import did_you_mean
from ...engines.protocol import ParquetTable
from ..catalog import RegisteredTable, registered_history
from ..fingerprints import data_digest
from ..project import Project
from .clocked_tables import bounds_of


def published_table(
    project: Project, compiled: CompiledProject, source: Source, resource: Resource, environment: str
) -> tuple[ParquetTable, str, tuple[str, ...]]:
    """The table that `resource` names, the digest of its data, and the SHA-256 of its files.

    The digest is that of the columns which are declared: what else is published with them changes nothing. Raises
    `StrataError` E030, E031, E032, and E094 where the artifact or the catalog is damaged.
    """
    name = resource.location
    if name in compiled.models:
        fix = f"write `from {name}` and drop the source `{source.name}`"
        raise StrataError(Diagnostic("E030", f"`{name}` is a model of this project, which needs no source", fix=fix))
    store = project.store
    bounds = bounds_of(resource)
    others = [bound for bound in bounds if bound != "as_of" and (bound, bounds[bound]) != ("vintage", "all")]
    as_of = bounds.get("as_of")
    version = store.environment(environment).head()
    if as_of is None and name not in version.models:
        fix = f'publish it first, or say in which file the rows are: `source {source.name}(parquet: "…")`'
        message = f"no table `{name}` is published in `{environment}`"
        known = (*version.models, *store.tables.names())
        raise StrataError(Diagnostic("E030", message, fix=did_you_mean(name, known, fix)))
    if others:
        message = f"`{name}` is the published output of a model, which has no clock to be asked `{others[0]}`"
        fix = f"drop {', '.join(f'`{bound}:`' for bound in others)}; `as_of:` reads what was live then"
        raise StrataError(Diagnostic("E030", message, fix=fix))
    found = store.published(name, environment, as_of=as_of)
    artifact, columns = found.artifact, found.artifact.manifest.columns
    registered = registered_history(store, environment, name)
    history = [table for table in registered if as_of is None or table.version <= found.version.number]
    moved = [d for field in source.contract.fields if (d := _moved(field, name, history, columns)) is not None]
    if moved:
        raise StrataError(*moved)
    digest = data_digest({column.name: columns[column.name] for column in source.columns})
    contents = tuple(part.sha256 for part in artifact.manifest.parts)
    return ParquetTable(artifact.paths, source.columns), digest, contents


def _moved(
    field: ContractField, table: str, history: Sequence[RegisteredTable], columns: Collection[str]
) -> Diagnostic | None:
    """What a declared column no longer finds; `history` holds what was registered of the table, newest first."""
    if field.name not in columns:
        renamed = _new_name(field.name, history)
        message = f"the published table `{table}` has no column `{field.name}`"
        if renamed is not None:
            fix = f"declare `{renamed}` in its place"
            return Diagnostic("E031", f"{message}: it is called `{renamed}` now", field.span, fix=fix)
        fix = did_you_mean(field.name, columns, f"its columns are {listed(columns, 8)}")
        return Diagnostic("E030", message, field.span, fix=fix)
    if not history or field.name not in history[0].contract:
        return None
    now = history[0].contract[field.name]
    earlier = [t.contract[field.name] for t in history[1:] if field.name in t.contract]
    since = f"since version {history[0].version}"
    if field.type != now.type:
        told = f"is {now.type}{f' {since}' if any(e.type == field.type for e in earlier) else ''}"
        return Diagnostic("E032", f"`{table}.{field.name}` {told}, not {field.type}", field.span, fix=_declare(now))
    for held, told in ((_nonnull, "may be null"), (_within, "may hold other values")):
        if not held(field, now) and any(held(field, e) for e in earlier):
            return Diagnostic("E032", f"`{table}.{field.name}` {told} {since}", field.span, fix=_declare(now))
    return None


def _nonnull(needed: ContractField, held: ContractField) -> bool:
    return needed.nullable or not held.nullable


def _within(needed: ContractField, held: ContractField) -> bool:
    return needed.enum is None or (held.enum is not None and set(held.enum) <= set(needed.enum))


def _declare(now: ContractField) -> str:
    return f"declare it as `{now.promise}`, and deal with what that lets through"


def _new_name(name: str, history: Sequence[RegisteredTable]) -> str | None:
    """What a column that was called `name` is called now: the column that means the same."""
    meaning = next((t.meaning[name] for t in history[1:] if name in t.meaning), None)
    now = history[0].meaning if history else {}
    return next((new for new, identity in now.items() if identity == meaning), None)
