"""The registry of codes is complete both ways: what is raised stands in it, what stands in it is raised and tested."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from strata_core.diagnostics import CODES

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"[EW]\d{3}")


def codes_in(folder: Path) -> set[str]:
    """The codes that stand as whole string literals in the Python files below `folder`, the registry left out."""
    found: set[str] = set()
    for path in folder.rglob("*.py"):
        if path.name in ("codes.py", Path(__file__).name):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
                found.add(node.value)
    return found


def test_every_code_that_is_raised_is_registered() -> None:
    assert codes_in(ROOT / "strata_core") - CODES.keys() == set()


def test_every_registered_code_is_raised_somewhere() -> None:
    assert CODES.keys() - codes_in(ROOT / "strata_core") == set()


def test_every_registered_code_stands_in_some_test() -> None:
    told = {
        code
        for path in (ROOT / "tests").rglob("*.py")
        if path != Path(__file__)
        for code in CODE.findall(path.read_text())
    }
    assert CODES.keys() - told == set()
