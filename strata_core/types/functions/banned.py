"""Functions that other languages have and this one has not, because equal inputs would not give equal rows (Seed 0 §6).

One table: the name, and what to write instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_CLOCK = (
    "read the instant from the data, such as `max(placed)` or a column of a source; "
    "for the age of data there is `freshness: <= 1d`"
)
_CHANCE = "draw by a seed and a key: `random(seed: 42, key: order_id)`"
_IDENTITY = "make it of columns that tell the rows apart: `sha256(concat(order_id, line))`"
_ORDER = "number the rows in an order: `row_number() over (sort: [order_id])`"

BANNED: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                *("now", "today", "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"),
                *("getdate", "sysdate", "systimestamp", "utcnow", "utc_timestamp", "unix_timestamp"),
                *("get_current_time", "get_current_timestamp", "clock_timestamp", "transaction_timestamp"),
            ),
            _CLOCK,
        ),
        **dict.fromkeys(("rand", "randn", "randint", "setseed", "random_uniform", "tablesample", "sample"), _CHANCE),
        **dict.fromkeys(
            ("uuid", "gen_random_uuid", "generate_uuid", "newid", "uuid_string", "uuidv4", "uuidv7", "random_uuid"),
            _IDENTITY,
        ),
        **dict.fromkeys(
            ("nextval", "rownum", "row_id", "monotonically_increasing_id", "uniqueid", "identity"),
            _ORDER,
        ),
    }
)
"""By name in lower case: what to write instead."""
