"""Whatever is sent or lies on disk: the server says what is wrong, goes on, and answers about the rest."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from strata_core.planning.kept.findings import findings
from strata_core.planning.project import open_project

from .client import Client, RequestError, at, shown
from .conftest import write

Editors = Callable[..., Client]
SOURCE = 'source orders(csv: "o.csv") { columns: { id: int64 primary_key, note: string } }\n'
CONFIG = '[project]\nname = "p"\n'
QUESTIONS = (
    "hover", "definition", "completion", "signatureHelp", "documentHighlight", "prepareRename", "implementation",
)  # fmt: skip
ABOUT = ("documentSymbol", "foldingRange", "semanticTokens/full")


def ask_everything(editor: Client, uri: str, line: int, character: int) -> None:
    """Every question about a place; none may end in an error of the server's own."""
    document = {"textDocument": {"uri": uri}}
    place = document | {"position": at(line, character)}
    here = document | {"range": {"start": at(line, character), "end": at(line, character + 3)}}
    numbers = [editor.ask(f"textDocument/{method}", place) for method in QUESTIONS]
    numbers += [editor.ask(f"textDocument/{method}", document) for method in ABOUT]
    numbers += [
        editor.ask("textDocument/inlayHint", here),
        editor.ask("textDocument/codeAction", here | {"context": {"diagnostics": []}}),
        editor.ask("textDocument/references", place | {"context": {"includeDeclaration": True}}),
        editor.ask("textDocument/rename", place | {"newName": "new_name"}),
        editor.ask("textDocument/formatting", document | {"options": {"tabSize": 2, "insertSpaces": True}}),
    ]
    refused = -32803
    answers = [_error(editor, number) for number in numbers]
    assert {*answers} <= {None, refused}


def _error(editor: Client, number: int) -> int | None:
    try:
        editor.answer(number)
    except RequestError as error:
        return int(error.code)
    return None


def test_files_that_cannot_be_read_as_text(tmp_path: Path, editors: Editors) -> None:
    files = {
        "strata.toml": CONFIG,
        "models/a.strata": SOURCE,
        "models/bad.strata": b"model x { from orders }\n\xff\xfe",
        "models/nul.strata": b"model y { from orders }\n\0\n",
        "models/m.strata": "model m { from orders filter nte is none }\n",
    }
    folder = write(tmp_path, files)
    (folder / "models" / "folder.strata").mkdir()
    (folder / "models" / "gone.strata").symlink_to(folder / "nowhere")
    editor = editors(folder)
    uri = editor.open(folder / "models" / "m.strata")
    assert ("E021", "0:29-0:32", "no column `nte`") in editor.findings(uri)
    bad = (folder / "models" / "bad.strata").as_uri()
    assert editor.findings(bad) == [("E002", "1:0-1:0", "the file is not UTF-8: byte 0xff at offset 24")]
    nul = (folder / "models" / "nul.strata").as_uri()
    assert ("E001", "1:0-1:1", "unexpected character U+0000") in editor.findings(nul)
    ask_everything(editor, bad, 1, 0)
    assert editor.shutdown() == 0


def test_texts_that_no_one_would_type(editors: Editors) -> None:
    editor = editors()
    for text in (
        "\0", "\ufeff", "\ud800", "\r", "\u2028", '"', "`", "/*", "}", "(" * 5000, "model " * 3000, "é" * 100,
        "model m {" * 500, "model m { from orders filter " + "(" * 200, "a\r\nb\rc\n", 'domain x = "' + "y" * 200_000,
    ):  # fmt: skip
        uri = editor.open("untitled:odd", text)
        for line, character in ((0, 0), (0, len(text) // 2), (0, len(text)), (1, 0), (99, 99)):
            ask_everything(editor, uri, line, character)
        editor.close(uri)
    assert editor.shutdown() == 0


def test_no_strata_toml(tmp_path: Path, editors: Editors) -> None:
    folder = write(tmp_path / "w", {"a.strata": SOURCE, "sub/m.strata": "model m { from orders }\n"})
    outside = write(tmp_path / "other", {"m.strata": "model m { from orders }\n", "a.strata": SOURCE})
    editor = editors(folder)
    inside = editor.open(folder / "sub" / "m.strata")
    assert [f[0] for f in editor.findings(inside)] == ["W001"]
    # A file outside the workspace is a project of its own, as for `strata check FILE`.
    alone = editor.open(outside / "m.strata")
    assert [f[0] for f in editor.findings(alone)] == ["E020"]
    unsaved = editor.open("untitled:Untitled-1", SOURCE + "model m { from orders }\n")
    assert [f[0] for f in editor.findings(unsaved)] == ["W001"]
    assert shown(editor.at("definition", unsaved, "model m { from ord‸ers }")[0]["range"]) == "0:7-0:13"
    editor.close(alone)
    editor.settled(inside)
    assert editor.found[alone] == []


def test_two_workspaces_do_not_mix(tmp_path: Path, editors: Editors) -> None:
    one = write(tmp_path / "one", {"strata.toml": CONFIG, "models/m.strata": SOURCE + "model m { from orders }\n"})
    two = write(tmp_path / "two", {"strata.toml": CONFIG, "models/m.strata": "model m { from orders }\n"})
    editor = editors(one, two)
    first, second = editor.open(one / "models" / "m.strata"), editor.open(two / "models" / "m.strata")
    assert [f[0] for f in editor.findings(first)] == ["W001"]
    assert [f[0] for f in editor.findings(second)] == ["E020"]
    symbols = editor.request("workspace/symbol", {"query": "m"})
    assert sorted(s["location"]["uri"] for s in symbols if s["name"] == "m") == sorted([first, second])


def test_imports_and_models_in_a_circle(tmp_path: Path, editors: Editors) -> None:
    files = {
        "strata.toml": CONFIG,
        "models/a.strata": "import b\nmodel a { from b }\n",
        "models/b.strata": "import a\nmodel b { from c }\n",
        "models/c.strata": "import c\nmodel c { from a }\n",
    }
    folder = write(tmp_path, files)
    editor = editors(folder)
    uri = editor.open(folder / "models" / "a.strata")
    assert ("E026", "1:15-1:16", "models form a cycle: a → b → c → a") in editor.findings(uri)
    for line in range(3):
        for character in range(0, 18, 3):
            ask_everything(editor, uri, line, character)
    assert editor.at("definition", uri, "import ‸b")[0]["uri"].endswith("/models/b.strata")


def test_files_that_come_go_and_change_on_disk(tmp_path: Path, editors: Editors) -> None:
    folder = write(
        tmp_path, {"strata.toml": CONFIG, "models/a.strata": SOURCE, "models/m.strata": "model m { from orders }\n"}
    )
    editor = editors(folder)
    source, uri = folder / "models" / "a.strata", editor.open(folder / "models" / "m.strata")
    assert [f[0] for f in editor.findings(uri)] == ["W001"]

    def told(path: Path, kind: int) -> None:
        editor.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": path.as_uri(), "type": kind}]})

    source.unlink()
    told(source, 3)
    assert [f[0] for f in editor.findings(uri)] == ["E020"]
    source.write_text(SOURCE.replace("orders", "sales"))
    told(source, 1)
    assert [f[2] for f in editor.findings(uri)] == ["no source or model `orders`"]
    source.write_text(SOURCE)
    told(source, 2)
    assert [f[0] for f in editor.findings(uri)] == ["W001"]
    # What is open counts, whatever is on disk; what is closed is as it is on disk.
    opened = editor.open(source, "")
    assert [f[0] for f in editor.findings(uri)] == ["E020"]
    editor.close(opened)
    assert [f[0] for f in editor.findings(uri)] == ["W001"]
    # A file that was never saved is gone when it is closed.
    new = editor.open(folder / "models" / "new.strata", "model m { from orders }\n")
    assert [f[0] for f in editor.findings(new)] == ["E023"]
    editor.close(new)
    assert [f[0] for f in editor.findings(uri)] == ["W001"]
    assert editor.found[new] == []


def test_a_folder_that_is_deleted_takes_its_modules_along(tmp_path: Path, editors: Editors) -> None:
    files = {"strata.toml": CONFIG, "models/in/a.strata": SOURCE, "models/m.strata": "model m { from orders }\n"}
    folder = write(tmp_path, files)
    editor = editors(folder)
    uri = editor.open(folder / "models" / "m.strata")
    assert [f[0] for f in editor.findings(uri)] == ["W001"]
    (folder / "models" / "in" / "a.strata").unlink()
    (folder / "models" / "in").rmdir()
    # No one tells of the file; saving is an occasion to look.
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert [f[0] for f in editor.findings(uri)] == ["E020"]


def test_a_folder_that_the_editor_knows_by_a_link(tmp_path: Path, editors: Editors) -> None:
    write(tmp_path / "real", {"strata.toml": CONFIG, "models/m.strata": SOURCE + "model m { from orders }\n"})
    (tmp_path / "link").symlink_to(tmp_path / "real")
    editor = editors(tmp_path.resolve() / "link")
    uri = editor.open(tmp_path.resolve() / "link" / "models" / "m.strata")
    assert [f[0] for f in editor.findings(uri)] == ["W001"]
    assert editor.at("definition", uri, "model m { from ord‸ers }")[0]["uri"] == uri


def test_what_is_shown_in_the_text_is_asked_for_again_once_it_is_known(tmp_path: Path, editors: Editors) -> None:
    folder = write(tmp_path, {"strata.toml": CONFIG, "models/m.strata": SOURCE})
    can = {"workspace": {"semanticTokens": {"refreshSupport": True}, "inlayHint": {"refreshSupport": True}}}
    editor = editors(folder, capabilities=can)
    editor.settled(editor.open(folder / "models" / "m.strata"))
    editor.settled(editor.open("untitled:other", ""))
    told = [m["method"] for m in editor.messages]
    assert {"workspace/semanticTokens/refresh", "workspace/inlayHint/refresh"} <= {*told}


def test_a_configuration_that_is_not_valid_and_then_is(tmp_path: Path, editors: Editors) -> None:
    folder = write(
        tmp_path, {"strata.toml": "[project]\nnmae = 1\n", "models/m.strata": SOURCE + "model m { from orders }\n"}
    )
    editor = editors(folder)
    config, uri = folder / "strata.toml", editor.open(folder / "models" / "m.strata")
    assert [f[0] for f in editor.findings(uri)] == ["W001"]
    assert [(d["code"], shown(d["range"])) for d in editor.found[config.as_uri()]] == [("E073", "1:0-1:4")]
    config.write_text('[project]\nname = "p"\n[lint]\nW001 = "off"\n')
    editor.notify("textDocument/didSave", {"textDocument": {"uri": config.as_uri()}})
    assert editor.findings(uri) == []
    assert editor.found[config.as_uri()] == []
    # Without it, the file belongs to the folder of the workspace.
    config.unlink()
    editor.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": config.as_uri(), "type": 3}]})
    assert [f[0] for f in editor.findings(uri)] == ["W001"]


def test_a_pipe_among_the_modules_is_told_and_not_waited_for(tmp_path: Path, editors: Editors) -> None:
    folder = write(tmp_path, {"strata.toml": CONFIG, "models/m.strata": SOURCE + "model m { from orders }\n"})
    os.mkfifo(folder / "models/a.strata")
    editor = editors(folder)
    uri = editor.open(folder / "models" / "m.strata")
    assert [f[0] for f in editor.findings(uri)] == ["W001"]
    told = [d["message"].splitlines()[0] for d in editor.found[(folder / "strata.toml").as_uri()]]
    assert told == ["`models/a.strata` cannot be read: it is a pipe, and no regular file"]
    editor.notify("textDocument/didOpen", {"textDocument": {
        "uri": (folder / "models/a.strata").as_uri(), "languageId": "strata", "version": 1, "text": "",
    }})  # fmt: skip
    editor.notify("textDocument/didClose", {"textDocument": {"uri": (folder / "models/a.strata").as_uri()}})
    assert [f[0] for f in editor.findings(uri)] == ["W001"]


def test_a_project_without_a_saved_module(tmp_path: Path, editors: Editors) -> None:
    """It lacks one as long as none is open, whether the editor opens one before or after the project was looked at."""
    folder = write(tmp_path, {"strata.toml": CONFIG})
    editor = editors(folder)
    config = (folder / "strata.toml").as_uri()

    def faults() -> list[tuple[str, str]]:
        editor.request("workspace/symbol", {"query": ""})  # answered once every project is settled
        return [(d["code"], shown(d["range"])) for d in editor.found.get(config, [])]

    assert faults() == [("E073", "0:0-0:0")]
    uri = editor.open(folder / "models" / "m.strata", SOURCE + "model m { from order }\n")
    assert [f[0] for f in editor.findings(uri)] == ["E020"]
    assert faults() == []
    editor.close(uri)
    assert faults() == [("E073", "0:0-0:0")]


def test_a_configuration_that_is_not_valid_beside_unsaved_modules_alone(tmp_path: Path, editors: Editors) -> None:
    folder = write(tmp_path, {"strata.toml": "[project]\nnmae = 1\n"})
    editor = editors(folder)
    uri = editor.open(folder / "models" / "m.strata", SOURCE + "model m { from orders }\n")
    assert [f[0] for f in editor.findings(uri)] == ["W001"]
    found = editor.found[(folder / "strata.toml").as_uri()]
    assert [(d["code"], shown(d["range"])) for d in found] == [("E073", "1:0-1:4")]


WIDE = 'domain d = string // 🎉\nsource s(csv: "s") { columns: { `na🎉me`: int64, `שם`: string, `e\u2028f`: int64 } }\n'


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("utf-16", ["1:32-1:40", "1:49-1:53", "1:63-1:68"]),
        ("utf-8", ["1:32-1:42", "1:51-1:57", "1:67-1:74"]),
        ("utf-32", ["1:32-1:39", "1:48-1:52", "1:62-1:67"]),
    ],
)
def test_positions_are_counted_as_agreed(editors: Editors, encoding: str, expected: list[str]) -> None:
    editor = editors(encodings=(encoding,))
    assert editor.initialized["capabilities"]["positionEncoding"] == encoding
    uri = editor.open("untitled:wide", WIDE)
    (source,) = [s for s in editor.about("documentSymbol", uri) if s["name"] == "s"]
    assert [shown(c["selectionRange"]) for c in source["children"]] == expected


def test_edits_between_wide_and_odd_characters(editors: Editors) -> None:
    """Behind an emoji and a line separator; `\r\n` and a lone `\r` end lines."""
    models = "model m { from s }\r\nmodel n { from m }\rmodel o { from m }"
    editor = editors()
    uri = editor.open("untitled:edited", WIDE + models)
    editor.type(uri, 1, 37, "MI", (1, 39))
    editor.type(uri, 1, 66, "g", (1, 67))
    editor.type(uri, 3, 15, "o", (3, 16))
    editor.type(uri, 4, 15, "x", (4, 16))
    text = WIDE.replace("na🎉me", "na🎉MI").replace("\u2028f", "\u2028g")
    text += "model m { from s }\r\nmodel n { from o }\rmodel o { from x }"
    same = editor.open("untitled:same", text)
    assert editor.findings(uri) == editor.findings(same)
    assert ("E020", "4:15-4:16", "no source or model `x`") in editor.findings(uri)
    assert editor.about("documentSymbol", uri) == editor.about("documentSymbol", same)
    source = editor.about("documentSymbol", uri)[1]
    assert [c["name"] for c in source["children"]] == ["na🎉MI", "שם", "e\u2028g"]


def test_messages_that_are_none(tmp_path: Path, editors: Editors) -> None:
    editor = editors(tmp_path)
    editor.send_raw(b"this is no JSON")
    editor.send_raw(b'{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": 7}}')
    editor.notify("no/such/notification", {})
    with pytest.raises(RequestError) as error:
        editor.request("no/such/request", {})
    assert error.value.code == -32601
    place = {"textDocument": {"uri": "file:///nowhere/x.strata"}, "position": at(10**6, 10**6)}
    assert editor.request("textDocument/hover", place) is None
    editor.ask("textDocument/hover", place | {"position": at(-1, -5)})
    unknown = {"uri": "untitled:never-opened", "version": 3}
    change = {"textDocument": unknown, "contentChanges": [{"text": "domain d = strin"}]}
    editor.notify("textDocument/didChange", change)
    assert [f[0] for f in editor.findings("untitled:never-opened")] == ["E072"]
    editor.close("untitled:other")
    uri = editor.open("untitled:last", "domain d = string\n")
    assert editor.findings(uri) == []
    assert editor.shutdown() == 0


def test_a_request_can_be_cancelled(tmp_path: Path, editors: Editors) -> None:
    many = "".join(f"model m{n} {{ from {f'm{n - 1}' if n else 'orders'} }}\n" for n in range(1500))
    folder = write(tmp_path, {"strata.toml": CONFIG, "models/a.strata": SOURCE, "models/m.strata": many})
    editor = editors(folder)
    uri = editor.open(folder / "models" / "m.strata")
    number = editor.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": at(0, 6)})
    editor.notify("$/cancelRequest", {"id": number})
    with pytest.raises(RequestError) as error:
        editor.answer(number)
    assert error.value.code == -32800
    assert [f[0] for f in editor.findings(uri)] == ["W001"] * 1500


def test_exit_without_a_good_bye(editors: Editors) -> None:
    editor = editors()
    editor.notify("exit", None)
    assert editor.process.wait(20) == 1


def test_without_pygls_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['pygls'] = None; from strata_core.cli.main import main; main()"
    ran = subprocess.run([sys.executable, "-c", code, "lsp"], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "`strata lsp` needs `pygls`, which is not installed\nhelp: pip install 'strata-tables[editor]'\n"
    )


PIECES = (
    "model x { from orders }\n", "select { id }", "filter id > ", "}", "{", '"', "/*", "*/", "`", "\n", "🎉", "orders.",
    "note", " as o", "join_left orders as p on ", "-> contract C", "contract C { id: int64 }\n", "\r", "\0",
    "group { note } (",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_any_edits_end_in_what_check_says_of_the_text(tmp_path: Path, editors: Editors, seed: int) -> None:
    """Random edits, with questions in between: no error, and in the end the findings of `strata check`."""
    start = "model m { from orders\n  select { id, n = length(note) }\n}\nmodel k { from m filter n > 1 }\n"
    folder = write(tmp_path, {"strata.toml": CONFIG, "models/a.strata": SOURCE, "models/m.strata": start})
    editor, chance = editors(folder), random.Random(seed)
    uri = editor.open(folder / "models" / "m.strata")
    lines = start.split("\n")
    for _ in range(60):
        line = chance.randrange(len(lines))
        character = chance.randrange(len(lines[line].encode("utf-16-le")) // 2 + 1)
        end = min(character + chance.choice((0, 0, 0, 1, 5)), len(lines[line].encode("utf-16-le")) // 2)
        piece = chance.choice(PIECES)
        before, after = _cut(lines[line], character), _cut(lines[line], end)
        if before is None or after is None or "\r" in "".join(lines):
            continue
        editor.type(uri, line, character, piece, (line, end))
        lines[line] = lines[line][:before] + piece + lines[line][after:]
        lines = "\n".join(lines).split("\n")
        if chance.random() < 0.3:
            ask_everything(editor, uri, line, character)
    (folder / "models" / "m.strata").write_bytes("\n".join(lines).encode())
    expected = sorted((d.code, d.message) for d in findings(open_project(folder)).diagnostics)
    editor.settled(uri)
    found = sorted(
        (d["code"], d["message"].split("\nnote: ")[0].split("\nhelp: ")[0])
        for those in editor.found.values()
        for d in those
    )
    assert found == expected


def _cut(line: str, units: int) -> int | None:
    """Where so many UTF-16 units of `line` end; None within a character."""
    text = line.encode("utf-16-le")[: 2 * units]
    try:
        return len(text.decode("utf-16-le"))
    except UnicodeDecodeError:
        return None
