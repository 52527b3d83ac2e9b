"""Loading a Dagster code location: many Strata models from their compiled manifest, against as many assets by hand,
and against dagster-dbt with a manifest of as many models.

By hand: generated Python modules (50 assets each) whose specs are literals, with the same columns, lineage,
dependencies, owners, tags, checks and code references; once as one subsettable multi-asset (what Strata makes), once
as `@asset` functions (what people mostly write). The dbt models are that of this repository many times over, each with
the same columns, description and owner, in chains as the Strata models are, and without tests, which would be checks.
All are loaded until their repository is resolved.

usage: python benchmarks/code_location.py [MODELS]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from dagster import AssetKey
from measure import RUNS, compare, line

from strata_core.planning.kept.outline import ColumnOutline, ModelOutline
from strata_dagster import DagsterStrataTranslator, StrataProject
from strata_dagster.translator import asset_keys

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = 8
PER_FILE = 50
FEW = 2_000

STRATA = """
from dagster import AssetExecutionContext, Definitions

from strata_dagster import StrataProject, StrataResource, strata_assets

project = StrataProject("project")


@strata_assets(project=project)
def models(context: AssetExecutionContext, strata: StrataResource):
    yield from strata.apply(context).stream()


defs = Definitions(assets=[models], resources={"strata": StrataResource(project_dir=project)})
"""

DBT = """
from pathlib import Path

from dagster import Definitions
from dagster_dbt import dbt_assets


@dbt_assets(manifest=Path("manifest.json"))
def models(context):
    yield from ()


defs = Definitions(assets=[models])
"""

HEADER = """
import warnings

import dagster as dg
from dagster import TableColumn, TableColumnConstraints, TableColumnDep

warnings.simplefilter("ignore", dg.BetaWarning)
"""


def main() -> None:
    """Print three rows of the results table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    few = count <= FEW
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_project(folder / "project", count)
        project = StrataProject(folder / "project")
        keys = asset_keys(project, DagsterStrataTranslator())
        specs = [spec(project, model, keys) for model in project.outline.models.values()]
        project.compile()
        (folder / "by_strata.py").write_text(STRATA)
        (folder / "by_dbt.py").write_text(DBT)
        write_dbt_manifest(folder / "manifest.json", count)
        write_specs(folder, specs)
        write_functions(folder, specs)
        subprocess.run([sys.executable, "-m", "compileall", "-q", folder], check=True)  # as modules loaded before
        for other, what, target in (
            ("as_specs", "one multi-asset of literals", "≤ 1.3 CPU"),
            ("as_functions", "`@asset` functions", "≤ 1.3 CPU"),
            ("by_dbt", "dagster-dbt with as many dbt models", "< 1"),
        ):
            if other == "as_functions" and not few:
                continue  # an op each: minutes, and known from fewer
            compared = compare(load("by_strata"), load(other), cwd=folder, runs=RUNS if few else 3)
            print(line(f"code location of {count:,} models, against {what}", compared, target), flush=True)


def load(module: str) -> list[str]:
    """The command that loads a code location until its assets are resolved."""
    code = f"import {module}; assert len(list({module}.defs.resolve_all_asset_specs())) > 1; "
    return [sys.executable, "-c", f"{code}{module}.defs.get_repository_def()"]


def write_project(root: Path, count: int) -> None:
    """Models in chains of ten: each reads the one before it, the first of each a source."""
    (root / "models").mkdir(parents=True)
    (root / "strata.toml").write_text('[project]\nname = "many"\n')
    fields = ", ".join(f"c{i}: decimal(18,2)" for i in range(2, COLUMNS))
    source = f"columns: {{ c0: int64 nonnull primary_key, c1: string nonnull, {fields} }}"
    texts = [f'source s(csv: "s.csv") {{ {source} }}']
    for number in range(count):
        reads = f"m{number - 1}" if number % 10 else "s"
        contract = f"c0: int64 primary_key  c1: string nonnull  {fields.replace(', ', '  ')}"
        columns = ", ".join(f"c{i}" for i in range(COLUMNS - 1)) + f", c{COLUMNS - 1} = coalesce(c{COLUMNS - 1}, c2)"
        texts.append(
            f"contract C{number} {{ {contract} }}\n"
            f'model m{number} -> contract C{number} {{ owner: "team{number % 7}" description: "Model {number}."\n'
            f"  from {reads}\n  select {{ {columns} }}\n}}"
        )
    for start in range(0, len(texts), PER_FILE):
        (root / "models" / f"part{start // PER_FILE}.strata").write_text("\n".join(texts[start : start + PER_FILE]))


def write_dbt_manifest(path: Path, count: int) -> None:
    """The manifest of this repository's dbt project with one of its models many times over."""
    manifest = json.loads((ROOT / "dbt_project/target/manifest.json").read_text())
    whole = next(n for n in manifest["nodes"].values() if n["name"] == "stg_airlines")
    column = next(iter(whole["columns"].values()))
    columns = {f"c{i}": {**column, "name": f"c{i}", "description": ""} for i in range(COLUMNS)}
    nodes, parents, children = {}, {}, {}
    for number in range(count):
        unique_id = f"model.many.m{number}"
        reads = [f"model.many.m{number - 1}"] if number % 10 else []
        nodes[unique_id] = {
            **whole,
            "unique_id": unique_id,
            "name": f"m{number}",
            "alias": f"m{number}",
            "fqn": ["many", f"m{number}"],
            "package_name": "many",
            "description": f"Model {number}.",
            "columns": columns,
            "group": None,
            "depends_on": {"macros": [], "nodes": reads},
            "config": {**whole["config"], "meta": {"dagster": {"owners": [f"team:team{number % 7}"]}}},
        }
        parents[unique_id] = reads
        children[unique_id] = [f"model.many.m{number + 1}"] if (number + 1) % 10 and number + 1 < count else []
    rest = ("sources", "macros", "docs", "exposures", "metrics", "groups", "selectors", "disabled")
    graph = {"nodes": nodes, "parent_map": parents, "child_map": children, "group_map": {}}
    path.write_text(json.dumps({**manifest, **{key: {} for key in rest}, **graph}))


def spec(project: StrataProject, model: ModelOutline, keys: Mapping[str, AssetKey]) -> dict[str, str]:
    """The parts of an asset's spec as Python literals."""
    translator = DagsterStrataTranslator()
    columns = ", ".join(_column(c) for c in model.columns)
    deps = ", ".join(
        f"{c.name!r}: [{', '.join(f'TableColumnDep({keys[n].to_user_string()!r}, {o!r})' for n, o in c.origins)}]"
        for c in model.columns
    )
    path, place = str(project.root / model.span.file), str(model.span)
    reference = f"file_path={path!r}, line_number={model.span.line}, label={place!r}"
    metadata = (
        f"{{'strata/model': {model.name!r}, 'dagster/table_name': 'many.{model.name}', "
        f"'dagster/column_schema': dg.TableSchema(columns=[{columns}]), "
        f"'dagster/column_lineage': dg.TableColumnLineage({{{deps}}}), "
        "'dagster/code_references': dg.CodeReferencesMetadataValue("
        f"code_references=[dg.LocalFileCodeReference({reference})])}}"
    )
    return {
        "key": repr(model.name),
        "deps": repr([keys[u].to_user_string() for u in model.upstream]),
        "description": repr(model.description),
        "metadata": metadata,
        "group_name": repr(translator.get_group_name(project, model)),
        "code_version": repr(model.fingerprint),
        "owners": repr(list(translator.get_owners(project, model))),
        "tags": repr(dict(translator.get_tags(project, model))),
        "kinds": repr(sorted(translator.get_kinds(project, model))).replace("[", "{").replace("]", "}"),
    }


def _column(column: ColumnOutline) -> str:
    other = ["primary key"] if column.primary_key else []
    origins = ", ".join(f"{node}.{name}" for node, name in column.origins)
    constraints = f"TableColumnConstraints(nullable={column.nullable}, unique={column.unique}, other={other!r})"
    return f"TableColumn({column.name!r}, {column.type!r}, {f'from {origins}'!r}, {constraints}, tags={{}})"


def write_specs(folder: Path, specs: list[dict[str, str]]) -> None:
    """One subsettable multi-asset of specs that modules of a handy size list, with the same two checks for each."""

    def part(some: list[dict[str, str]]) -> str:
        made = "\n".join(f"    dg.AssetSpec({_arguments(s)}, skippable=True)," for s in some)
        return f"SPECS = [\n{made}\n]\nCHECKS = [\n{_lines(map(_checks, some))}\n]\n"

    names = _write_parts(folder, "specs", [part(some) for some in _in_parts(specs)])
    body = (
        "@dg.multi_asset(specs=SPECS, check_specs=CHECKS, can_subset=True)\ndef models(context):\n    yield from ()\n"
    )
    joined = "".join(f"SPECS += {n}.SPECS\nCHECKS += {n}.CHECKS\n" for n in names)
    head = f"import dagster as dg\nimport {', '.join(names)}\n\nSPECS, CHECKS = [], []\n"
    (folder / "as_specs.py").write_text(f"{head}{joined}\n\n{body}\n\ndefs = dg.Definitions(assets=[models])\n")


def write_functions(folder: Path, specs: list[dict[str, str]]) -> None:
    """One function an asset, each with the same two checks."""

    def function(s: dict[str, str]) -> str:
        head = f"@dg.asset({_arguments({k: v for k, v in s.items() if k != 'key'})}, check_specs=[\n{_checks(s)}\n])"
        return f"{head}\ndef {s['key'][1:-1]}(): ...\n"

    names = _write_parts(folder, "functions", [_lines(map(function, some)) for some in _in_parts(specs)])
    assets = f"dg.load_assets_from_modules([{', '.join(names)}])"
    head = f"import dagster as dg\nimport {', '.join(names)}\n\n"
    (folder / "as_functions.py").write_text(f"{head}defs = dg.Definitions(assets={assets})\n")


def _in_parts(specs: list[dict[str, str]]) -> list[list[dict[str, str]]]:
    return [specs[start : start + PER_FILE] for start in range(0, len(specs), PER_FILE)]


def _write_parts(folder: Path, name: str, texts: list[str]) -> list[str]:
    for number, text in enumerate(texts):
        (folder / f"{name}{number}.py").write_text(HEADER + text)
    return [f"{name}{number}" for number in range(len(texts))]


def _arguments(spec: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in spec.items())


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(texts)


def _checks(spec: dict[str, str]) -> str:
    blocking = f"    dg.AssetCheckSpec('write_pin', asset={spec['key']}, blocking=True),"
    return f"{blocking}\n    dg.AssetCheckSpec('last_known_good', asset={spec['key']}),"


if __name__ == "__main__":
    main()
