"""Gives the compiler inputs that break compilers, and says which did.

usage: python -m tests.fuzz.run [COUNT [FIRST]]      (200,000 from 0; run from the root of the repository)

An input that fails is written to tests/fuzz/seeds, where the test suite tries it again forever.
"""

from __future__ import annotations

import signal
import sys
import time
import traceback
from pathlib import Path

from strata_core.analysis import compile_project
from strata_core.diagnostics import CODES, Span
from strata_core.diagnostics.render import render_json, render_text
from strata_core.language.format import format_text
from strata_core.language.parser import parse_bytes
from strata_core.planning.fingerprints import fingerprints

from .inputs import FILE, input_of

SEEDS = Path(__file__).with_name("seeds")
LONGEST = 20
"""Seconds after which an input hangs."""


def check(data: bytes) -> None:
    """Compile `data`, say what is wrong with it, lay it out: raises what a person would see as a traceback."""
    parsed = parse_bytes(data, FILE)
    compiled = compile_project([parsed.module])
    found = (*parsed.diagnostics, *compiled.diagnostics)
    text = data.decode("utf-8-sig", errors="replace")
    lines = text.count("\n") + 1
    for one in found:
        assert one.code in CODES, one
        assert one.message, one
        assert one.span is None or _within(one.span, lines), one
    render_text(found, lambda _: text, color=False, width=100)
    render_json(found)
    fingerprints(compiled)
    if not parsed.diagnostics:
        laid_out = format_text(text, FILE)
        assert laid_out.text is not None, "what parses has a layout"


def _within(span: Span, lines: int) -> bool:
    return 1 <= span.line <= span.end_line <= lines and span.column >= 1


def hangs(signum: int, frame: object) -> None:
    """An alarm went off."""
    raise TimeoutError(f"no answer within {LONGEST} s")


def main(count: int, first: int) -> int:
    """Try `count` inputs from number `first`; the number of those that failed."""
    signal.signal(signal.SIGALRM, hangs)
    failed = 0
    told = time.monotonic()
    for number in range(first, first + count):
        data = input_of(number)
        signal.alarm(LONGEST)
        try:
            check(data)
        except Exception:  # whatever it is, it is what this looks for
            failed += 1
            SEEDS.mkdir(exist_ok=True)
            (SEEDS / f"{number}.strata").write_bytes(data)
            print(f"input {number}:\n{traceback.format_exc(limit=-4)}", flush=True)
        finally:
            signal.alarm(0)
        if time.monotonic() - told > 10:
            told = time.monotonic()
            print(f"{number - first + 1:,} of {count:,} inputs, {failed} failed", file=sys.stderr, flush=True)
    print(f"{count:,} inputs, {failed} failed")
    return failed


if __name__ == "__main__":
    numbers = [int(argument.replace(",", "")) for argument in sys.argv[1:3]]
    sys.exit(1 if main(*(numbers + [200_000, 0][len(numbers) :])) else 0)
