"""The programs on the pages name what there is."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PROGRAMS = {
    f"{page.stem}-{number}": program
    for page in sorted(DOCS.glob("*.md"))
    for number, program in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.M))
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_program_of_a_page_imports_of_strata_is_there(name: str) -> None:
    imports = [n for n in ast.walk(ast.parse(PROGRAMS[name])) if isinstance(n, ast.ImportFrom)]
    ours = [
        n for n in imports if n.module is not None and n.module.partition(".")[0] in ("strata_core", "strata_dagster")
    ]
    for one in ours:
        module = importlib.import_module(one.module)
        assert [alias.name for alias in one.names if not hasattr(module, alias.name)] == []
