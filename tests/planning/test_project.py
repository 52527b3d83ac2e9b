"""Which project a command means, and what belongs to it."""

from __future__ import annotations

import os

import pytest

from strata_core.diagnostics import StrataError
from strata_core.planning.project import compile_, compile_sound, open_project
from strata_core.regular_files import read_regular

MODEL = 'source s(csv: "s.csv") { columns: { a: int64 } }\nmodel m { from s }\n'


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(root, path, text=MODEL):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def fault(*args, **how):
    with pytest.raises(StrataError) as caught:
        open_project(*args, **how)
    (found,) = caught.value.diagnostics
    return found.code, found.message, found.fix


def test_the_nearest_project_upwards(root, monkeypatch):
    write(root, "strata.toml", '[project]\nname = "up"\n')
    write(root, "models/a.strata")
    (root / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(root / "deep" / "er")
    found = open_project()
    assert (found.root, found.config.name, [f.path for f in found.files]) == (root, "up", ["models/a.strata"])
    assert found.store.root == root / ".strata/store"


def test_modules_are_found_in_the_order_of_their_paths(root):
    write(root, "strata.toml", '[project]\nmodels = ["one.strata", "m"]\n')
    for path in ("m/b/x.strata", "m/a.strata", "one.strata", "m/.git/c.strata", "m/note.txt", "other/z.strata"):
        write(root, path)
    assert [f.path for f in open_project().files] == ["one.strata", "m/a.strata", "m/b/x.strata"]


def test_a_folder_without_configuration_is_a_project(root):
    write(root, "b/x.strata")
    write(root, "a.strata")
    assert [f.path for f in open_project().files] == ["a.strata", "b/x.strata"]
    assert [f.path for f in open_project(project=root / "b").files] == ["x.strata"]


def test_a_single_file_is_a_project(root):
    write(root, "b/x.strata")
    for found in (open_project(root / "b/x.strata"), open_project(project=root / "b/x.strata")):
        assert (found.root, found.config.name, [f.path for f in found.files]) == (root / "b", "x", ["x.strata"])


def test_a_file_of_a_project_means_the_project(root):
    write(root, "strata.toml", "")
    write(root, "models/a.strata")
    write(root, "models/b.strata")
    write(root, "scratch.strata")
    assert len(open_project(root / "models/a.strata").files) == 2
    assert [f.path for f in open_project(root / "scratch.strata").files] == ["scratch.strata"]


def test_what_is_no_project(root):
    assert fault() == (
        "E073",
        f"`{root}` holds no `strata.toml` and no `.strata` file",
        "run inside a project, or give `--project DIR` or a file",
    )
    assert fault(project=root / "x") == ("E073", f"there is no folder `{root / 'x'}`", "give the project's folder")
    assert fault(root / "x.strata")[:2] == ("E002", f"there is no file or folder `{root / 'x.strata'}`")


def test_a_project_without_modules(root):
    write(root, "strata.toml", '[project]\nname = "x"\nmodels = ["m"]\n')
    assert fault() == (
        "E073",
        "`m` is neither a file nor a folder",
        'create it, or list files and folders: `models = ["."]` in `[project]` is this folder',
    )
    (root / "m").mkdir()
    assert fault()[:2] == ("E073", "the project `x` has no model: no `.strata` file lies in m")


def test_a_module_that_cannot_be_read(root):
    write(root, "strata.toml", "")
    (root / "models").mkdir()
    (root / "models/a.strata").symlink_to("nowhere")
    code, message, _ = fault()
    assert (code, message) == ("E002", "`models/a.strata` cannot be read: No such file or directory")


def test_an_unchanged_project_is_compiled_once(root, monkeypatch):
    write(root, "a.strata", MODEL.replace("model m", "model once"))
    first = compile_(open_project())
    monkeypatch.setattr("strata_core.analysis.compile_project", lambda _: pytest.fail("compiled again"))
    again = compile_(open_project())
    assert (list(again.models), again.diagnostics) == (["once"], first.diagnostics)


def test_a_sound_project_is_needed_to_go_on(root):
    write(root, "a.strata", "model m { from s }")
    assert compile_(open_project()).broken == {"m"}
    with pytest.raises(StrataError) as caught:
        compile_sound(open_project())
    assert [d.code for d in caught.value.diagnostics] == ["E020"]


def test_e002_a_pipe_is_no_module(tmp_path):
    (tmp_path / "models").mkdir()
    os.mkfifo(tmp_path / "models" / "endless.strata")
    with pytest.raises(StrataError) as caught:
        open_project(project=tmp_path)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == (
        "E002",
        "`models/endless.strata` cannot be read: it is a pipe, and no regular file",
    )


def test_modules_beside_contracts_are_read_once(root, monkeypatch):
    write(root, "strata.toml", "")
    write(root, "models/a.strata")
    write(root, "contracts/shop/orders/contract.yaml", "id: shop.orders\n")
    read: list[str] = []
    monkeypatch.setattr(
        "strata_core.planning.project.read_regular", lambda path: read.append(path.name) or read_regular(path)
    )
    assert [f.path for f in open_project().files] == ["models/a.strata"]
    assert read.count("a.strata") == 1
