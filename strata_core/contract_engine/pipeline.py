"""The pipeline: `discover → parse → collate → validate`, with what each step gave (Seed 2, "Pipeline").

The steps themselves are pure but for discover and parse, which read the tree. Here stand the edges: where the project
is read, and what is kept in the user's cache: what was parsed of each file, and the whole outcome of an unchanged tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic, Span, StrataError, in_order
from ..frozen import dataclass, replace
from ..planning import cache
from ..planning.config import CONFIG_NAME, ProjectConfig, config_fault, find_project, read_config
from .discover import InputKind, Inventory, discover, leads_out, without_contract
from .tree import FolderTree, Tree

if TYPE_CHECKING:  # what an unchanged tree does not need
    from ..planning.project import Project
    from .collation.candidate import Candidate
    from .collation.collate import Collated
    from .parse.parsed import GeneratedAsset, Parsed
    from .promotions import Promotion
    from .validate import Validated


@dataclass(frozen=True, slots=True)
class Setting:
    """A project as the engine sees it: its folder, its configuration, its files, and the day. `models` are its Strata
    modules where they are not those in the folder."""

    root: Path
    config: ProjectConfig
    tree: Tree
    today: date
    models: Project | None = None

    @property
    def promotions(self) -> Path:
        """Where the promotion records lie."""
        return self.root / self.config.contract_engine.promotions


@dataclass(frozen=True, slots=True)
class Checked:
    """What every step gave. `diagnostics` holds the findings of all of them, in the order of places."""

    setting: Setting
    inventory: Inventory
    parsed: Parsed
    collated: Collated
    validated: Validated
    promotions: Mapping[str, Promotion]
    diagnostics: tuple[Diagnostic, ...]

    def usable(self, candidate: Candidate) -> bool:
        """Whether it is known what a contract asks: it passes validation, and names nothing twice (E023)."""
        twice = (d for d in self.collated.diagnostics if d.code == "E023" and d.span is not None)
        return self.validated.passed(candidate) and all(d.span and d.span.file not in candidate.inputs for d in twice)

    def blocking(self, *candidates: Candidate) -> tuple[Diagnostic, ...]:
        """What blocks `candidates`: found in the files that they are made of, in none, in the promotion record, which
        all of them are held against, or in the configuration: what else belongs to them is not known then."""
        files = frozenset((CONFIG_NAME, *(path for c in candidates for path in c.inputs)))
        everywhere = (d.code == "E161" or d.span is None or d.span.file in files for d in self.diagnostics)
        return tuple(d for d, here in zip(self.diagnostics, everywhere, strict=True) if here and d.blocks)

    def unread(self) -> tuple[Diagnostic, ...]:
        """What keeps files that should be contracts from being any: nobody knows of which product they are."""
        return unread_contracts(self.inventory, (c.file for c in self.collated.candidates), self.diagnostics)


@dataclass(frozen=True, slots=True)
class ProductLine:
    """What a check says of a product in a line. `file` is its contract, `inputs` all files that it was made of."""

    id: str
    version: str
    file: str
    layer: str
    status: str
    verdict: str
    against: str | None
    changes: int
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check says, small enough to be kept: the findings and a line for each product."""

    diagnostics: tuple[Diagnostic, ...]
    products: tuple[ProductLine, ...]
    files: int


def unread_contracts(inventory: Inventory, known: Iterable[str], found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """What was `found` in files of `inventory` that should be contracts and are not among the `known` ones."""
    files = {i.path for i in inventory.of_kind(InputKind.CONTRACT)}.difference(known)
    return tuple(d for d in found if d.blocks and d.span is not None and d.span.file in files)


def open_setting(start: Path | None = None, today: date | None = None) -> Setting:
    """The project at or above `start`. Raises `StrataError` E073."""
    here = (start or Path.cwd()).resolve()
    root = find_project(here) or here
    config = read_config(root)
    _check_record_place(root, config)
    return Setting(root, config, FolderTree(root), today or datetime.now(UTC).date())


def _check_record_place(root: Path, config: ProjectConfig) -> None:
    """Raises `StrataError` E073 for a promotion record that Git could not keep with the contracts, or among them."""
    place, key = config.contract_engine.promotions.rstrip("/"), "contract_engine.promotions"
    fix = "name a folder of its own inside the project, such as `contracts/.promotions`"
    if leads_out(place):
        message = f"the promotion record is committed with the contracts, and `{place}` leads out of the project"
        raise StrataError(config_fault(root, key, message, fix))
    if any(f"{folder.rstrip('/')}/".startswith(f"{place}/") for folder in config.contracts) or place == ".":
        message = f"the promotion record has a folder of its own, and `{place}` has contracts in it"
        raise StrataError(config_fault(root, key, message, fix))


def check(setting: Setting, inventory: Inventory | None = None) -> Outcome:
    """The outcome of a check, from the cache where nothing changed."""
    inventory = inventory or discover(setting.tree, setting.config, setting.root)
    key = outcome_key(setting, inventory, "contracts")
    kept = cache.load(key)
    if isinstance(kept, Outcome):
        return kept
    with cache.uncollected():
        outcome = _outcome(examine(setting, inventory))
        cache.save(key, outcome)
    return outcome


def outcome_key(setting: Setting, inventory: Inventory, kind: str) -> str:
    """The key of something of `kind` that is made of a whole check."""
    files = "\0".join(f"{i.path}\0{i.kind}\0{i.digest}" for i in inventory.inputs)
    found = repr(inventory.diagnostics)
    # Besides what the configuration says, findings name the lines where it says so, and which of its folders are there.
    there = (f"{folder}\0{setting.tree.exists(folder)}" for folder in setting.config.contracts)
    read = [CONFIG_NAME] if setting.tree.exists(CONFIG_NAME) else []
    others = [f"{p}\0{setting.tree.digest(p)}" for p in (*read, *_records(setting))]
    parts = (str(setting.root), repr(setting.config), setting.today.isoformat(), files, found, *there, *others)
    return cache.content_key(kind, *(part.encode() for part in parts))


def _records(setting: Setting) -> list[str]:
    return list(setting.tree.below(setting.config.contract_engine.promotions, lambda _: None))


def examine(setting: Setting, inventory: Inventory | None = None) -> Checked:
    """Every step up to validation. Files that did not change are not parsed again, and what is found in a contract that
    nothing else takes part in is found once."""
    from . import kept
    from .collation.collate import collate
    from .parse import parse
    from .parse.dbt_lineage import classified, with_dbt_origins
    from .validate import Surroundings, validate

    inventory = inventory or discover(setting.tree, setting.config, setting.root)
    before = kept.load(setting.root, inventory)
    found: list[Diagnostic] = [*inventory.diagnostics]
    parsed = parse(setting.tree, inventory, before.parsed, _compiled(setting, inventory, found))
    files = {file.path: file for file in parsed.files}
    parsed = with_dbt_origins(parsed, setting.tree) if classified(parsed) else parsed
    collated = collate(parsed, setting.config.contracts)
    promotions = _promotions(setting, found)
    around = Surroundings(collated, parsed, setting.config, promotions, setting.today, before.findings)
    validated = validate(around)
    kept.save(setting.root, inventory, before, files, validated.own)
    told = (located(setting.root, d) for d in validated.diagnostics)
    diagnostics = in_order([*found, *parsed.diagnostics, *collated.diagnostics, *told])
    return Checked(setting, inventory, parsed, collated, validated, promotions, diagnostics)


def located(root: Path, diagnostic: Diagnostic) -> Diagnostic:
    """A finding about `strata.toml` at the line of its key: steps after the first do not read files."""
    if diagnostic.code != "E073" or diagnostic.span is not None or diagnostic.field_path is None:
        return diagnostic
    fault = config_fault(root, diagnostic.field_path, diagnostic.message, diagnostic.fix or "")
    return replace(diagnostic, span=fault.span)


def _compiled(setting: Setting, inventory: Inventory, found: list[Diagnostic]) -> tuple[GeneratedAsset, ...]:
    """Strata's models, where the project has any; what is wrong with them is told by `strata check`."""
    if not inventory.of_kind(InputKind.STRATA):
        return ()
    from ..planning.kept.outline import outline
    from ..planning.project import read_project
    from .parse.strata_models import compiled_assets

    try:
        return compiled_assets(outline(setting.models or read_project(setting.root)))
    except StrataError as error:
        found += error.diagnostics
        return ()


def _promotions(setting: Setting, found: list[Diagnostic]) -> Mapping[str, Promotion]:
    from .promotions import latest

    promoted, problems = latest(setting.promotions)
    for problem in problems:
        place = Path(problem.span.file) if problem.span is not None else setting.root
        inside = place.is_relative_to(setting.root)
        shown = Span(place.relative_to(setting.root).as_posix(), 1, 1, 1, 1) if inside else problem.span
        found.append(replace(problem, span=shown))
    return promoted


def _outcome(checked: Checked) -> Outcome:
    lines = []
    for candidate in checked.collated.candidates:
        verdict = checked.validated.compatibility.get(candidate.id)
        data = candidate.data
        lines.append(
            ProductLine(
                candidate.id,
                str(data.get("version")),
                candidate.file,
                str(data.get("layer")),
                str(data.get("status")),
                verdict.verdict.value if verdict else "not a contract",
                verdict.against if verdict else None,
                len(verdict.changes) if verdict else 0,
                candidate.inputs,
            )
        )
    setting, inventory = checked.setting, checked.inventory
    found = without_contract(inventory, setting.config, setting.tree, setting.root)
    return Outcome((*found, *checked.diagnostics), tuple(lines), len(inventory.inputs))
