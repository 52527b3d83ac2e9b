"""`strata check` on the demo with warm caches against `python -c "import lark"`, and what `strata --help` imports.

usage: python benchmarks/check.py
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from measure import compare, line

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("dagster", "polars", "duckdb", "pyarrow")


def main() -> None:
    """Print a row of the results table for each claim."""
    strata = str(Path(sys.executable).parent / "strata")
    compared = compare([strata, "check"], [sys.executable, "-c", "import lark"], runs=11, cwd=ROOT)
    allowed = 1.5 * compared.b.wall + 0.2
    print(line('`strata check` on the demo, warm, against `python -c "import lark"`', compared, f"≤ {allowed:.2f} s"))
    probe = (
        "import sys\nfrom strata_core.cli.verbs import strata\nstrata.main(['--help'], standalone_mode=False)\n"
        f"print('loaded:', [m for m in {HEAVY!r} if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    print(f"| heavy modules that `strata --help` imports | {shown.stdout.splitlines()[-1]} | | | none |")


if __name__ == "__main__":
    main()
