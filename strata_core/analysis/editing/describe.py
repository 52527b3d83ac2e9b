"""What is known of a name, as Markdown: for the hover of editors, and for whoever else shows it.

A column: its type and whether it can be null, the values it can have, whether it is a key, where its values come
from, and what holds up each promise about it. A table: its columns. A contract: its promises. A function: its row of
the catalog.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...contract.authoring import Proof
from ...contract.model import ContractField, TableContract
from ...diagnostics import Span
from ...diagnostics.listing import listed
from ...diagnostics.markdown import markdown_code
from ...language import ast
from ...relation.schema import Column, Key
from ...types import Inferred
from ...types.functions import CATALOG
from ..compiled import CompiledModel, CompiledProject
from .scope_at import Known
from .signatures import CAST_DOC, signature_of
from .symbols import Kind, Symbol

SHOWN_VALUES = 12
SHOWN_COLUMNS = 40


@dataclass(frozen=True, slots=True)
class Facts:
    """What descriptions are made from."""

    compiled: CompiledProject
    known: Known
    declarations: Mapping[str, ast.Source | ast.Model]
    functions: Mapping[str, ast.Fn] = field(default_factory=dict)
    externs: Mapping[str, ast.Extern] = field(default_factory=dict)


def describe(symbol: Symbol, facts: Facts, fact: Column | Inferred | None = None) -> str | None:
    """What is known of `symbol`; `fact` is what is known of it at the place in question. `None` where nothing is."""
    match symbol.kind:
        case Kind.TABLE | Kind.ALIAS:
            return _table(symbol, facts)
        case Kind.COLUMN:
            return "\n\n".join(_column(symbol, facts, fact)) or None
        case Kind.FIELD:
            contract = facts.known.contracts.get(symbol.owner)
            field = contract.by_name.get(symbol.name) if contract is not None else None
            return None if field is None else "\n\n".join(_field(field, symbol.owner, facts))
        case Kind.CONTRACT:
            contract = facts.known.contracts.get(symbol.name)
            return None if contract is None else "\n\n".join(_contract(contract, facts))
        case Kind.DOMAIN:
            type_ = facts.known.domains.get(symbol.name)
            return None if type_ is None else code(f"domain {symbol.name} = {type_}")
        case Kind.FUNCTION:
            if symbol.name in facts.functions:
                return _compile_time(facts.functions[symbol.name], facts)
            extern = facts.externs.get(symbol.name)
            shown = code(signature_of(extern)) if extern is not None else _function(symbol.name)
            return shown if fact is None or shown is None else f"{shown}\n\nhere: `{_inferred(fact)}`"
        case Kind.PIPELINE:
            pipeline = facts.compiled.pipelines.get(symbol.name)
            models = ", ".join(map(markdown_code, pipeline.models)) if pipeline is not None else ""
            return f"{code(f'pipeline {symbol.name}')}\n\n{models}"
        case Kind.MODULE:
            return code(f"module {symbol.name}")


def code(text: str) -> str:
    """A block of Strata; no name or value in it ends it."""
    return f"```strata\n{text.replace('```', chr(39) * 3)}\n```"


def _inferred(fact: Column | Inferred) -> Inferred:
    return fact.inferred if isinstance(fact, Column) else fact


def _column(symbol: Symbol, facts: Facts, fact: Column | Inferred | None) -> Iterator[str]:
    model = facts.compiled.models.get(symbol.owner) if not symbol.place else None
    column = fact if isinstance(fact, Column) else None
    keys: frozenset[Key] = frozenset()
    if not symbol.place and symbol.owner in facts.known.tables:
        relation = facts.known.tables[symbol.owner].relation
        keys = relation.schema.keys
        column = column or relation.schema.by_name.get(symbol.name)
    where = f"{symbol.owner}." if not symbol.place else ""
    if column is None:
        yield code(f"{where}{symbol.name}")
        yield "in error, or read from something that is"
        return
    yield code(f"{where}{symbol.name}: {column.inferred}")
    yield from _values(column.inferred)
    if frozenset({symbol.name}) in keys:
        yield "unique: no two rows have the same"
    elif any(symbol.name in key for key in keys):
        key = min((k for k in keys if symbol.name in k), key=lambda k: (len(k), sorted(k)))
        yield f"part of a key: {', '.join(map(markdown_code, sorted(key)))}"
    if model is not None and symbol.name in model.relation.schema:
        yield from _origins(model.relation.schema[symbol.name])
        yield from _held(model, symbol.name)
        if model.contract is not None and symbol.name in model.contract:
            yield from _said(model.contract[symbol.name])
    elif symbol.place:
        yield from _origins(column)
    elif symbol.owner in facts.compiled.sources:
        contract = facts.compiled.sources[symbol.owner].contract
        if symbol.name in contract:
            yield f"declared: `{contract[symbol.name].promise}`"
            yield from _said(contract[symbol.name])


def _values(inferred: Inferred) -> Iterator[str]:
    if inferred.values is not None:
        yield f"values: {listed([*map(markdown_code, sorted(inferred.values))], SHOWN_VALUES) or 'none at all'}"


def _origins(column: Column) -> Iterator[str]:
    origins = [o for o in column.origins if o.node]
    if origins:
        yield "from " + ", ".join(
            f"{markdown_code(f'{o.node}.{o.column}')} ({o.transform.value}{', through a join' if o.joined else ''})"
            for o in sorted(origins)
        )


def _held(model: CompiledModel, column: str) -> Iterator[str]:
    """The promises about a column, each with what holds it up."""
    proofs = [proof for proof in model.proofs if column in proof.fact.columns]
    if proofs:
        yield "\n".join(f"- {_proof(proof)}" for proof in proofs)


def _proof(proof: Proof) -> str:
    how = "proven" if proof.proven else "asserted at the write pin"
    return f"{proof.rule}: {how} ({proof.by})"


def _said(field: ContractField) -> Iterator[str]:
    if field.classification is not None:
        mask = f", masked by `{field.mask}`" if field.mask is not None else ", without a mask"
        yield f"classified as {markdown_code(field.classification)}{mask}"
    if field.description:
        yield field.description


def _field(field: ContractField, contract: str, facts: Facts) -> Iterator[str]:
    yield code(f"{contract}.{field.name}: {field.promise}")
    yield from _said(field)
    for name, model in sorted(facts.compiled.models.items()):
        if model.contract is not None and model.contract.name == contract:
            proofs = [p for p in model.proofs if field.name in p.fact.columns]
            yield f"in model {markdown_code(name)}:\n" + "\n".join(f"- {_proof(p)}" for p in proofs)


def _contract(contract: TableContract, facts: Facts) -> Iterator[str]:
    fields = "".join(f"  {field.name}: {field.promise}\n" for field in contract.fields)
    yield code(f"contract {contract.name} {{\n{fields}}}")
    if contract.description:
        yield contract.description
    keeping = [m for m in facts.compiled.models.values() if m.contract is not None and m.contract.name == contract.name]
    for model in sorted(keeping, key=lambda m: m.name):
        proven = sum(proof.proven for proof in model.proofs)
        asserted = len(model.proofs) - proven
        yield f"model {markdown_code(model.name)}: {proven} proven, {asserted} asserted at the write pin"


def _table(symbol: Symbol, facts: Facts) -> str | None:
    if symbol.kind is Kind.ALIAS:
        return code(f"{symbol.name}: a table of {symbol.owner}, under another name")
    name = symbol.name
    table = facts.known.tables.get(name)
    if table is None:
        return None
    source, model = facts.compiled.sources.get(name), facts.compiled.models.get(name)
    head = f"model {name}" if isinstance(facts.declarations.get(name), ast.Model) else f"source {name}"
    if model is not None and model.contract is not None:
        head += f" -> contract {model.contract.name}"
    columns = [f"  {c.name}: {c.inferred}\n" for c in table.relation.schema.columns]
    more = [f"  // and {len(columns) - SHOWN_COLUMNS} more\n"] if len(columns) > SHOWN_COLUMNS else []
    shown = code(f"{head} {{\n{''.join((*columns[:SHOWN_COLUMNS], *more))}}}")
    said = [shown]
    if source is not None:
        said += [f"{source.resource.kind}: {markdown_code(source.resource.location)}"]
        said += [source.description] if source.description else []
    if model is not None:
        description = model.attributes.get("description")
        said += [str(description)] if description else []
        owner = model.attributes.get("owner")
        said += [f"owner: {markdown_code(str(owner))}"] if owner else []
        read = ", ".join(map(markdown_code, model.upstream))
        said += [f"reads {read}"] if read else []
    if name in facts.compiled.broken:
        said.append("in error, or reads from something that is")
    return "\n\n".join(said)


def _compile_time(fn: ast.Fn, facts: Facts) -> str:
    made = [name for name, d in facts.declarations.items() if _within(d.span, fn.span) and isinstance(d, ast.Model)]
    shown = listed([*map(markdown_code, made)], SHOWN_VALUES)
    return f"{code(signature_of(fn))}\n\n" + (f"makes {shown}" if made else "makes no model of this project")


def _within(inner: Span, outer: Span) -> bool:
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    return (
        inner.file == outer.file and starts and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    )


def _function(name: str) -> str | None:
    if name in CAST_DOC:
        signature, doc = CAST_DOC[name]
        return f"{code(signature)}\n\n{doc}"
    function = CATALOG.get(name)
    if function is None or not function.surface:
        return None
    examples = "\n".join(f"{e.call} // {e.value!r}" for e in function.examples)
    return f"{code(function.signature)}\n\n{function.doc}\n\n{code(examples)}"
