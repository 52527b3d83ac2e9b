"""Fingerprints: digests of what a model means, not of its text (Seed 0 §6; design `architecture.md`, Decisions 3, 4).

Three digests, each SHA-256 over parts that are told apart (`digests.py`):

- the *local* fingerprint of a model: its canonical relation, its order, its contract, and what it reads by name;
- the *fingerprint*, which adds the meaning of what it reads (Merkle): of the columns that it reads, and of which rows
  there are, so that a change upstream that it does not see leaves it as it is;
- the *address* of an artifact: the local fingerprint and the digests of the input data, of the same columns. Equal
  addresses hold equal rows, so an artifact that exists is never computed again, in any environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..analysis.compiled import CompiledModel, CompiledProject, Source
from ..digests import digest, hexdigest, packed
from ..frozen import dataclass
from ..relation.canonical import columns_scanned
from ..relation.form import Meaning, fingerprint_form, meaning
from . import cache
from .artifact_relation import artifact_order
from .project import Project, content_parts
from .promised import promised
from .semantics import SEMANTICS_VERSION


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model reads of one table: the columns, by name, and the digest of what they and its rows mean."""

    columns: tuple[str, ...]
    meaning: str


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The digests of one model and the parts that tell *why* it differs from what was applied.

    `own` covers the model's own rows and order, `contract` its promises, `local` both; `readings` says by upstream name
    what it reads, `meaning` what its readers depend on.
    """

    own: str
    contract: str
    local: str
    merkle: str
    readings: Mapping[str, Reading]
    meaning: Meaning


def fingerprints(project: CompiledProject) -> dict[str, Fingerprint]:
    """The fingerprint of every model that compiles, in topological order."""
    result: dict[str, Fingerprint] = {}
    meanings = {name: source_meaning(source) for name, source in project.sources.items()}
    for name, model in project.models.items():
        held_to = promised(model)
        own, contract = _own(model), held_to.digest if held_to else ""
        local = hexdigest("local", SEMANTICS_VERSION, own, contract)
        readings = {
            table: Reading(columns, meanings[table].of(columns).hex()) for table, columns in columns_read(model).items()
        }
        merkle = hexdigest("merkle", local, *_pairs((u, reading.meaning) for u, reading in sorted(readings.items())))
        meanings[name] = meaning(model.written, meanings)
        result[name] = Fingerprint(own, contract, local, merkle, readings, meanings[name])
    return result


def columns_read(model: CompiledModel) -> dict[str, tuple[str, ...]]:
    """The columns that `model` reads of each table for its rows, order and expectations."""
    found: dict[str, set[str]] = {name: set() for name in sorted(model.upstream)}
    added = () if model.incremental is None else (model.incremental.rows,)
    for one in (model.written, *added, *(e.relation for e in model.expectations)):
        for table, columns in columns_scanned(one).items():
            found[table] |= columns
    return {table: tuple(sorted(columns)) for table, columns in found.items()}


def kept_fingerprints(project: Project, compiled: CompiledProject) -> dict[str, Fingerprint]:
    """The fingerprints of `compiled`, made from the text of `project`; from the cache where that is unchanged."""
    key = cache.content_key("fingerprints", *content_parts(project))
    kept = cache.load(key)
    if isinstance(kept, dict):
        return kept
    made = fingerprints(compiled)
    cache.save(key, made)
    return made


def source_meaning(source: Source) -> Meaning:
    """What a source is declared to be: its columns and promises; not where it lies.

    Its filter is part of the relation of each model that reads it.
    """
    contract, freshness = source.contract, source.contract.freshness
    rows = packed(*sorted(contract.key), str(freshness.max_age) if freshness else "")
    return Meaning(
        digest(b"source", SEMANTICS_VERSION, source.name, rows),
        {f.name: digest(b"column", f.semantics) for f in contract.fields},
    )


def data_digest(columns: Mapping[str, str]) -> str:
    """The digest of the rows of an artifact as one sees them who reads these columns, given with their digests."""
    return hexdigest("data", *_pairs(sorted(columns.items())))


def ground_digest(inputs: Mapping[str, str], added_to: str | None) -> str:
    """The digest of all source data that a model rests on, from those of its sources' data and its models' ground; of
    an incremental model also from that of the rows that were `added_to`."""
    return hexdigest("ground", added_to or "", *_pairs(sorted(inputs.items())))


def address(local: str, inputs: Mapping[str, str]) -> str:
    """The content address of the artifact that a model makes of inputs with these digests, by upstream name."""
    return hexdigest("address", local, *_pairs(sorted(inputs.items())))


def _own(model: CompiledModel) -> str:
    parts: list[bytes | str] = [fingerprint_form(model.written, artifact_order(model))]
    for expectation in model.expectations:
        parts += [fingerprint_form(expectation.relation), "\0".join(expectation.columns)]
    if (way := model.incremental) is not None:
        parts += ["incremental", way.strategy, "\0".join(way.keys), way.cursor, way.table, way.column]
    if model.partition:
        parts += ["partition", *model.partition]
    if model.periods is not None:  # where they begin and end is checked of rows, and is no part of what rows there are
        parts += ["periods", model.periods.every]
    return hexdigest("own", *parts)


def _pairs(pairs: Iterable[tuple[str, str]]) -> Iterable[str]:
    return (part for pair in pairs for part in pair)
