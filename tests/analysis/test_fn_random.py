"""Random compile-time functions that call one another, recursion among them: what the checker lets through evaluates to
an end, and what can still go wrong is told."""

from __future__ import annotations

from random import Random

import pytest

from strata_core.analysis import compile_project
from strata_core.language.parser import parse_module

TYPES = ["Str", "Int", "Bool", "List<Str>", "List<Int>"]
LEAVES = {"Str": '"a"', "Int": "2", "Bool": "true", "List<Str>": '["a", "b"]', "List<Int>": "[1, 2]"}
SOURCE = 'source t(csv: "t.csv") { columns: { a: int64 nonnull, b: string } }\n'
TEMPLATE = """
fn made(xs: List<Str>, n: Int) -> List<Model> {
  [
    model "m_${x}_${n}" {
      from t
      filter b == x and a in [y for y in [n, 2]] and b in xs
      select { a, x, q = n }
    }
    for x in xs
  ]
}
"""


class Writer:
    """Writes well-typed functions. Those that were declared may be called, and some before their body is there."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.declared: dict[str, tuple[list[str], str]] = {}

    def program(self) -> str:
        text = SOURCE + TEMPLATE
        for number in range(self.random.randint(1, 6)):
            name, given = f"f{number}", self.random.choices(TYPES, k=self.random.randint(0, 3))
            returns = self.random.choice(TYPES)
            scope = {f"p{i}": type_ for i, type_ in enumerate(given)}
            if self.random.random() < 0.3:
                self.declared[name] = given, returns
            body = self.value(returns, scope, self.random.randint(1, 6))
            self.declared[name] = given, returns
            parameters = ", ".join(f"{n}: {type_}" for n, type_ in scope.items())
            text += f"fn {name}({parameters}) -> {returns} {{ {body} }}\n"
        return f"{text}fn names() -> List<Str> {{ {self.value('List<Str>', {}, 5)} }}\nmade(names(), 3)\n"

    def value(self, type_: str, scope: dict[str, str], depth: int) -> str:
        named = [name for name, known in scope.items() if known == type_]
        if named and self.random.random() < 0.35:
            return self.random.choice(named)
        if depth == 0:
            return LEAVES[type_]
        calls = [name for name, (_, returns) in self.declared.items() if returns == type_]
        if calls and self.random.random() < 0.25:
            name = self.random.choice(calls)
            given = (self.value(t, scope, depth - 1) for t in self.declared[name][0])
            return f"{name}({', '.join(given)})"
        return self.random.choice(self.ways(type_, scope, depth - 1))

    def ways(self, type_: str, scope: dict[str, str], depth: int) -> list[str]:
        def of(wanted: str) -> str:
            return self.value(wanted, scope, depth)

        match type_:
            case "Str":
                texts = [name for name, known in scope.items() if known in ("Str", "Int")]
                hole = f"${{{self.random.choice(texts)}}}" if texts else ""
                return [f"concat({of('Str')}, {of('Int')})", f"({of('Str')} + {of('Str')})", f'"x{hole}"']
            case "Int":
                return [f"({of('Int')} + {of('Int')})", f"({of('Int')} * {of('Int')})", f"length({of('List<Int>')})"]
            case "Bool":
                return [f"({of('Int')} < {of('Int')})", f"({of('Str')} in {of('List<Str>')})", f"(not {of('Bool')})"]
            case _:
                element = type_[5:-1]
                source = self.random.choice(["List<Str>", "List<Int>"])
                variable = f"v{self.random.randint(0, 3)}"
                within = scope | {variable: source[5:-1]}
                loop = f"for {variable} in {of(source)} if {self.value('Bool', within, depth)}"
                return [
                    f"if({of('Bool')}, {of(type_)}, {of(type_)})",
                    f"({of(type_)} + {of(type_)})",
                    f"[{self.value(element, within, depth)} {loop}]",
                ]


@pytest.mark.parametrize("seed", range(0, 120, 10))
def test_law_what_the_checker_lets_through_evaluates_to_an_end(seed: int) -> None:
    for number in range(seed, seed + 10):
        text = Writer(number).program()
        parsed = parse_module(text, "m.strata")
        assert parsed.diagnostics == (), text
        found = compile_project([parsed.module])
        # Names that are given twice, recursion without end, numbers beyond int64.
        assert {d.code for d in found.diagnostics if d.blocks} <= {"E023", "E042", "E070"}, text
