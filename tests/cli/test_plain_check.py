"""`strata check [PATH]` says and answers the same, read by hand or as any other command line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from strata_core.cli import main as entry
from strata_core.cli.main import is_plain_check, main

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
    def told(plain: bool) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["strata", *arguments])
        if not plain:
            monkeypatch.setattr(entry, "is_plain_check", lambda arguments: False)
        with pytest.raises(SystemExit) as exit_:
            main()
        out, err = capsys.readouterr()
        return exit_.value.code, out, re.sub(r"\(\d+\.\d\d s\)", "(s)", err)

    assert is_plain_check(arguments)
    first = told(plain=True)
    assert first[0] == code
    assert first == told(plain=False)


def test_what_is_not_plain_is_read_as_any_other_command_line(folder):
    for arguments in ([], ["--help"], ["check", "--format=json"], ["check", "nowhere"], ["check", "a", "b"], ["plan"]):
        assert not is_plain_check(arguments)


def test_neither_click_nor_reflection_is_loaded_for_a_plain_check_cold_or_after_an_edit(folder):
    probe = (
        "import sys\nsys.argv = ['strata', 'check', 'models/sound.strata']\nfrom strata_core.cli.main import main\n"
        "try: main()\nfinally: print([m for m in ('click', 'inspect', 'dataclasses', 'lark') if m in sys.modules])"
    )
    for text in (SOUND, SOUND.replace("from s", "from s\n  filter a > 1")):
        (folder / "models" / "sound.strata").write_text(text)
        ran = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True)
        assert (ran.returncode, ran.stdout) == (0, "[]\n")
