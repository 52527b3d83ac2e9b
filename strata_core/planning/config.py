"""`strata.toml`: what a project is made of. Every key has a default, so a folder or a single file is a project.

Keys are checked against one table; an unknown key or a value of the wrong type is E073 with what would be
accepted. Paths are relative to the folder of `strata.toml`.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..diagnostics import Diagnostic, Span, StrataError
from ..diagnostics.suggest import did_you_mean
from ..folder_names import NAME_RULE, leads_elsewhere, names_a_bucket, names_a_folder, names_an_endpoint
from ..frozen import dataclass, field
from ..regular_files import read_regular
from .lints import LINTS, SEVERITIES

CONFIG_NAME = "strata.toml"
CONTRACT_FILE = "contract.yaml"
"""What the contract of a data product is called, in a folder of its own below those of `[project] contracts`."""
PUBLISH_MODES = ("together", "each")
MAIN = "prod"
"""The environment that is meant where none is named. Its tables have the namespace of the project in what is told to
others; those of another have the environment behind that."""


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Which engine computes, and its limits; `None` takes the engine's default from the machine."""

    name: str = "duckdb"
    memory_limit: str | None = None
    threads: int | None = None
    spill: str | None = None


@dataclass(frozen=True, slots=True)
class EnvironmentConfig:
    """How an environment is published: all models of an apply in one step, or each as soon as it is pinned."""

    publish: str = "together"
    sources: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DbtConfig:
    """Where dbt's manifest is, and the DuckDB file of models that are tables rather than Parquet files."""

    manifest: str = "dbt_project/target/manifest.json"
    database: str | None = None


@dataclass(frozen=True, slots=True)
class ContractEngineConfig:
    """What the contract engine looks at, and where it keeps what it promotes and publishes (Seed 2).

    `scan` holds folders whose files may bear fragments, `generated` files of other tools, read even where ignored.
    Suggestions are never written to `protected_branches` (patterns); `pull_requests` is the address of the repository
    in the REST API of its hosting service.
    """

    scan: tuple[str, ...] = ("models",)
    generated: tuple[str, ...] = ()
    promotions: str = "contracts/.promotions"
    out: str = ".generated/contracts"
    unsupported_executors: str = "warning"
    protected_branches: tuple[str, ...] = ("main", "master", "production", "release/*")
    pull_requests: str | None = None


@dataclass(frozen=True, slots=True)
class ClassificationConfig:
    """The levels of sensitivity, lowest first, and the level of each label that is not a level itself."""

    levels: tuple[str, ...] = ("public", "internal", "confidential", "restricted")
    labels: Mapping[str, str] = field(default_factory=lambda: {"pii": "restricted"})


@dataclass(frozen=True, slots=True)
class LayerConfig:
    """A layer of data products: what its contracts must say, besides what the layer that it `extends` asks for."""

    extends: str | None = None
    requires: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProjectConfig:
    """The whole of `strata.toml`."""

    name: str = "strata"
    models: tuple[str, ...] = ("models",)
    contracts: tuple[str, ...] = ("contracts",)
    store_root: str = ".strata/store"
    store_endpoint: str | None = None
    store_region: str | None = None
    engine: EngineConfig = EngineConfig()
    environments: Mapping[str, EnvironmentConfig] = field(default_factory=dict)
    dbt: DbtConfig = DbtConfig()
    lint: Mapping[str, str] = field(default_factory=dict)
    contract_engine: ContractEngineConfig = ContractEngineConfig()
    classification: ClassificationConfig = ClassificationConfig()
    layers: Mapping[str, LayerConfig] = field(default_factory=dict)

    def environment(self, name: str) -> EnvironmentConfig:
        """The configuration of an environment; one that is not named has the defaults."""
        return self.environments.get(name, EnvironmentConfig())


Check = Callable[[Any], bool]
SIZE = r"(?i)[0-9]+([.][0-9]+)? ?([KMGT]i?)?B"


def _is_text(value: object) -> bool:
    """Whether `value` is a text that may be a name or a path: no operating system takes NUL in one."""
    return isinstance(value, str) and value != "" and "\0" not in value


_TEXT: tuple[Check, str] = (lambda v: _is_text(v), 'a text such as "x"')
_FOLDER: tuple[Check, str] = (lambda v: _is_text(v) and not leads_elsewhere(v), 'a folder such as ".strata/store"')
_ROOT: tuple[Check, str] = (
    lambda v: _is_text(v) and (not leads_elsewhere(v) or names_a_bucket(v)),
    'a folder such as ".strata/store", or "s3://bucket/prefix"',
)
_ENDPOINT: tuple[Check, str] = (
    lambda v: _is_text(v) and names_an_endpoint(v),
    'a URL such as "https://s3.example.com", without keys: these stand in the environment',
)
_SIZE: tuple[Check, str] = (
    lambda v: _is_text(v) and re.fullmatch(SIZE, v) is not None,
    'a size such as "4GB" or "512MiB"',
)
_TEXTS: tuple[Check, str] = (
    lambda v: isinstance(v, list) and all(map(_is_text, v)),
    'a list of texts such as ["x"]',
)
_COUNT: tuple[Check, str] = (lambda v: isinstance(v, int) and not isinstance(v, bool) and v > 0, "a number above zero")
_MODE: tuple[Check, str] = (lambda v: v in PUBLISH_MODES, '"together" or "each"')
_SEVERITY: tuple[Check, str] = (lambda v: v in SEVERITIES, '"off", "warning" or "error"')
_PATHS: tuple[Check, str] = (
    lambda v: isinstance(v, dict) and all(map(_is_text, v.values())),
    'a table of source = "location"',
)

_EXECUTORS: tuple[Check, str] = (lambda v: v in ("warning", "error"), '"warning" or "error"')
_LABELS: tuple[Check, str] = (
    lambda v: isinstance(v, dict) and all(map(_is_text, v.values())),
    'a table of label = "level"',
)

SECTIONS: dict[str, dict[str, tuple[Check, str]]] = {
    "project": {"name": _TEXT, "models": _TEXTS, "contracts": _TEXTS},
    "store": {"root": _ROOT, "endpoint": _ENDPOINT, "region": _TEXT},
    "engine": {"name": _TEXT, "memory_limit": _SIZE, "threads": _COUNT, "spill": _TEXT},
    "dbt": {"manifest": _TEXT, "database": _TEXT},
    "lint": dict.fromkeys(LINTS, _SEVERITY),
    "contract_engine": {
        "scan": _TEXTS,
        "generated": _TEXTS,
        "promotions": _FOLDER,
        "out": _FOLDER,
        "unsupported_executors": _EXECUTORS,
        "protected_branches": _TEXTS,
        "pull_requests": _TEXT,
    },
    "classification": {"levels": _TEXTS, "labels": _LABELS},
}
LAYER_KEYS: dict[str, tuple[Check, str]] = {"extends": _TEXT, "requires": _TEXTS}
ENVIRONMENT_KEYS: dict[str, tuple[Check, str]] = {"publish": _MODE, "sources": _PATHS}
ENGINES = ("duckdb", "reference")


def find_project(start: Path) -> Path | None:
    """The nearest folder at or above `start` that holds a `strata.toml`."""
    folder = start.resolve()
    for candidate in (folder, *folder.parents):
        if (candidate / CONFIG_NAME).is_file():
            return candidate
    return None


def read_config(root: Path) -> ProjectConfig:
    """The configuration of the project in `root`; raises `StrataError` (E073) where it is not valid."""
    path = root / CONFIG_NAME
    if not path.exists():
        return ProjectConfig(name=root.resolve().name or "strata")
    try:
        text = _text(path)
    except OSError as error:
        raise StrataError(_invalid(f"{CONFIG_NAME} cannot be read: {error.strerror}", "", "", None)) from None
    except UnicodeDecodeError:
        raise StrataError(_invalid(f"{CONFIG_NAME} is not UTF-8", "", "", "save it as UTF-8")) from None
    return parse_config(text, root)


def _text(path: Path) -> str:
    """The text of a `strata.toml`, without the mark that some editors begin it with."""
    return read_regular(path).removeprefix(BOM_UTF8).decode()


def has_contract_folders(root: Path, config: ProjectConfig) -> bool:
    """Whether any of the folders of contracts is there: a project without one loads nothing of the contract engine."""
    return any((root / folder).is_dir() for folder in config.contracts)


def has_products(root: Path, config: ProjectConfig) -> bool:
    """Whether the project in `root` has contracts of data products, or had some that were promoted."""
    return has_contract_folders(root, config) or (root / config.contract_engine.promotions).is_dir()


def parse_config(text: str, root: Path) -> ProjectConfig:
    """The configuration that the `text` of a `strata.toml` in `root` gives; raises `StrataError` (E073)."""
    import tomllib  # which a module without a project does not need

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StrataError(_not_toml(str(error), text)) from None
    except (RecursionError, ValueError):
        message = f"{CONFIG_NAME} nests too deep, or has a number of too many digits"
        raise StrataError(_invalid(message, "", "", None)) from None
    if problems := _problems(data, text):
        raise StrataError(*problems)
    return _config(data, root)


def _not_toml(message: str, text: str) -> Diagnostic:
    """The reader says where it stopped in words alone: "… (at line 2, column 8)" or "… (at end of document)"."""
    what, _, where = message.partition(" (at ")
    numbers = [int(digits) for digits in re.findall(r"[0-9]+", where)]
    line, column = numbers if len(numbers) == 2 else (text.count("\n") + 1, 1)
    return Diagnostic("E073", f"{CONFIG_NAME} is not TOML: {what}", Span(CONFIG_NAME, line, column, line, column))


def config_fault(root: Path, path: str, message: str, fix: str) -> Diagnostic:
    """E073 at the key `path` (`section.key`) of the project's `strata.toml`."""
    try:
        text = _text(root / CONFIG_NAME)
    except (OSError, UnicodeDecodeError):
        text = ""
    return _invalid(message, text, path, fix)


def _config(data: dict[str, Any], root: Path) -> ProjectConfig:
    project, store, engine, dbt = (data.get(s, {}) for s in ("project", "store", "engine", "dbt"))
    return ProjectConfig(
        name=project.get("name", root.resolve().name or "strata"),
        models=tuple(project.get("models", ("models",))),
        contracts=tuple(project.get("contracts", ("contracts",))),
        store_root=store.get("root", ".strata/store"),
        store_endpoint=store.get("endpoint"),
        store_region=store.get("region"),
        engine=EngineConfig(**engine),
        environments={n: EnvironmentConfig(**keys) for n, keys in data.get("environments", {}).items()},
        dbt=DbtConfig(**dbt),
        lint=data.get("lint", {}),
        contract_engine=ContractEngineConfig(**_tuples(data.get("contract_engine", {}))),
        classification=ClassificationConfig(**_tuples(data.get("classification", {}))),
        layers={n: LayerConfig(**_tuples(keys)) for n, keys in data.get("layers", {}).items()},
    )


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}


def _problems(data: dict[str, Any], text: str) -> list[Diagnostic]:
    problems = []
    for section, values in data.items():
        if section == "environments":
            problems += _environment_problems(values, text)
        elif section == "layers":
            problems += _layer_problems(values, text)
        elif section in SECTIONS:
            problems += _section_problems(section, values, SECTIONS[section], text)
        else:
            accepted = (*SECTIONS, "environments", "layers")
            problems.append(_unknown("section", section, accepted, text, section))
    engine = data.get("engine")
    if not problems and isinstance(engine, dict) and engine.get("name", "duckdb") not in ENGINES:
        message = f"there is no engine `{engine['name']}`"
        problems.append(_invalid(message, text, "engine.name", f"engines are {' and '.join(ENGINES)}"))
    return problems


def _environment_problems(values: object, text: str) -> list[Diagnostic]:
    if not isinstance(values, dict):
        fix = "write `[environments.prod]` and its keys below it"
        return [_invalid("`environments` is a section", text, "environments", fix)]
    problems = []
    for name, keys in values.items():
        path = f"environments.{name}"
        if names_a_folder(name):
            problems += _section_problems(path, keys, ENVIRONMENT_KEYS, text)
        else:
            problems.append(_invalid(f"`{name}` cannot name an environment", text, path, f"use {NAME_RULE}"))
    return problems


def _layer_problems(values: object, text: str) -> list[Diagnostic]:
    if not isinstance(values, dict):
        fix = "write `[layers.platinum]` and its keys below it"
        return [_invalid("`layers` is a section", text, "layers", fix)]
    return [p for name, keys in values.items() for p in _section_problems(f"layers.{name}", keys, LAYER_KEYS, text)]


def _section_problems(section: str, values: object, keys: dict[str, tuple[Check, str]], text: str) -> list[Diagnostic]:
    if not isinstance(values, dict):
        return [_invalid(f"`{section}` is a section", text, section, f"write `[{section}]` and its keys below it")]
    problems = []
    for key, value in values.items():
        path = f"{section}.{key}"
        if key not in keys:
            problems.append(_unknown("key", key, tuple(keys), text, path))
        elif not keys[key][0](value):
            problems.append(_invalid(f"`{path}` is not valid", text, path, f"it takes {keys[key][1]}"))
    return problems


def _unknown(kind: str, name: str, accepted: tuple[str, ...], text: str, path: str) -> Diagnostic:
    fix = did_you_mean(name, accepted, f"accepted: {', '.join(accepted)}")
    return _invalid(f"unknown {kind} `{name}`", text, path, fix)


def _invalid(message: str, text: str, path: str, fix: str | None) -> Diagnostic:
    return Diagnostic("E073", message, _locate(text, path), fix=fix, field_path=path or None)


def _locate(text: str, path: str) -> Span:
    """The line of a key: its name at the start of a line in its section (the TOML reader keeps no positions)."""
    section, _, key = path.rpartition(".")
    inside = section == ""
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if stripped.startswith("["):
            header = stripped.strip("[] ")
            inside = header == section
            if header == path:
                return Span(CONFIG_NAME, number, 1, number, len(line) + 1)
        elif inside and stripped.split("=")[0].strip() == key:
            start = line.index(key) + 1
            return Span(CONFIG_NAME, number, start, number, start + len(key))
    return Span(CONFIG_NAME, 1, 1, 1, 1)
