"""What a published table is held to: its model's contract, with the freshness that the model itself declares."""

from __future__ import annotations

from ..analysis.compiled import CompiledModel
from ..contract.model import ContractField, TableContract
from ..contract.rules import Rule, promises
from ..frozen import replace


def promised(model: CompiledModel) -> TableContract | None:
    """The contract of the artifacts of `model`; `None` where nothing is promised.

    A freshness with a column is asked of each candidate (E085); one without is about the published table's age,
    which grows afterwards (`health.py`).
    """
    if model.freshness is None:
        return model.contract
    contract = model.contract or TableContract(model.name, (), span=model.span)
    column, fields = model.freshness.column, contract.fields
    if column is not None and column not in contract:
        inferred = model.relation.schema[column].inferred
        fields += (ContractField(column, inferred.type, inferred.nullable, span=model.span),)
    return replace(contract, fields=fields, freshness=model.freshness)


def held_to(model: CompiledModel) -> TableContract:
    """What the artifacts of `model` are held to: nothing, where nothing is promised."""
    return promised(model) or TableContract(model.name, (), span=model.span)


def ages(contract: TableContract) -> bool:
    """Whether rows that keep `contract` may break it later, without a change."""
    return any(p.fact.rule is Rule.FRESHNESS for p in promises(contract))
