"""The tables that models read: sources and models, by name, and what is known of those that are broken."""

from __future__ import annotations

from ..contract.model import ContractField, TableContract
from ..frozen import replace
from ..language import ast
from ..relation.build import scan
from ..relation.nodes import Relation
from ..relation.schema import Column, Key
from ..types import Inferred, Unknown
from .names import no_table
from .scope import Table
from .state import Surroundings


def find_table(name: ast.Name, around: Surroundings) -> Table:
    """The table of that `name`; E020, and a table that raises no further error, where there is none."""
    if name.text in around.tables:
        return around.tables[name.text]
    others = [table for table in around.tables if table != around.model]
    around.report(no_table(name, others))
    return Table(scan(name.text, ()), complete=False)


def promised_columns(contract: TableContract) -> tuple[Column, ...]:
    """The columns that a contract promises, as far as their types are known."""
    return tuple(_column(f) for f in contract.fields if not isinstance(f.type, Unknown))


def _column(field: ContractField) -> Column:
    values = frozenset(field.enum) if field.enum is not None else None
    return Column(field.name, Inferred(field.type, field.nullable, values))


def promised_keys(contract: TableContract) -> frozenset[Key]:
    """The column sets that a contract promises to be unique, nulls counted as one value."""
    keys = {frozenset({f.name}) for f in contract.fields if f.unique and not f.nullable}
    known = {f.name for f in contract.fields if not isinstance(f.type, Unknown)}
    keys |= {frozenset(contract.key)} if contract.key else set()
    return frozenset(key for key in keys if key <= known)


def promised_table(name: str, contract: TableContract, *, complete: bool) -> Table:
    """A table of which only the promise is known: a declared source, or a model that is broken."""
    unresolved = frozenset(f.name for f in contract.fields if isinstance(f.type, Unknown))
    relation = scan(name, promised_columns(contract), promised_keys(contract))
    return Table(relation, unresolved, complete)


def model_table(name: str, relation: Relation, contract: TableContract | None) -> Table:
    """A sound model as its readers see it: what inference knows of it, and what the write pin holds besides."""
    columns, keys = relation.schema.columns, relation.schema.keys
    if contract is not None:
        columns = tuple(_narrowed(c, contract) for c in columns)
        keys |= promised_keys(contract)
    return Table(scan(name, columns, keys))


def _narrowed(column: Column, contract: TableContract) -> Column:
    enum = contract[column.name].enum if column.name in contract else None
    if enum is None:
        return column
    known = column.inferred.values
    values = frozenset(enum) if known is None else known & frozenset(enum)
    return replace(column, inferred=replace(column.inferred, values=values))
