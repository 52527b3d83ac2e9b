"""Compile-time values: what Python makes of the same expressions is the oracle, and no program runs away."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.analysis import compile_project
from strata_core.analysis.fn.evaluate import Budget, EvaluationError, Run, evaluate
from strata_core.analysis.fn.signatures import signatures
from strata_core.analysis.fn.values import Real, Value, spelled
from strata_core.language import ast
from strata_core.language.parser import parse_module


def functions(text: str) -> Run:
    """The functions of a module, without a check."""
    parsed = parse_module(text, "m.strata")
    assert parsed.diagnostics == ()
    fns = [d for d in parsed.module.declarations if isinstance(d, ast.Fn)]
    return Run(signatures(fns, {}, {}, lambda d: None), Budget())


def value(text: str, scope: dict[str, Value] | None = None) -> Value:
    run = functions(f"fn f() -> Str {{ {text} }}")
    return evaluate(run.functions["f"].declared.body, scope or {}, run)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"a"', "a"),
        ("1_000", 1000),
        ("-3", -3),
        ("--3", 3),
        ("1.50", Real(1.5, "1.50")),
        ("-1.50", Real(-1.5, "-1.50")),
        ("true and not false", True),
        ("1 + 2 * 3 - 4", 3),
        ("0.5 + 1", Real(1.5, "1.5")),
        ('"a" + "b" || "c"', "abc"),
        ("[1] + [2, 3]", (1, 2, 3)),
        ("[]", ()),
        ('concat("a", 1, 1.50, true)', "a11.50true"),
        ('concat(["a"], [], ["b"])', ("a", "b")),
        ('length("abc")', 3),
        ("length([1, 2])", 2),
        ('length(map("a", 1))', 1),
        ("1 == 1.0", True),
        ("[1, 2] == [1, 2]", True),
        ("[1, 2] != [2, 1]", True),
        ('"a" < "b"', True),
        ("2 in [1, 2]", True),
        ('map_get(map("a", 1, "b", 2), "b")', 2),
        ('map_keys(map("b", 1, "a", 2))', ("b", "a")),
        ('struct_get(struct("a", 1), "a")', 1),
        ('upper("aß")', "Aß"),
        ('lower("AÉ")', "aé"),
        ('trim("  a ")', "a"),
        ('replace("a-b", "-", "_")', "a_b"),
        ('replace("ab", "", "_")', "ab"),
        ('if(1 == 1, "yes", map_get(map("a", "b"), "c"))', "yes"),
        ("true or map_get(map(1, true), 2)", True),
        ("false and map_get(map(1, true), 2)", False),
        ("[x + y for x in [1, 2] for y in [10, 20] if x * 10 != y]", (21, 12)),
        ("[[y for y in [x, x + 1]] for x in [1, 5]]", ((1, 2), (5, 6))),
        (r'"a\tb\"\\\${x}"', 'a\tb"\\${x}'),
    ],
)
def test_values(text, expected):
    assert value(text) == expected


def test_interpolation_takes_texts_numbers_and_fields():
    scope: dict[str, Value] = {"a": "x", "b": 3, "c": Real(1.5, "1.50"), "d": True}
    assert value('"${a}-${ b }${c}$d${d}}"', scope) == "x-31.50$dtrue}"
    assert value('"line\n${a}"', scope) == "line\nx"


@pytest.mark.parametrize(
    ("shown", "given_"),
    [
        ('"a\\"b"', 'a"b'),
        ("[1, 2]", (1, 2)),
        ("[]", ()),
        ('{a: "x", b: [true]}', None),
        ("1.50", Real(1.5, "1.50")),
    ],
)
def test_values_are_spelled_for_people(shown, given_):
    assert spelled(value('struct("a", "x", "b", [true])') if given_ is None else given_) == shown


def test_long_values_are_cut():
    assert spelled(tuple(range(10**6)))[-1] == "…"
    assert len(spelled("x" * 10**6)) == 60


# --- the oracle: random expressions, written twice


Pair = tuple[str, Callable[[dict[str, Any]], Any]]


def both(strategy_left, strategy_right, sign: str, apply: Callable[[Any, Any], Any]):
    return st.tuples(strategy_left, strategy_right).map(
        lambda pair: (f"({pair[0][0]} {sign} {pair[1][0]})", lambda s: apply(pair[0][1](s), pair[1][1](s)))
    )


def constants(strategy, spell: Callable[[Any], str]):
    return strategy.map(lambda v: (spell(v), lambda s: v))


def conditional(condition, then, otherwise):
    return st.tuples(condition, then, otherwise).map(
        lambda t: (f"if({t[0][0]}, {t[1][0]}, {t[2][0]})", lambda s: t[1][1](s) if t[0][1](s) else t[2][1](s))
    )


@cache
def ints(depth: int):
    leaves = constants(st.integers(0, 50), str) | st.just(("n", lambda s: s["n"]))
    if depth == 0:
        return leaves
    return (
        leaves
        | both(ints(depth - 1), ints(depth - 1), "+", operator.add)
        | both(ints(depth - 1), ints(depth - 1), "-", operator.sub)
        | texts(depth - 1).map(lambda t: (f"length({t[0]})", lambda s: len(t[1](s))))
        | lists(depth - 1).map(lambda t: (f"length({t[0]})", lambda s: len(t[1](s))))
        | conditional(bools(depth - 1), ints(depth - 1), ints(depth - 1))
    )


@cache
def texts(depth: int):
    leaves = (
        constants(st.text("ab_", max_size=3), lambda v: f'"{v}"')
        | st.just(("s", lambda s: s["s"]))
        | st.just(('"<${s}|${n}>"', lambda s: f"<{s['s']}|{s['n']}>"))
    )
    if depth == 0:
        return leaves
    return (
        leaves
        | both(texts(depth - 1), texts(depth - 1), "+", operator.add)
        | st.tuples(texts(depth - 1), ints(depth - 1)).map(
            lambda t: (f"concat({t[0][0]}, {t[1][0]})", lambda s: f"{t[0][1](s)}{t[1][1](s)}")
        )
        | texts(depth - 1).map(lambda t: (f"upper({t[0]})", lambda s: t[1](s).upper()))
        | conditional(bools(depth - 1), texts(depth - 1), texts(depth - 1))
    )


@cache
def lists(depth: int):
    below = max(depth - 1, 0)
    leaves = st.lists(ints(below), max_size=3).map(
        lambda ts: (f"[{', '.join(t[0] for t in ts)}]", lambda s: tuple(t[1](s) for t in ts))
    )
    if depth == 0:
        return leaves
    return (
        leaves
        | both(lists(below), lists(below), "+", operator.add)
        | st.tuples(ints(below), lists(below), bools(below)).map(
            lambda t: (
                f"[{t[0][0]} for n in {t[1][0]} if {t[2][0]}]",
                lambda s: tuple(t[0][1]({**s, "n": n}) for n in t[1][1](s) if t[2][1]({**s, "n": n})),
            )
        )
        | st.tuples(ints(below), lists(below), lists(below)).map(
            lambda t: (
                f"[{t[0][0]} for n in {t[1][0]} for n in {t[2][0]}]",
                lambda s: tuple(t[0][1]({**s, "n": b}) for a in t[1][1](s) for b in t[2][1]({**s, "n": a})),
            )
        )
    )


@cache
def bools(depth: int):
    leaves = constants(st.booleans(), lambda v: str(v).lower())
    if depth == 0:
        return leaves
    return (
        leaves
        | both(ints(depth - 1), ints(depth - 1), "<", operator.lt)
        | both(texts(depth - 1), texts(depth - 1), "==", operator.eq)
        | both(lists(depth - 1), lists(depth - 1), "!=", operator.ne)
        | both(ints(depth - 1), lists(depth - 1), "in", lambda a, b: a in b)
        | bools(depth - 1).map(lambda t: (f"(not {t[0]})", lambda s: not t[1](s)))
        | both(bools(depth - 1), bools(depth - 1), "and", lambda a, b: a and b)
        | both(bools(depth - 1), bools(depth - 1), "or", lambda a, b: a or b)
    )


@settings(max_examples=200, deadline=None)
@given(ints(3) | texts(3) | lists(3) | bools(3), st.integers(-5, 5), st.text("xy", max_size=3))
def test_law_a_value_is_what_python_makes_of_the_same_expression(pair: Pair, n: int, s: str):
    text, oracle = pair
    assert value(text, {"n": n, "s": s}) == oracle({"n": n, "s": s})


@settings(max_examples=60, deadline=None)
@given(lists(3))
def test_law_what_a_call_gives_is_what_the_list_says(pair: Pair):
    text, oracle = pair
    program = f"""
    source t(csv: "t.csv") {{ columns: {{ id: int64 nonnull }} }}
    fn numbers(n: Int, s: Str) -> List<Int> {{ {text} }}
    fn made() -> List<Model> {{ [model "m_${{n}}" {{ from t filter id == n }} for n in numbers(2, "ab")] }}
    made()
    """
    parsed = parse_module(program, "m.strata")
    assert parsed.diagnostics == ()
    found = compile_project([parsed.module])
    numbers = oracle({"n": 2, "s": "ab"})
    if any(n < 0 for n in numbers):
        assert "E070" in [d.code for d in found.diagnostics]  # no folder bears the name `m_-1`
    elif len(set(numbers)) == len(numbers):
        assert list(found.models) == [f"m_{n}" for n in numbers]
    else:
        assert [d.code for d in found.diagnostics if d.blocks] == ["E023"]


# --- bounds


BOMBS = {
    "recursion without end": "fn f(n: Int) -> Int { f(n) }\nfn g() -> Int { f(1) }",
    "mutual recursion": "fn f(n: Int) -> Int { h(n + 1) }\nfn h(n: Int) -> Int { f(n) }\nfn g() -> Int { f(1) }",
    "recursion that branches": "fn f(n: Int) -> Int { if(n == 0, 0, f(n - 1) + f(n - 1)) }\nfn g() -> Int { f(60) }",
    "nested loops": "fn xs() -> List<Int> { [" + ",".join("1" * 1 for _ in range(100)) + "] }\n"
    "fn g() -> Int { length([1" + "".join(f" for x{i} in xs()" for i in range(12)) + "]) }",
    "a list that doubles": "fn f(xs: List<Int>, n: Int) -> List<Int> { if(n == 0, xs, f(xs + xs, n - 1)) }\n"
    "fn g() -> Int { length(f([1], 60)) }",
    "a text that doubles": "fn f(s: Str, n: Int) -> Str { if(n == 0, s, f(s + s, n - 1)) }\n"
    'fn g() -> Int { length(f("a", 60)) }',
    "a text that doubles by interpolation": 'fn f(s: Str, n: Int) -> Str { if(n == 0, s, f("${s}${s}", n - 1)) }\n'
    'fn g() -> Int { length(f("a", 60)) }',
    "a text that grows by replacement": "fn f(s: Str, n: Int) -> Str "
    '{ if(n == 0, s, f(replace(s, "a", "aa"), n - 1)) }\n'
    'fn g() -> Int { length(f("a", 60)) }',
    "numbers that grow": "fn f(x: Int, n: Int) -> Int { if(n == 0, x, f(x * x, n - 1)) }\nfn g() -> Int { f(3, 60) }",
}


@pytest.mark.parametrize("name", BOMBS)
def test_e042_a_program_that_runs_away_is_stopped(name):
    run = functions(BOMBS[name])
    with pytest.raises(EvaluationError) as stopped:
        evaluate(run.functions["g"].declared.body, {}, run)
    assert stopped.value.diagnostic.code == "E042"
    assert stopped.value.diagnostic.span is not None


def nested(levels: int, inner: str) -> str:
    """Functions that make lists of lists of one value, each of both halves the same: 2ⁿ elements, n values."""
    types = ["Int"]
    text = ""
    for level in range(levels):
        text += f"fn f{level}(x: {types[-1]}) -> List<{types[-1]}> {{ [x, x] }}\n"
        types.append(f"List<{types[-1]}>")
    call = "1"
    for level in range(levels):
        call = f"f{level}({call})"
    return f"{text}fn g() -> Bool {{ {inner.format(call)} }}"


def test_e042_equality_of_values_with_shared_parts_is_paid_for():
    run = functions(nested(40, "{0} == {0}"))
    with pytest.raises(EvaluationError):
        evaluate(run.functions["g"].declared.body, {}, run)


SOURCE = 'source t(csv: "t.csv") { columns: { id: int64 nonnull } }\n'


def findings(text: str):
    parsed = parse_module(SOURCE + text, "m.strata")
    assert parsed.diagnostics == ()
    return [d for d in compile_project([parsed.module]).diagnostics if d.blocks]


def test_e042_a_call_that_does_not_end_names_the_place_and_the_call():
    (one,) = findings("fn f(n: Int) -> List<Model> { concat(f(n + 1), []) }\n\nf(1)")
    assert (one.code, one.span.line, one.related[0].span.line) == ("E042", 2, 4)
    assert one.message == "calls and expressions nest more than 200 deep here"


def test_e042_too_many_models_are_told_once_whoever_asks_for_more():
    many = "[" + ", ".join(map(str, range(400))) + "]"
    text = f"""
    fn f(xs: List<Int>) -> List<Model> {{
      [model "m_${{a}}_${{b}}" {{ from t filter id == a }} for a in xs for b in xs]
    }}
    f({many})
    f({many})
    """
    assert [d.code for d in findings(text)] == ["E042"]


def test_e042_models_within_shared_lists_are_counted():
    text = "fn f0() -> Model { model m { from t } }\n"
    type_ = "Model"
    call = "f0()"
    for level in range(1, 40):
        text += f"fn f{level}(x: {type_}) -> List<{type_}> {{ [x, x] }}\n"
        type_, call = f"List<{type_}>", f"f{level}({call})"
    assert [d.code for d in findings(text + call)] == ["E042"]


def test_a_deep_recursion_that_ends_is_no_error():
    run = functions(
        "fn f(n: Int) -> List<Int> { if(n == 0, [], concat(f(n - 1), [n])) }\nfn g() -> List<Int> { f(45) }"
    )
    assert evaluate(run.functions["g"].declared.body, {}, run) == tuple(range(1, 46))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('map_get(map("a", 1), "b")', "the map has no key `b`"),
        ("9223372036854775807 + 1", "the integer does not fit into int64"),
        ("-(-9223372036854775807 - 1)", "the integer does not fit into int64"),
        ("1e308 * 10.0", "the number does not fit into float64"),
    ],
)
def test_e042_what_has_no_value(text, message):
    with pytest.raises(EvaluationError) as stopped:
        value(text)
    assert (stopped.value.diagnostic.code, stopped.value.diagnostic.message) == ("E042", message)
