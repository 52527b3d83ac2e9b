"""Where a store is: a folder, or `s3://bucket/prefix`; told apart here and nowhere else."""

from __future__ import annotations

import urllib.parse
from dataclasses import dataclass
from pathlib import Path, PurePath

from ..caches import cache_directory
from ..diagnostics import Diagnostic, StrataError
from ..digests import hexdigest
from ..folder_names import leads_elsewhere, names_a_bucket
from .files import LOCAL, Files


@dataclass(frozen=True, slots=True)
class Place:
    """A store's root, the files below it, and a local folder for what is being written."""

    root: PurePath
    files: Files
    staging: Path


def is_url(root: str | PurePath) -> bool:
    """Whether `root` is a URL.

    >>> is_url("s3://lake/strata"), is_url(".strata/store")
    (True, False)
    """
    return leads_elsewhere(str(root))


def place(root: str | PurePath, endpoint: str | None = None, region: str | None = None) -> Place:
    """The place of a store; nothing is looked at. E092 for a URL that names none."""
    if not is_url(root):
        folder = Path(root)
        return Place(folder, LOCAL, folder / "staging")
    text = str(root)
    if not names_a_bucket(text):
        shown = text.partition(":")[0]
        message = f"a URL of {shown}:// names no store here" if shown != "s3" else "that URL names no bucket"
        fix = "write s3://bucket/prefix; keys and endpoint stand in the environment"
        raise StrataError(Diagnostic("E092", message, fix=fix))
    from .bucket import BucketFiles, BucketPath
    from .part_cache import copies
    from .s3 import connected

    path = BucketPath(text)
    objects = connected(path.bucket, endpoint, region)
    files = BucketFiles(objects, copies(), _shown(objects.endpoint))
    return Place(path, files, cache_directory() / "staging" / hexdigest("staging", str(path), endpoint or "")[:32])


def _shown(endpoint: str | None) -> str:
    """An endpoint for messages: without what may stand in front of the host, which is nobody's business."""
    if endpoint is None:
        return "the bucket's provider"
    split = urllib.parse.urlsplit(endpoint)
    return f"{split.scheme}://{split.netloc.rpartition('@')[2]}"
