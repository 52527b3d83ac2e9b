"""What products, assets and columns are called: in references, in versions, and in the store. Apart from contracts, for
who reads none."""

from __future__ import annotations

import re


def split_ref(reference: str) -> tuple[str | None, str, str]:
    """The product (None for the own one), asset and column of a column reference.

    >>> split_ref("flights.operations/flight_legs.tail.number")
    ('flights.operations', 'flight_legs', 'tail.number')
    """
    product, slash, rest = reference.rpartition("/")
    asset, _, column = rest.partition(".")
    return (product if slash else None), asset, column


def is_draft(version: str) -> bool:
    """Whether a product of this version may break: it is a promise from 1.0.0 on."""
    return version.startswith("0.")


def model_of(kind: object, name: str, location: object) -> str | None:
    """The model of Strata that an asset of this shape is; None where its rows are elsewhere."""
    elsewhere = isinstance(location, str) and "://" not in location
    return None if kind == "dbt_model" or elsewhere else name


def stored_as(kind: str, name: str) -> tuple[str, ...]:
    """The names under which the store may have the rows of an asset: that of the model that makes them, or of the table
    that is guarded, whose maker may call it what no folder can be called.

    >>> stored_as("strata_model", "orders"), stored_as("dbt_model", "warehouse.orders")
    (('orders',), ('warehouse_orders',))
    """
    guarded = store_name(name)
    if kind == "strata_model":
        return (name,)
    return tuple(dict.fromkeys((guarded, name))) if kind == "dagster_asset" else (guarded,)


def store_name(name: str) -> str:
    """A table's name as the store can have it.

    >>> store_name("warehouse/orders")
    'warehouse_orders'
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name)
