"""Bad input never ends in a traceback, a hang or a cost beyond all measure.

A slice of the inputs of `run.py`, all that ever failed, and inputs of a kind each: every one is compiled, and what is
wrong with it is told. Cost is counted in steps of the interpreter's loops, never in seconds.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from strata_core.analysis import CompiledProject, compile_project
from strata_core.diagnostics import Diagnostic
from strata_core.language.parser import MAX_ERRORS, parse_bytes

from ..counting import steps
from .inputs import FILE, input_of, programs
from .run import SEEDS, check

SLICE = 1500


@pytest.mark.parametrize("part", range(10))
def test_no_input_of_a_slice_is_too_bad(part):
    for number in range(part * SLICE // 10, (part + 1) * SLICE // 10):
        try:
            check(input_of(number))
        except Exception as error:
            raise AssertionError(f"input {number}") from error


@pytest.mark.parametrize("seed", sorted(SEEDS.glob("*.strata")), ids=lambda path: path.stem)
def test_what_once_failed_does_so_no_more(seed):
    check(seed.read_bytes())


def test_the_programs_that_are_mutated_are_sound():
    for text in programs():
        assert [d.message for d in findings(text) if d.blocks] == []


def compiled(text: str | bytes) -> tuple[CompiledProject, tuple[Diagnostic, ...]]:
    parsed = parse_bytes(text.encode() if isinstance(text, str) else text, FILE)
    project = compile_project([parsed.module])
    return project, (*parsed.diagnostics, *project.diagnostics)


def findings(text: str | bytes) -> tuple[Diagnostic, ...]:
    return compiled(text)[1]


MODEL = "source t { columns: { x: int64 nonnull, s: string } }\nmodel m { from t "


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (f"{MODEL} filter {'(' * 100_000}x > 1{')' * 100_000} }}", {"E001"}),
        (f"{MODEL} filter {'(' * 100_000}", {"E001"}),
        (f"{MODEL} filter {'[' * 100_000} }}", {"E001"}),
        (f"{MODEL} filter {'not ' * 100_000} x > 1 }}", {"E001"}),
        (f"{MODEL} derive {{ y = {'- ' * 100_000} x }} }}", {"E001"}),
        (f"{MODEL} derive {{ y = {'x + ' * 10_000} x }} }}", set()),
        (f"{MODEL} derive {{ y = {'x == ' * 100_000} x }} }}", {"E001"}),
        (f"{MODEL} derive {{ y = {'abs(' * 100_000} x }} }}", {"E001"}),
        (f"source t {{ columns: {{ x: {'array(' * 100_000}int64{')' * 100_000} }} }}", {"E001"}),
        ("}" * 100_000, {"E001"}),
        ("{" * 100_000, {"E001"}),
        ("model " * 100_000, {"E001"}),
        ("(" * 50_000 + ")" * 50_000, {"E001"}),
        (f'{MODEL} derive {{ y = "{"x" * 4_000_000}" }} }}', set()),
        (f"{MODEL} derive {{ y = {'9' * 1_000_000} }} }}", {"E003"}),
        (f"{MODEL} derive {{ y = 0.{'9' * 1_000_000} }} }}", {"E003"}),
        (f"{MODEL} derive {{ y = 1e{'9' * 1_000_000} }} }}", {"E003"}),
        (f"{MODEL} derive {{ y = 18446744073709551616 }} }}", {"E003"}),
        (f'{MODEL} derive {{ y = cast("1{"0" * 38}", "decimal(38,0)") }} }}', {"E003"}),
        (f'{MODEL} derive {{ y = cast(x, "decimal(39,0)") }} }}', {"E072"}),
        (f"{MODEL} filter {'y' * 1_000_000} > 1 }}", {"E021"}),
        (f"/*{'*' * 1_000_000}", {"E001"}),
        (f'{MODEL} owner: "{"x" * 1_000_000}', {"E001"}),
        (f"{MODEL} derive {{ `{'x' * 1_000_000}", {"E001"}),
        (f"// {'x' * 1_000_000}", set()),
        (f"{MODEL} }}\0", {"E001"}),
        (f'{MODEL} owner: "\0" }}', {"E001"}),
        (MODEL.encode() + b"\xff }", {"E002"}),
        (b"\xff\xfem\0o\0", {"E002"}),
        (b"\xef\xbb\xbf" + MODEL.encode() + b"}", set()),
        (b"\xed\xa0\x80", {"E002"}),
        (f"{MODEL} filter \u0445 > 1 }}", {"E001"}),
        (f"{MODEL} derive {{ `\u0445` = x, `x` = x }} }}", set()),
        (f"{MODEL} derive {{ `\u202ex\u202c` = x }} }}", set()),
        (f"{MODEL} filter \u202ex > 1 }}", {"E001"}),
        ("import " + ".".join(["a"] * 50_000), {"E070"}),
        ("import values\nimport values", {"E028"}),
        ("fn f(n: Int) -> Int { f(n) }\nfn g(n: Int) -> List<Model> { if(f(n) == 0, [], []) }\ng(1)", {"E042"}),
        ("fn f(n: Int) -> Int { g(n) + g(n) }\nfn g(n: Int) -> Int { f(n + 1) }\nfn h() -> List<Model> "
         "{ if(f(1) == 0, [], []) }\nh()", {"E042"}),
        ("fn f(n: Int) -> List<Model> { f(n) + f(n) }\nf(1)", {"E042"}),
        ("domain a = b\ndomain b = c\ndomain c = a", {"E070"}),
        ("model a { from b }\nmodel b { from c }\nmodel c { from a }", {"E026"}),
    ],
    ids=range(42),
)  # fmt: skip
def test_extremes_are_told_or_taken(text, codes):
    assert {d.code for d in findings(text) if d.blocks} == codes


def test_ten_thousand_columns():
    names = [f"c{i}" for i in range(10_000)]
    columns = ", ".join(f"{name}: int64 nonnull" for name in names)
    text = f"source t {{ columns: {{ {columns} }} }}\nmodel m {{ from t derive {{ sum = c1 + c2 }} }}"
    project, found = compiled(text)
    assert not any(d.blocks for d in found)
    assert project.models["m"].relation.schema.names == (*names, "sum")


def test_a_file_that_is_no_strata_is_not_told_of_without_end():
    assert len(findings("model { \n" * 100_000)) <= 2 * MAX_ERRORS


def wide(statement: str, n: int) -> str:
    """A model that is not closed: over a table of `n` columns, a `statement` of each."""
    columns = ", ".join(f"x{i}: int64" for i in range(n))
    source = f"source t {{ columns: {{ {columns} }} }}"
    return "\n".join([source, "model m { from t", *map(statement.format, range(n)), ""])


GROWING: dict[str, Callable[[int], str]] = {
    "models": lambda n: MODEL + "}\n" + "\n".join(f"model m{i} {{ from t filter x > {i} }}" for i in range(n)),
    "models that read one another": lambda n: MODEL + "}\n" + "\n".join(
        f"model m{i} {{ from {f'm{i - 1}' if i else 'm'} filter x > {i} }}" for i in range(n)
    ),
    "models with errors": lambda n: MODEL + "}" + "".join(f"\nmodel m{i} {{ from t filter y > 1 }}" for i in range(n)),
    "columns": lambda n: f"{MODEL} select {{ {', '.join(f'c{i} = x + {i}' for i in range(n))} }} }}",
    "statements": lambda n: f"{MODEL} {' '.join(f'filter x > {i}' for i in range(n))} }}",
    "lets of one name": lambda n: MODEL + " ".join(f"let y = x + {i}" for i in range(n)) + "}",
    "lets that all live": lambda n: wide("let y{0} = x{0} + 1", n)
    + f"select {{ {', '.join(f'z{i} = y{i}' for i in range(n))} }} }}",
    "columns derived one by one": lambda n: wide("derive {{ y{0} = x{0} + 1 }}", n) + "}",
    "columns replaced one by one": lambda n: wide("derive {{ x{0} = x{0} + 1 }}", n) + "}",
    "columns filtered one by one": lambda n: wide("let y{0} = x{0} + 1 filter y{0} > 1", n) + "}",
    "windows one by one": lambda n: wide("derive {{ y{0} = rank() over (sort: [x{0}]) }}", n) + "}",
    "a column derived from itself": lambda n: wide("derive {{ x0 = x0 + x1 }}", n) + " select { x0 } }",
    "items of a list": lambda n: f"{MODEL} filter x in [{', '.join(map(str, range(n)))}] }}",
    "operands of or": lambda n: f"{MODEL} filter {' or '.join(f'x == {i}' for i in range(n))} }}",
    "operands of +": lambda n: f"{MODEL} derive {{ y = x{''.join(f' + {i}' for i in range(n))} }} }}",
    "arguments": lambda n: f"{MODEL} derive {{ y = concat({', '.join('s' for _ in range(n))}) }} }}",
    "branches": lambda n: f"{MODEL} derive {{ y = case({', '.join(f'x == {i}, {i}' for i in range(n))}) }} }}",
    "fields": lambda n: f"contract C {{ {', '.join(f'c{i}: string enum {{a, b}}' for i in range(n))} }}",
    "values of an enum": lambda n: f"contract C {{ c: string enum {{{', '.join(f'v{i}' for i in range(n))}}} }}",
    "domains": lambda n: "\n".join(f"domain d{i} = {f'd{i - 1}' if i else 'string'}" for i in range(n)),
    "stray brackets": lambda n: "}" * n,
    "stray words": lambda n: "word " * n,
    "open quotes": lambda n: '"\n' * n + '"',
    "comments": lambda n: "/* */ // x\n" * n,
    "imports": lambda n: "import values\n" * n,
    "second declarations": lambda n: "model m { from t }\n" * n,
}  # fmt: skip


@pytest.mark.parametrize("what", GROWING)
def test_the_cost_of_input_grows_with_its_size_and_no_faster(what):
    def cost(size: int) -> int:
        text = GROWING[what](size)
        return steps(lambda: findings(text))

    cost(10)  # what is made once is made
    small, large = cost(60), cost(240)
    assert large < 4.6 * small + 2000
