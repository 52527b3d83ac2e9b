"""Modules that are imported belong to the project, wherever its configuration says that modules lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata_core.planning.project import Project, compile_, open_project

SOURCE = 'source s(csv: "s.csv") { columns: { id: int64 nonnull } }\n'


def opened(folder: Path, files: dict[str, str], start: str = "") -> Project:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return open_project(folder / start) if start else open_project(project=folder)


def paths(project: Project) -> list[str]:
    return [file.path for file in project.files]


def errors(project: Project) -> list[str]:
    return [d.code for d in compile_(project).diagnostics if d.blocks]


def test_a_single_file_brings_what_it_imports(tmp_path):
    files = {
        "main.strata": "import lib.tables\nmodel m { from s }",
        "lib/tables.strata": f"import deeper.names {SOURCE}",
        "lib/deeper/names.strata": "domain code = string",
        "lib/unread.strata": "model m { from s }",
    }
    project = opened(tmp_path, files, "main.strata")
    assert paths(project) == ["main.strata", "lib/tables.strata", "lib/deeper/names.strata"]
    assert errors(project) == []


@pytest.mark.parametrize(
    "place", ["models/shared/tables.strata", "common/shared/tables.strata", "shared/tables.strata"]
)
def test_a_module_is_found_beside_the_file_in_a_folder_of_models_and_at_the_root(tmp_path, place):
    files = {
        "strata.toml": '[project]\nname = "p"\nmodels = ["models/main.strata", "common"]\n',
        "models/main.strata": "import shared.tables model m { from s }",
        "common/other.strata": "domain code = string",
        place: SOURCE,
    }
    assert errors(opened(tmp_path, files)) == []


def test_modules_that_import_one_another_are_read_once_and_told(tmp_path):
    files = {"a.strata": f"import b\n{SOURCE}", "b.strata": "import a\nmodel m { from s }"}
    project = opened(tmp_path, files, "a.strata")
    assert paths(project) == ["a.strata", "b.strata"]
    assert errors(project) == ["E028"]


def test_a_module_that_is_nowhere_is_an_error_of_the_check(tmp_path):
    project = opened(tmp_path, {"a.strata": "import b.c\n" + SOURCE}, "a.strata")
    assert errors(project) == ["E070"]


def test_what_only_looks_like_an_import_brings_nothing(tmp_path):
    comments = "// import b\n# import b\n/* import b */ "
    text = comments + 'domain code = string\nmodel m { label: "\\" import b" from `import b` }'
    project = opened(tmp_path, {"a.strata": text, "b.strata": SOURCE}, "a.strata")
    assert paths(project) == ["a.strata"]


def test_a_project_that_changes_in_an_imported_module_is_compiled_anew(tmp_path):
    generator = 'fn made(c: Str) -> Model { model "m_${c}" { from s filter id == 1 } }\n'
    files = {"main.strata": f'import lib\n{SOURCE}made("a")', "lib.strata": generator}
    before = compile_(opened(tmp_path, files, "main.strata")).models["m_a"].relation
    files["lib.strata"] = generator.replace("id == 1", "id == 2")
    assert compile_(opened(tmp_path, files, "main.strata")).models["m_a"].relation != before
