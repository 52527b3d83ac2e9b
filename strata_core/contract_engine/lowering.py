"""Assets of product contracts become table contracts: THE one model of what is promised about a table.

So the conformance phases and the comparison of contracts work on a product's assets as on any Strata contract.
Codes: E072 (type), E070 (a promise that cannot be), E122 (a column that is none).
"""

from __future__ import annotations

from collections.abc import Mapping

from ..contract.ages import parse_age
from ..contract.model import ContractError, ContractField, Freshness, Mask, MaskRule, TableContract
from ..diagnostics import Report
from ..diagnostics.suggest import did_you_mean
from ..types import UNKNOWN, ValueType
from ..types.spelling import TypeSpellingError, parse_type
from .authored import Asset, ColumnContract
from .collation.candidate import Candidate
from .documents import Path


def table_contracts(candidate: Candidate, report: Report) -> Mapping[str, TableContract]:
    """The table contract of each asset, by the asset's id."""
    return {
        asset.id: _table(candidate, asset, ("assets", i), report) for i, asset in enumerate(candidate.contract.assets)
    }


def _table(candidate: Candidate, asset: Asset, path: Path, report: Report) -> TableContract:
    fields = tuple(_field(candidate, c, (*path, "columns", i), report) for i, c in enumerate(asset.columns))
    span = candidate.span(path)
    names = [c.name for c in asset.columns]
    freshness: Freshness | None = None
    if asset.freshness is not None and (age := parse_age(asset.freshness.max_age)) is not None:
        column = asset.freshness.column
        if column is not None and not names:
            column = None  # nothing is known of the columns, so neither that it is missing
        if column is not None and column not in names:
            fix = did_you_mean(column, names, "name a date or timestamp column of the asset")
            where = (*path, "freshness", "column")
            report(candidate.finding("E122", f"`{asset.id}` has no column `{column}`", where, fix))
        else:
            freshness = Freshness(age, column)
    try:
        return TableContract(asset.id, fields, freshness, asset.closed, asset.description, span=span)
    except ContractError as error:
        number = names.index(error.field) if error.field in names else None
        where = path if number is None else (*path, "columns", number)
        report(candidate.finding("E070", error.message, where, error.fix))
        return TableContract(asset.id, fields, None, asset.closed, asset.description, span=span)


def _field(candidate: Candidate, column: ColumnContract, path: Path, report: Report) -> ContractField:
    span = candidate.span((*path, "name"))
    type_, mask = _type(candidate, column, path, report), parse_mask(column.mask)
    try:
        if mask is not None:
            mask.require_fits(type_)
    except ContractError as error:
        report(candidate.finding("E070", error.message, (*path, "mask"), error.fix))
    try:
        return ContractField(
            column.name,
            type_,
            nullable=column.nullable is not False,
            unique=bool(column.unique),
            primary_key=bool(column.primary_key),
            protected=bool(column.protected),
            enum=column.enum,
            classification=column.classification,
            mask=mask,
            partition_by=bool(column.partition_by),
            freshness=parse_age(column.freshness) if column.freshness else None,
            description=column.description,
            span=span,
        )
    except ContractError as error:
        fix = error.fix or "change the type, or leave the promise out"
        report(candidate.finding("E070", error.message, path, fix))
        return ContractField(
            column.name,
            UNKNOWN,
            classification=column.classification,  # what is wrong with a promise shows nobody the values
            mask=mask,
            description=column.description,
            span=span,
        )


def _type(candidate: Candidate, column: ColumnContract, path: Path, report: Report) -> ValueType:
    if column.type is None:
        return UNKNOWN
    try:
        return parse_type(column.type)
    except TypeSpellingError as error:
        from .parse.sql_types import strata_type  # which a contract in terms of Strata does not need

        meant = strata_type(column.type)
        fix = f"write `{meant}`" if meant else "types are told in docs/language.md"
        report(candidate.finding("E072", str(error), (*path, "type"), fix))
        return UNKNOWN


def parse_mask(text: str | None) -> Mask | None:
    """A mask as a contract spells it, `partial(4)`; its form was checked by the schema."""
    if text is None:
        return None
    rule, _, keep = text.removesuffix(")").partition("(")
    return Mask(MaskRule(rule), int(keep or 0))
