"""Names that become paths: an allow-list pattern, and a check that the path stays under the store's root."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePath
from typing import TypeVar

from ..diagnostics import Diagnostic, StrataError
from ..folder_names import NAME_RULE, names_a_folder

P = TypeVar("P", bound=PurePath)
_ADDRESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


def table_name(name: str) -> str:
    """`name`, or E092: it cannot name a table or an environment on disk."""
    return _checked(name, names_a_folder(name), NAME_RULE)


def address_name(address: str) -> str:
    """`address`, or E092: it cannot name an artifact on disk."""
    return _checked(address, is_address(address), "letters, digits, - and _, 128 characters at most")


def is_address(text: str) -> bool:
    """Whether `text` can name an artifact on disk."""
    return _ADDRESS.fullmatch(text) is not None


def _checked(name: str, fits: bool, accepted: str) -> str:
    if not fits:
        raise StrataError(Diagnostic("E092", f"{name!r} cannot name a folder of the store", fix=f"use {accepted}"))
    return name


def under(root: PurePath, path: P) -> P:
    """`path`, or E092: links on the way lead out of `root`. In a bucket there are none."""
    if isinstance(root, Path) and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root)):
        message = f"{path} leads out of the store {root}"
        fix = "remove the symbolic link, or set [store] root to the folder that it points to"
        raise StrataError(Diagnostic("E092", message, fix=fix))
    return path
