"""Lineage of 1,000 models of 10 columns: the diff of two revisions and `Down` of every column against cold checks,
and sqlglot's lineage on the equivalent SQL.

usage: python benchmarks/lineage.py [PYTHON]

PYTHON is that of a virtual environment of its own (`pip install sqlmesh==0.236.4`), by default of
`.generated/peers/sqlmesh`; without it that row is left out.

The project has ten layers of a hundred models; each reads two of the layer above, so that paths double with each
layer: a graph of diamonds. SQL and Strata say the same.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from measure import PEERS, Usage, run

if TYPE_CHECKING:
    from strata_core.analysis import CompiledProject

LAYERS, WIDTH, COLUMNS = 10, 100, 10
RUNS = 3
PEER = PEERS / "sqlmesh" / "bin" / "python"


def upstream(layer: int, number: int) -> tuple[str, str]:
    """What a model reads."""
    if layer == 0:
        return "left_source", "right_source"
    return f"m{layer - 1}_{number}", f"m{layer - 1}_{(number + 1) % WIDTH}"


def strata(layer: int, number: int) -> str:
    """A model: a join, a filter and ten columns."""
    a, b = upstream(layer, number)
    computed = "".join(f"    c{i} = {a}.c{i} + {b}.c{i - 1},\n" for i in range(1, COLUMNS))
    return (
        f'model m{layer}_{number} {{\n  owner: "team_{number % 7}"\n  from {a}\n  join_inner {b} on {a}.c0 == {b}.c0\n'
        f"  filter {a}.c1 > {number}\n  select {{\n    c0 = {a}.c0,\n{computed}  }}\n}}\n"
    )


def sql(layer: int, number: int) -> str:
    """The same in SQL."""
    a, b = upstream(layer, number)
    computed = ", ".join(f"{a}.c{i} + {b}.c{i - 1} AS c{i}" for i in range(1, COLUMNS))
    return f"SELECT {a}.c0 AS c0, {computed} FROM {a} JOIN {b} ON {a}.c0 = {b}.c0 WHERE {a}.c1 > {number}"


def write(root: Path, layers: int = LAYERS) -> None:
    """The project: a module for every ten models."""
    columns = ", ".join(f"c{i}: int64 nonnull{' primary_key' if i == 0 else ''}" for i in range(COLUMNS))
    sources = [
        f'source {side}_source(csv: "{side}.csv") {{ columns: {{ {columns} }} }}\n' for side in ("left", "right")
    ]
    (root / "models").mkdir(parents=True)
    (root / "strata.toml").write_text('[project]\nname = "wide"\n[lint]\nW001 = "off"\n')
    (root / "models" / "sources.strata").write_text("\n".join(sources))
    models = [strata(layer, number) for layer in range(layers) for number in range(WIDTH)]
    for start in range(0, len(models), 10):
        (root / "models" / f"part_{start:04}.strata").write_text("\n".join(models[start : start + 10]))


def git(root: Path, *arguments: str) -> None:
    """Run git as somebody."""
    who = {f"GIT_{role}_{part}": "a" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    subprocess.run(["git", *arguments], cwd=root, env=os.environ | who, check=True, stdout=subprocess.DEVNULL)


def cold(command: list[str], root: Path) -> Usage:
    """A process with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        return run(["env", f"STRATA_CACHE_DIR={folder}", *command], root)


def diff_against_checks(root: Path) -> Usage:
    """`strata lineage-diff` against a cold `strata check` of both sides, and sqlglot's lineage of both."""
    write(root)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "before")
    edited = root / "models" / "part_0500.strata"
    edited.write_text(edited.read_text().replace("c3 = m4_0.c3 + m4_1.c2", "c3 = m4_0.c3 - m4_1.c2"))
    git(root, "commit", "-q", "-a", "-m", "after")
    tool = str(Path(sys.executable).parent / "strata")
    pairs: list[tuple[Usage, list[Usage]]] = []
    for _ in range(RUNS):
        diff = cold([tool, "lineage-diff", "HEAD~1..HEAD", "--format", "json"], root)
        checks = []
        for revision in ("HEAD~1", "HEAD"):
            git(root, "checkout", "-q", revision)
            checks.append(cold([tool, "check"], root))
        git(root, "checkout", "-q", "-")
        pairs.append((diff, checks))
    ratio = statistics.median(diff.cpu / sum(c.cpu for c in checks) for diff, checks in pairs)
    diff, checks = pairs[-1]
    print(
        f"| `strata lineage-diff`, 1,000 models × 10 columns, one change, against cold checks of both sides | "
        f"{diff.wall:.2f} s, {diff.cpu:.2f} s CPU | {sum(c.wall for c in checks):.2f} s, "
        f"{sum(c.cpu for c in checks):.2f} s CPU | {ratio:.2f} CPU | ≤ 1.3 |"
    )
    theirs = 2 * sqlglot_origins()
    print(
        f"| the same against sqlglot's lineage of every column, of both sides, upstream models as tables | "
        f"{diff.cpu:.2f} s CPU | {theirs:.2f} s CPU | {theirs / diff.cpu:.0f} times | ≥ 10 times |"
    )
    return diff


@cache
def sqlglot_origins() -> float:
    """Seconds of CPU that sqlglot's lineage of every column of every model takes."""
    return timed(lambda: [origins(layer, number) for layer in range(LAYERS) for number in range(WIDTH)])


def origins(layer: int, number: int) -> None:
    """sqlglot's lineage of each column of a model."""
    from sqlglot.lineage import lineage

    types = {f"c{i}": "BIGINT" for i in range(COLUMNS)}
    schema = dict.fromkeys(upstream(layer, number), types)
    for column in types:
        lineage(column, sql(layer, number), schema=schema, dialect="duckdb")


def timed(work: Callable[[], object]) -> float:
    """Seconds of CPU that `work` takes in this process."""
    started = time.process_time()
    work()
    return time.process_time() - started


def down_against_check(root: Path) -> None:
    """`Down` of all columns, its graph included, against one cold check in the same process."""
    from strata_core.lineage.graph import lineage_graph
    from strata_core.lineage.tables import project_tables
    from strata_core.planning.cache import uncollected
    from strata_core.planning.project import compile_, open_project

    ratios, last = [], (0.0, 0.0)
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as kept:
            os.environ["STRATA_CACHE_DIR"] = kept
            project = open_project(project=root)
            check = timed(lambda project=project: compile_(project))
            compiled = compile_(project)

        def every(compiled: CompiledProject = compiled) -> None:
            with uncollected():
                graph = lineage_graph(project_tables("wide", compiled))
                for table in graph.tables:
                    for column in graph.columns(table):
                        graph.down(column)

        down = timed(every)
        ratios.append(down / check)
        last = (down, check)
    print(
        f"| `Down` of each of its 10,020 columns, against one cold check | {last[0]:.2f} s CPU | {last[1]:.2f} s CPU | "
        f"{statistics.median(ratios):.2f} CPU | ≤ 0.2 |"
    )


def against_sqlmesh(python: Path, diff: Usage, root: Path) -> None:
    """`strata lineage-diff` against what SQLMesh does before it plans: it loads the equivalent project once."""
    (root / "models").mkdir(parents=True)
    gateway = "gateways: {local: {connection: {type: duckdb, database: db.db}}}\ndefault_gateway: local\n"
    (root / "config.yaml").write_text(f"{gateway}model_defaults: {{dialect: duckdb, start: 2024-01-01}}\n")
    constants = ", ".join(f"1::BIGINT AS c{i}" for i in range(COLUMNS))
    queries = {f"{side}_source": f"SELECT {constants}" for side in ("left", "right")}
    for layer in range(LAYERS):
        for number in range(WIDTH):
            a, b = upstream(layer, number)
            query = sql(layer, number).replace(f"FROM {a} JOIN {b}", f"FROM w.{a} AS {a} JOIN w.{b} AS {b}")
            queries[f"m{layer}_{number}"] = query
    for name, query in queries.items():
        (root / "models" / f"{name}.sql").write_text(f"MODEL (name w.{name}, kind FULL);\n{query}\n")
    load = run([str(python), "-c", "from sqlmesh import Context; Context(paths='.')"], root)
    print(
        f"| `strata lineage-diff` of two revisions, against SQLMesh's loading of one, without its plan | "
        f"{diff.cpu:.2f} s CPU | {load.cpu:.2f} s CPU | {load.cpu / diff.cpu:.0f} times | ≥ 10 times |"
    )


def against_sqlglot(root: Path) -> None:
    """Origins of every column, compiling included, and one column up through all layers."""
    from sqlglot.lineage import lineage

    from strata_core.lineage.graph import lineage_graph
    from strata_core.lineage.tables import ColumnId, TableId, project_tables
    from strata_core.planning.cache import uncollected
    from strata_core.planning.project import compile_, open_project

    project = open_project(project=root)
    with tempfile.TemporaryDirectory() as kept, uncollected():
        os.environ["STRATA_CACHE_DIR"] = kept
        compiling = timed(lambda: compile_(project))
        compiled = compile_(project)
        graph = timed(lambda: lineage_graph(project_tables("wide", compiled)))
        column = ColumnId(TableId("wide", f"m{LAYERS - 1}_0"), "c9")
        deep = timed(lambda: lineage_graph(project_tables("wide", compiled)).up(column))
    theirs = sqlglot_origins()
    for what, ours in (("compiling included", compiling + graph), ("of what is compiled", graph)):
        print(
            f"| origins of every column of its 1,000 models, {what}, against sqlglot's lineage | {ours:.2f} s CPU | "
            f"{theirs:.2f} s CPU | {theirs / ours:.0f} times | ≥ 10 times |"
        )
    types = {f"c{i}": "BIGINT" for i in range(COLUMNS)}
    schema = {"left_source": types, "right_source": types}
    sources = {f"m{layer}_{n}": sql(layer, n) for layer in range(LAYERS - 1) for n in range(LAYERS + 1)}
    deepest = sql(LAYERS - 1, 0)
    theirs_deep = timed(lambda: lineage("c9", deepest, schema=schema, sources=sources, dialect="duckdb"))
    print(
        f"| one column up through {LAYERS} layers of diamonds, the graph included, against sqlglot's lineage | "
        f"{deep:.3f} s CPU | {theirs_deep:.2f} s CPU | {theirs_deep / deep:.0f} times | ≥ 50 times |"
    )


def main() -> None:
    """Print a row of the results table for each claim."""
    os.environ["PYTHONWARNINGS"] = "ignore"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        diff = diff_against_checks(root / "diff")
        python = Path(sys.argv[1]) if len(sys.argv) > 1 else PEER
        if python.exists():
            against_sqlmesh(python, diff, root / "sqlmesh")
        down_against_check(root / "diff")
        against_sqlglot(root / "diff")


if __name__ == "__main__":
    main()
