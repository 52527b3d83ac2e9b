"""The loop that gets programs from a model: it decodes under the grammar, the checker judges, it hears what is wrong.

The grammar keeps a model from writing what does not parse (and, made for a project, from naming what does not
exist); the checker refuses what parses and breaks a contract, before anything is generated from it (Seed 0 §7).
Model server and checker are passed in: `planning/generation.py` has the checker of a project.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ..diagnostics import Diagnostic, has_errors
from ..frozen import dataclass
from .parser import parse_module

FILE = "generated.strata"
Check = Callable[[str], tuple[Diagnostic, ...]]


@dataclass(frozen=True, slots=True)
class Attempt:
    """A program that was sampled, and what the check said of it; spans name the file `generated.strata`."""

    program: str
    diagnostics: tuple[Diagnostic, ...]

    @property
    def passes(self) -> bool:
        """Whether the check found no error (warnings refuse nothing)."""
        return not has_errors(self.diagnostics)


class Sampler(Protocol):
    """A model behind whatever serves it."""

    def __call__(self, grammar: str, attempts: tuple[Attempt, ...]) -> str:
        """The text of a whole module, decoded under `grammar` (GBNF, root rule `root`).

        `attempts` are the earlier ones, the oldest first: each with the diagnostics that refused it, to be shown to
        the model (`diagnostics.render.render_text`).
        """


@dataclass(frozen=True, slots=True)
class Generated:
    """What came of it: every attempt, the last one with the program if it passes."""

    attempts: tuple[Attempt, ...]

    @property
    def program(self) -> str | None:
        """The program that passed the check; None if none did."""
        return self.attempts[-1].program if self.attempts and self.attempts[-1].passes else None

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was said of the last attempt."""
        return self.attempts[-1].diagnostics if self.attempts else ()


def syntax(program: str) -> tuple[Diagnostic, ...]:
    """The check that needs no project: whether `program` parses."""
    return parse_module(program, FILE).diagnostics


def generate(grammar: str, sampler: Sampler, check: Check = syntax, *, rounds: int = 3) -> Generated:
    """Sample until a program passes `check`, at most `rounds` times."""
    attempts: tuple[Attempt, ...] = ()
    for _ in range(rounds):
        program = sampler(grammar, attempts)
        attempts = (*attempts, Attempt(program, check(program)))
        if attempts[-1].passes:
            break
    return Generated(attempts)
