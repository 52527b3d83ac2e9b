"""Columns whose values are not shown, because a contract hides them here or anywhere upstream."""

from __future__ import annotations

from collections.abc import Mapping, Set

from ..analysis.compiled import CompiledProject
from ..relation.nodes import Relation


def hidden_columns(project: CompiledProject) -> Mapping[str, Set[str]]:
    """For each source and model, the columns whose values are not to be shown: those that its contract hides,
    and those that come, in whatever way, from a hidden column upstream; of a source also those that a hidden column
    of a model is made of, since of rows that a source does not keep its declaration with the values are told."""
    hidden: dict[str, Set[str]] = {name: source.contract.hidden for name, source in project.sources.items()}
    for name, model in project.models.items():
        declared = model.contract.hidden if model.contract else frozenset[str]()
        hidden[name] = declared | columns_from(model.relation, hidden)
    return hidden | _read_for(project, hidden)


def _read_for(project: CompiledProject, hidden: Mapping[str, Set[str]]) -> dict[str, Set[str]]:
    """Of each source, the columns that are hidden or that hidden ones are made of, by way of whatever models."""
    found = {name: {*columns} for name, columns in hidden.items()}
    for name, model in reversed([*project.models.items()]):
        for column in model.relation.schema.columns:
            if column.name in found[name]:
                for origin in column.origins:
                    found.setdefault(origin.node, set()).add(origin.column)
    return {name: found[name] for name in project.sources}


def columns_from(relation: Relation, hidden: Mapping[str, Set[str]]) -> Set[str]:
    """The columns of `relation` that come, in whatever way, from a hidden column of a source or model it reads."""
    columns = relation.schema.columns
    return {c.name for c in columns if any(o.column in hidden.get(o.node, ()) for o in c.origins)}
