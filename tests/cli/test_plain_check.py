"""`strata check [PATH]` says and answers the same, read by hand or as any other command line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from strata_core.cli.checking import check_at
from strata_core.cli.main import is_plain_check
from strata_core.cli.verbs import run, strata

SOUND = (
    "source s { columns: { a: int64 nonnull } }\ncontract C { a: int64 nonnull }\nmodel m -> contract C { from s }\n"
)
PROJECT = {
    "strata.toml": '[project]\nname = "p"\n',
    "models/sound.strata": SOUND,
    "models/sub/broken.strata": "model n { from s filter b > 1 }\nmodel o { from s filter a > }\n",
    "alone/sound.strata": SOUND,
    "alone/warned.strata": "model w { from s }\n",
    "empty/read.me": "",
    "no module.txt": "",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in PROJECT.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["check"], 1),
        (["check", "models/sound.strata"], 0),
        (["check", "models/sub"], 1),
        (["check", "models"], 1),
        (["check", "alone/sound.strata"], 0),
        (["check", "alone/warned.strata"], 1),
        (["check", "alone"], 2),
        (["check", "empty"], 2),
        (["check", "no module.txt"], 2),
        (["check", "."], 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_it_comes_to_the_same(arguments, code, folder, monkeypatch, capsys):
    def said() -> tuple[str, str]:
        out, err = capsys.readouterr()
        return out, re.sub(r"\(\d+\.\d\d s\)", "(s)", err)

    assert is_plain_check(arguments)
    assert check_at(Path(arguments[1]) if arguments[1:] else None) == code
    plain = said()
    monkeypatch.setattr(sys, "argv", ["strata", *arguments])
    with pytest.raises(SystemExit) as exit_:
        run(strata, "strata", "interrupted")
    assert (exit_.value.code, said()) == (code, plain)


def test_what_is_not_plain_is_read_as_any_other_command_line(folder):
    for arguments in ([], ["--help"], ["check", "--format=json"], ["check", "nowhere"], ["check", "a", "b"], ["plan"]):
        assert not is_plain_check(arguments)


def test_a_plain_check_as_a_process_loads_no_click_and_says_all_of_it(folder):
    ran, imported = imports_of_a_check("models/sub")
    assert not imported & REFLECTION
    assert ran.returncode == 1
    assert ran.stdout.count("error[") == 2
    assert "3 models in 2 files: 2 errors, 0 warnings" in ran.stderr


def test_neither_click_nor_reflection_is_loaded_for_a_plain_check_cold_or_after_an_edit(folder):
    for text in (SOUND, SOUND.replace("from s", "from s\n  filter a > 1")):
        (folder / "models" / "sound.strata").write_text(text)
        ran, imported = imports_of_a_check("models/sound.strata")
        assert not imported & REFLECTION
        assert ran.returncode == 0


def test_an_edited_model_is_checked_with_what_it_asks_for_alone(folder):
    for text in (SOUND, SOUND.replace("from s", "from s\n  filter a > 1")):
        (folder / "alone" / "sound.strata").write_text(text)
        ran, imported = imports_of_a_check("alone/sound.strata")
        assert ran.returncode == 0
    assert not imported & NOT_AFTER_AN_EDIT


NOT_AFTER_AN_EDIT = {"_hashlib", "json", "strata_core.language.syntax_errors"}
NOT_AFTER_AN_EDIT |= {f"strata_core.{module}" for module in ("analysis.tests", "relation.canonical", "types.texts")}
"""OpenSSL, the parser's tables as text, and what a sound model without joins, groups and tests does not ask for."""
REFLECTION = {"click", "inspect", "dataclasses", "lark"}


def imports_of_a_check(path: str) -> tuple[subprocess.CompletedProcess[str], set[str]]:
    """`strata check` of `path` in a process of its own, and the modules that it imports."""
    program = [sys.executable, "-X", "importtime", "-c", "from strata_core.cli.main import main; main()", "check", path]
    ran = subprocess.run(program, capture_output=True, text=True)
    imported = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines() if line.startswith("import time:")}
    assert "strata_core.cli.checking" in imported
    return ran, imported
