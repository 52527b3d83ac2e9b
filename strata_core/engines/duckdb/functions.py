"""The scalar functions of the catalog in DuckDB: one table from a name to a builder of its expression."""

from __future__ import annotations

from collections.abc import Callable

from ...relation.expressions import Call, Literal
from . import rounding
from .dates import DATES
from .nested import NESTED
from .operators import OPERATORS, Builder, word
from .sql import SqlExpr
from .strings import STRINGS


def _money(scale: Callable[..., SqlExpr], mode: Callable[[Call], str]) -> Builder:
    def build(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        return scale(args[0], args[1], call.args[1].inferred.type, mode(call), call.inferred.type)

    return build


def _rounded(default_mode: str) -> Builder:
    """`round(x[, digits[, mode]])`, and `floor` and `ceil`, which have one argument and a mode of their own."""

    def build(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        digits = call.args[1] if len(call.args) > 1 else None
        places = digits.value if isinstance(digits, Literal) and isinstance(digits.value, int) else 0
        mode = word(call, 2) if len(call.args) > 2 else default_mode
        return rounding.round_number(args[0], call.args[0].inferred.type, places, mode, call.inferred.type)

    return build


BUILDERS: dict[str, Builder] = {
    **OPERATORS,
    **STRINGS,
    **DATES,
    **NESTED,
    "money_multiply": _money(rounding.money_times, lambda call: word(call, 3)),
    "money_divide": _money(rounding.money_over, lambda call: word(call, 3)),
    "convert": _money(rounding.money_times, lambda call: "half_even"),
    "round": _rounded("half_up"),
    "floor": _rounded("floor"),
    "ceil": _rounded("ceiling"),
    "trunc": _rounded("down"),
}

TOTAL = frozenset(
    """
    eq ne lt le gt ge and or not is_null is_not_null in like concat_op concat if case coalesce nullif greatest least
    divide upper lower trim ltrim rtrim length startswith endswith contains year quarter month week day day_of_week
    day_of_year hour minute second date_trunc to_date array_length array_get array_contains struct_get map_get
    pi is_nan is_finite bit_and bit_or bit_xor random split position reverse codepoint regexp_extract_all regexp_count
    sha1 iso_year days_in_month last_day month_name day_name to_unix_ms array_index_of array_remove array_slice
    array_reverse array_distinct array_min array_max array_join map_keys map_contains map_size
    """.split()  # noqa: SIM905 - a set of words reads best as words
)
"""Functions that have a value for all arguments of their types; every other one may abort."""
