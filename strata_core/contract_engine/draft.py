"""A first contract of a product, drafted from what tools know of its tables: types, keys, what it is made of."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from ..diagnostics import Diagnostic, StrataError
from ..diagnostics.listing import listed
from ..diagnostics.suggest import did_you_mean
from ..frozen import dataclass, replace
from .collation.candidate import Candidate
from .offered import Identity, Offer, Tables, identity, offers, tables_of
from .parse.parsed import GeneratedAsset, GeneratedColumn
from .placeholders import ASKED
from .words import WORD
from .yaml_dump import yaml_text

_SHOWN = 8
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Around:
    """What a contract is drafted in: all that tools say of tables, the products that there are, the layers that are
    configured, and where tools were listened to, told where none knows a table."""

    generated: Sequence[GeneratedAsset]
    products: Collection[Candidate]
    layers: Collection[str]
    looked_at: tuple[str, ...] = ()
    inherited: Callable[[str, str], str | None] = lambda table, column: None
    """The label that a column of a table has to bear for what it is made of."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of a contract, and what whoever asked for it should know besides, a sentence each."""

    text: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    """A table that was asked for by `name`, as all tools together know it."""

    name: str
    known: GeneratedAsset
    others: tuple[GeneratedAsset, ...]
    """Other tables of that name."""
    absent: tuple[str, ...]
    """Columns that people speak of, and the table does not have."""


def draft(product: str, names: Sequence[str], around: Around, layer: str) -> Draft:
    """A contract of `product` with the tables `names`.

    Raises `StrataError` E073 for a table that no tool knows, an id or a layer that cannot be, and a product that has a
    contract.
    """
    _check(product, around, layer)
    tables = tables_of(around.generated)
    asked: list[_Table] = []
    for name in names:
        if name not in tables:
            fix = did_you_mean(name, tables, "name a Strata model, a dbt model or a dlt resource")
            message = f"no tool of this project knows `{name}`"
            raise StrataError(Diagnostic("E073", message, fix=fix, notes=around.looked_at))
        one = _table(name, tables)
        if all(identity(one.known) != identity(other.known) for other in asked):
            asked.append(one)
    owners = offers(around.products, tables)
    read = [u for table in asked for u in table.known.upstream]
    upstream = sorted({c.id for u in read for c, _ in owners.get(_meant(u, tables), ())[:1]})
    contract: dict[str, Any] = {
        "apiVersion": "strata/v0",
        "kind": "DataProductContract",
        "id": product,
        "name": product.partition(".")[2].replace("_", " ").strip().capitalize() or product,
        "version": "0.1.0",
        "status": "draft",
        "layer": layer,
        "domain": product.partition(".")[0],
        "owner": {"team": ASKED},
        "purpose": ASKED,
        "assets": list(_assets(asked, around)),
    }
    if upstream:
        contract["lineage"] = {"upstream": [{"product": p} for p in upstream]}
    head = f"# Drafted by `contract-engine init`: fill in what is {ASKED}, and describe the columns.\n"
    return Draft(head + yaml_text(contract), tuple(_notes(asked, owners)))


def _check(product: str, around: Around, layer: str) -> None:
    if not re.fullmatch(rf"{WORD}\.{WORD}", product) or len(product) > 128:
        fix = "write `domain.product`, both of lowercase letters, digits and `_`, such as `shop.paid_orders`"
        raise StrataError(Diagnostic("E073", f"`{product}` cannot be a product's id", fix=fix))
    there = next((c for c in around.products if c.id == product), None)
    if there is not None:
        raise StrataError(taken(product, there.file))
    if layer not in around.layers:
        fix = did_you_mean(layer, around.layers, f"layers are {listed(sorted(around.layers), _SHOWN)}")
        raise StrataError(Diagnostic("E073", f"there is no layer `{layer}`", fix=fix))


def taken(product: str, file: str) -> Diagnostic:
    """E073: `product` has a contract, in `file`."""
    fix = "edit it (`contract-engine suggest` proposes what it lacks), or choose another id"
    return Diagnostic("E073", f"`{product}` has a contract already: {file}", fix=fix)


def _table(name: str, tables: Tables) -> _Table:
    first = tables[name][0]
    same = [a for a in tables[name] if identity(a) == identity(first)]
    others = {identity(a): a for a in tables[name] if identity(a) != identity(first)}
    return _united(name, same, tuple(others.values()))


def _united(name: str, said: Sequence[GeneratedAsset], others: tuple[GeneratedAsset, ...]) -> _Table:
    """What several files say of one table: dbt's catalog knows all columns with their types, its manifest what people
    said of them, spelt as they did."""
    first = min(said, key=lambda asset: (not asset.compiled, asset.complete))
    whole = any(asset.complete for asset in said)
    columns: dict[str, GeneratedColumn] = {}
    absent: list[str] = []
    for asset in sorted(said, key=lambda asset: not asset.complete):
        for column in asset.columns:
            key = column.name.casefold()
            if key in columns:
                columns[key] = _filled(column, columns[key])
            elif asset.complete or not whole:
                columns[key] = column
            else:
                absent.append(column.name)
    upstream = tuple(dict.fromkeys(u for asset in said for u in asset.upstream))
    description = next((a.description for a in said if a.description), None)
    known = replace(first, columns=tuple(columns.values()), upstream=upstream, description=description)
    return _Table(name, known, others, tuple(absent))


def _filled(column: GeneratedColumn, other: GeneratedColumn) -> GeneratedColumn:
    """A column with what only `other` says of it."""
    fields = ("type", "nullable", "description", "unique", "primary_key", "protected", "enum", "classification")
    return replace(column, **{name: getattr(column, name) or getattr(other, name) for name in fields})


def _meant(name: str, tables: Tables) -> Identity:
    """What tells the table that goes by `name` from others."""
    return identity(tables[name][0]) if name in tables else ("", name)


def _assets(tables: Sequence[_Table], around: Around) -> Iterator[dict[str, Any]]:
    ids: set[str] = set()
    for one in tables:
        shown = one.known.refs[0] if one.known.kind == "dbt_model" else one.name
        id_ = _asset_id(shown, ids)
        ids.add(id_)
        drafted: dict[str, Any] = {"id": id_, "kind": one.known.kind}
        if id_ != one.name:
            drafted["ref"] = one.name
        if one.known.description:
            drafted["description"] = one.known.description
        if columns := list(_columns(one.known, around)):
            drafted["columns"] = columns
        yield drafted


def _asset_id(name: str, taken: Collection[str]) -> str:
    """An id that reads like `name` and is none of those that are `taken`.

    >>> [_asset_id(name, ()) for name in ("daily totals", "2024_orders", "-x", "Menü", "日本")]
    ['daily_totals', '_2024_orders', 'x', 'Menu', 'table']
    >>> _asset_id("a.b", ("a_b", "a_b_2"))
    'a_b_3'
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", plain).lstrip("-")[:_LONGEST]
    plain = plain if re.search("[A-Za-z0-9]", plain) else "table"
    plain = f"_{plain}" if plain[0].isdigit() else plain
    found, number = plain, 2
    while found in taken:
        found, number = f"{plain}_{number}", number + 1
    return found


def _columns(table: GeneratedAsset, around: Around) -> Iterator[dict[str, Any]]:
    for column in table.columns:
        facts: dict[str, Any] = {"name": column.name}
        if column.type:
            facts["type"] = column.type
        if column.primary_key:
            facts["primary_key"] = True
        elif column.nullable is False:
            facts["nullable"] = False
        if column.unique and not column.primary_key:
            facts["unique"] = True
        if column.protected:
            facts["protected"] = True
        if column.enum:
            facts["enum"] = list(column.enum)
        if label := column.classification or around.inherited(table.refs[0], column.name):
            facts["classification"] = label
        if column.description:
            facts["description"] = column.description
        yield facts


def _notes(tables: Sequence[_Table], owners: Mapping[Identity, Sequence[Offer]]) -> Iterator[str]:
    for one in tables:
        for other in one.others:
            kind, name = identity(other)
            yield f"`{one.name}` is also a {kind.replace('_', ' ')}, `{name}`, which is not meant here"
        for owner, _ in owners.get(identity(one.known), ()):
            yield f"`{one.name}` is an asset of `{owner.id}` too ({owner.file}): one product should answer for it"
        if not one.known.columns:
            where = "name dbt's `catalog.json` in `[contract_engine] generated`, which `dbt docs generate` writes"
            fix = where if one.known.kind == "dbt_model" else "let its tool say them"
            yield f"no columns of `{one.name}` are known: {fix}, or write them"
        if one.absent:
            absent = listed([f"`{c}`" for c in one.absent], _SHOWN)
            yield f"left out: {absent} of `{one.name}`, which its tool speaks of and the table does not have"
        untyped = [f"`{c.name}`" for c in one.known.columns if c.type is None]
        if untyped:
            yield (
                f"no type is known of {listed(untyped, _SHOWN)} of `{one.name}`: its tool says none, or one that "
                "contracts do not know; write one of docs/language.md"
            )
