"""`strata check` against the public prototype (`strata-lang` 0.1.6), on generated projects that both accept.

CPU time of the whole process, A and B in turn: cold (no cache at all), after one edit in a new process with the caches
of the check before, and after one edit in a process that lives on (`planning.revisions`; the prototype's own process
is what it is compared with). Then growth, 10,000 models, memory, and the same declarations in another order.

usage: python benchmarks/prototype.py [PROTOTYPE]

PROTOTYPE is the `strata` of a virtual environment of its own (`pip install strata-lang==0.1.6`); by default that of
`.generated/peers/strata-lang`.
"""

from __future__ import annotations

import gc
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import PEERS, Usage, run

from models import module
from strata_core.planning.project import open_project
from strata_core.planning.revisions import first_revision, revised

SIZES = (100, 300, 1000, 3000)
PEER = PEERS / "strata-lang" / "bin" / "strata"
OURS = str(Path(sys.executable).parent / "strata")
EDIT = ("amount * 0.8 - 3.25", "amount * 0.9 - 3.25")
"""One edit: a constant in one expression of a model in the middle of the first chains."""


def main(peer: str) -> None:
    """Print the rows of the results table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cold = {}
        for size in SIZES:
            file = folder / f"p{size}.strata"
            file.write_text(module(size))
            cold[size] = compare(size, file, peer)
        growth = cold[3000].cpu / cold[300].cpu
        print(f"| growth of the cold check from 300 to 3,000 models | {growth:.1f} | | | ≤ 11 |")
        large(folder, cold[1000])


def compare(size: int, file: Path, peer: str) -> Usage:
    """The rows of one size; gives the cold check."""
    text = file.read_text()
    edited = text.replace(*EDIT)
    assert edited != text
    runs = 7 if size < 1000 else 5
    taken: list[tuple[Usage, Usage, Usage]] = []
    for _ in range(runs):
        theirs = run([peer, "check", str(file)])
        first = check(file, cold=True)
        file.write_text(edited)
        again = check(file)
        file.write_text(text)
        taken.append((theirs, first, again))
    theirs = median([t for t, _, _ in taken])
    what = f"{size:,} models"
    for name, number, target in (("cold", 1, "≤ 1"), ("after an edit, new process", 2, "≤ 0.15")):
        ours = median([one[number] for one in taken])
        ratio = statistics.median(one[number].cpu / one[0].cpu for one in taken)
        print(row(f"`strata check`, {what}, {name}", ours.cpu, ours.peak_mib, theirs, ratio, target), flush=True)
    warm = edit_in_memory(file, text, edited)
    print(row(f"one edit, {what}, in a living process", warm, None, theirs, warm / theirs.cpu, "≤ 0.02"), flush=True)
    return median([first for _, first, _ in taken])


def check(file: Path, *, cold: bool = False) -> Usage:
    """`strata check`, with the caches of the one before or with none at all."""
    cache = file.parent / "cache"
    if cold:
        shutil.rmtree(cache, ignore_errors=True)
    return run([OURS, "check", str(file)], STRATA_CACHE_DIR=str(cache))


def edit_in_memory(file: Path, text: str, edited: str) -> float:
    """Seconds of CPU from an edit to all findings, the median of several edits."""
    revision = first_revision(open_project(file))
    path = revision.project.files[0].path
    gc.freeze()
    taken = []
    for content in (edited, text) * 5:
        started = time.process_time()
        revision = revised(revision, {path: content.encode()})
        taken.append(time.process_time() - started)
    gc.unfreeze()
    return statistics.median(taken)


def large(folder: Path, thousand: Usage) -> None:
    """10,000 models complete in memory that grows with their number, and in any order of declaration."""
    file = folder / "large.strata"
    text = module(10_000)
    usages = []
    for order in ("as generated", "shuffled"):
        parts = text.split("\n\n")
        if order == "shuffled":
            random.Random(0).shuffle(parts)
        file.write_text("\n\n".join(parts))
        usages.append(check(file, cold=True))
    ordered, shuffled = usages
    print(f"| 10,000 models, cold | {ordered.cpu:.2f} s CPU, {ordered.peak_mib:.0f} MiB | | | completes |")
    per_model = (ordered.peak_mib - thousand.peak_mib) / 9 / thousand.peak_mib
    print(f"| memory of each further 1,000 models, against the first 1,000 | | | {per_model:.2f} | ≤ 1 |")
    ratio = shuffled.cpu / ordered.cpu
    print(f"| 10,000 models, declarations shuffled | {shuffled.cpu:.2f} s CPU | | {ratio:.2f} | the same |")


def row(what: str, cpu: float, peak: float | None, theirs: Usage, ratio: float, target: str) -> str:
    """A row of the results table."""
    memory = f", {peak:.0f} MiB" if peak is not None else ""
    return f"| {what} | {cpu:.3f} s CPU{memory} | {theirs.cpu:.3f} s CPU | {ratio:.3f} CPU | {target} |"


def median(usages: list[Usage]) -> Usage:
    """The usage in the middle, each figure by itself."""
    return Usage(
        statistics.median(u.wall for u in usages),
        statistics.median(u.cpu for u in usages),
        statistics.median(u.peak_mib for u in usages),
    )


if __name__ == "__main__":
    prototype = sys.argv[1] if len(sys.argv) > 1 else str(PEER)
    if not Path(prototype).is_file():
        sys.exit(f"there is no prototype at {prototype}: python -m venv ENV && ENV/bin/pip install strata-lang==0.1.6")
    assert subprocess.run([prototype, "--help"], capture_output=True).returncode == 0
    main(prototype)
