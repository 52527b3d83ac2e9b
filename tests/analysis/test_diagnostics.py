"""One test for each finding: its code, the text that it marks, what it says and how to fix it."""

from __future__ import annotations

import pytest

from strata_core.diagnostics import Severity

from .programs import SOURCES, finding, findings, marked, project

AGGREGATE_FIRST = (
    "compute it first: `group { key } ( aggregate { x = … } )`, of all rows `aggregate { x = … }`, "
    "or beside them `derive { x = … over (partition_by: [key]) }`"
)

BODIES = {
    # names
    "unknown table": ("from order", "E020", "order", "no source or model `order`", "write `orders`"),
    "unknown joined table": (
        "from orders join_left custmers on order_id == custmers.customer_id",
        "E020",
        "custmers",
        "no source or model `custmers`",
        "write `customers`",
    ),
    "unknown qualifier": (
        "from orders filter oders.paid",
        "E020",
        "oders",
        "no table `oders` is read here",
        "write `orders`",
    ),
    "a semi join's columns": (
        "from visits join_semi customers as c on visits.customer_id == c.customer_id select { c.email }",
        "E020",
        "c",
        "`c` cannot be read here: `join_semi` only looks whether a row matches",
        "use `join_left` or `join_inner` to read its columns",
    ),
    "a part of a column": (
        "from orders derive { x = note.name }",
        "E020",
        "note",
        "`note` is a column, and a point stands behind a table",
        'read a part of it by a call: `struct_get(note, "…")`, or `json_value(note, "…")` of json',
    ),
    "a star that gives an output again": (
        "from orders join_cross customers select { order_id, customer_id, customers.* except { country } }",
        "E023",
        "customers.* except { country }",
        "the output `customer_id` is given twice",
        "rename one of the two, or leave it out of the star: `customers.* except { customer_id }`",
    ),
    "a type without quotes": (
        "from orders derive { x = cast(order_id, float) }",
        "E060",
        "float",
        "`cast` takes a value and the name of a type in quotes",
        'write `"float64"`',
    ),
    "a type of another language in a cast": (
        'from orders derive { x = cast(order_id, "double") }',
        "E072",
        '"double"',
        "`double` is no type; types are int64, float64, string, bool, date, timestamp, uuid, json, decimal, money, "
        "array, map, struct",
        'write `"float64"`',
    ),
    "days added by a sign": (
        "from orders derive { x = placed + 1 }",
        "E050",
        "placed",
        "`+` cannot combine date and int64",
        "move an instant by a call: `date_add(x, days: 1)`, also `hours:`, `weeks:`, `months:`",
    ),
    "days taken by a sign": (
        "from orders derive { x = at - 1 }",
        "E050",
        "at",
        "`-` cannot combine timestamp and int64",
        "move an instant by a call: `date_sub(x, days: 1)`, also `hours:`, `weeks:`, `months:`",
    ),
    "one instant less another": (
        "from orders derive { x = placed - at }",
        "E050",
        "placed",
        "`-` cannot combine date and timestamp",
        "count what lies between two instants: `date_diff(start, end, day)`",
    ),
    "money times a number with a point": (
        "from orders derive { x = total * 1.21 }",
        "E057",
        "total * 1.21",
        "money `*` a number needs an explicit rounding",
        "write `round(amount * factor, 2, half_even)`",
    ),
    "amounts of two currencies combined": (
        "from orders select { x = total } union all abroad } model abroad { from orders select { x = usd }",
        "E054",
        "abroad",
        "`x` is money(EUR) here and money(USD) in `abroad`",
        "convert it on one side: `derive { x = convert(x, rate, USD) }`",
    ),
    "unknown column": ("from orders filter pad", "E021", "pad", "no column `pad`", "write `paid`"),
    "unknown column of a table": (
        "from orders as o select { o.amout }",
        "E021",
        "amout",
        "`o` has no column `amout`",
        "write `amount`",
    ),
    "a right column without its table": (
        "from visits join_left customers as c on visits.customer_id == c.customer_id select { email }",
        "E021",
        "email",
        "`email` is a column of the joined table `c`",
        "write `c.email`",
    ),
    "a column left behind": (
        "from orders select { order_id } filter paid",
        "E021",
        "paid",
        "no column `paid` after `select`",
        "there is `order_id`",
    ),
    "a table's column left behind": (
        "from orders select { order_id } filter orders.paid",
        "E021",
        "orders.paid",
        "`orders.paid` is not among the columns after `select`",
        "add it to the `select`",
    ),
    "a column that was replaced": (
        "from orders derive { paid = 1 } filter orders.paid",
        "E021",
        "paid",
        "`orders` has no column `paid`",
        "there is `amount`, `at`, `country`, `customer_id`, `note`, `order_id`, `placed`, `tags`, …",
    ),
    "except of no column": (
        "from customers select { * except { emial } }",
        "E021",
        "emial",
        "`emial` is no column of the star",
        "write `email`",
    ),
    "partition by no output": (
        "from customers select { email } partition_by [since]",
        "E021",
        "since",
        "the output has no column `since`",
        "there is `email`",
    ),
    "ambiguous column": (
        "from orders join_left customers as a on order_id == a.customer_id "
        "join_left customers as b on order_id == b.customer_id select { a.since, b.email, x = email }",
        "E022",
        "email",
        "`email` is ambiguous",
        "write `a.email` or `b.email`",
    ),
    "two outputs of one name": (
        "from customers select { email, email = 1 }",
        "E023",
        "email",
        "the output `email` is given twice",
        "rename one of the two",
    ),
    "two keys of one name": (
        "from visits join_left customers as c on visits.customer_id == c.customer_id "
        "group { visits.country, c.country } ()",
        "E023",
        "c.country",
        "the key `country` is given twice",
        "name one of the two: `name = …`",
    ),
    "an aggregate named as a key": (
        "from visits group { page } ( aggregate { page = count() } )",
        "E023",
        "page",
        "the output `page` is given twice",
        "rename it; a key of the group is an output by itself",
    ),
    "two tables of one name": (
        "from customers join_semi customers on true",
        "E023",
        "customers",
        "`customers` is already read here",
        "give this one another name: `join_semi customers as other …`",
    ),
    "unknown function": (
        "from orders select { x = uper(note) }",
        "E025",
        "uper",
        "no function `uper`",
        "write `upper`",
    ),
    "a function of another language": (
        "from orders select { x = nvl(note, note) }",
        "E025",
        "nvl",
        "no function `nvl`",
        "write `coalesce(x, y)`",
    ),
    "a type that is called": (
        'from orders filter date(note) == cast("2024-01-31", "date")',
        "E025",
        "date",
        "no function `date`",
        'write `cast(x, "date")`',
    ),
    "a constant in capitals": ("from orders filter True", "E021", "True", "no column `True`", "write `true`"),
    "a from that comes late": (
        "filter amount > 1.00 from orders",
        "E071",
        "filter amount > 1.00",
        "a model begins with `from`",
        "write its `from` before this",
    ),
    # types
    "operands": (
        "from orders select { x = order_id + note }",
        "E050",
        "note",
        "`+` cannot combine int64 and string",
        "`+` takes two numbers or two strings; `concat(a, b)` makes text of anything",
    ),
    "money and a number": (
        "from orders filter total > 0",
        "E051",
        "0",
        "`>` cannot compare money(EUR) and int64",
        'cast the number: `cast(0, "money(EUR)")`',
    ),
    "comparison with none": (
        "from orders filter note == none",
        "E051",
        "none",
        "`== none` is never true",
        "write `x is none`",
    ),
    "an array as a key": (
        "from orders group { tags } ()",
        "E051",
        "tags",
        "array(string) can be neither ordered nor grouped",
        "take a part of it that is a simple value",
    ),
    "mixed currency": (
        "from orders select { x = total + usd }",
        "E052",
        "usd",
        "`+` mixes money(EUR) and money(USD)",
        "convert first: `convert(x, rate, EUR)`",
    ),
    "a filter that is not bool": (
        "from orders filter order_id",
        "E053",
        "order_id",
        "a filter needs a condition, but this is int64",
        "compare it, as in `x > 0` or `x is not none`",
    ),
    "a join that is not bool": (
        "from orders join_inner customers on customers.email",
        "E053",
        "customers.email",
        "a join needs a condition, but this is string",
        "compare it, as in `x > 0` or `x is not none`",
    ),
    "branches": (
        "from orders select { x = if(paid, 1, note) }",
        "E054",
        "note",
        "int64 and string have no common type",
        'cast one of them, as in `cast(x, "int64")`',
    ),
    "none alone": (
        "from orders select { x = none }",
        "E055",
        "none",
        "`none` alone gives the column no type",
        'write `cast(none, "int64")`',
    ),
    "a let of none": (
        "from orders let x = none",
        "E055",
        "none",
        "`none` alone gives the column no type",
        'write `cast(none, "int64")`',
    ),
    "a cast that does not exist": (
        'from orders select { x = cast(placed, "int64") }',
        "E056",
        "placed",
        "date cannot be cast to int64",
        "casts lead between numbers, between date and timestamp, and to and from string",
    ),
    "a cast to no type": (
        'from orders select { x = cast(placed, "dat") }',
        "E072",
        '"dat"',
        "`dat` is no type; types are int64, float64, string, bool, date, timestamp, uuid, json, decimal, money, "
        "array, map, struct",
        'write a type such as "decimal(10,2)"',
    ),
    "money without rounding": (
        "from orders select { x = total * 2 }",
        "E057",
        "total * 2",
        "money `*` a number needs an explicit rounding",
        "write `round(amount * factor, 2, half_even)`",
    ),
    # functions and windows
    "a cast without a type": (
        "from orders select { x = cast(placed) }",
        "E060",
        "cast(placed)",
        "`cast` takes a value and the name of a type in quotes",
        'write `cast(x, "decimal(10,2)")`',
    ),
    "in without a list": (
        "from orders filter note in country",
        "E060",
        "country",
        "`in` looks into a list or an array, and this is string",
        "write the values: `x in [1, 2]`",
    ),
    "a list of nothing": (
        "from orders select { x = [] }",
        "E055",
        "[]",
        "an empty list has no type of its own",
        'give its type: `cast(none, "array(string)")` is null, a list of values has theirs',
    ),
    "a list of different things": (
        "from orders select { x = [1, note] }",
        "E054",
        "note",
        "int64 and string have no common type",
        'cast one of them, as in `cast(x, "int64")`',
    ),
    "distinct of a sum": (
        "from orders aggregate { x = sum(distinct amount) }",
        "E060",
        "sum(distinct amount)",
        "`sum` takes no `distinct`",
        "only `count` takes `distinct`",
    ),
    "a word that is no unit": (
        "from orders select { x = date_trunc(placed, mnth) }",
        "E060",
        "mnth",
        "`date_trunc` takes a word here",
        "write `month`",
    ),
    "an argument that does not exist": (
        "from orders select { x = date_add(placed, dayz: 3) }",
        "E060",
        "dayz",
        "`date_add` has no argument `dayz`",
        "write `days`",
    ),
    "an aggregate in a filter": (
        "from orders filter count() > 1",
        "E061",
        "count()",
        "the aggregate `count` is not allowed in a filter",
        AGGREGATE_FIRST,
    ),
    "a text that is no number": (
        'from orders derive { x = cast("abc", "int64") }',
        "E003",
        '"abc"',
        "this text is no int64, which is written as digits",
        'write it as in `cast("12", "int64")`; `try_cast` gives `none` for what is no such value',
    ),
    "a text that is no day": (
        'from orders derive { x = cast("2024-02-30", "date") }',
        "E003",
        '"2024-02-30"',
        "this text is no date: day is out of range for month",
        'write it as in `cast("2024-01-31", "date")`; `try_cast` gives `none` for what is no such value',
    ),
    "a text of too many digits": (
        'from orders derive { x = cast("1234.5", "decimal(4,2)") }',
        "E003",
        '"1234.5"',
        "this text is too large for decimal(4,2)",
        'write it as in `cast("1.50", "decimal(4,2)")`; `try_cast` gives `none` for what is no such value',
    ),
    "a text that rounds beyond its digits": (
        'from orders derive { x = cast("99.995", "decimal(4,2)") }',
        "E003",
        '"99.995"',
        "this text is too large for decimal(4,2)",
        'write it as in `cast("1.50", "decimal(4,2)")`; `try_cast` gives `none` for what is no such value',
    ),
    "two comparisons in one": (
        "from orders filter 1 < order_id < 3",
        "E051",
        "3",
        "`<` cannot compare bool and int64",
        "compare two at a time: `low < x and x < high`",
    ),
    "a number in quotes": (
        'from orders filter order_id == "3"',
        "E051",
        '"3"',
        "`==` cannot compare int64 and string",
        "leave the quotes out: numbers stand without",
    ),
    "a text without quotes": (
        "from orders filter country == 3",
        "E051",
        "3",
        "`==` cannot compare string and int64",
        'compare with a text: `"3"`',
    ),
    "an aggregate in an aggregate": (
        "from orders aggregate { x = sum(count()) }",
        "E061",
        "count()",
        "the aggregate `count` is not allowed in the argument of an aggregate",
        AGGREGATE_FIRST,
    ),
    "a column that is not grouped": (
        "from orders group { country } ( aggregate { x = order_id } )",
        "E062",
        "order_id",
        "`order_id` is neither a key of the group nor aggregated",
        "aggregate it, as in `max(order_id)`, or add it to the keys of the group",
    ),
    "a star in an aggregate": (
        "from orders aggregate { * }",
        "E062",
        "*",
        "`*` is not allowed in `aggregate`: a group has its keys and what is aggregated",
        "name the columns, as in `x = max(x)`",
    ),
    "a window function without a window": (
        "from orders select { x = row_number() }",
        "E063",
        "row_number()",
        "`row_number` needs a window",
        "write `row_number(…) over (sort: […])`",
    ),
    "a window in a filter": (
        "from orders filter rank() over (sort: [placed]) > 1",
        "E063",
        "rank() over (sort: [placed])",
        "a window is not allowed in a filter",
        "compute it in `derive` or `select`, and use its column in the next statement",
    ),
    "a window in a window": (
        "from orders select { x = sum(rank() over (sort: [placed])) over (partition_by: [country]) }",
        "E063",
        "rank() over (sort: [placed])",
        "a window is not allowed in a window",
        "compute it in `derive` or `select`, and use its column in the next statement",
    ),
    "a scalar function over a window": (
        "from orders select { x = upper(note) over (sort: [placed]) }",
        "E063",
        "upper(note) over (sort: [placed])",
        "`upper` is computed row by row and takes no window",
        "write `upper(…)` alone",
    ),
    "a window without an order": (
        "from orders select { x = rank() over (partition_by: [country]) }",
        "E064",
        "rank() over (partition_by: [country])",
        "`rank` depends on an order, and the window gives none",
        "add `sort: […]` to the window",
    ),
    "an ordered aggregate without an order": (
        "from orders group { country } ( aggregate { x = array_agg(order_id) } )",
        "E064",
        "array_agg(order_id)",
        "`array_agg` depends on the order of rows, and they have none",
        "put a `sort { … }` before the group",
    ),
    # statements
    "a second from": (
        "from orders from customers",
        "E071",
        "from customers",
        "a model reads one table with `from`",
        "read further tables with a join",
    ),
    "no from": ("filter x > 1", "E071", "filter x > 1", "a model begins with `from`", "write `from table` before this"),
    "nothing at all": ('owner: "me"', "E071", "m", "the model `m` reads nothing", "begin it with `from table`"),
    "no columns": (
        "from orders select { * except { order_id, customer_id, country, amount, total, usd, placed, at, paid, note, "
        "tags, weight } }",
        "E071",
        "m",
        "the model `m` has no columns",
        "choose some with `select { … }`",
    ),
    "an expectation that cannot be checked": (
        "from orders join_left customers on order_id > customers.customer_id expect many_to_one",
        "E071",
        "order_id > customers.customer_id",
        "`expect many_to_one` cannot be checked for this join",
        "join with `join_inner`, `join_left` or `join_full`, on equal columns: `a.x == b.x and a.y == b.y`",
    ),
    "partition by an expression": (
        "from customers partition_by [upper(email)]",
        "E071",
        "upper(email)",
        "a table is laid out by its columns",
        "derive a column, and name it here",
    ),
    "a freshness that is none": (
        "from customers freshness hourglass",
        "E070",
        "hourglass",
        "a freshness is a length of time",
        "write for instance `freshness: <= 12h`; units are s, min, h, d and w",
    ),
}


@pytest.mark.parametrize("case", BODIES)
def test_finding(case: str) -> None:
    body, code, place, message, fix = BODIES[case]
    assert finding(body) == (code, place, message, fix)


WARNINGS = {
    "no contract": (
        "from orders select { order_id }",
        "W001",
        "m",
        "the model `m` has no contract",
        "promise its columns: `model m -> contract …`",
    ),
}
LINTS = {
    "a join that is not used": (
        "from visits join_left customers as c on visits.customer_id == c.customer_id select { page }",
        "W005",
        "join_left customers as c on visits.customer_id == c.customer_id",
    ),
    "a sort by a column that is gone": ("from visits sort { country } select { page }", "W006", "sort { country }"),
}
PAGE = "page: string nonnull"


def test_a_model_without_contract_is_a_warning() -> None:
    body, *expected = WARNINGS["no contract"]
    assert finding(body, severity=Severity.WARNING) == tuple(expected)


@pytest.mark.parametrize("case", LINTS)
def test_lint(case: str) -> None:
    body, code, place = LINTS[case]
    assert finding(body, PAGE, severity=Severity.WARNING)[:2] == (code, place)


@pytest.mark.parametrize(
    "body",
    [
        "from visits join_left customers as c on visits.customer_id == c.customer_id select { page, c.email }",
        "from visits join_left customers as c on visits.customer_id == c.customer_id filter c.email is none "
        "select { page }",
        "from visits join_inner customers as c on visits.customer_id == c.customer_id select { page }",
        "from orders sort { country, order_id } take 3 select { amount }",
        "from visits sort { page }",
    ],
)
def test_what_is_used_is_no_lint(body: str) -> None:
    assert findings(body, PAGE, severity=Severity.WARNING) == []


def test_an_unknown_function_says_nothing_about_its_arguments() -> None:
    assert [d.code for d in findings("from orders select { x = frobnicate(placed, mnth, upper(none)) }")] == ["E025"]


def test_each_operand_in_error_is_told_and_nothing_follows_from_it() -> None:
    body = (
        "from orders let x = nope + gone derive { y = x + 1, z = upper(x) } filter y > 1 select { a = y || z, b = 1 }"
    )
    assert [(d.code, d.message) for d in findings(body)] == [
        ("E021", "no column `nope`"),
        ("E021", "no column `gone`"),
    ]


# --- the contract's findings stand at the column's expression ---------------------------------------------

CONTRACTS = {
    "missing": ("from customers select { email }", "x: int64", "E010", "C"),
    "type": ('from customers select { x = "a" }', "x: int64", "E011", "x"),
    "null": ("from customers select { country }", "country: string nonnull", "E012", "country"),
    "protected": ("from customers select { email }", "x: int64 protected", "E013", "C"),
    "enum": (
        'from customers select { x = if(since is none, "new", "old") }',
        "x: string enum {young, old}",
        "E014",
        "x",
    ),
}


@pytest.mark.parametrize("case", CONTRACTS)
def test_contract_finding(case: str) -> None:
    body, contract, code, place = CONTRACTS[case]
    assert finding(body, contract)[:2] == (code, place)


def test_an_output_in_error_raises_no_second_finding_against_the_contract() -> None:
    assert [d.code for d in findings("from customers select { x = nope }", "x: int64 nonnull")] == ["E021"]


# --- declarations -----------------------------------------------------------------------------------------

DECLARATIONS = {
    "duplicate model": ("model a { from orders } model a { from orders }", "E023", "a", "the table `a` is given twice"),
    "a model named as a source": (
        'source s(csv: "s.csv") { columns: { a: int64 } }\nmodel s { from s }',
        "E023",
        "s",
        "the table `s` is given twice",
    ),
    "duplicate contract": (
        "contract A { a: int64 } contract A { a: int64 }",
        "E023",
        "A",
        "the contract `A` is given twice",
    ),
    "duplicate field": ("contract A { a: int64, a: string }", "E023", "a", "the field `a` is given twice"),
    "unknown contract": (
        "contract Paid { a: int64 } model a -> contract Payd { from orders }",
        "E024",
        "Payd",
        "no contract `Payd`",
    ),
    "unknown model in a pipeline": ("pipeline p { models: [nope] }", "E027", "nope", "no model `nope`"),
    "unknown source in a pipeline": (
        'pipeline p { models: [], sources: { ordrs: from(dataset: "x") } }',
        "E020",
        "ordrs",
        "no source `ordrs`",
    ),
    "a type of another language": ("contract A { a: varchar }", "E072", "varchar", "`varchar` is no type"),
    "unknown type": ("contract A { a: strng }", "E072", "strng", "`strng` is no type"),
    "decimal bounds": (
        "contract A { a: decimal(50, 2) }",
        "E072",
        "decimal(50, 2)",
        "decimal(50,2) is outside decimal(1..38, 0..precision)",
    ),
    "a currency in small letters": (
        "contract A { a: money(eur) }",
        "E072",
        "eur",
        "`eur` is not an ISO 4217 currency code such as EUR or USD",
    ),
    "a mask of texts on a number": (
        "contract A { a: decimal(10, 2) mask: partial(4) }",
        "E070",
        "mask: partial(4)",
        "the mask `partial(4)` leaves the last characters of a text, not of decimal(10,2)",
    ),
    "a mask that is none, of a classified column": (
        'contract A { a: string classification: "pii" mask: sha }',
        "E070",
        "sha",
        "`sha` is no mask",
    ),
    "a source in a pipeline's models": (
        "pipeline p { models: [orders] }",
        "E027",
        "orders",
        "`orders` is a source, and this asks for a model",
    ),
    "decimal without digits": ("contract A { a: decimal }", "E072", "decimal", "`decimal` needs other arguments"),
    "currency": (
        "contract A { a: money(EURO) }",
        "E072",
        "money(EURO)",
        "`EURO` is not an ISO 4217 currency code such as EUR or USD",
    ),
    "map keys": (
        "contract A { a: map(int64, string) }",
        "E072",
        "map(int64, string)",
        "the keys of a map are string, not int64",
    ),
    "arguments of a simple type": ("contract A { a: string(3) }", "E072", "string(3)", "`string` takes no arguments"),
    "a domain through itself": (
        "domain a = array(b) domain b = a contract A { x: a, y: b }",
        "E070",
        "a",
        "the domain `a` is defined through itself: a → b → a",
    ),
    "enum of a number": (
        "contract A { a: int64 enum {x} }",
        "E070",
        "a: int64 enum {x}",
        "an enum lists strings, but `a` is int64",
    ),
    "a null text that is none": (
        'source s(csv: "s.csv", null_text: 5) { columns: { x: int64 } } model a { from s }',
        "E070",
        "null_text: 5",
        "`null_text` takes text",
    ),
    "a table that is no name": (
        'source s(duckdb: "s.duckdb", table: none) { columns: { x: int64 } } model a { from s }',
        "E070",
        "table: none",
        "`table` takes text",
    ),
    "unknown mask": ("contract A { a: string mask: hsh }", "E070", "hsh", "`hsh` is no mask"),
    "a source without columns": (
        'source s(csv: "s.csv") { } model a { from s select { x } } model b { from s }',
        "E070",
        "s",
        "the source `s` declares no columns, so nothing can be read from it",
    ),
    "columns beside `columns`": (
        'source s(csv: "s.csv") { owner: "me" x: int64, y: string } model a { from s }',
        "E070",
        "x: int64",
        "the source `s` declares no columns, so nothing can be read from it",
    ),
    "an annotation behind a comma": (
        "contract A { a: string, mask: hash }",
        "E072",
        "hash",
        "`hash` is no type",
    ),
    "two places": (
        'source s(csv: "a", parquet: "b") { columns: { a: int64 } }',
        "E070",
        'parquet: "b"',
        "a source is in one place, not in `csv` and in `parquet`",
    ),
    "no such place": (
        'source s(json: "a.json") { columns: { a: int64 } }',
        "E070",
        "json",
        "a source has no `json:`",
    ),
    "an option that is none": (
        'source s(csv: "a.csv", nul_text: "NA") { columns: { a: int64 } }',
        "E070",
        "nul_text",
        "`csv:` has no option `nul_text`",
    ),
    "an option of another kind": (
        'source s(parquet: "a.parquet", table: "t") { columns: { a: int64 } }',
        "E070",
        "table",
        "`parquet:` has no option `table`",
    ),
    "an import of nothing": (
        "import finance.revenue",
        "E070",
        "import finance.revenue",
        "no module `finance.revenue` belongs to this project",
    ),
    "a source filter": (
        'source s(csv: "a") { columns: { a: int64 } filter: a }',
        "E053",
        "a",
        "the filter of a source needs a condition, but this is int64",
    ),
    "a model cycle": (
        "model a { from b } model b { from c } model c { from a } model d { from a }",
        "E026",
        "b",
        "models form a cycle: a → b → c → a",
    ),
    "a model that reads itself": ("model a { from a }", "E026", "a", "models form a cycle: a → a"),
}


@pytest.mark.parametrize("case", DECLARATIONS)
def test_declaration_finding(case: str) -> None:
    text, code, place, message = DECLARATIONS[case]
    (one,) = [d for d in project(text, sources=SOURCES).diagnostics if d.blocks]
    assert (one.code, marked(text, one), one.message) == (code, place, message)
    assert one.fix or one.related


def test_w004_a_classified_field_without_mask() -> None:
    text = 'contract A { a: string classification: "pii", b: string classification: "pii" mask: hash }'
    (one,) = project(text).diagnostics
    assert (one.code, one.severity, marked(text, one)) == (
        "W004",
        Severity.WARNING,
        'a: string classification: "pii"',
    )


def test_the_second_of_two_names_points_to_the_first() -> None:
    text = "contract A { a: int64 }\ncontract A { b: int64 }"
    (one,) = project(text).diagnostics
    assert one.span is not None
    assert (one.span.line, one.related[0].span.line) == (2, 1)


def test_the_members_of_a_cycle_are_each_marked() -> None:
    (one,) = [d for d in project("model a { from b }\nmodel b { from a }").diagnostics if d.blocks]
    assert one.label == "`a` reads `b` here"
    assert [(r.span.line, r.message) for r in one.related] == [(2, "`b` reads `a`")]
