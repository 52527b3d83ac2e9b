from __future__ import annotations

import itertools

import pytest

from strata_core.relation.expressions import literal

from .rules import fault, inferred, resolve

LITERALS = [
    ("lit_int", 1, "int64 nonnull"),
    ("lit_float", 1.5, "float64 nonnull"),
    ("lit_str", "a", "string nonnull"),
    ("lit_bool", True, "bool nonnull"),
    ("lit_none", None, "unknown"),
]


@pytest.mark.parametrize(("name", "value", "expected"), LITERALS, ids=[row[0] for row in LITERALS])
def test_seed0_s2_literals(name: str, value: object, expected: str) -> None:
    assert str(literal(value).inferred) == expected


# clause, operator, operands, result or code
RULES = [
    # Seed 0 §2: x ⊕ y (numeric)
    ("int_and_int_is_int", "add", "int64, int64", "int64"),
    ("int_and_int_is_int", "subtract", "int64, int64", "int64"),
    ("int_and_int_is_int", "multiply", "int64, int64", "int64"),
    ("int_modulo_is_int_and_null_at_zero", "modulo", "int64, int64", "int64?"),
    ("modulo_by_a_nonzero_literal_is_nonnull", "modulo", "int64, = 3", "int64"),
    ("either_float_is_float", "add", "int64, float64", "float64"),
    ("either_float_is_float", "multiply", "float64, float64", "float64"),
    ("either_float_is_float", "subtract", "float64, decimal(10,2)", "float64"),
    ("a_decimal_and_an_int_column_is_float", "add", "decimal(10,2), int64", "float64"),
    ("both_decimal_is_decimal", "add", "decimal(10,2), decimal(5,3)", "decimal(12,3)"),
    ("both_decimal_is_decimal", "subtract", "decimal(10,2), decimal(10,2)", "decimal(11,2)"),
    ("both_decimal_is_decimal", "add", "decimal(38,2), decimal(38,2)", "decimal(38,2)"),
    ("decimal_scales_add_in_a_product", "multiply", "decimal(10,2), decimal(5,3)", "decimal(15,5)"),
    ("decimal_product_past_38_digits_of_scale", "multiply", "decimal(38,20), decimal(38,20)", "E050"),
    ("decimal_modulo_is_float", "modulo", "decimal(10,2), decimal(10,2)", "float64?"),
    ("a_literal_beside_a_decimal_is_exact", "add", "decimal(10,2), = 1", "decimal(11,2)"),
    ("a_literal_beside_a_decimal_is_exact", "multiply", "decimal(10,2), = 0.5", "decimal(11,3)"),
    ("nullable_iff_one_is", "add", "int64?, int64", "int64?"),
    ("nullable_iff_one_is", "multiply", "float64, float64?", "float64?"),
    ("strings_are_no_numbers", "subtract", "string, string", "E050"),
    ("bools_are_no_numbers", "add", "bool, int64", "E050"),
    ("dates_are_no_numbers", "add", "date, int64", "E050"),
    ("unknown_is_unresolved", "add", "int64, = None", "E055"),
    # x / y
    ("division_is_float_and_null_at_zero", "divide", "int64, int64", "float64?"),
    ("division_is_float_and_null_at_zero", "divide", "decimal(10,2), decimal(10,2)", "float64?"),
    ("division_by_a_nonzero_literal_is_nonnull", "divide", "int64, = 2", "float64"),
    ("division_by_zero_is_null", "divide", "int64, = 0", "float64?"),
    ("division_keeps_null", "divide", "int64?, = 2", "float64?"),
    # x + y (String), ||
    ("strings_join", "add", "string, string", "string"),
    ("strings_join", "add", "string, string?", "string?"),
    ("strings_join", "concat_op", "string?, string", "string?"),
    ("only_strings_join", "concat_op", "string, int64", "E050"),
    ("only_strings_join", "add", "string, int64", "E050"),
    # Money, §1
    ("money_adds_in_one_currency", "add", "money(EUR), money(EUR)", "money(EUR)"),
    ("money_adds_in_one_currency", "subtract", "money(EUR)?, money(EUR)", "money(EUR)?"),
    ("mixed_currency", "add", "money(EUR), money(USD)", "E052"),
    ("mixed_currency", "divide", "money(EUR), money(USD)", "E052"),
    ("money_and_number", "add", "money(EUR), int64", "E050"),
    ("money_times_money", "multiply", "money(EUR), money(EUR)", "E050"),
    ("money_modulo", "modulo", "money(EUR), int64", "E050"),
    ("money_ratio_is_float", "divide", "money(EUR), money(EUR)", "float64?"),
    ("money_product_needs_a_rounding", "multiply", "money(EUR), int64", "E057"),
    ("money_product_needs_a_rounding", "multiply", "decimal(5,2), money(EUR)", "E057"),
    ("money_quotient_needs_a_rounding", "divide", "money(EUR), decimal(5,2)", "E057"),
    ("money_times_float", "multiply", "money(EUR), float64", "E050"),
    ("money_rounded_product", "money_multiply", "money(EUR), int64, = 2, = 'half_even'", "money(EUR)"),
    ("money_rounded_product", "money_multiply", "money(EUR)?, decimal(9,4), = 2, = 'up'", "money(EUR)?"),
    ("money_rounded_product_by_a_literal", "money_multiply", "money(EUR), = 0.5, = 2, = 'up'", "money(EUR)"),
    ("money_rounded_product_by_float", "money_multiply", "money(EUR), float64, = 2, = 'up'", "E050"),
    ("money_rounds_to_the_cent", "money_multiply", "money(EUR), int64, = 3, = 'up'", "E057"),
    ("money_rounded_quotient", "money_divide", "money(EUR), int64, = 2, = 'half_even'", "money(EUR)?"),
    ("money_rounded_quotient", "money_divide", "money(EUR), = 4, = 2, = 'half_even'", "money(EUR)"),
    # x ≶ y
    *(("comparison_is_bool", function, "int64, float64", "bool") for function in ("eq", "ne", "lt", "le", "gt", "ge")),
    ("comparison_is_null_where_one_is", "lt", "int64?, int64", "bool?"),
    ("comparison_is_null_where_one_is", "eq", "string, string?", "bool?"),
    ("comparison_of_one_type", "lt", "date, date", "bool"),
    ("comparison_of_one_type", "eq", "uuid, uuid", "bool"),
    ("comparison_of_money", "ge", "money(EUR), money(EUR)", "bool"),
    ("comparison_of_two_currencies", "eq", "money(EUR), money(USD)", "E052"),
    ("comparison_of_money_and_number", "gt", "money(EUR), = 0", "E051"),
    ("comparison_of_two_types", "eq", "string, int64", "E051"),
    ("comparison_of_date_and_timestamp", "lt", "date, timestamp", "E051"),
    ("comparison_of_date_and_string", "lt", "date, string", "E051"),
    ("comparison_with_none", "eq", "int64, = None", "E051"),
    ("comparison_of_arrays", "eq", "array(int64), array(int64)", "E051"),
    ("order_of_bools", "lt", "bool, bool", "E051"),
    ("equality_of_bools", "eq", "bool, bool", "bool"),
    # not, neg, and, or
    ("not_preserves_nullability", "not", "bool", "bool"),
    ("not_preserves_nullability", "not", "bool?", "bool?"),
    ("not_takes_bool", "not", "int64", "E053"),
    ("and_or_take_bool", "and", "bool, string", "E053"),
    ("and_or_are_three_valued", "or", "bool, bool?", "bool?"),
    ("neg_preserves_nullability", "negate", "int64?", "int64?"),
    ("neg_preserves_nullability", "negate", "decimal(5,2)", "decimal(5,2)"),
    ("neg_takes_numbers", "negate", "string", "E050"),
    # coalesce
    ("coalesce_is_nonnull_as_soon_as_one_is", "coalesce", "int64?, int64", "int64"),
    ("coalesce_is_nonnull_as_soon_as_one_is", "coalesce", "int64, int64?", "int64"),
    ("coalesce_of_nullables_is_nullable", "coalesce", "int64?, int64?", "int64?"),
    ("coalesce_takes_the_least_upper_bound", "coalesce", "int64?, float64", "float64"),
    ("coalesce_takes_the_least_upper_bound", "coalesce", "int64?, decimal(10,2)", "decimal(21,2)"),
    ("coalesce_without_a_bound", "coalesce", "int64?, string", "E054"),
    ("coalesce_of_two_currencies", "coalesce", "money(EUR)?, money(USD)", "E052"),
    ("coalesce_of_nothing", "coalesce", "", "E060"),
    # case, if
    ("if_is_nullable_where_a_branch_is", "if", "bool, int64, int64", "int64"),
    ("if_is_nullable_where_a_branch_is", "if", "bool, int64, int64?", "int64?"),
    ("if_does_not_take_the_null_of_its_condition", "if", "bool?, int64, int64", "int64"),
    ("if_takes_the_least_upper_bound", "if", "bool, int64, float64", "float64"),
    ("if_with_none", "if", "bool, int64, = None", "int64?"),
    ("condition_is_bool", "if", "int64, int64, int64", "E053"),
    ("case_without_else_is_nullable", "case", "bool, int64", "int64?"),
    ("case_with_else", "case", "bool, int64, bool, int64, int64", "int64"),
    ("case_without_a_bound", "case", "bool, date, timestamp", "E054"),
    ("case_of_one_argument", "case", "bool", "E060"),
    # upper, lower, in, like, is
    ("upper_preserves_nullability", "upper", "string", "string"),
    ("lower_preserves_nullability", "lower", "string?", "string?"),
    ("upper_takes_strings", "upper", "int64", "E060"),
    ("in_is_bool", "in", "int64, = 1, = 2", "bool"),
    ("in_with_a_null", "in", "int64, = 1, = None", "bool?"),
    ("in_of_two_types", "in", "int64, = 'a'", "E051"),
    ("in_of_nothing", "in", "int64", "E060"),
    ("like_takes_strings", "like", "string?, = 'a%'", "bool?"),
    ("like_takes_strings", "like", "int64, = 'a%'", "E050"),
    ("rlike_takes_a_known_pattern", "rlike", "string, = 'a+'", "bool"),
    ("rlike_takes_a_known_pattern", "rlike", "string, string", "E060"),
    ("rlike_refuses_what_engines_differ_in", "rlike", "string, = '(?=a)'", "E060"),
    ("is_none_is_never_null", "is_null", "int64?", "bool"),
    ("is_none_is_never_null", "is_not_null", "string?", "bool"),
]


def split(operands: str) -> tuple[str, ...]:
    """The operands of a row: commas inside parentheses belong to a type."""
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(operands):
        quoted = operands[start:at].count("'") % 2
        depth += (sign == "(") - (sign == ")") if not quoted else 0
        if sign == "," and depth == 0:
            parts.append(operands[start:at].strip())
            start = at + 1
    last = operands[start:].strip()
    return (*parts, last) if last else tuple(parts)


@pytest.mark.parametrize(
    ("clause", "function", "operands", "expected"), RULES, ids=[f"{r[0]}-{r[1]}-{r[2]}" for r in RULES]
)
def test_seed0_s2(clause: str, function: str, operands: str, expected: str) -> None:
    assert resolve(function, split(operands)) == expected


NUMBERS = ("int64", "float64", "decimal(10,2)")


@pytest.mark.parametrize("function", ["add", "subtract", "multiply"])
@pytest.mark.parametrize(("left", "right"), list(itertools.product(NUMBERS, NUMBERS)))
def test_seed0_s2_arithmetic_takes_every_pair_of_numbers(function: str, left: str, right: str) -> None:
    both_decimal = left == right == "decimal(10,2)"
    kind = "decimal" if both_decimal else "int64" if left == right == "int64" else "float64"
    assert resolve(function, (left, right)).startswith(kind)
    assert not resolve(function, (left, right)).endswith("?")
    assert resolve(function, (f"{left}?", right)).endswith("?")
    assert resolve(function, (left, f"{right}?")).endswith("?")


def test_seed0_s3_value_sets_flow_through_choices() -> None:
    assert inferred("if", "bool", "= 'a'", "= 'b'").values == {"a", "b"}
    assert inferred("coalesce", "= 'a'", "string").values is None
    assert inferred("upper", "= 'aé'").values is None
    assert inferred("upper", "= 'ab'").values == {"AB"}
    assert inferred("trim", "= ' é '").values == {"é"}
    assert inferred("nullif", "= 'a'", "= 'a'").values == frozenset()
    assert inferred("greatest", "= 'a'", "= 'b'").values == {"a", "b"}


def test_an_error_names_the_operand_and_the_fix() -> None:
    error = fault("add", "money(EUR)", "money(USD)")
    assert (error.argument, error.fix) == (1, "convert first: `convert(x, rate, EUR)`")
    error = fault("add", "int64", "string")
    assert (error.argument, error.fix) == (
        1,
        "`+` takes two numbers or two strings; `concat(a, b)` makes text of anything",
    )
    error = fault("gt", "money(EUR)", "= 0")
    assert error.fix == 'cast the number: `cast(0, "money(EUR)")`'
