"""The loop between a model and the checker: bounded, and what refuses a program goes back to the model."""

from __future__ import annotations

from strata_core.diagnostics import Diagnostic, Severity
from strata_core.language.constrained import Attempt, generate, syntax

GOOD = "model m { from orders }"
BAD = "model m { form orders }"


class Scripted:
    """A sampler that says what it was told to say, and keeps what it was shown."""

    def __init__(self, *programs: str) -> None:
        self.programs = list(programs)
        self.shown: list[tuple[str, tuple[Attempt, ...]]] = []

    def __call__(self, grammar: str, attempts: tuple[Attempt, ...]) -> str:
        self.shown.append((grammar, attempts))
        return self.programs.pop(0)


def test_a_program_that_passes_ends_the_loop():
    sampler = Scripted(GOOD, "never asked for")
    generated = generate("root ::= …", sampler)
    assert (generated.program, generated.diagnostics) == (GOOD, ())
    assert sampler.shown == [("root ::= …", ())]


def test_seed0_s7_the_sampler_is_shown_what_was_wrong():
    sampler = Scripted(BAD, GOOD)
    generated = generate("g", sampler)
    refused = Attempt(BAD, syntax(BAD))
    assert [d.message for d in refused.diagnostics] == ["unknown word `form`"]
    assert sampler.shown == [("g", ()), ("g", (refused,))]
    assert generated.attempts == (refused, Attempt(GOOD, ()))
    assert generated.program == GOOD


def test_the_rounds_are_bounded():
    sampler = Scripted(BAD, BAD, GOOD)
    generated = generate("g", sampler, rounds=2)
    assert generated.program is None
    assert generated.diagnostics == syntax(BAD)
    assert len(sampler.shown) == 2


def test_without_a_round_there_is_no_program():
    generated = generate("g", Scripted(), rounds=0)
    assert (generated.program, generated.diagnostics) == (None, ())


def test_a_warning_refuses_nothing():
    warning = Diagnostic("W004", "the contract has no mask", severity=Severity.WARNING)
    generated = generate("g", Scripted(GOOD), lambda program: (warning,))
    assert (generated.program, generated.diagnostics) == (GOOD, (warning,))
