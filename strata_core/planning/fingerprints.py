"""Fingerprints: digests of what a model means, not of its text (Seed 0 §6; design `architecture.md`, Decisions 3, 4).

Three digests, each SHA-256 over parts that are told apart (`digests.py`):

- the *local* fingerprint of a model: its canonical relation, its order, its contract, and what it reads by name;
- the *fingerprint*, which adds the fingerprints of everything upstream, by name (Merkle): staleness by meaning;
- the *address* of an artifact: the local fingerprint and the digests of the input data. Equal addresses hold
  equal rows, so an artifact that exists is never computed again, in any environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..analysis.compiled import CompiledModel, CompiledProject, Source
from ..digests import hexdigest
from ..frozen import dataclass
from ..relation.form import fingerprint_form
from . import cache
from .artifact_relation import artifact_relation
from .project import Project, content_parts
from .promised import promised

SEMANTICS_VERSION = "1"
"""Version of what programs mean and how artifacts are written; raise it when either changes."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The digests of one model and the parts that tell *why* it differs from what was applied.

    `own` covers the model's own rows and order, `contract` its promises, `local` both.
    """

    own: str
    contract: str
    local: str
    merkle: str


def fingerprints(project: CompiledProject) -> dict[str, Fingerprint]:
    """The fingerprint of every model that compiles, in topological order."""
    result: dict[str, Fingerprint] = {}
    sources = {name: source_fingerprint(source) for name, source in project.sources.items()}
    for name, model in project.models.items():
        held_to = promised(model)
        own, contract = _own(model), held_to.digest if held_to else ""
        local = hexdigest("local", SEMANTICS_VERSION, own, contract)
        upstream = [(u, result[u].merkle if u in result else sources[u]) for u in sorted(model.upstream)]
        merkle = hexdigest("merkle", local, *_pairs(upstream))
        result[name] = Fingerprint(own, contract, local, merkle)
    return result


def kept_fingerprints(project: Project, compiled: CompiledProject) -> dict[str, Fingerprint]:
    """The fingerprints of `compiled`, made from the text of `project`; from the cache where that is unchanged."""
    key = cache.content_key("fingerprints", *content_parts(project))
    kept = cache.load(key)
    if isinstance(kept, dict):
        return kept
    made = fingerprints(compiled)
    cache.save(key, made)
    return made


def source_fingerprint(source: Source) -> str:
    """The digest of what a source is declared to be: its columns and promises; not where it lies.

    Its filter is part of the relation of each model that reads it.
    """
    return hexdigest("source", SEMANTICS_VERSION, source.name, source.contract.digest)


def address(local: str, inputs: Mapping[str, str]) -> str:
    """The content address of the artifact that a model makes of inputs with these digests, by upstream name."""
    return hexdigest("address", local, *_pairs(sorted(inputs.items())))


def _own(model: CompiledModel) -> str:
    parts: list[bytes | str] = [fingerprint_form(artifact_relation(model))]
    for expectation in model.expectations:
        parts += [fingerprint_form(expectation.relation), "\0".join(expectation.columns)]
    if (way := model.incremental) is not None:
        parts += ["incremental", way.strategy, "\0".join(way.keys), way.cursor, way.table, way.column]
    return hexdigest("own", *parts)


def _pairs(pairs: Iterable[tuple[str, str]]) -> Iterable[str]:
    return (part for pair in pairs for part in pair)
