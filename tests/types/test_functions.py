from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.types import FLOAT64, INT64, Inferred
from strata_core.types.functions import CATALOG, Kind, tighten_in_group
from strata_core.types.functions.banned import BANNED

from .rules import fault, inferred, resolve
from .test_operators import split

# clause, function, arguments, result or code
RULES = [
    # Seed 0 §2: aggregates
    ("count_is_never_null", "count", "", "int64"),
    ("count_is_never_null", "count", "string?", "int64"),
    ("sum_keeps_the_type_and_is_nullable", "sum", "int64", "int64?"),
    ("sum_keeps_the_type_and_is_nullable", "sum", "decimal(10,2)", "decimal(10,2)?"),
    ("sum_keeps_the_type_and_is_nullable", "sum", "money(EUR)", "money(EUR)?"),
    ("sum_takes_numbers", "sum", "string", "E060"),
    ("avg_is_float_and_nullable", "avg", "int64", "float64?"),
    ("avg_is_float_and_nullable", "avg", "decimal(10,2)", "float64?"),
    ("avg_of_money_is_money", "avg", "money(EUR)", "money(EUR)?"),
    ("max_and_min_keep_the_type_and_are_nullable", "max", "date", "date?"),
    ("max_and_min_keep_the_type_and_are_nullable", "min", "string", "string?"),
    ("max_takes_ordered_values", "max", "array(int64)", "E060"),
    ("any_and_all_take_conditions", "any", "bool", "bool?"),
    ("any_and_all_take_conditions", "all", "int64", "E060"),
    ("count_if_is_never_null", "count_if", "bool?", "int64"),
    ("spread_is_float", "median", "int64", "float64?"),
    ("spread_is_float", "stddev", "decimal(9,2)", "float64?"),
    ("spread_takes_numbers", "variance", "money(EUR)", "E060"),
    ("array_agg_holds_no_null", "array_agg", "int64?", "array(int64 nonnull)?"),
    ("first_keeps_the_type", "first", "string", "string?"),
    # windows
    ("ranks_are_never_null", "row_number", "", "int64"),
    ("ranks_take_no_argument", "rank", "int64", "E060"),
    ("lag_is_nullable", "lag", "int64", "int64?"),
    ("lag_with_a_default_is_not", "lag", "int64, = 1, = 0", "int64"),
    ("lag_with_a_default_is_not", "lead", "int64?, = 1, = 0", "int64?"),
    ("lag_takes_a_known_distance", "lag", "int64, int64", "E060"),
    ("lag_takes_a_known_distance", "lag", "int64, = -1", "E060"),
    ("ntile_takes_a_known_number", "ntile", "= 4", "int64"),
    ("ntile_takes_a_known_number", "ntile", "= 0", "E060"),
    # strings
    ("length_is_int", "length", "string?", "int64?"),
    ("substring", "substring", "string, int64", "string"),
    ("substring", "substring", "string, int64, int64?", "string?"),
    ("substring", "substring", "string", "E060"),
    ("replace", "replace", "string, string, int64", "E060"),
    ("startswith", "startswith", "string, string?", "bool?"),
    ("concat_joins_any_simple_values", "concat", "string, int64, date", "string"),
    ("concat_of_a_null_is_null", "concat", "string, int64?", "string?"),
    ("concat_of_an_array_is_its_element_and_nullable", "concat", "array(string)", "string?"),
    ("concat_of_an_array_is_its_element_and_nullable", "concat", "array(string nonnull)", "string?"),
    ("concat_of_an_array_is_its_element_and_nullable", "concat", "array(array(int64))", "array(int64)?"),
    ("concat_of_what_does_not_join", "concat", "array(int64)", "E060"),
    ("concat_of_what_does_not_join", "concat", "array(string), string", "E060"),
    ("regexp_pattern_is_known", "regexp_replace", "string, string, string", "E060"),
    ("regexp_pattern_matches_something", "regexp_replace", "string, = 'a*', = 'b'", "E060"),
    ("regexp_group_exists", "regexp_extract", "string, = '(a)', = 1", "string"),
    ("regexp_group_exists", "regexp_extract", "string, = '(a)', = 2", "E060"),
    ("hashes_take_text", "md5", "string?", "string?"),
    ("hashes_take_text", "sha256", "int64", "E060"),
    # dates
    ("a_date_stays_a_date", "date_trunc", "date, = 'month'", "date"),
    ("a_date_stays_a_date", "date_add", "date, int64, = 'day'", "date"),
    ("a_date_has_no_hours", "date_trunc", "date, = 'hour'", "E060"),
    ("a_timestamp_has", "date_trunc", "timestamp?, = 'hour'", "timestamp?"),
    ("units_are_words", "date_trunc", "date, = 'fortnight'", "E060"),
    ("units_are_words", "date_trunc", "date, string", "E060"),
    ("date_diff_takes_one_type", "date_diff", "date, date, = 'day'", "int64"),
    ("date_diff_takes_one_type", "date_diff", "date, timestamp, = 'day'", "E060"),
    ("parts", "year", "date?", "int64?"),
    ("parts_of_the_clock", "hour", "timestamp", "int64"),
    ("parts_of_the_clock", "hour", "date", "E060"),
    ("to_date", "to_date", "timestamp", "date"),
    ("make_date", "make_date", "int64, int64, int64?", "date?"),
    # maths
    ("abs_keeps_the_type", "abs", "money(EUR)?", "money(EUR)?"),
    ("round_keeps_the_type_of_floats", "round", "float64", "float64"),
    ("round_keeps_the_type_of_floats", "round", "float64, = 2, = 'half_even'", "float64"),
    ("round_of_decimals_may_carry", "round", "decimal(5,3), = 1", "decimal(4,1)"),
    ("round_of_decimals_may_carry", "round", "decimal(5,3)", "decimal(3,0)"),
    ("round_to_more_digits", "round", "decimal(5,3), = 9", "decimal(5,3)"),
    ("round_takes_known_digits", "round", "float64, int64", "E060"),
    ("round_takes_known_digits", "round", "float64, = -1", "E060"),
    ("round_of_money_is_to_the_cent_at_most", "round", "money(EUR), = 3", "E060"),
    ("round_modes_are_words", "round", "float64, = 2, = 'sideways'", "E060"),
    ("floor_of_decimals_may_carry", "floor", "decimal(38,38)", "decimal(1,0)"),
    ("floor_of_int", "floor", "int64", "int64"),
    ("sqrt_is_float", "sqrt", "decimal(5,2)", "float64"),
    ("greatest_is_nonnull_as_soon_as_one_is", "greatest", "int64?, float64", "float64"),
    ("greatest_takes_ordered_values", "greatest", "bool, bool", "E060"),
    ("nullif_is_nullable", "nullif", "int64, int64", "int64?"),
    ("nullif_reads_a_literal_as_the_type_beside_it", "nullif", "float64, = 0", "float64?"),
    ("nullif_compares_one_type", "nullif", "int64, float64", "E051"),
    ("convert_takes_an_exact_rate", "convert", "money(EUR), decimal(9,6), = 'USD'", "money(USD)"),
    ("convert_takes_an_exact_rate", "convert", "money(EUR), = 1.08, = 'USD'", "money(USD)"),
    ("convert_takes_an_exact_rate", "convert", "money(EUR), float64, = 'USD'", "E060"),
    ("convert_takes_a_currency", "convert", "money(EUR), int64, = 'XXX'", "E060"),
    ("convert_takes_money", "convert", "decimal(9,2), int64, = 'USD'", "E060"),
    # arrays, maps, structs, json
    ("list_is_nonnull", "list", "int64?, int64", "array(int64)"),
    ("list_of_nonnulls", "array_construct", "int64, float64", "array(float64 nonnull)"),
    ("list_is_homogeneous", "list", "int64, string", "E054"),
    ("list_of_nothing_known", "list", "= None", "E055"),
    ("array_get_is_nullable", "array_get", "array(string nonnull), int64", "string?"),
    ("array_contains", "array_contains", "array(int64)?, int64", "bool?"),
    ("array_contains_one_type", "array_contains", "array(int64), string", "E060"),
    ("array_contains_reads_a_literal", "array_contains", "array(float64), = 1", "bool"),
    ("array_append_may_hold_a_null", "array_append", "array(int64 nonnull), int64?", "array(int64)"),
    ("array_prepend", "array_prepend", "int64, array(int64 nonnull)", "array(int64 nonnull)"),
    ("array_length", "array_length", "string", "E060"),
    ("map", "map", "= 'a', int64", "map(string, int64 nonnull)"),
    ("map_keys_are_strings", "map", "int64, int64", "E060"),
    ("map_keys_are_nonnull", "dict", "string?, int64", "E060"),
    ("map_of_pairs", "map", "= 'a', int64, = 'b'", "E060"),
    ("map_get_is_nullable", "map_get", "map(string, int64 nonnull), string", "int64?"),
    ("struct", "struct", "= 'a', int64, = 'b', string?", "struct<a: int64 nonnull, b: string>"),
    ("struct_names_are_known", "struct", "string, int64", "E060"),
    ("struct_names_differ", "struct", "= 'a', int64, = 'a', int64", "E060"),
    ("struct_get", "struct_get", "struct<a: int64 nonnull>, = 'a'", "int64"),
    ("struct_get", "struct_get", "struct<a: int64 nonnull>?, = 'a'", "int64?"),
    ("struct_get_of_no_field", "struct_get", "struct<a: int64>, = 'z'", "E060"),
    ("json_is_nullable", "json_value", "json, string", "string?"),
    ("json_is_nullable", "json_get", "json, string", "json?"),
    ("json_takes_json", "json_value", "string, string", "E060"),
    ("json_path_is_known", "json_path", "json, = '$.a[0]'", "json?"),
    ("json_path_is_known", "json_path", "json, string", "E060"),
    ("json_path_is_known", "json_path", "json, = 'a'", "E060"),
    ("json_build_is_nonnull", "json_build", "= 'a', int64?", "json"),
    ("json_build_takes_known_keys", "json_build", "string, int64", "E060"),
    ("json_build_takes_known_keys", "json_build", "= 'a', int64, = 'a', int64", "E060"),
    ("json_build_takes_what_json_spells", "json_build", "= 'a', float64", "E060"),
    ("json_build_takes_what_json_spells", "json_build", "= 'a', array(int64)", "E060"),
    ("json_type", "json_type", "json?", "string?"),
    ("json_keys_are_nonnull", "json_keys", "json", "array(string nonnull)?"),
    ("json_array_length", "json_array_length", "json", "int64?"),
    ("array_index_of_is_nullable", "array_index_of", "array(int64), int64", "int64?"),
    ("array_index_of_one_type", "array_index_of", "array(int64), string", "E060"),
    ("array_remove_keeps_nulls", "array_remove", "array(int64), int64", "array(int64)"),
    ("array_distinct_has_none", "array_distinct", "array(int64)?", "array(int64 nonnull)?"),
    ("array_distinct_of_simple_values", "array_distinct", "array(json)", "E060"),
    ("array_extremes", "array_min", "array(date nonnull)", "date?"),
    ("array_join", "array_join", "array(string), string?", "string?"),
    ("array_join", "array_join", "array(int64), string", "E060"),
    ("array_slice", "array_slice", "array(int64 nonnull), int64, int64", "array(int64 nonnull)"),
    ("map_keys", "map_keys", "map(string, int64)?", "array(string nonnull)?"),
    ("map_contains", "map_contains", "map(string, int64), string", "bool"),
    ("split", "split", "string, string?", "array(string nonnull)?"),
    ("codepoint_is_nullable", "codepoint", "string", "int64?"),
    ("regexp_count_of_some_text", "regexp_count", "string, = '[a-z]+'", "int64"),
    ("regexp_count_of_some_text", "regexp_count", "string, = '[a-z]*'", "E060"),
    ("last_day_is_a_date", "last_day", "timestamp?", "date?"),
    ("names_of_days", "day_name", "date", "string"),
    ("tests_of_floats", "is_nan", "float64?", "bool?"),
    ("bits_of_int64", "bit_and", "int64, int64?", "int64?"),
    ("bits_of_int64", "bit_xor", "int64, float64", "E060"),
    ("an_amount_stands_first", "money_multiply", "= None, money(EUR), = 2, = 'half_even'", "E050"),
    ("an_amount_stands_first", "money_multiply", "int64, money(EUR), = 2, = 'half_even'", "E050"),
    ("pi", "pi", "", "float64"),
    ("trunc", "trunc", "decimal(5,3)", "decimal(3,0)"),
    ("angles", "atan2", "int64, decimal(5,2)", "float64"),
    ("random_takes_a_seed_and_a_key", "random", "= 42, string", "float64"),
    ("random_takes_a_seed_and_a_key", "random", "= 42, int64?", "float64?"),
    ("random_takes_a_seed_and_a_key", "random", "= 42", "E060"),
    ("random_takes_a_seed_and_a_key", "random", "int64, string", "E060"),
    ("random_takes_a_seed_and_a_key", "random", "= -1, string", "E060"),
    ("random_takes_a_seed_and_a_key", "random", "= 42, float64", "E060"),
    ("quantile_takes_a_known_share", "quantile", "int64, = 0.5", "float64?"),
    ("quantile_takes_a_known_share", "quantile", "int64, = 2", "E060"),
    ("quantile_takes_a_known_share", "quantile", "int64, float64", "E060"),
    ("nth_value_is_nullable", "nth_value", "string, = 2", "string?"),
    ("nth_value_takes_a_known_number", "nth_value", "string, = 0", "E060"),
]


@pytest.mark.parametrize(
    ("clause", "function", "arguments", "expected"), RULES, ids=[f"{r[0]}-{r[1]}-{r[2]}" for r in RULES]
)
def test_seed0_s2(clause: str, function: str, arguments: str, expected: str) -> None:
    assert resolve(function, split(arguments)) == expected


def test_every_row_of_the_catalog_is_in_a_table() -> None:
    from . import test_operators

    tested = {row[1] for row in (*RULES, *test_operators.RULES)}
    alike = {"ltrim", "rtrim", "left", "right", "lpad", "rpad", "split_part", "endswith", "contains"}
    alike |= {"quarter", "month", "week", "day", "day_of_week", "day_of_year", "minute", "second", "date_sub"}
    alike |= {"make_timestamp", "from_unix", "to_unix", "ceil", "sign", "exp", "ln", "log10", "power", "least"}
    alike |= {"array_concat", "array_sort", "json_is_null", "last", "dense_rank", "first_value", "last_value", "trim"}
    alike |= {"iso_year", "days_in_month", "month_name", "from_unix_ms", "to_unix_ms", "position", "reverse", "sha1"}
    alike |= {"log2", "sin", "cos", "tan", "asin", "acos", "atan", "degrees", "radians", "is_finite", "bit_or"}
    alike |= {"regexp_extract_all", "array_max", "array_reverse", "map_size", "percent_rank", "cume_dist"}
    assert set(CATALOG) - tested == alike


def test_seed0_s2_an_aggregate_of_nonnulls_in_a_group_is_nonnull() -> None:
    nonnull, nullable = Inferred(INT64, nullable=False), Inferred(INT64, nullable=True)
    result = Inferred(FLOAT64, nullable=True)
    assert not tighten_in_group("avg", result, (nonnull,)).nullable
    assert tighten_in_group("avg", result, (nullable,)).nullable
    count = CATALOG["count"].rule(()).result
    assert not count.nonzero
    assert tighten_in_group("count", count, ()).nonzero
    assert tighten_in_group("count", count, (nonnull,)).nonzero
    assert not tighten_in_group("count", count, (nullable,)).nonzero
    assert tighten_in_group("stddev", result, (nonnull,)).nullable


def test_nonzero_is_proven_through_nullif_and_parts_of_dates() -> None:
    assert inferred("nullif", "int64", "= 0").nonzero
    assert not inferred("nullif", "int64", "= 1").nonzero
    assert inferred("month", "date").nonzero
    assert not inferred("hour", "timestamp").nonzero


def test_what_depends_on_an_order_is_marked() -> None:
    ordered = {name for name, f in CATALOG.items() if f.ordered and f.kind is Kind.AGGREGATE}
    assert ordered == {"array_agg", "first", "last"}
    assert all(f.ordered for f in CATALOG.values() if f.kind is Kind.WINDOW)


def test_seed0_s6_no_function_is_non_deterministic() -> None:
    assert not BANNED.keys() & CATALOG.keys()
    assert {"rand", "now", "today", "current_date", "current_timestamp", "uuid"} <= BANNED.keys()
    assert CATALOG["random"].named == ("seed", "key")


# language-reference.md §6 and language.md "Expressions", by hand.
NAMED = """
count sum avg max min any all median quantile stddev variance array_agg first last
row_number rank dense_rank lag lead first_value last_value
if case coalesce nullif
upper lower trim ltrim rtrim length substring left right replace lpad rpad split_part regexp_replace startswith like
rlike concat
date_add date_sub date_trunc date_diff
array_construct list array_length array_get array_concat array_contains array_append array_prepend array_remove
array_index_of array_sort map dict map_get struct struct_get json_get json_value json_path json_build json_is_null
random
"""


def test_every_function_that_the_reference_names_is_there_and_there_are_120() -> None:
    assert set(NAMED.split()) - CATALOG.keys() == set()
    assert sum(f.surface for f in CATALOG.values()) >= 120


def test_errors_say_which_argument_and_what_would_be_accepted() -> None:
    error = fault("date_trunc", "date", "= 'hour'")
    assert (error.argument, error.fix) == (1, "units are year, quarter, month, week, day")
    error = fault("replace", "string", "int64", "string")
    assert (error.argument, error.message) == (1, "argument 2 of `replace` is string, not int64")
    assert fault("upper").fix == "the signature is `upper(text: string) -> string`"


UNARY = ("negate", "not", "is_null", "is_not_null")
OPERANDS = st.sampled_from(
    [
        *("int64", "float64?", "decimal(9,2)", "string", "bool?", "date", "timestamp", "uuid", "json", "money(EUR)"),
        *("array(int64)", "array(json)?", "map(string, int64)", "struct<a: int64>"),
        *("= None", "= 0", "= 2", "= -1", "= 0.5", "= 'day'", "= 'half_even'", "= '['", "= True"),
    ]
)


@pytest.mark.parametrize("function", CATALOG)
@settings(max_examples=40)
@given(data=st.data())
def test_whatever_the_arguments_a_rule_answers_or_says_what_is_wrong(function: str, data: st.DataObject) -> None:
    row = CATALOG[function]
    least, most = (0, 6) if row.surface else (1, 1) if function in UNARY else (2, 2)
    if function.startswith("money_"):
        least = most = 4
    given = data.draw(st.lists(OPERANDS, min_size=least, max_size=most))
    assert resolve(function, tuple(given)) != "an error out of place"


def test_keywords_stand_for_words() -> None:
    assert CATALOG["date_add"].keywords["days"] == "day"
    assert set(CATALOG["date_add"].keywords.values()) == CATALOG["date_add"].words[2]
