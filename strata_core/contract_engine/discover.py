"""Discover: which files say something about data products, and what kind each is (Seed 2, step 1).

Canonical contracts lie below `[project] contracts`, fragments in the folders of `[contract_engine] scan`, generated
metadata where `[contract_engine] generated` and `[dbt] manifest` say, with dbt's results beside its manifest. A file is
in the inventory once, with the digest of its content, by which later steps know that it did not change.
Codes: E073, E100, E108, E109, E115, W112, W113, W116.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path, PurePosixPath

from ..diagnostics import Diagnostic, Report, Severity, Span
from ..diagnostics.listing import listed
from ..frozen import dataclass
from ..planning.config import CONFIG_NAME, CONTRACT_FILE, ProjectConfig, config_fault
from .tree import Left, LeftOut, Tree


class InputKind(StrEnum):
    """What a file is."""

    CONTRACT = "contract"
    FRAGMENT = "fragment"
    DBT_YAML = "dbt yaml"
    SQL = "sql"
    PYTHON = "python"
    STRATA = "strata"
    DBT_MANIFEST = "dbt manifest"
    DBT_CATALOG = "dbt catalog"
    DBT_RUN_RESULTS = "dbt run results"
    DBT_SOURCES = "dbt sources"
    DLT_SCHEMA = "dlt schema"
    OPENLINEAGE = "openlineage"


_SHOWN = 5
FRAGMENTS = (".contract.yaml", ".contract.yml")
"""How the names of files end that are fragments wherever they lie."""
BY_SUFFIX = (
    *((ending, InputKind.FRAGMENT) for ending in FRAGMENTS),
    (".schema.yaml", InputKind.DLT_SCHEMA),
    (".schema.json", InputKind.DLT_SCHEMA),
    (".yaml", InputKind.DBT_YAML),
    (".yml", InputKind.DBT_YAML),
    (".sql", InputKind.SQL),
    (".py", InputKind.PYTHON),
    (".strata", InputKind.STRATA),
)
"""What a file in a scanned folder is, by the end of its name, the first that fits."""
GENERATED_NAMES = (
    ("manifest.json", InputKind.DBT_MANIFEST),
    ("catalog.json", InputKind.DBT_CATALOG),
    ("run_results.json", InputKind.DBT_RUN_RESULTS),
    ("sources.json", InputKind.DBT_SOURCES),
    (".schema.yaml", InputKind.DLT_SCHEMA),
    (".schema.json", InputKind.DLT_SCHEMA),
    (".jsonl", InputKind.OPENLINEAGE),
    (".ndjson", InputKind.OPENLINEAGE),
)
"""What a generated file is, by the end of its name."""

STATE_NAMES = ("run_results.json", "sources.json")
"""What dbt writes beside its manifest of runs, tests and the age of sources: seen, and no part of what is promised."""


@dataclass(frozen=True, slots=True, order=True)
class Input:
    """A file of the inventory."""

    path: str
    kind: InputKind
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Inventory:
    """All inputs, by path, and what was found on the way."""

    inputs: tuple[Input, ...]
    diagnostics: tuple[Diagnostic, ...]

    def of_kind(self, *kinds: InputKind) -> tuple[Input, ...]:
        """The inputs of some kinds."""
        return tuple(i for i in self.inputs if i.kind in kinds)


def contract_path(product: str) -> str:
    """Where the contract of a product lies below a folder of contracts.

    >>> contract_path("shop.orders")
    'shop/orders/contract.yaml'
    """
    return f"{product.replace('.', '/')}/{CONTRACT_FILE}"


def is_contract(path: str) -> bool:
    """Whether a file is a product's contract, by its name."""
    return posixpath.basename(path) == CONTRACT_FILE


def discover(tree: Tree, config: ProjectConfig, root: Path) -> Inventory:
    """The inventory of a project. `root` is where `strata.toml` is looked at, to show what is wrong in it."""
    diagnostics: list[Diagnostic] = []
    found: dict[str, Input] = {}
    for path, kind in _candidates(tree, config, root, diagnostics.append):
        if path in found:
            continue
        try:
            found[path] = Input(path, kind, *tree.measured(path))
        except OSError as error:
            message = f"the file cannot be read: {error.strerror or error}"
            diagnostics.append(
                Diagnostic(
                    "E100", message, Span(path, 1, 1, 1, 1), fix="give leave to read it, or put a file in its place"
                )
            )
    return Inventory(tuple(found[path] for path in sorted(found)), tuple(diagnostics))


def without_contract(inventory: Inventory, config: ProjectConfig, tree: Tree, root: Path) -> tuple[Diagnostic, ...]:
    """What is told where `inventory` has no contract, so that this does not look like one without findings.

    W112 in a project. E073 where no `strata.toml` says that this is one, since then the folder is likely not the one
    that is meant, and where it names folders for contracts that are not there.
    """
    if inventory.of_kind(InputKind.CONTRACT):
        return ()
    told = [f"`{place}`{'' if tree.exists(place) else ' (which is not there)'}" for place in config.contracts]
    nothing = f"there is no {CONTRACT_FILE} in {listed(told, _SHOWN) or 'any folder: `[project] contracts` is empty'}"
    if not tree.exists(CONFIG_NAME):
        message = f"there is no project here: no {CONFIG_NAME} in `{root}` or above, and {nothing}"
        fix = "run in the project's folder, or give `--project DIR`; `contract-engine init` drafts a first contract"
        return (Diagnostic("E073", message, fix=fix),)
    message = f"this project has no contract: {nothing}"
    fix = "`contract-engine init` drafts one; `[project] contracts` says where they are looked for"
    fault = config_fault(root, "project.contracts", message, fix)
    if config.contracts != ProjectConfig().contracts and not any(map(tree.exists, config.contracts)):
        return (fault,)
    return (Diagnostic("W112", message, fault.span, Severity.WARNING, fix=fix, field_path=fault.field_path),)


def of_dbt(config: ProjectConfig) -> list[str]:
    """What dbt leaves behind that is read where it is: the manifest, and what was seen of its models beside it."""
    manifest = config.dbt.manifest
    return [manifest, *(posixpath.join(posixpath.dirname(manifest), n) for n in STATE_NAMES)] if manifest else []


def _folders(
    entries: tuple[str, ...], default: tuple[str, ...], key: str, tree: Tree, root: Path, report: Report
) -> list[str]:
    """The folders inside the project that `key` of the configuration names. W113 for one that is none: nobody should
    believe that what it was meant to name was looked at. The default is nobody's word."""
    inside = _inside(entries, key, root, report)
    for entry in inside if entries != default else ():
        if not tree.is_folder(entry):
            what = "is a file, and folders are named here" if tree.exists(entry) else "is not there"
            message = f"`{entry}` {what}: nothing of it is read"
            fix = "name a folder of the project, or take it out of the list"
            span = config_fault(root, key, message, fix).span
            report(Diagnostic("W113", message, span, Severity.WARNING, fix=fix, field_path=key))
    return inside


def _candidates(tree: Tree, config: ProjectConfig, root: Path, report: Report) -> Iterator[tuple[str, InputKind]]:
    default, engine = ProjectConfig(), config.contract_engine
    for entry in _folders(config.contracts, default.contracts, "project.contracts", tree, root, report):
        for path in tree.below(entry, report, _told_of_left_out(tree, report, contracts=True)):
            name = posixpath.basename(path)
            if path.startswith(f"{engine.promotions.rstrip('/')}/"):
                continue
            if name == CONTRACT_FILE:
                yield path, InputKind.CONTRACT
            elif name.endswith(FRAGMENTS):
                yield path, InputKind.FRAGMENT
            elif name in ("contract.yml", "contract.json", "Contract.yaml"):
                message = f"a canonical contract is called `{CONTRACT_FILE}`: this file is not read"
                fix = f"call it `{CONTRACT_FILE}`"
                report(Diagnostic("E115", message, Span(path, 1, 1, 1, 1), Severity.WARNING, fix=fix))
    generated = _inside(engine.generated, "contract_engine.generated", root, report)
    generated += [p for p in of_dbt(config) if tree.exists(p) and p not in generated]
    for entry in generated:
        if not tree.exists(entry):
            message = f"there is no `{entry}`: what it would say is not known"
            fix = "run the tool that writes it, or take it out of `[contract_engine] generated`"
            fault = config_fault(root, "contract_engine.generated", message, fix)
            report(Diagnostic("E108", message, fault.span, Severity.WARNING, fix=fix, field_path=fault.field_path))
            continue
        kind = next((kind for ending, kind in GENERATED_NAMES if entry.endswith(ending)), None)
        if kind is None:
            known = ", ".join(ending for ending, _ in GENERATED_NAMES)
            message = f"`{entry}` is of no known kind of generated metadata"
            report(config_fault(root, "contract_engine.generated", message, f"known are files that end in {known}"))
            continue
        yield entry, kind
    scanned = _folders(engine.scan, default.contract_engine.scan, "contract_engine.scan", tree, root, report)
    for entry in dict.fromkeys((*scanned, *_inside(config.models, "project.models", root, report))):
        told = _told_of_left_out(tree, report, contracts=False)
        for path in tree.below(entry, report, told) if not entry.endswith(".strata") else (entry,):
            kind = next((kind for ending, kind in BY_SUFFIX if path.endswith(ending)), None)
            if kind is not None:
                yield path, kind


def _told_of_left_out(tree: Tree, report: Report, *, contracts: bool) -> LeftOut:
    """Tells of what is called as a file of contracts is and is not read: E100 where it is no file, W116 where git
    ignores it. Folders that git ignores are looked into where `contracts` lie: there is little else in them, and beside
    models there may be a million rows."""

    def speaks(path: str) -> bool:
        return path.endswith(FRAGMENTS) or is_contract(path)

    def below(folder: str) -> list[str]:
        if not contracts or (place := tree.local(folder)) is None:
            return []
        return sorted(f"{folder}/{p.relative_to(place).as_posix()}" for p in place.rglob("*.y*ml") if p.is_file())

    def left_out(path: str, why: Left) -> None:
        if why in (Left.FOLDER, Left.SPECIAL):
            if path.endswith(FRAGMENTS) or (contracts and is_contract(path)):
                message = f"the file cannot be read: {why.value}"
                fix = "a contract is a file of YAML: put one in its place, or give it another name"
                report(Diagnostic("E100", message, Span(path, 1, 1, 1, 1), fix=fix))
            return
        files = [f for f in ([path] if why is Left.IGNORED_FILE else below(path)) if speaks(f)]
        if files:
            shown = listed([f"`{f}`" for f in files], _SHOWN)
            message = f"git ignores {shown}: nothing of {'it' if len(files) == 1 else 'them'} is read"
            fix = f"`git check-ignore -v {files[0]}` names the rule: except the file from it, or keep it elsewhere"
            report(Diagnostic("W116", message, Span(files[0], 1, 1, 1, 1), Severity.WARNING, fix=fix))

    return left_out


def leads_out(path: str) -> bool:
    """Whether a path is none inside the project; an address with a scheme is no path."""
    if "://" in path:
        return False
    path = posixpath.normpath(path.replace("\\", "/"))
    return PurePosixPath(path).is_absolute() or path == ".." or path.startswith("../") or ":" in path.split("/")[0]


def _inside(entries: tuple[str, ...], key: str, root: Path, report: Report) -> list[str]:
    """The entries that are paths inside the project, in one spelling. E109 for the others."""
    inside: list[str] = []
    for entry in entries:
        path = posixpath.normpath(entry.replace("\\", "/"))
        if leads_out(path):
            message = f"`{entry}` leads out of the project"
            fix = "give a path below the folder of `strata.toml`"
            fault = config_fault(root, key, message, fix)
            report(Diagnostic("E109", message, fault.span or Span(CONFIG_NAME, 1, 1, 1, 1), fix=fix, field_path=key))
            continue
        if path not in inside:
            inside.append(path)
    return inside
