"""What is kept from one check of a project to the next: of each file what was parsed, and what was found in a contract
that nothing else takes part in.

It lies in several entries of the user's cache (`planning/cache.py`), so that an edit writes that of its file
alone. A file of other content, or at another place, is another file; findings hold in one `context`: a configuration, a
day.
"""

from __future__ import annotations

import binascii
import pickle
from collections.abc import Mapping
from pathlib import Path

from ..diagnostics import Diagnostic
from ..frozen import dataclass, field, replace
from ..planning import cache
from .discover import Input, Inventory
from .parse import PARSERS, kept_key
from .parse.parsed import ParsedFile

BUCKETS = 64
_PACK = 256

OwnFindings = tuple[str, tuple[Diagnostic, ...]]
"""A context, and what is found in a contract in it."""
_Entry = tuple[ParsedFile, list[bytes], OwnFindings | None]
_Bucket = dict[str, _Entry]


@dataclass(frozen=True, slots=True)
class Kept:
    """What was kept of the files of an inventory: `parsed` by `kept_key`, `findings` by the contract's path."""

    buckets: Mapping[int, _Bucket] = field(repr=False)
    parsed: Mapping[str, ParsedFile] = field(repr=False)
    findings: Mapping[str, OwnFindings] = field(repr=False)


def load(root: Path, inventory: Inventory) -> Kept:
    """What is kept of the files of `inventory`, a project in `root`."""
    listed = _listed(inventory)
    buckets: dict[int, _Bucket] = {n: cache.load(_key(root, n)) or {} for n in listed}
    parsed, findings = {}, {}
    for number, inputs in listed.items():
        for one in inputs:
            entry = buckets[number].get(kept_key(one))
            if entry is not None:
                parsed[kept_key(one)] = _unpacked(*entry[:2])
                if entry[2] is not None:
                    findings[one.path] = entry[2]
    return Kept(buckets, parsed, findings)


def save(
    root: Path,
    inventory: Inventory,
    before: Kept,
    parsed: Mapping[str, ParsedFile],
    findings: Mapping[str, OwnFindings],
) -> None:
    """Keep `parsed` (by path) and `findings`, as far as they are other than `before`."""
    for number, inputs in _listed(inventory).items():
        had = before.buckets.get(number, {})
        changed = had.keys() != {kept_key(one) for one in inputs}
        if changed or any(had[kept_key(one)][2] != findings.get(one.path) for one in inputs):
            now = {kept_key(one): (*_packed(parsed[one.path]), findings.get(one.path)) for one in inputs}
            cache.save(_key(root, number), now)


def _listed(inventory: Inventory) -> dict[int, list[Input]]:
    found: dict[int, list[Input]] = {}
    for one in inventory.inputs:
        if one.kind in PARSERS:
            found.setdefault(binascii.crc32(one.path.encode()) % BUCKETS, []).append(one)
    return found


def _key(root: Path, bucket: int) -> str:
    return cache.content_key("contract-files", str(root).encode(), str(bucket).encode())


def _packed(file: ParsedFile) -> tuple[ParsedFile, list[bytes]]:
    """A file as it is kept: a manifest of thousands of models in packs, since a pickle remembers all that is in it
    until it is written, which takes more memory than the models."""
    packs = range(0, len(file.generated), _PACK)
    return replace(file, generated=()), [pickle.dumps(file.generated[i : i + _PACK]) for i in packs]


def _unpacked(file: ParsedFile, packs: list[bytes]) -> ParsedFile:
    return replace(file, generated=tuple(asset for pack in packs for asset in pickle.loads(pack))) if packs else file
