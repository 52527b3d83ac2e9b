"""Whole processes measured side by side: A and B in turn, so that a drifting machine slows both alike."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

RUNS = 5
PEERS = Path(__file__).resolve().parents[1] / ".generated" / "peers"
"""The peers to measure against, each in a virtual environment of its own; git-ignored, `make clean` removes it."""
BYTECODE_KEPT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
"""The environment of what is measured: an installed program has its bytecode, it does not compile itself each time."""


@dataclass(frozen=True, slots=True)
class Usage:
    """One finished process: seconds on the clock, seconds of CPU, and its peak memory in MiB."""

    wall: float
    cpu: float
    peak_mib: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Medians of two commands, and the median of the ratios A/B pair by pair."""

    a: Usage
    b: Usage
    wall_ratio: float
    cpu_ratio: float


def run(command: Sequence[str], cwd: Path | None = None, **variables: str) -> Usage:
    """Run a command to its end, with further environment `variables`; an exit code other than 0 is an error."""
    started = time.perf_counter()
    env = {**BYTECODE_KEPT, **variables}
    process = subprocess.Popen(command, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} exited {process.returncode}: {errors.decode()[-2000:]}")
    return Usage(time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def compare(
    a: Sequence[str],
    b: Sequence[str],
    *,
    runs: int = RUNS,
    cwd: Path | None = None,
    before: Callable[[], None] = lambda: None,
) -> Comparison:
    """Run A and B in turn, once to warm up and `runs` times counted; `before` puts things back for each run."""
    pairs: list[tuple[Usage, Usage]] = []
    for number in range(runs + 1):
        before()
        first = run(a, cwd)
        before()
        second = run(b, cwd)
        if number:
            pairs.append((first, second))
    return Comparison(
        _median([p[0] for p in pairs]),
        _median([p[1] for p in pairs]),
        statistics.median(p[0].wall / p[1].wall for p in pairs),
        statistics.median(p[0].cpu / p[1].cpu for p in pairs),
    )


def _median(usages: Sequence[Usage]) -> Usage:
    return Usage(
        statistics.median(u.wall for u in usages),
        statistics.median(u.cpu for u in usages),
        statistics.median(u.peak_mib for u in usages),
    )


def line(what: str, compared: Comparison, target: str) -> str:
    """A row of the results table."""
    a, b = compared.a, compared.b
    return (
        f"| {what} | {a.wall:.2f} s, {a.cpu:.2f} s CPU, {a.peak_mib:.0f} MiB | "
        f"{b.wall:.2f} s, {b.cpu:.2f} s CPU, {b.peak_mib:.0f} MiB | "
        f"{compared.wall_ratio:.2f} wall, {compared.cpu_ratio:.2f} CPU | {target} |"
    )
