"""`extern fn` (language.md, "Expressions"): a signature that the checker trusts, templates that it does not."""

from __future__ import annotations

import pytest

from strata_core.analysis import CompiledProject
from strata_core.planning.fingerprints import fingerprints

from .programs import marked, project

EXTERN = 'extern fn f(a: string, n: int64) -> string nonnull deterministic { duckdb: "repeat($a, $n)" }\n'


def compiled(text: str) -> CompiledProject:
    return project(text)


def errors(text: str) -> list[tuple[str, str]]:
    return [(d.code, marked(text, d)) for d in compiled(text).diagnostics if d.blocks]


def output(call: str, extern: str = EXTERN) -> str:
    found = compiled(f"{extern} model m {{ from orders select {{ x = {call} }} }}")
    assert not [d for d in found.diagnostics if d.blocks]
    return str(found.models["m"].relation.schema["x"].inferred)


def test_the_signature_is_trusted() -> None:
    assert output('f("a", 2)') == "string nonnull"
    assert output("f(note, 2)") == "string"
    assert output('f("a", 2)', EXTERN.replace("string nonnull deterministic", "string deterministic")) == "string"
    assert output('f("a", n: 2)'.replace("n: ", "")) == "string nonnull"


def test_arguments_are_cast_where_that_loses_nothing() -> None:
    extern = 'extern fn g(x: float64) -> decimal(10,2) deterministic { duckdb: "$x" }'
    assert output("g(order_id)", extern) == "decimal(10,2)"
    assert output("g(1)", extern) == "decimal(10,2)"


def test_it_is_lineage_of_its_arguments() -> None:
    found = compiled(f"{EXTERN} model m {{ from orders select {{ x = f(note, customer_id) }} }}")
    origins = found.models["m"].relation.schema["x"].origins
    assert [(o.node, o.column, o.transform) for o in origins] == [
        ("orders", "customer_id", "derived"),
        ("orders", "note", "derived"),
    ]


@pytest.mark.parametrize(
    "call", ["f(note)", "f(note, 1, 2)", "f(1, 1)", "f(note, 1.5)", "f(*)", "f(distinct note)", "f(a: note, n: 1)"]
)
def test_a_call_that_does_not_fit(call: str) -> None:
    found = errors(f"{EXTERN} model m {{ from orders select {{ x = {call} }} }}")
    assert [code for code, _ in found] == ["E060"]


def test_a_nonnull_parameter_takes_no_null() -> None:
    extern = EXTERN.replace("a: string", "a: string nonnull")
    assert errors(f"{extern} model m {{ from orders select {{ x = f(note, 1) }} }}") == [("E060", "note")]
    assert errors(f'{extern} model m {{ from orders select {{ x = f(coalesce(note, ""), 1) }} }}') == []


DECLARATIONS = {
    "not deterministic": ('extern fn g() -> int64 { duckdb: "1" }', "E065", "g"),
    "of the language": ('extern fn upper(a: string) -> string deterministic { duckdb: "$a" }', "E023", "upper"),
    "no translation": ("extern fn g() -> int64 deterministic { }", "E070", "g"),
    "no such engine": ('extern fn g() -> int64 deterministic { duckdbb: "1" }', "E070", "duckdbb"),
    "a parameter twice": ('extern fn g(a: int64, a: int64) -> int64 deterministic { duckdb: "$a" }', "E023", "a"),
    "an unknown type": ('extern fn g() -> int deterministic { duckdb: "1" }', "E072", "int"),
    "no function in Python": ('extern fn g() -> int64 deterministic { reference: "a.b" }', "E070", '"a.b"'),
}


@pytest.mark.parametrize("case", DECLARATIONS)
def test_a_declaration_that_is_not_valid(case: str) -> None:
    text, code, place = DECLARATIONS[case]
    assert errors(text) == [(code, place)]


def test_twice() -> None:
    assert errors(EXTERN + EXTERN) == [("E023", "f")]


TEMPLATES = {
    "a query": "(select $a)",
    "a query within": "coalesce((select max(x) from t), $a)",
    "exists": "exists (select 1)",
    "a statement": "drop table t",
    "two statements": "$a; drop table t",
    "an injection": "$a) || (select 1",
    "a table function": "unnest([$a])",
    "an aggregate": "max($a)",
    "a window": "row_number() over ()",
    "a star": "count(*)",
    "a column": "upper(name)",
    "another parameter": "upper($b)",
    "nothing": "",
    "no SQL": "a b c",
    "too deep": "(" * 500 + "$a" + ")" * 500,
    "too many cases": "case when true then " * 200 + "$a" + " end" * 200,
    "too long": "$a || " * 2000 + "$a",
    "a chain": "$a || " * 1500 + "$a",
    "negations": "not " * 2000 + "true",
}


@pytest.mark.parametrize("case", TEMPLATES)
@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_a_template_is_one_scalar_expression_of_its_parameters(case: str, engine: str) -> None:
    text = f'extern fn g(a: string) -> string deterministic {{ {engine}: "{TEMPLATES[case]}" }}'
    assert errors(text) == [("E070", f'"{TEMPLATES[case]}"')]


@pytest.mark.parametrize(
    "template", ["random()", "$a || now()", "current_date", "uuid()", "gen_random_uuid()", "rand()"]
)
def test_seed0_s6_a_template_is_deterministic(template: str) -> None:
    text = f'extern fn g(a: string) -> string deterministic {{ duckdb: "{template}" }}'
    assert errors(text) == [("E065", f'"{template}"')]


@pytest.mark.parametrize(
    "template", ["$a", "upper($a) || 'x'", "list_transform([$a], lambda x: x || $a)[1]", "case when $a = '' then 1 end"]
)
def test_templates_that_are_sound(template: str) -> None:
    assert errors(f'extern fn g(a: string) -> string deterministic {{ duckdb: "{template}" }}') == []


def test_the_body_is_part_of_what_a_model_means() -> None:
    def print_of(extern: str) -> str:
        return fingerprints(compiled(f"{extern} model m {{ from orders select {{ x = f(note, 1) }} }}"))["m"].local

    assert print_of(EXTERN) == print_of(EXTERN.replace("(a: string", "( a : string"))
    assert print_of(EXTERN) != print_of(EXTERN.replace("repeat($a, $n)", "repeat($a, $n + 1)"))
    assert print_of(EXTERN) != print_of(
        EXTERN.replace('{ duckdb: "', '{ spark: "x", duckdb: "').replace('"x"', "\"'x'\"")
    )


def test_an_edit_of_the_declaration_reaches_its_callers() -> None:
    from strata_core.analysis.memory import Memory
    from strata_core.analysis.project import recompile
    from strata_core.language.parser import parse_module

    def modules(extern: str) -> list[object]:
        caller = 'source t(csv: "t") { columns: { s: string } } model m { from t select { x = f(s, 1) } }'
        return [parse_module(extern, "e.strata").module, kept.setdefault("m", parse_module(caller, "m.strata").module)]

    kept: dict[str, object] = {}
    first, memory = recompile(modules(EXTERN), Memory())
    second, _ = recompile(modules(EXTERN.replace("-> string", "-> json")), memory)  # type: ignore[arg-type]
    assert str(first.models["m"].relation.schema["x"].inferred.type) == "string"
    assert str(second.models["m"].relation.schema["x"].inferred.type) == "json"
