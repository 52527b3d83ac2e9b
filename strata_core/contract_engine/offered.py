"""Which products offer which tables: a table has several names, and several tables may have one."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping

from .authored import Asset
from .collation.candidate import Candidate
from .parse.parsed import GeneratedAsset

KINDS = ("strata_model", "dbt_model", "dlt_resource")
"""The kinds of tables that tools tell of beforehand."""

Tables = Mapping[str, tuple[GeneratedAsset, ...]]
"""What is known of the tables of each name; of one table, what each tool says of it."""

Identity = tuple[str, str]
"""What tells a table from all others, whatever it is called."""

Offer = tuple[Candidate, int]
"""A product, and which of its assets a table is."""


def tables_of(generated: Iterable[GeneratedAsset]) -> Tables:
    """What tools know of tables, by the names that contracts may give them."""
    found: dict[str, list[GeneratedAsset]] = {}
    for asset in generated:
        for ref in asset.refs if asset.kind in KINDS else ():
            found.setdefault(ref, []).append(asset)
    return {name: tuple(tables) for name, tables in found.items()}


def identity(asset: GeneratedAsset) -> Identity:
    """What tells a table that a tool knows from others: dbt has an id for each of its own."""
    return asset.kind, asset.refs[min(1, len(asset.refs) - 1)] if asset.kind == "dbt_model" else asset.refs[0]


def meant(asset: Asset, tables: Tables) -> Identity:
    """The table that an asset of a contract is: by the file that holds its rows, else by its name."""
    if asset.location is not None and asset.kind not in KINDS:
        return "file", posixpath.normpath(asset.location)
    name = asset.ref or asset.id
    kinds = (asset.kind,) if asset.kind in KINDS else KINDS
    known = next((one for one in tables.get(name, ()) if one.kind in kinds), None)
    return ("", name) if known is None else identity(known)


def offers(products: Iterable[Candidate], tables: Tables) -> Mapping[Identity, list[Offer]]:
    """The products that offer each table, in their order."""
    found: dict[Identity, list[Offer]] = {}
    for candidate in products:
        for number, asset in enumerate(candidate.contract.assets if candidate.sound else ()):
            found.setdefault(meant(asset, tables), []).append((candidate, number))
    return found


def offered_twice(products: Iterable[Candidate], tables: Tables) -> Iterator[tuple[Offer, Offer]]:
    """Each offer of a table that an earlier product offers too, behind that one's. What is retired offers nothing."""
    live = [c for c in products if c.sound and c.contract.status != "retired"]
    for first, *others in offers(live, tables).values():
        yield from ((first, other) for other in others if other[0].id != first[0].id)
