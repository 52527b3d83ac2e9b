"""What a table is declared to be: its key, its clocks, how long it is kept, and who may see what of it.

Pydantic stands here at the edge: the same model reads TOML, a Strata `source` block's options and component YAML.
It forbids unknown keys and leaves out what is unset when it is written. Errors: StoreDeclarationInvalid and the
seed's names for what can be known without rows (StoreVintageHashUndeclared, StoreVintageRetainRows,
StoreValidTimeNotTimestamp, StoreRetentionColumnInvalid).
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from ... import instants
from ...contract.model import ContractError, Mask, MaskRule
from ...durations import duration
from ...folder_names import NAME_RULE, names_a_folder
from ...types import TIMESTAMP, TypeSpellingError, parse_type
from ..document import JSON
from .errors import StoreError

INGESTED_AT = "_ingested_at"
RUN_ID = "_run_id"
ROW_SEQ = "_row_seq"
COMMIT_SEQ = "_commit_seq"
IMPUTED = "_available_imputed"
RECONSTRUCTED = "_available_reconstructed"
BOOKKEEPING = (INGESTED_AT, RUN_ID, ROW_SEQ, COMMIT_SEQ)
"""Columns of every table that a run's place in the log gives; parts of runs do not repeat them, snapshots keep them."""


def _table(name: str) -> str:
    if not names_a_folder(name):
        raise ValueError(f"{name!r} cannot name a table: use {NAME_RULE}")
    return name


def _column(name: str) -> str:
    if not name or name.startswith("_"):
        raise ValueError(f"{name!r} is no column of the data: names that begin with _ belong to the store")
    return name


def _orderable(name: str) -> str:
    return name if name == INGESTED_AT else _column(name)


def _duration(text: str) -> str:
    duration(text)
    return text


def _zone(name: str) -> str:
    instants.zone_of(name)
    return name


def _instant(value: object) -> str:
    text = value.isoformat() if isinstance(value, datetime.date) else value
    if not isinstance(text, str):
        raise ValueError(f"{value!r} is no instant: give {instants.ACCEPTED}")
    instants.instant(text)
    return text


TableName = Annotated[str, AfterValidator(_table)]
ColumnName = Annotated[str, AfterValidator(_column)]
Duration = Annotated[str, AfterValidator(_duration)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, strict=False)


class ColumnDeclaration(_Strict):
    """A column's type in Strata's spelling, and how it is protected.

    A classified column without a mask is dropped for whoever is not cleared for it.
    """

    type: str | None = None
    classification: str | None = None
    mask: MaskRule | None = None
    keep: int = 0

    @model_validator(mode="before")
    @classmethod
    def _spelling(cls, value: object) -> object:
        return {"type": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _valid(self) -> ColumnDeclaration:
        if self.type is not None:
            try:
                parse_type(self.type)
            except TypeSpellingError as cause:
                raise ValueError(str(cause)) from None
        if self.keep and self.mask is None:
            raise ValueError('`keep` needs `mask = "partial"`')
        if self.mask is not None:
            try:
                Mask(self.mask, self.keep)
            except ContractError as cause:
                raise ValueError(cause.message) from None
        return self

    @property
    def masked(self) -> Mask | None:
        """What a reader without clearance sees, None where everybody sees the values."""
        if self.mask is not None:
            return Mask(self.mask, self.keep)
        return Mask(MaskRule.DROP) if self.classification is not None else None


class ValidTime(_Strict):
    """The columns that say from when, and until when, a row is true (Seed 1 *valid-time-declaration*)."""

    from_: ColumnName = Field(alias="from")
    to: ColumnName | None = None


class Lag(_Strict):
    """After how long a class of records becomes available (Seed 1 *lag-fill*)."""

    class_column: ColumnName
    classes: Mapping[str, Duration] = Field(min_length=1)


class Adjustment(_Strict):
    """Which columns are multiplied by which factors of another table (Seed 1 *adjustment-factors*)."""

    factor_table: TableName
    factor_column: ColumnName
    adjust_columns: tuple[ColumnName, ...] = Field(min_length=1)


class AvailableTime(_Strict):
    """The column that says since when the source had a row, and how it is filled (Seed 1 *available-time*)."""

    column: ColumnName
    zone: Annotated[str, AfterValidator(_zone)] = "UTC"
    live_since: Annotated[str, BeforeValidator(_instant)] | None = None
    lag: Lag | None = None
    adjustment: Adjustment | None = None


class RetainRows(_Strict):
    """How old a row may be, on the wall clock, to be read (Seed 1 *row-age-cutoff*)."""

    column: Annotated[str, AfterValidator(_orderable)]
    age: Duration


class TableDeclaration(_Strict):
    """A table. `rows` are conditions in the Strata expression language that every row shown fulfils."""

    name: TableName
    primary_key: tuple[ColumnName, ...] = ()
    order_by: Annotated[str, AfterValidator(_orderable)] = INGESTED_AT
    content_hash_column: ColumnName | None = None
    retain_runs: Duration | None = None
    retain_rows: RetainRows | None = None
    valid_time: ValidTime | None = None
    available_time: AvailableTime | None = None
    columns: Mapping[ColumnName, ColumnDeclaration] = Field(default_factory=dict)
    tenant_column: ColumnName | None = None
    rows: tuple[str, ...] = ()

    @property
    def dedup_key(self) -> tuple[str, ...]:
        """The columns of which no two rows read agree, but for availability; empty for an unkeyed table.

        Seed 1 *interval-rows*: the primary key, and the valid time's `from` where one is declared.
        """
        if not self.primary_key or self.valid_time is None or self.valid_time.from_ in self.primary_key:
            return self.primary_key
        return (*self.primary_key, self.valid_time.from_)

    @property
    def available_column(self) -> str | None:
        """The availability column."""
        return self.available_time.column if self.available_time else None

    @property
    def is_vintage(self) -> bool:
        """Whether every vintage is kept (Seed 1 *vintage-rows*)."""
        return bool(self.primary_key) and self.available_time is not None

    @property
    def identity(self) -> tuple[object, ...]:
        """What rows that have landed stand on, so that it cannot change under them."""
        return self.dedup_key, self.order_by, self.available_column

    def document(self) -> dict[str, JSON]:
        """The declaration as JSON, without what is unset."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)


def read_declarations(text: str, source: str = "the declaration") -> tuple[TableDeclaration, ...]:
    """The tables of a TOML text's `[[pipeline.tables]]`; other sections of `pipeline` are refused."""
    try:
        found = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as cause:
        raise StoreError("StoreDeclarationInvalid", "", f"{source} is not TOML: {cause}") from None
    match found:
        case {"pipeline": {"tables": list(tables), **others}, **outside} if not others and not outside:
            pass
        case _:
            message = f"{source} declares no tables"
            raise StoreError(
                "StoreDeclarationInvalid", "", message, "write `[[pipeline.tables]]`, and nothing beside it"
            )
    declared = tuple(declaration(table) for table in tables)
    names = [table.name for table in declared]
    for name in names:
        if names.count(name) > 1:
            fix = "give each table its own name"
            raise StoreError("StoreDeclarationInvalid", name, f"table {name} is declared twice", fix)
    return declared


def declaration(document: Mapping[str, Any] | object) -> TableDeclaration:
    """The table that a mapping (of TOML, YAML, JSON or a `source` block) declares, validated."""
    name = document.get("name") if isinstance(document, Mapping) else None
    table = name if isinstance(name, str) else ""
    try:
        declared = TableDeclaration.model_validate(document)
    except ValidationError as cause:
        first = cause.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        why = first["msg"].removeprefix("Value error, ")
        fix = None
        if first["type"] == "extra_forbidden":
            why, fix = "there is no such key", "remove it, or see docs/store.md for the keys of a table"
        message = f"table {table or '(without a name)'}: {place}: {why}" if place else f"table {table}: {why}"
        raise StoreError("StoreDeclarationInvalid", table, message, fix) from None
    _check(declared)
    return declared


def _check(declared: TableDeclaration) -> None:
    """What keys say together (Seed 1 *vintage-validation* and design `store.md`)."""
    name, available, valid = declared.name, declared.available_time, declared.valid_time

    def invalid(message: str, fix: str) -> StoreError:
        return StoreError("StoreDeclarationInvalid", name, f"table {name}: {message}", fix)

    if declared.is_vintage and declared.content_hash_column is None:
        message = f"table {name} keeps vintages and declares no content_hash_column"
        fix = "name the column that holds a hash of the row's content, so that a re-pull is told from a restatement"
        raise StoreError("StoreVintageHashUndeclared", name, message, fix)
    if declared.is_vintage and declared.retain_rows is not None:
        message = f"table {name} keeps vintages and declares retain_rows, which would shrink past answers"
        raise StoreError("StoreVintageRetainRows", name, message, "remove retain_rows, or available_time")
    if declared.content_hash_column is not None and not declared.is_vintage:
        raise invalid("content_hash_column is for tables with primary_key and available_time", "remove it")
    if available is not None and available.lag is not None and valid is None:
        raise invalid("available_time.lag counts from the valid time, and none is declared", "declare valid_time")
    if available is not None and available.adjustment is not None and valid is None:
        raise invalid("available_time.adjustment compares valid times, and none is declared", "declare valid_time")
    for column in dict.fromkeys(declared.primary_key):
        if declared.primary_key.count(column) > 1:
            raise invalid(f"primary_key names {column} twice", "name it once")
    if available is not None and available.column in (*declared.dedup_key, *((valid.to,) if valid else ())):
        raise invalid(f"{available.column} is the availability column and part of another clock", "use two columns")
    _check_types(declared)


def _check_types(declared: TableDeclaration) -> None:
    """The types that the declaration itself gives (Seed 1 *valid-time-type*, *row-age-cutoff*)."""
    name = declared.name
    types = {c: parse_type(d.type) for c, d in declared.columns.items() if d.type is not None}
    if declared.valid_time is not None:
        for column in (declared.valid_time.from_, declared.valid_time.to):
            if column is not None and types.get(column, TIMESTAMP) != TIMESTAMP:
                raise not_timestamp(name, column, str(types[column]))
    if declared.retain_rows is not None:
        column = declared.retain_rows.column
        if column != INGESTED_AT and types.get(column, TIMESTAMP) != TIMESTAMP:
            raise retention_column(name, f"column {column} has the type {types[column]}")


def check_masks(declared: TableDeclaration) -> None:
    """A mask shows something of each value of its column. Asked when a table is declared: one that is there already is
    read as it is."""
    for name, column in declared.columns.items():
        if column.mask is not None and column.type is not None:
            try:
                Mask(column.mask, column.keep).require_fits(parse_type(column.type))
            except ContractError as cause:
                message = f"table {declared.name}: columns.{name}: {cause.message}"
                raise StoreError("StoreDeclarationInvalid", declared.name, message, cause.fix) from None


def not_timestamp(table: str, column: str, found: str) -> StoreError:
    """Seed 1 *valid-time-type*."""
    message = f"table {table}: the valid-time column {column} has the type {found}, not timestamp"
    return StoreError("StoreValidTimeNotTimestamp", table, message, f"make {column} a timestamp")


def retention_column(table: str, why: str) -> StoreError:
    """Seed 1 *row-age-cutoff*."""
    message = f"table {table}: retain_rows cannot tell the age of every row: {why}"
    fix = f'use column = "{INGESTED_AT}", or a timestamp column that is never null'
    return StoreError("StoreRetentionColumnInvalid", table, message, fix)
