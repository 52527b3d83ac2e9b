"""`strata check` against the public prototype (`strata-lang` 0.1.6), on generated projects that both accept.

CPU time of the whole process, A and B in turn: cold (no cache at all), after one edit in a new process with the caches
of the check before, and after one edit in a process that lives on (`planning.revisions`; the prototype's own process
is what it is compared with). One edit changes a line, another adds one. Then growth, 10,000 models, memory, and the
same declarations in another order.

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
from strata_core.planning.kept.revisions import first_revision, revised
from strata_core.planning.project import open_project

SIZES = (100, 300, 1000, 3000)
PEER = PEERS / "strata-lang" / "bin" / "strata"
OURS = str(Path(sys.executable).parent / "strata")
EDITS = {
    "an edit": ("amount * 0.8 - 3.25", "amount * 0.9 - 3.25"),
    "an edit that adds a line": (
        "  let net = amount * 0.8 - 3.25",
        "  filter amount < 9.5\n  let net = amount * 0.8 - 3.25",
    ),
}
"""A constant in one expression of a model in one of the first chains; a line above it, which moves all below."""


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
    edited = {what: text.replace(*edit) for what, edit in EDITS.items()}
    assert text not in edited.values()
    runs = 7 if size < 1000 else 5
    checked = {"cold": text, **{f"after {what}, new process": content for what, content in edited.items()}}
    peers: list[Usage] = []
    ours: dict[str, list[Usage]] = {what: [] for what in checked}
    for _ in range(runs):
        peers.append(run([peer, "check", str(file)]))
        for what, content in checked.items():
            file.write_text(content)
            ours[what].append(check(file, cold=what == "cold"))
        file.write_text(text)
    theirs = median(peers)
    for what, taken in ours.items():
        own = median(taken)
        ratio = statistics.median(a.cpu / b.cpu for a, b in zip(taken, peers, strict=True))
        target = "≤ 1" if what == "cold" else "≤ 0.15"
        print(row(f"`strata check`, {size:,} models, {what}", own.cpu, own.peak_mib, theirs, ratio, target), flush=True)
    for what, content in edited.items():
        warm = edit_in_memory(file, text, content)
        name = f"{what}, {size:,} models, in a living process"
        print(row(name, warm, None, theirs, warm / theirs.cpu, "≤ 0.02"), flush=True)
    return median(ours["cold"])


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
