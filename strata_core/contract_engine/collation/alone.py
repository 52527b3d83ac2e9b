"""A contract of which nobody else says anything: merging it gives what it says, so it is not taken apart for that.

Most products are such. `merge.Merge` gives the same of them, item by item; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..documents import Document, Path
from .candidate import Provenance, Tier
from .merge import Merge
from .merge_rules import BY_PLACE, How, MergeRule


def provenance_alone(document: Document) -> Mapping[Path, Provenance] | None:
    """Where each value of a sound contract stands, which is merged with nothing; None where merging changes or tells
    something: an item is there twice, or a mapping is empty."""
    lists: set[Path] = set()
    return _Places(document, lists) if _as_it_is("", (), document.data, lists) else None


_MERGED: dict[str, dict[str, MergeRule]] = {}
"""The fields of each place that are not one value."""
for _rule in BY_PLACE.values():
    if _rule.where and _rule.how is not How.SCALAR and not _rule.where.endswith("[]"):
        _MERGED.setdefault(_rule.where.rpartition(".")[0], {})[_rule.where.rpartition(".")[2]] = _rule


def _as_it_is(where: str, path: Path, value: Mapping[str, Any], lists: set[Path]) -> bool:
    for name, rule in _MERGED.get(where, {}).items():
        inner = value.get(name)
        if inner is None:
            continue
        here = (*path, name)
        if rule.how is How.FIELDS:
            if not inner or not _as_it_is(rule.where, here, inner, lists):
                return False
            continue
        lists.add(here)
        by_name = rule.how is How.BY_NAME
        names = {item[rule.keys[0]] if by_name else Merge.key_of(rule, item) for item in inner}
        if len(names) < len(inner):
            return False
        if by_name and not all(_as_it_is(f"{rule.where}[]", (*here, i), item, lists) for i, item in enumerate(inner)):
            return False
    return True


class _Places(Mapping[Path, Provenance]):
    """The places of a document's values as sources, each made when it is asked for. `lists` are those whose items have
    sources, and they themselves none."""

    def __init__(self, document: Document, lists: set[Path]) -> None:
        self.document, self.lists = document, lists

    def __contains__(self, path: object) -> bool:
        return path in self.document.values and path not in self.lists and _present(self.document.data, path)

    def __getitem__(self, path: Path) -> Provenance:
        if path not in self:
            raise KeyError(path)
        return Provenance(Tier.CANONICAL, self.document.span(path))

    def __iter__(self) -> Iterator[Path]:
        return (path for path in self.document.values if path in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _present(data: Any, path: Any) -> bool:
    """Whether there is a value at `path`: unknown fields have places, and were taken out."""
    for step in path:
        if isinstance(step, str) and step not in data:
            return False
        data = data[step]
    return True
