"""`strata plan` over 1,000 applied models of 10 columns, nothing changed and after one edit, beside SQLMesh's plan.

usage: python benchmarks/plan.py [SQLMESH]

SQLMESH is the `sqlmesh` of a virtual environment of its own (`pip install sqlmesh==0.236.4`), by default of
`.generated/peers/sqlmesh`. Both have the models of `lineage.py`, in Strata and in the same SQL; SQLMesh's are views, so
that building them first takes minutes and not hours. Both keep their caches from before the edit: as in a second run
in CI.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from lineage import COLUMNS, LAYERS, WIDTH, sql, write
from measure import PEERS, Usage, run

RUNS = 3
OURS = str(Path(sys.executable).parent / "strata")
STRATA_EDIT = ("c3 = m4_0.c3 + m4_1.c2", "c3 = m4_0.c3 - m4_1.c2")
SQL_EDIT = ("m4_0.c3 + m4_1.c2 AS c3", "m4_0.c3 - m4_1.c2 AS c3")
NAMES = {f"m{layer}_{number}": (layer, number) for layer in range(LAYERS) for number in range(WIDTH)}


def main(sqlmesh: str) -> None:
    """Print the rows of the results table."""
    with tempfile.TemporaryDirectory() as name:
        ours, theirs = Path(name, "strata"), Path(name, "sqlmesh")
        write(ours)
        rows = "".join(f"{','.join(str(row + i) for i in range(COLUMNS))}\n" for row in range(50))
        for side in ("left", "right"):
            (ours / f"{side}.csv").write_text(",".join(f"c{i}" for i in range(COLUMNS)) + "\n" + rows)
        run([OURS, "apply"], ours)
        write_sqlmesh(theirs)
        plan = [sqlmesh, "plan", "--no-prompts", "--auto-apply", "--skip-tests"]
        run(plan, theirs)
        tell("nothing changed", measured([OURS, "plan"], ours), run(plan, theirs))
        edit(ours / "models" / "part_0500.strata", STRATA_EDIT)
        edit(theirs / "models" / "m5_0.sql", SQL_EDIT)
        preview = [*plan[:2], "dev", *plan[2:], "--skip-backfill"]
        tell("one edit", measured([OURS, "plan"], ours), run(preview, theirs))


def write_sqlmesh(root: Path) -> None:
    """The same models as SQL views over two small tables."""
    (root / "models").mkdir(parents=True)
    (root / "config.yaml").write_text(
        "gateways:\n  local:\n    connection: {type: duckdb, database: db.duckdb}\n"
        "default_gateway: local\nmodel_defaults: {dialect: duckdb}\n"
    )
    columns = ", ".join(f"range + {i} AS c{i}" for i in range(COLUMNS))
    for side in ("left", "right"):
        text = f"MODEL (name d.{side}_source, kind FULL);\nSELECT {columns} FROM range(50)\n"
        (root / "models" / f"{side}_source.sql").write_text(text)
    tables = (*NAMES, "left_source", "right_source")
    for name, (layer, number) in NAMES.items():
        text = sql(layer, number)
        for keyword in (" FROM ", " JOIN "):
            head, _, tail = text.partition(keyword)
            table = tail.split()[0]
            assert table in tables
            text = f"{head}{keyword}d.{table} AS {tail}"
        (root / "models" / f"{name}.sql").write_text(f"MODEL (name d.{name}, kind VIEW);\n{text}\n")


def edit(file: Path, change: tuple[str, str]) -> None:
    """Make a change that must be there to make."""
    text = file.read_text()
    assert change[0] in text
    file.write_text(text.replace(*change))


def measured(command: list[str], root: Path) -> Usage:
    """The run with the median CPU of a few."""
    return sorted((run(command, root) for _ in range(RUNS)), key=lambda usage: usage.cpu)[RUNS // 2]


def tell(what: str, ours: Usage, theirs: Usage) -> None:
    """A row of the results table."""
    print(
        f"| `strata plan` of 1,000 applied models, {what}, against SQLMesh's plan | {ours.wall:.2f} s, {ours.cpu:.2f} "
        f"s CPU, {ours.peak_mib:.0f} MiB | {theirs.wall:.2f} s, {theirs.cpu:.2f} s CPU, {theirs.peak_mib:.0f} MiB | "
        f"{ours.cpu / theirs.cpu:.3f} CPU | ≤ 0.067 |",
        flush=True,
    )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(PEERS / "sqlmesh" / "bin" / "sqlmesh"))
