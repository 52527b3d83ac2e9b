"""The contract that a model could promise: what is proven of its columns, as text."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

from ..language.names import spelled
from ..relation.schema import Column
from .compiled import CompiledModel


@dataclass(frozen=True, slots=True)
class DraftedContract:
    """The contract's name, and its declaration."""

    name: str
    text: str


def contract_of(model: CompiledModel, taken: Container[str]) -> DraftedContract:
    """A contract for `model` under a name that is not `taken`: types, what is never null, and a key if one is proven.

    >>> from strata_core.analysis import compile_project
    >>> from strata_core.language.parser import parse_module
    >>> text = "source s(csv: \\"s\\") { columns: { id: int64 primary_key, v: string } } model by_v { from s }"
    >>> models = compile_project([parse_module(text, "m").module]).models
    >>> print(contract_of(models["by_v"], {}).text, end="")
    contract ByV {
      id: int64 primary_key
      v: string
    }
    """
    words = [word for word in re.split(r"[^A-Za-z0-9]+", model.name) if word]
    base = "".join(word[0].upper() + word[1:] for word in words) or "Contract"
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}{count}"
    schema = model.relation.schema
    key = min(
        (k for k in schema.keys if k and all(not schema[c].inferred.nullable for c in k)),
        key=lambda k: (len(k), [schema.names.index(c) for c in sorted(k)]),
        default=frozenset[str](),
    )
    fields = "".join(f"  {spelled(c.name)}: {_field(c, c.name in key)}\n" for c in schema.columns)
    return DraftedContract(name, f"contract {spelled(name)} {{\n{fields}}}\n")


def _field(column: Column, in_key: bool) -> str:
    inferred = column.inferred
    words = [str(inferred.type)]
    words += ["primary_key"] if in_key else [] if inferred.nullable else ["nonnull"]
    if inferred.values:
        words.append(f"enum {{{', '.join(_quoted(v) for v in sorted(inferred.values))}}}")
    return " ".join(words)


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
