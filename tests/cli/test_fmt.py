"""`strata fmt`: what is written, what is only told, and what is left alone."""

from __future__ import annotations

import io
import os
import sys

import pytest

LOOSE = "model m{from t select{a,b}}"
NEAT = "model m {\n  from t\n  select { a, b }\n}\n"


@pytest.fixture
def stdin(monkeypatch):
    def give(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return give


def test_a_file_is_rewritten_in_one_step_and_keeps_its_mode(empty):
    empty.write("m.strata", LOOSE)
    os.chmod(empty.root / "m.strata", 0o640)
    ran = empty("fmt", "m.strata")
    assert (ran.code, ran.out, ran.err) == (0, "formatted  m.strata\n", "1 file formatted, 0 unchanged\n")
    assert (empty.root / "m.strata").read_bytes() == NEAT.encode()
    assert (empty.root / "m.strata").stat().st_mode & 0o777 == 0o640
    assert os.listdir(empty.root) == ["m.strata"]


def test_a_link_stays_a_link(empty):
    empty.write("m.strata", LOOSE)
    os.symlink("m.strata", empty.root / "link.strata")
    assert empty("fmt", "link.strata").code == 0
    assert (empty.root / "link.strata").is_symlink()
    assert (empty.root / "m.strata").read_text() == NEAT


def test_check_writes_nothing(empty):
    empty.write("m.strata", LOOSE)
    empty.write("n.strata", NEAT.replace("model m", "model n"))
    ran = empty("fmt", "--check", ".")
    assert (ran.code, ran.out, ran.err) == (1, "would change  m.strata\n", "1 file would change, 1 unchanged\n")
    assert (empty.root / "m.strata").read_text() == LOOSE
    assert empty("fmt", "--check", "n.strata").code == 0


def test_diff_writes_nothing(empty):
    empty.write("m.strata", LOOSE)
    ran = empty("fmt", "--diff", "m.strata")
    assert ran.code == 1
    assert ran.out == (
        "--- a/m.strata\n+++ b/m.strata\n@@ -1 +1,4 @@\n"
        "-model m{from t select{a,b}}\n\\ No newline at end of file\n"
        "+model m {\n+  from t\n+  select { a, b }\n+}\n"
    )
    assert (empty.root / "m.strata").read_text() == LOOSE


def test_the_diff_of_an_absolute_path_is_a_patch_from_the_root(empty):
    empty.write("m.strata", LOOSE)
    path = (empty.root / "m.strata").as_posix()
    assert empty("fmt", "--diff", path).out.startswith(f"--- a{path}\n+++ b{path}\n@@ -1 +1,4 @@\n")


@pytest.mark.parametrize("content", [b"model m {\n  fitler a\n}\n", b"model m { \xff }"])
def test_what_does_not_parse_is_left_alone_and_told(empty, content):
    empty.write("m.strata", content)
    empty.write("n.strata", LOOSE)
    ran = empty("fmt", ".")
    assert (ran.code, ran.out) == (1, "formatted  n.strata\n")
    assert "--> m.strata:" in ran.err
    assert ran.err.endswith("1 file formatted, 0 unchanged, 1 left as found\n")
    assert (empty.root / "m.strata").read_bytes() == content


def test_standard_input(empty, stdin):
    stdin(LOOSE.encode())
    ran = empty("fmt", "-")
    assert (ran.code, ran.out, ran.err) == (0, NEAT, "")
    stdin(NEAT.encode())
    assert empty("fmt", "--check", "-").code == 0
    stdin(LOOSE.encode())
    ran = empty("fmt", "--check", "-")
    assert (ran.code, ran.out) == (1, "")
    stdin(b"model")
    ran = empty("fmt", "-")
    assert (ran.code, ran.out) == (1, "")
    assert "error[E001]" in ran.err


def test_without_a_path_it_is_the_project(cli):
    cli.write("models/totals.strata", LOOSE)
    cli.write("elsewhere/other.strata", LOOSE)
    ran = cli("fmt")
    assert (ran.code, ran.out) == (0, "formatted  models/paid.strata\nformatted  models/totals.strata\n")
    assert (cli.root / "elsewhere/other.strata").read_text() == LOOSE


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["missing.strata"], "does not exist"), (["notes.txt"], "is no `.strata` file"), ([], "holds no `strata.toml`")],
)
def test_usage(empty, arguments, said):
    empty.write("notes.txt", "x")
    ran = empty("fmt", *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert ran.clean


def test_a_text_with_a_byte_order_mark_and_foreign_line_ends(empty):
    empty.write("m.strata", b"\xef\xbb\xbfmodel m {\r\n  from t // why\r\n}\r\n")
    assert empty("fmt", "m.strata").code == 0
    assert (empty.root / "m.strata").read_bytes() == b"model m {\n  from t  // why\n}\n"
