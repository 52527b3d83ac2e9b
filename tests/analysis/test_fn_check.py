# ruff: noqa: E501
"""What is said of a compile-time function and its calls: one located error for each fault, with a way out."""

from __future__ import annotations

import pytest

from strata_core.diagnostics import Diagnostic

from .programs import marked, project

SOURCES = """
source paid(csv: "paid.csv") { columns: { id: int64 primary_key, country: string nonnull, amount: float64 nonnull } }
"""


def found(text: str) -> list[Diagnostic]:
    return [d for d in project(text, sources=SOURCES).diagnostics if d.blocks]


def said(text: str) -> tuple[str, str, str, str]:
    (one,) = found(text)
    return one.code, marked(text, one), one.message, one.fix or ""


def of_value(value: str, type_: str = "Str", parameters: str = "s: Str, n: Int, xs: List<Str>, ms: List<Model>") -> str:
    return f"fn f({parameters}) -> {type_} {{ {value} }}"


POINT = "p: Struct<x: Int, y: Int>"


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("t", ("E040", "t", "no parameter or variable `t`", "in scope is `s`, `n`, `xs`, `ms`; columns are not known at compile time")),
        ("ss", ("E040", "ss", "no parameter or variable `ss`", "in scope is `s`, `n`, `xs`, `ms`; columns are not known at compile time")),
        ('"${nix}"', ("E040", "nix", "no parameter or variable `nix`", "in scope is `s`, `n`, `xs`, `ms`; columns are not known at compile time")),
        ('"a${xs}"', ("E041", "xs", "List<Str> has no text that could stand in a string", "interpolate a Str, an Int, a Float or a Bool")),
        ("n", ("E041", "n", "`f` gives Int, not Str", "declare `-> Int`, or give what is declared")),
        ("n + s", ("E041", "n + s", "`+` does not take Int and Str", "add two numbers, two texts or two lists")),
        ("s - s", ("E041", "s - s", "`-` does not take Str and Str", "subtract numbers")),
        ("n || s", ("E041", "n || s", "`||` does not take Int and Str", "join two texts; `concat` joins texts and numbers")),
        ("if(n == s, s, s)", ("E041", "n == s", "`==` does not take Int and Str", "compare values of one type")),
        ("if(ms == ms, s, s)", ("E041", "ms == ms", "`==` does not take List<Model> and List<Model>", "compare values of one type")),
        ("if(xs < xs, s, s)", ("E041", "xs < xs", "`<` does not take List<Str> and List<Str>", "compare two texts or two numbers")),
        ("if(n, s, s)", ("E041", "n", "`if` takes Bool, and this is Int", "compare it: `x == 1`")),
        ("if(n == 1, s, n)", ("E041", "n", "the branches have no common type: Str and Int", "give Str")),
        ("if(n == 1, s)", ("E060", "if(n == 1, s)", "`if` takes three arguments, not 2", "write `if(condition, a, b)`")),
        ("if(n and true, s, s)", ("E041", "n", "`and` takes Bool, and this is Int", "give Bool")),
        ("if(not s, s, s)", ("E041", "s", "`not` takes Bool, and this is Str", "give Bool")),
        ("if(n in xs, s, s)", ("E041", "xs", "`in` looks for Int in a list of it, and this is List<Str>", "give a List<Int>")),
        ("if(-s == n, s, s)", ("E041", "s", "`-` takes Int or Float, and this is Str", "give Int or Float")),
        ("concat(s, xs)", ("E060", "concat(s, xs)", "`concat` does not take (Str, List<Str>)", "it takes texts and numbers, or lists of one type")),
        ("upper(n)", ("E060", "upper(n)", "`upper` does not take (Int)", "it takes a Str")),
        ("upper(x: s)", ("E060", "x", "`upper` takes no argument by name", "give it by its place")),
        ("uper(s)", ("E025", "uper", "no compile-time function `uper`", "write `upper`")),
        ("none", ("E043", "none", "`none` is no compile-time value", 'write a value, such as `""` or `[]`')),
        ("s.x", ("E041", "s.x", "`s` is Str, and only a Struct has fields", "write `s` alone")),
        ("concat([x for x in s])", ("E041", "s", "`for` goes through a list, and this is Str", "write a list: `[Str, …]`")),
        ('[s, n]', ("E041", "n", "a list holds values of one type: Str before this, and this is Int", "give Str")),
        ("if(length([s for x in xs if n]) == 1, s, s)", ("E041", "n", "`if` takes Bool, and this is Int", "give Bool")),
        ("[]", ("E041", "[]", "`f` gives an empty List, not Str", "give what is declared")),
        ("f", ("E040", "f", "no parameter or variable `f`", "`f` is a function: call it")),
        ("f(s)", ("E060", "f(s)", "the argument `n`, `xs`, `ms` is missing", "the signature is `f(s: Str, n: Int, xs: List<Str>, ms: List<Model>)`")),
        ("f(s, n, xs, ms, n)", ("E060", "n", "`f(s: Str, n: Int, xs: List<Str>, ms: List<Model>)` takes 4 arguments", "leave it out")),
        ("f(s, n, xs, [], m: [])", ("E060", "m", "`f` has no parameter `m`", "the signature is `f(s: Str, n: Int, xs: List<Str>, ms: List<Model>)`")),
        ("f(s, n, xs, ms, ms: [])", ("E060", "ms: []", "`ms` is given twice", "keep one of the two")),
        ("f(n, n, xs, ms)", ("E041", "n", "`s` of `f` takes Str, and this is Int", "give Str")),
        ("map_get(map(s, n), n)", ("E060", "map_get(map(s, n), n)", "`map_get` does not take (Map<Str, Int>, Int)", "it takes a Map and a key")),
        ("struct_get(struct(\"a\", s), \"b\")", ("E060", 'struct_get(struct("a", s), "b")', "`struct_get` does not take (Struct<a: Str>, Str)", "it takes a Struct and the name of one of its fields as a literal")),
    ],
)  # fmt: skip
def test_a_fault_in_a_value(value, error):
    assert said(of_value(value)) == error


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ('model "m_${nix}" { from paid }', ("E040", "nix", "no parameter or variable `nix`", "in scope is `k`, `ks`, `p`; columns are not known at compile time")),
        ("model m { from paid sort { k } }", ("E043", "k", "`k` is a value here, and a column is to be named", "write `` `${k}` `` for the column that it names")),
        ("model m { from paid dedup by k }", ("E043", "k", "`k` is a value here, and a column is to be named", "write `` `${k}` `` for the column that it names")),
        ("model m { from paid group { k } (aggregate { n = count() }) }", ("E043", "k", "`k` is a value here, and a column is to be named", "write `` `${k}` `` for the column that it names")),
        ("model m { from paid partition_by [k] }", ("E043", "k", "`k` is a value here, and a column is to be named", "write `` `${k}` `` for the column that it names")),
        ("model m { from paid derive { n = row_number() over (partition_by: [k], sort: [id]) } }", ("E043", "k", "`k` is a value here, and a column is to be named", "write `` `${k}` `` for the column that it names")),
        ("model m { from paid derive { k = upper(country) } filter k == id }", ("E022", "k", "`k` is a parameter or variable here, and a column as well", "rename one of the two")),
        ("model m { from paid let k = 1 filter k == id }", ("E022", "k", "`k` is a parameter or variable here, and a column as well", "rename one of the two")),
        ("model m { from paid filter id == p }", ("E041", "p", "Struct<x: Int, y: Int> is nothing that could stand here", "use a Str, an Int, a Float or a Bool, or a list of them")),
        ("model m { from paid filter id == p.z }", ("E040", "z", "`p` has no field `z`", "there is `x`, `y`")),
        ("model m { owner: ks from paid }", ("E041", "ks", "List<Str> is nothing that could stand here", "use a Str, an Int, a Float or a Bool")),
        ("model m { from paid filter id in [i for i in ids] }", ("E040", "ids", "no parameter or variable `ids`", "in scope is `k`, `ks`, `p`; columns are not known at compile time")),
        ("model m { from paid filter country in [concat(k, country) for k in ks] }", ("E040", "country", "no parameter or variable `country`", "in scope is `k`, `ks`, `p`; columns are not known at compile time")),
        ("model m { from paid filter country in [k for k in ks if country like k] }", ("E043", "country like k", "this is asked of rows, and compile-time code sees none", "compare with `==` or `in`")),
        ("model m { from paid derive { x = g(country) } }", ("E040", "country", "no parameter or variable `country`", "in scope is `k`, `ks`, `p`; columns are not known at compile time")),
    ],
)  # fmt: skip
def test_a_fault_in_a_model(body, error):
    text = f"fn f(k: Str, ks: List<Str>, p: Struct<x: Int, y: Int>) -> Model {body}\nfn g(s: Str) -> Str {{ s }}"
    first, *others = found(text)
    assert (first.code, marked(text, first), first.message, first.fix) == error
    assert all(d.span == first.span for d in others)


@pytest.mark.parametrize(
    ("type_", "error"),
    [
        ("Strng", ("E072", "Strng", "no type `Strng` of compile-time values", "write `Str`")),
        ("Integer", ("E072", "Integer", "no type `Integer` of compile-time values", "write `Int`")),
        ("Text", ("E072", "Text", "no type `Text` of compile-time values", "write `Str`")),
        ("date", ("E072", "date", "a `date` has no literal, so that no value can be given", "take a Str or a Float, and cast it in the model")),
        ("List", ("E072", "List", "`List` takes other arguments", "write `List<Str>`")),
        ("Map<Str>", ("E072", "Map<Str>", "`Map` takes other arguments", "write `Map<Str, Int>`")),
        ("Map<Bool, Str>", ("E072", "Bool", "the keys of a Map are Str or Int, not Bool", "write `Map<Str, …>`")),
        ("Str<Str>", ("E072", "Str<Str>", "`Str` takes no arguments", "write `Str`")),
        ("Struct<Str>", ("E072", "Str", "a field of a Struct has a name", "write `Struct<name: Str>`")),
        ("Struct<a: Str, a: Int>", ("E072", "a", "the field `a` is given twice", "rename one of the two")),
        ("List<nix>", ("E072", "nix", "no type `nix` of compile-time values", "types of compile-time values are Str, Int, Float, Bool, Model, List, Map, Struct")),
    ],
)  # fmt: skip
def test_e072_a_type_without_compile_time_values(type_, error):
    assert said(f'fn f(x: {type_}) -> Str {{ "a" }}') == error


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("nix()", ("E025", "nix", "no compile-time function `nix`", "there is `concat`, `if`, `length`, `lower`, `map`, `map_get`, `map_keys`, `one`, …")),
        ("one(1)", ("E041", "1", "`c` of `one` takes Str, and this is Int", "give Str")),
        ("one()", ("E060", "one()", "the argument `c` is missing", "the signature is `one(c: Str)`")),
        ("one(c)", ("E040", "c", "no parameter or variable `c`", "nothing is in scope here: write a literal")),
        ("six()", ("E041", "six()", "`six` gives Int, and only models can be added", "call a function that gives a Model or a List<Model>")),
        ("one(d: \"ES\")", ("E060", "d", "`one` has no parameter `d`", "the signature is `one(c: Str)`")),
        ("one(six())", ("E041", "six()", "`c` of `one` takes Str, and this is Int", "give Str")),
        ("one([c for c in [1]])", ("E041", "[c for c in [1]]", "`c` of `one` takes Str, and this is List<Int>", "give Str")),
    ],
)  # fmt: skip
def test_a_fault_in_a_call(call, error):
    text = f'fn one(c: Str) -> Model model "m_${{c}}" {{ from paid }}\nfn six() -> Int 6\n{call}'
    first = found(text)[0]
    assert (first.code, marked(text, first), first.message, first.fix) == error
    in_pipeline = f"{text.rsplit(chr(10), 1)[0]}\npipeline p {{ models: [{call}] }}"
    assert found(in_pipeline)[0].message == first.message


@pytest.mark.parametrize("name", ["upper", "count", "map_keys", "if", "cast"])
def test_e023_the_name_of_a_function_of_the_language(name):
    one = said(f'fn {name}(a: Str) -> Str {{ "x" }}')
    assert one == ("E023", name, f"`{name}` is a function of the language", "give this one another name")


def test_e023_functions_and_parameters_that_are_given_twice():
    assert said("fn f() -> Int 1\nfn f() -> Int 2")[:3] == ("E023", "f", "the function `f` is given twice")
    assert said("fn f(a: Int, a: Int) -> Int 1")[:3] == ("E023", "a", "the parameter `a` is given twice")


def test_e023_a_function_of_engines_has_the_name():
    extern = 'extern fn f(s: string) -> string deterministic { duckdb: "upper($s)" }\n'
    assert said(f"{extern}fn f() -> Int 1")[:3] == ("E023", "f", "the function `f` is given twice")


def test_a_fault_of_a_function_is_told_once_however_often_it_is_called():
    text = "fn f(n: Int) -> List<Model> { g(n) }\nfn g(n: Int) -> List<Model> { nix }\nf(1)\nf(2)\nf(3)"
    assert [d.code for d in found(text)] == ["E040"]


@pytest.mark.parametrize(
    "text", ["filter country in [c for c in [1]]", "derive { x = [c for c in [1]] }", "sort { [c for c in [1]] }"]
)
def test_e043_a_comprehension_outside_a_function(text):
    assert said(f"model m {{ from paid {text} }}")[:2] == ("E043", "[c for c in [1]]")


def test_a_domain_stands_for_its_type():
    domains = "domain code = string\ndomain land = code\ndomain price = money(EUR)\ndomain a = b\ndomain b = a\n"
    assert (
        found(
            domains.replace("domain a = b\ndomain b = a\n", "")
            + 'fn f(c: land) -> Str { upper(c) }\nfn g() -> Str { f("a") }'
        )
        == []
    )
    assert said("domain price = money(EUR)\nfn f(c: price) -> Str { c }")[:2] == ("E072", "price")


def test_int_is_a_float_and_an_empty_list_any_list():
    text = 'fn f(a: Float, b: List<Float>, c: Map<Str, Float>) -> List<Float> { [a, 1] + b }\nfn g() -> List<Float> { f(1, [], map("a", 2)) }'
    assert found(text) == []


@pytest.mark.parametrize("text", ["derive { x = two() }", "filter country in two()", "filter two() == country"])
def test_e043_a_model_calls_a_compile_time_function(text):
    found = project(f'fn two() -> Str {{ "a" }}\nmodel m {{ from paid {text} }}', sources=SOURCES).diagnostics
    one, *others = [d for d in found if d.code != "W001"]
    assert (one.code, others) == ("E043", [])
    assert one.message == "`two` is a compile-time function, and rows cannot call it"


def test_e020_a_parameter_names_a_table_by_interpolation():
    one = said('fn f(src: Str) -> Model { model "m_${src}" { from src } }\nf("paid")')
    assert one == (
        "E020",
        "src",
        "no source or model `src`",
        "write `` `${src}` `` for the table that the value of `src` names",
    )
