"""`import a.b` (language.md, "Declarations"): modules of one project, which share one namespace."""

from __future__ import annotations

import pytest

from strata_core.analysis import CompiledProject, compile_project
from strata_core.language.parser import parse_module

from .programs import marked

FILES = {
    "models/finance/revenue.strata": 'source s(csv: "s.csv") { columns: { id: int64 } }\nmodel revenue { from s }',
    "models/reports.strata": "model report { from revenue }",
}


def compiled(imports: str, files: dict[str, str] = FILES) -> CompiledProject:
    texts = files | {"models/main.strata": imports}
    return compile_project([parse_module(text, path).module for path, text in texts.items()])


def errors(found: CompiledProject) -> list[str]:
    return [d.code for d in found.diagnostics if d.blocks]


@pytest.mark.parametrize(
    "text",
    [
        "import finance.revenue",
        "import models.finance.revenue",
        "import revenue import reports",
        "import reports import reports model more { from report }",
    ],
)
def test_modules_are_found_from_any_folder_above_them(text: str) -> None:
    assert errors(compiled(text)) == []


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("import finance.revenu", "write `import finance.revenue`"),
        ("import repots", "write `import reports`"),
        ("import finance", "add the file `finance.strata`"),
        ("import elsewhere.entirely", "add the file `elsewhere/entirely.strata`"),
    ],
)
def test_e070_a_module_that_is_not_there(text: str, fix: str) -> None:
    (one,) = [d for d in compiled(text).diagnostics if d.blocks]
    assert (one.code, marked(text, one), one.fix) == ("E070", text, fix)
    assert one.message == f"no module `{text.removeprefix('import ')}` belongs to this project"


def test_e028_modules_that_import_one_another() -> None:
    files = {path: f"import main\n{text}" for path, text in FILES.items()}
    found = compiled("import finance.revenue\nimport reports\nmodel more { from report }", files)
    one, other = [d for d in found.diagnostics if d.blocks]
    assert (one.code, one.message) == (
        "E028",
        "modules import one another: "
        "models/finance/revenue.strata → models/main.strata → models/finance/revenue.strata",
    )
    assert (str(one.span), str(one.related[0].span)) == ("models/main.strata:1:1", "models/finance/revenue.strata:1:1")
    assert other.message.endswith("models/main.strata → models/reports.strata → models/main.strata")
    assert list(found.models) == ["revenue", "report", "more"]


def test_e028_a_module_that_imports_itself() -> None:
    (one,) = [d for d in compiled("import main").diagnostics if d.blocks]
    assert (one.code, one.message) == ("E028", "`models/main.strata` imports itself")


def test_a_module_that_two_others_import_is_no_circle() -> None:
    files = {
        "models/a.strata": "import b import c",
        "models/b.strata": "import d",
        "models/c.strata": "import d",
        "models/d.strata": "domain code = string",
    }
    assert errors(compiled("import a", files)) == []


def test_a_long_row_of_imports_is_walked_without_recursion() -> None:
    files = {f"models/m{i}.strata": f"import m{i + 1}" for i in range(5000)} | {"models/m5000.strata": ""}
    assert errors(compiled("", files)) == []
    files["models/m5000.strata"] = "import m0"
    assert errors(compiled("", files)) == ["E028"]


def test_of_two_modules_of_a_name_the_one_beside_the_file_is_meant() -> None:
    files = {"models/a/x.strata": "import y", "models/a/y.strata": "", "models/y.strata": "import a.x"}
    assert errors(compiled("", files)) == []


def test_one_namespace_names_are_known_without_an_import_and_given_once() -> None:
    assert errors(compiled("model more { from revenue }")) == []
    found = compiled("import finance.revenue\nmodel revenue { from s }")
    (one,) = [d for d in found.diagnostics if d.blocks]
    assert (one.code, one.span.file if one.span else "") == ("E023", "models/main.strata")
    assert one.related[0].span.file == "models/finance/revenue.strata"


def test_a_module_that_does_not_parse_is_still_a_module() -> None:
    assert errors(compiled("import finance.broken", FILES | {"models/finance/broken.strata": "model {"})) == []


def test_imports_change_no_model() -> None:
    with_import, without = compiled("import reports"), compiled("")
    assert with_import.models["report"].relation == without.models["report"].relation
