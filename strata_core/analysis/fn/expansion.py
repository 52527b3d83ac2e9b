"""Modules with compile-time functions to modules without: each call is replaced by the models that it gives.

What comes out holds sources, contracts, models, …, as if the models had been written by hand. Most projects have no
compile-time function: `generation`, and all that it needs, is loaded where there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...diagnostics import Diagnostic, Report, Span
from ...frozen import dataclass
from ...language import ast

if TYPE_CHECKING:
    from .evaluate import Cost
    from .values import Instance


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a generated model comes from: the `instance` of its template, and the call in a module or pipeline."""

    instance: Instance
    site: Span

    @property
    def call(self) -> str:
        """The function that holds the template, with the values that it was made with: `by_country(c = "ES")`."""
        from .values import spelled

        bound = ", ".join(f"{name} = {spelled(value)}" for name, value in self.instance.bindings)
        return f"{self.instance.function}({bound})"


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What a call gave (`None`: no models, and the findings say why or its functions are in error), the declarations
    that it came from, what was left to spend before it, and what it cost."""

    call: ast.Call
    declarations: tuple[object, ...]
    instances: tuple[Instance, ...] | None
    diagnostics: tuple[Diagnostic, ...]
    left: Cost
    cost: Cost

    def holds(self, call: ast.Call, declarations: tuple[object, ...]) -> bool:
        """Whether it came from these, or from what stood at the same places and said the same. What was wrong with
        names may be right by now."""
        settled = self.instances is not None or bool(self.diagnostics)
        if not settled or any(d.code != "E042" for d in self.diagnostics):
            return False
        now, then = (call, *declarations), (self.call, *self.declarations)
        return len(now) == len(then) and all(a is b or a == b for a, b in zip(now, then, strict=True))


@dataclass(frozen=True, slots=True)
class Expansion:
    """The modules, the origin of each generated model by its name, what each call gave, by its place, and the names of
    all functions."""

    modules: tuple[ast.Module, ...]
    origins: Mapping[str, Origin]
    calls: Mapping[Span, Evaluated]
    functions: frozenset[str] = frozenset()


def expand(modules: Sequence[ast.Module], before: Mapping[Span, Evaluated], report: Report) -> Expansion:
    """Replace the calls of compile-time functions by their models. Linear in what is declared and generated.

    A call that was evaluated `before`, of equal declarations, gives the very same models.
    """
    kinds = {type(d) for m in modules for d in m.declarations}
    if all(issubclass(kind, PLAIN) for kind in kinds) or not any(
        _is_compile_time(d) for m in modules for d in m.declarations
    ):
        return Expansion(tuple(modules), {}, {})
    from .generation import generate

    return generate(modules, before, report)


PLAIN = (ast.Model, ast.Contract, ast.Source, ast.Test, ast.Domain, ast.Import)
"""Nearly all that there is: nothing in them is computed when the program is compiled."""


def _is_compile_time(declaration: ast.Declaration) -> bool:
    match declaration:
        case ast.Fn() | ast.Broken(word="fn"):
            return True
        case _:
            return bool(calls_of(declaration))


def calls_of(declaration: ast.Declaration) -> list[ast.Call]:
    """The calls by which a declaration adds models."""
    match declaration:
        case ast.Generator():
            return [declaration.call]
        case ast.Pipeline():
            return [chosen for chosen in declaration.models if isinstance(chosen, ast.Call)]
        case _:
            return []
