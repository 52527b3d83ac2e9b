"""What is live upstream, read by a model that was checked against what upstream means by now.

A selection may leave out a model that changed; what reads it takes it as it is live. Proofs rest on what is known of
its columns and keys, and the live rows were held to what was known then: both are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..analysis.compiled import CompiledModel
from ..analysis.tables import model_table
from ..diagnostics import Diagnostic
from ..relation.nodes import Scan, walk_relation
from ..relation.schema import Schema
from ..store.document import JSON
from ..types import Inferred


def known_of(model: CompiledModel) -> JSON:
    """What readers of `model` may rest on, as its artifact's manifest keeps it: facts by column, and the keys."""
    schema = model_table(model.name, model.written, model.contract).relation.schema
    return {
        "columns": {c.name: _facts(c.inferred) for c in schema.columns},
        "keys": sorted(sorted(key) for key in schema.keys),
    }


def unkept(reader: CompiledModel, upstream: str, known: JSON) -> Diagnostic | None:
    """E032 where `reader` rests on something that is not `known` of the rows that are live of `upstream`."""
    missing = [text for schema in _read(reader, upstream) for text in _missing(schema, known)]
    if not missing:
        return None
    return Diagnostic(
        "E032",
        f"`{upstream}` is live as it was before it changed, and it was not known then that {missing[0]}",
        fix=f"apply `{upstream}` too: what reads it was checked against what it is now",
    )


def _read(reader: CompiledModel, upstream: str) -> Iterator[Schema]:
    for relation in (reader.relation, *(e.relation for e in reader.expectations)):
        for node in walk_relation(relation):
            if isinstance(node, Scan) and node.table == upstream:
                yield node.schema


def _missing(schema: Schema, known: JSON) -> Iterator[str]:
    columns = _mapping(_mapping(known).get("columns"))
    keys = _mapping(known).get("keys")
    for column in schema.columns:
        then = _mapping(columns.get(column.name))
        for fact, now in _facts(column.inferred).items():
            if not _implied(fact, then.get(fact), now):
                yield f"`{column.name}` {WORDS[fact].format(column.inferred.type)}"
    for key in sorted(sorted(key) for key in schema.keys):
        if not isinstance(keys, Sequence) or not any(isinstance(k, Sequence) and set(k) <= set(key) for k in keys):
            yield f"no two rows agree on {', '.join(f'`{name}`' for name in key)}" if key else "there is one row"


WORDS = {"type": "is {}", "nonnull": "is never none", "values": "has only these values", "nonzero": "is never zero"}


def _facts(inferred: Inferred) -> dict[str, JSON]:
    """What is proven of a column; what is not proven is left out."""
    facts: dict[str, JSON] = {"type": str(inferred.type)}
    if not inferred.nullable:
        facts["nonnull"] = True
    if inferred.values is not None:
        facts["values"] = sorted(inferred.values)
    if inferred.nonzero:
        facts["nonzero"] = True
    return facts


def _implied(fact: str, then: JSON, now: JSON) -> bool:
    if fact == "values" and isinstance(then, Sequence) and isinstance(now, Sequence):
        return set(then) <= set(now)
    return then == now


def _mapping(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, Mapping) else {}
