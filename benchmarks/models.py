"""Generated projects that this compiler and the public prototype both accept, the same text on every run.

A project of N models: sources with declared columns, contracts, and chains of models that clean, widen, join,
aggregate and rank. Each model reads at most two others, so that depth grows with the size of a chain only.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

CHAIN = 10
"""Models of one chain: its first reads the sources, each other one what was made before it."""

SOURCES = """\
source orders(ns: "crm", dataset: "orders") {
  columns: {
    order_id: int64 nonnull primary_key,
    customer_id: int64 nonnull,
    country: string nonnull enum {ES, MX, CO, DE},
    item: string,
    amount: float64 nonnull,
    quantity: int64 nonnull,
    placed_on: date nonnull,
    is_test: bool nonnull,
  }
}

source customers(ns: "crm", dataset: "customers") {
  columns: {
    customer_id: int64 nonnull primary_key,
    name: string,
    tier: string nonnull,
    since: date,
  }
}
"""

CLEAN = """\
contract Clean_{n} {{
  order_id : int64 primary_key
  customer_id : int64 nonnull
  country : string nonnull enum {{ES, MX, CO, DE}}
  amount : float64 nonnull
  placed_on : date nonnull
}}

model clean_{n} -> contract Clean_{n} {{
  owner: "sales"
  description: "orders of chain {n} that were paid"
  from orders
  filter not is_test and amount > {n}.5
  let net = amount * 0.8 - {n}.25
  select {{
    order_id = order_id,
    customer_id = customer_id,
    country = country,
    amount = coalesce(net, 0.0),
    placed_on = placed_on,
  }}
}}
"""

NAMED = """\
contract Named_{n} {{
  order_id : int64 primary_key
  country : string nonnull
  name : string nonnull
  tier : string
  amount : float64 nonnull
  month : date nonnull
  size : string nonnull enum {{large, medium, small}}
}}

model named_{n} -> contract Named_{n} {{
  owner: "sales"
  from clean_{n}
  join_left customers on clean_{n}.customer_id == customers.customer_id expect many_to_one
  filter clean_{n}.amount > 1.0
  select {{
    order_id = clean_{n}.order_id,
    country = clean_{n}.country,
    name = upper(coalesce(customers.name, "nobody")),
    tier = customers.tier,
    amount = clean_{n}.amount,
    month = date_trunc(clean_{n}.placed_on, month),
    size = case(clean_{n}.amount > 100.0, "large", clean_{n}.amount > 10.0, "medium", "small"),
  }}
}}
"""

BY_MONTH = """\
contract ByMonth_{n} {{
  country : string nonnull
  month : date nonnull
  orders : int64 nonnull
}}

model by_month_{n} -> contract ByMonth_{n} {{
  owner: "sales"
  from named_{n}
  filter size != "small"
  group {{ country, month }} (
    aggregate {{ orders = count(), total = sum(amount), largest = max(amount) }}
    filter orders > 0
  )
}}
"""

RANKED = """\
contract Ranked_{n} {{
  country : string nonnull
  month : date nonnull
  average : float64
  place : int64 nonnull
}}

model ranked_{n} -> contract Ranked_{n} {{
  owner: "sales"
  from by_month_{n}
  select {{
    country = country,
    month = month,
    total = total,
    average = total / orders,
    place = row_number() over (partition_by: [country], sort: [total desc]),
  }}
}}
"""

STEP = """\
contract Step_{n}_{k} {{
  order_id : int64 primary_key
  country : string nonnull
  amount : float64 nonnull
  tier : string nonnull
}}

model step_{n}_{k} -> contract Step_{n}_{k} {{
  owner: "sales"
  description: "step {k} of chain {n}"
  from {before}
  filter amount * 2.0 > {k}.5 and tier != "gold"
  let doubled = amount * 2.0 + {k}
  select {{
    order_id = order_id,
    country = lower(upper(country)),
    amount = if(doubled > 10.0, doubled, amount),
    tier = coalesce(tier, "none"),
  }}
  sort {{ order_id }}
}}
"""


def chain(number: int) -> Iterator[str]:
    """The declarations of the models of chain `number`, one text a model."""
    yield CLEAN.format(n=number)
    yield NAMED.format(n=number)
    yield BY_MONTH.format(n=number)
    yield RANKED.format(n=number)
    for step in range(CHAIN - 4):
        before = f"step_{number}_{step - 1}" if step else f"named_{number}"
        yield STEP.format(n=number, k=step, before=before)


def module(models: int) -> str:
    """One module of `models` models."""
    texts = [text for number in range(-(-models // CHAIN)) for text in chain(number)]
    return "\n".join([SOURCES, *texts[:models]])


def write(path: Path, models: int) -> None:
    """Write the module of `models` models to `path`."""
    path.write_text(module(models))
