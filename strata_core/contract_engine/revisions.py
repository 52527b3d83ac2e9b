"""Contracts as they stood at Git revisions, and what changed between two of them. Nothing is checked out.

Raises `StrataError` E034 for what is no revision, E073 for a `strata.toml` that is not valid.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path

from ..diagnostics import Diagnostic, Report, StrataError
from ..frozen import dataclass, field, replace
from ..planning.config import CONFIG_NAME, ProjectConfig, parse_config
from ..planning.git import Repository, contents, tree_of
from ..planning.git import Tree as GitFiles
from ..planning.git_revisions import WORKING_TREE, TreeFiles, read_range
from ..planning.project import project_of
from .collation.candidate import Candidate
from .compatibility.changes import ProductChange
from .compatibility.classify import verdict_of
from .compatibility.compare import compare
from .compatibility.verdict import Verdict
from .discover import InputKind, without_contract
from .levels import Levels
from .naming import is_draft
from .pipeline import Checked, Setting, examine, open_setting
from .tree import NEVER, LeftOut


@dataclass(frozen=True, slots=True)
class RevisionTree:
    """The files below `prefix` in the tree of a commit. Those of a folder are read together, at the first of them."""

    repository: Repository
    tree: GitFiles
    prefix: str
    _listed: dict[str, None] = field(default_factory=dict)
    _read: dict[str, bytes] = field(default_factory=dict)

    def below(self, folder: str, report: Report, left_out: LeftOut | None = None) -> Iterator[str]:
        """The files in `folder`, sorted. What git ignores is in no commit."""
        start = self.prefix if folder == "." else f"{self.prefix}{folder.rstrip('/')}/"
        found = [p[len(self.prefix) :] for p in self.tree.files if p.startswith(start)]
        found = sorted(p for p in found if NEVER.isdisjoint(p.split("/")[:-1]))
        self._listed.update(dict.fromkeys(found))
        return iter(found)

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder at `path`."""
        return self.prefix + path in self.tree.files or self.is_folder(path)

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder at `path`: in a commit, one with files."""
        start = self.prefix if path == "." else f"{self.prefix}{path.rstrip('/')}/"
        return any(file.startswith(start) for file in self.tree.files)

    def digest(self, path: str) -> str:
        """What Git calls its content."""
        return self.tree.files[self.prefix + path][1]

    def measured(self, path: str) -> tuple[str, int]:
        """That, and the number of bytes of a file."""
        return self.digest(path), len(self.read(path))

    def read(self, path: str) -> bytes:
        """The content of a file; empty for a link that leaves the tree."""
        if path not in self._read:
            wanted = {p: None for p in (*self._listed, path) if p not in self._read}
            found = contents(self.repository, self.tree, [self.prefix + p for p in wanted])
            self._read.update({p: found.get(self.prefix + p, b"") for p in wanted})
        return self._read[path]

    def local(self, path: str) -> Path | None:
        """Files of a commit do not lie on disk."""
        return None


@dataclass(frozen=True, slots=True)
class ProductDiff:
    """What changed of a product: on one side alone it was added or removed, else `changes` say it. Where it had another
    `id` before, its readers find it no more."""

    id: str
    before: Candidate | None
    after: Candidate | None
    verdict: Verdict | None
    changes: tuple[ProductChange, ...]

    @property
    def breaks(self) -> bool:
        """Whether those break who read a live version."""
        if self.before is None:
            return False
        live = not is_draft(str(self.before.data["version"]))
        return live and (self.after is None or self.verdict is Verdict.MAJOR)

    @property
    def renamed_from(self) -> str | None:
        """What it was called before; None where that is what it is called."""
        return self.before.id if self.before is not None and self.before.id != self.id else None


@dataclass(frozen=True, slots=True)
class ContractDiff:
    """The products that differ between two revisions, and what keeps others from being compared."""

    before: str
    after: str
    products: tuple[ProductDiff, ...]
    diagnostics: tuple[Diagnostic, ...]


def contract_diff(written: str, folder: Path, today: date) -> ContractDiff:
    """What changed over the range `written`: `BASE..HEAD`, `BASE...HEAD`, or `BASE` against the working tree.

    Contracts, fragments and Strata models are compared; what tools wrote is left out on both sides.
    """
    sides = read_range(written, folder)
    before = examine(_authored(_at(sides.repository, sides.prefix or "", sides.before[1], today)))
    if sides.after is None:
        after, name = examine(_authored(open_setting(folder, today))), WORKING_TREE
    else:
        after = examine(_authored(_at(sides.repository, sides.prefix or "", sides.after[1], today)))
        name = sides.after[0]
    levels = Levels(after.setting.config.classification)
    old, new = _sound(before), _sound(after)
    renamed = _renamed(old, new)
    products = []
    for id_ in sorted((old.keys() | new.keys()) - set(renamed.values())):
        had, has = old.get(renamed.get(id_, id_)), new.get(id_)
        if had is None or has is None:
            products.append(ProductDiff(id_, had, has, None, ()))
            continue
        changes = compare(had, has, levels)
        if changes or had.data["version"] != has.data["version"] or had.id != has.id:
            draft = is_draft(str(had.data["version"]))
            verdict = Verdict.MAJOR if had.id != has.id else verdict_of(changes)
            products.append(ProductDiff(id_, had, has, Verdict.DRAFT if draft else verdict, changes))
    unsound = {c.file for c in after.collated.candidates if not c.sound}
    found = [d for d in after.diagnostics if d.blocks and d.span is not None and d.span.file in unsound]
    if not before.inventory.of_kind(InputKind.CONTRACT):
        found += without_contract(after.inventory, after.setting.config, after.setting.tree, after.setting.root)
    return ContractDiff(sides.before[0], name, tuple(products), tuple(found))


def _renamed(old: Mapping[str, Candidate], new: Mapping[str, Candidate]) -> Mapping[str, str]:
    """The ids that products have by now, with what they were: one that is new has the assets of one that is gone, and
    no other has."""
    gone, added = _by_assets(old, new), _by_assets(new, old)
    return {added[k][0]: gone[k][0] for k in gone.keys() & added.keys() if len(gone[k]) == len(added[k]) == 1}


def _by_assets(
    candidates: Mapping[str, Candidate], others: Mapping[str, Candidate]
) -> Mapping[frozenset[str], list[str]]:
    """The products that are not among `others`, by what assets they have."""
    found: dict[frozenset[str], list[str]] = {}
    for id_ in candidates.keys() - others.keys():
        found.setdefault(frozenset(a.id for a in candidates[id_].contract.assets), []).append(id_)
    return found


def _authored(setting: Setting) -> Setting:
    """Without what tools wrote: commits mostly do not have it, and what one side alone has is no change."""
    config = setting.config
    engine, dbt = replace(config.contract_engine, generated=()), replace(config.dbt, manifest="")
    return replace(setting, config=replace(config, contract_engine=engine, dbt=dbt))


def _sound(checked: Checked) -> dict[str, Candidate]:
    return {c.id: c for c in checked.collated.candidates if c.sound}


def _at(repository: Repository, prefix: str, commit: str, today: date) -> Setting:
    tree = tree_of(repository, commit)
    files = RevisionTree(repository, tree, prefix)
    config = ProjectConfig()
    if files.exists(CONFIG_NAME):
        config = parse_config(files.read(CONFIG_NAME).decode("utf-8", "replace"), repository.folder)
    try:
        models = project_of(repository.folder, config, TreeFiles(repository, tree, prefix))
    except StrataError:  # a project of contracts alone has no models
        models = None
    root = Path(posixpath.join(repository.folder.as_posix(), f"@{commit[:12]}"))
    return Setting(root, config, files, today, models)
