"""`strata check` with empty caches: models that one call generates, against the same models written by hand.

usage: python benchmarks/generated.py [COUNT …]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from measure import BYTECODE_KEPT, compare, line

TABLES = """
source paid(csv: "paid.csv") {
  columns: { id: int64 primary_key, country: string nonnull, amount: float64 nonnull }
}
contract Paid { id: int64 primary_key, country: string nonnull, amount: float64 nonnull }
"""
BODY = """
  owner: "team {0}"
  from paid
  filter country == {1} and amount > 1.5
  let doubled = amount * 2.0
  derive {{ amount = doubled + 1.0 }}
  select {{ id, country, amount }}
"""


def by_hand(count: int) -> str:
    """`count` models."""
    return TABLES + "".join(
        f"model paid_{i} -> contract Paid {{{BODY.format(i, chr(34) + str(i) + chr(34))}}}\n" for i in range(count)
    )


def generated(count: int) -> str:
    """A function and the one call that gives the same models."""
    template = f'model "paid_${{c}}" -> contract Paid {{{BODY.format("${c}", "c")}}}'
    names = ", ".join(f'"{i}"' for i in range(count))
    return (
        f"{TABLES}fn by_country(cs: List<Str>) -> List<Model> {{ [{template} for c in cs] }}\nby_country([{names}])\n"
    )


def main() -> None:
    """Print a row of the results table for each count."""
    strata = str(Path(sys.executable).parent / "strata")
    for count in map(int, sys.argv[1:] or ("300", "3000")):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            cache = root / "cache"
            BYTECODE_KEPT["STRATA_CACHE_DIR"] = str(cache)
            for name, text in (("generated", generated(count)), ("hand", by_hand(count))):
                (root / name).mkdir()
                (root / name / "models.strata").write_text(text, encoding="utf-8")
                (root / name / "strata.toml").write_text(
                    '[project]\nname = "p"\nmodels = ["."]\n[lint]\nW001 = "off"\n'
                )
            commands = ([strata, "check", "--project", str(root / name)] for name in ("generated", "hand"))
            compared = compare(*commands, runs=3, before=lambda cache=cache: shutil.rmtree(cache, ignore_errors=True))
        print(line(f"cold check of {count:,} generated models, against by hand", compared, "≤ 1.1 CPU"))


if __name__ == "__main__":
    main()
