"""`contract-engine validate`: against `datacontract lint` on the same contract, linear in contracts, unchanged trees
and one edit, and a dbt manifest of 5,000 models in one pass.

usage: python benchmarks/contracts.py PATH/TO/datacontract   (an environment of its own with datacontract-cli)
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import yaml
from measure import BYTECODE_KEPT, Usage, compare, line, run

COLUMNS = 20
TYPES = (("int64", "integer"), ("string", "string"), ("decimal(10,2)", "number"), ("date", "date"), ("bool", "boolean"))
MODELS = 5000


def contract(number: int) -> dict[str, object]:
    """A contract of one table with twenty columns."""
    columns = [
        {
            "name": f"c{j}",
            "type": TYPES[j % len(TYPES)][0],
            "nullable": j % 2 == 0,
            "description": f"Column {j} of product {number}.",
            **({"primary_key": True} if j == 1 else {}),
        }
        for j in range(COLUMNS)
    ]
    unique = {"type": "unique", "columns": ["c1"]}
    return {
        "apiVersion": "strata/v0",
        "kind": "DataProductContract",
        "id": f"d{number % 20}.p{number}",
        "name": f"Product {number}",
        "version": "1.0.0",
        "status": "active",
        "layer": "silver",
        "domain": f"d{number % 20}",
        "owner": {"team": "team", "approvers": ["ana"]},
        "purpose": "To measure how long it takes to read.",
        "assets": [{"id": f"t{number}", "kind": "table", "description": "A table.", "columns": columns}],
        "semantics": {"grain": "one row per thing"},
        "tests": [
            {"id": "k", "kind": "expectation", "severity": "blocking", "asset": f"t{number}", "expectation": unique}
        ],
    }


def odcs(number: int) -> dict[str, object]:
    """The same in the Open Data Contract Standard."""
    properties = [
        {
            "name": f"c{j}",
            "logicalType": TYPES[j % len(TYPES)][1],
            "required": j % 2 == 1,
            "description": f"Column {j} of product {number}.",
            **({"primaryKey": True, "primaryKeyPosition": 1} if j == 1 else {}),
        }
        for j in range(COLUMNS)
    ]
    return {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": f"d{number % 20}.p{number}",
        "name": f"Product {number}",
        "version": "1.0.0",
        "status": "active",
        "domain": f"d{number % 20}",
        "description": {"purpose": "To measure how long it takes to read."},
        "schema": [
            {"name": f"t{number}", "logicalType": "object", "description": "A table.", "properties": properties}
        ],
    }


def project(root: Path, count: int) -> Path:
    """A project of `count` contracts."""
    for number in range(count):
        place = root / "contracts" / f"d{number % 20}" / f"p{number}" / "contract.yaml"
        place.parent.mkdir(parents=True)
        place.write_text(yaml.safe_dump(contract(number), sort_keys=False))
    (root / "strata.toml").write_text('[project]\nname = "contracts"\n')
    return root


def manifest(path: Path) -> None:
    """A dbt manifest of 5,000 models, laid out as dbt writes it; written model by model, since a process counts the
    memory of the one that started it as its own peak."""
    head = {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}
    with open(path, "w") as file:
        file.write(f'{{"metadata": {json.dumps(head)}, "nodes": {{')
        for number in range(MODELS):
            file.write(f'{", " if number else ""}"model.p.m{number}": {json.dumps(_model(number))}')
        file.write('}, "sources": {}, "macros": {}, "parent_map": {}}')


def _model(number: int) -> dict[str, object]:
    columns = {
        f"c{j}": {"name": f"c{j}", "description": f"Column {j}.", "data_type": "varchar", "meta": {}, "tags": []}
        for j in range(COLUMNS)
    }
    return {
        "resource_type": "model",
        "name": f"m{number}",
        "unique_id": f"model.p.m{number}",
        "original_file_path": f"models/m{number}.sql",
        "description": "A model.",
        "raw_code": "select * from {{ ref('x') }} -- " + "x" * 1500,
        "compiled_code": "select * from x -- " + "x" * 1500,
        "depends_on": {"nodes": [f"model.p.m{number - 1}"] if number else [], "macros": []},
        "config": {"materialized": "table", "meta": {}, "tags": [], "contract": {"enforced": False}},
        "columns": columns,
    }


def main() -> None:
    """Print a row of the results table for each claim."""
    engine = str(Path(sys.executable).parent / "contract-engine")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        cache = root / "cache"
        BYTECODE_KEPT["STRATA_CACHE_DIR"] = str(cache)

        def cold() -> None:
            for entry in sorted(cache.rglob("*"), reverse=True):
                entry.rmdir() if entry.is_dir() else entry.unlink()

        one = project(root / "one", 1)
        if len(sys.argv) > 1:
            (one / "odcs.yaml").write_text(yaml.safe_dump(odcs(0), sort_keys=False))
            compared = compare([engine, "validate"], [sys.argv[1], "lint", "odcs.yaml"], cwd=one, before=cold)
            print(
                line("`contract-engine validate`, one contract, cold, against `datacontract lint`", compared, "≤ 0.10")
            )
        hundred, thousand = project(root / "hundred", 100), project(root / "thousand", 1000)
        start, small, large = (_in(place, engine, cold) for place in (one, hundred, thousand))
        rate = (large.cpu - start.cpu) / (small.cpu - start.cpu)
        what = f"| 1,000 contracts × {COLUMNS} columns, cold, against 100"
        print(f"{what} | {_shown(large)} | {_shown(small)} | {rate:.1f} CPU above one contract's | ≈ 10 |")
        warm = _in(thousand, engine, lambda: None)
        ratio = warm.cpu / large.cpu
        what = "| 1,000 contracts, unchanged, against cold"
        print(f"{what} | {_shown(warm)} | {_shown(large)} | {ratio:.3f} CPU | ≤ 0.05 |")
        edited = _in(thousand, engine, lambda: _edit(thousand / "contracts" / "d7" / "p7" / "contract.yaml"))
        what = "| 1,000 contracts, one of them edited, against cold"
        print(f"{what} | {_shown(edited)} | {_shown(large)} | {edited.cpu / large.cpu:.3f} CPU | ≤ 0.5 |")
        path = root / "one" / "manifest.json"
        manifest(path)
        (one / "strata.toml").write_text('[project]\nname = "one"\n[dbt]\nmanifest = "manifest.json"\n')
        size = os.path.getsize(path) / (1 << 20)
        read = _in(one, engine, cold)
        what = f"| dbt manifest of {MODELS:,} models, {size:.0f} MiB: peak memory of the process against its size"
        print(f"{what} | {_shown(read)} | | {read.peak_mib / size:.2f} | < 4 |")


def _edit(contract: Path) -> None:
    with open(contract, "a") as file:
        file.write("# Seen.\n")


def _in(folder: Path, engine: str, before: object) -> Usage:
    """The median of three runs by CPU."""
    usages = []
    for _ in range(4):
        assert callable(before)
        before()
        usages.append(run([engine, "validate"], folder))
    return sorted(usages[1:], key=lambda u: u.cpu)[1]


def _shown(usage: Usage) -> str:
    return f"{usage.wall:.2f} s, {usage.cpu:.2f} s CPU, {usage.peak_mib:.0f} MiB"


if __name__ == "__main__":
    main()
