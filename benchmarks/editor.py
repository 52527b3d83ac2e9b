"""What an editor waits for: `strata lsp` beside the public prototype's whole check, and beside a bare pygls server.

usage: python benchmarks/editor.py [PROTOTYPE]     (as `prototype.py` takes it)

Two projects of 1,000 models: one module a chain, and all in one module. One counts the CPU time of the server's process
from a keystroke to the findings that it leads to, over many keystrokes, and that of the answers to some questions.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from measure import PEERS, compare, run

import models

MODELS = 1000
STROKES = " and order_id > 12345 and amount < 99.5"
TICK = os.sysconf("SC_CLK_TCK")
PEER = PEERS / "strata-lang" / "bin" / "strata"
BARE = "from pygls.lsp.server import LanguageServer; LanguageServer('bare', '1').start_io()"


class Editor:
    """One server, asked one thing at a time."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
        self.answers: dict[int, Any] = {}
        self.told: dict[str, int] = {}
        self.heard = threading.Condition()
        self.number = 0
        threading.Thread(target=self._listen, daemon=True).start()
        root = {"uri": folder.as_uri(), "name": folder.name}
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}, "workspaceFolders": [root]})
        self.send({"method": "initialized", "params": {}})

    def _listen(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while line := stream.readline():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
                while stream.readline() not in (b"\r\n", b""):
                    pass
                message = json.loads(stream.read(length))
                with self.heard:
                    if "method" in message:
                        uri = message["params"].get("uri", "")
                        self.told[uri] = self.told.get(uri, 0) + 1
                    else:
                        self.answers[message["id"]] = message
                    self.heard.notify_all()

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def ask(self, method: str, params: Any) -> Any:
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        with self.heard:
            self.heard.wait_for(lambda: self.number in self.answers, 120)
            return self.answers.pop(self.number)

    def cpu(self) -> float:
        """Seconds of CPU that the server has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def end(self) -> None:
        self.ask("shutdown", None)
        self.send({"method": "exit"})
        self.process.wait(20)


def place(line: int, character: int) -> dict[str, int]:
    """A position of the protocol."""
    return {"line": line, "character": character}


def project(folder: Path, *, one_module: bool) -> Path:
    """Write the project; the module in which one types."""
    (folder / "models").mkdir(parents=True)
    (folder / "strata.toml").write_text('[project]\nname = "editor"\n')
    if one_module:
        models.write(folder / "models" / "all.strata", MODELS)
        return folder / "models" / "all.strata"
    (folder / "models" / "sources.strata").write_text(models.SOURCES)
    for number in range(MODELS // models.CHAIN):
        (folder / "models" / f"chain_{number}.strata").write_text("\n".join(models.chain(number)))
    return folder / "models" / f"chain_{MODELS // models.CHAIN // 2}.strata"


def typing(folder: Path, file: Path, server: str, prototype: str) -> None:
    """Type in the middle of a module, and ask."""
    editor = Editor([server, "lsp"], folder)
    text, uri = file.read_text(), file.as_uri()
    document = {"uri": uri, "languageId": "strata", "version": 1, "text": text}
    editor.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
    name = {"textDocument": {"uri": uri}}
    with editor.heard:
        editor.heard.wait_for(lambda: uri in editor.told, 120)
    print(f"| {file.name}: until the findings of the project are told | {editor.cpu():.2f} s CPU | | | |")
    lines = text.split("\n")
    middle = next(n for n in range(len(lines) // 2, len(lines)) if lines[n].startswith("  filter "))
    column = len(lines[middle])
    beside = folder / "beside.strata"
    models.write(beside, MODELS)
    peer = run([prototype, "check", str(beside)], cwd=folder).cpu
    written = {
        "a keystroke": [(place(middle, column + number), letter) for number, letter in enumerate(STROKES)],
        "a new line": [(place(middle + number, 0), "\n") for number in range(len(STROKES))],
    }
    version = 1
    for what, typed in written.items():
        strokes, cpu = [], editor.cpu()
        for here, letter in typed:
            started, version = time.perf_counter(), version + 1
            change = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [
                {"range": {"start": here, "end": here}, "text": letter},
            ]}  # fmt: skip
            editor.send({"method": "textDocument/didChange", "params": change})
            editor.ask("textDocument/signatureHelp", {**name, "position": here})
            strokes.append(time.perf_counter() - started)
        used = (editor.cpu() - cpu) / len(typed)
        print(
            f"| {file.name}: {what} to its findings, against the prototype's `check` of 1,000 models in one module "
            f"| {used * 1000:.1f} ms CPU, {statistics.median(strokes) * 1000:.0f} ms wall | {peer:.2f} s CPU "
            f"| {used / peer:.3f} CPU | ≤ 0.02 |"
        )
    middle += len(STROKES)
    for method in ("hover", "completion", "definition", "references"):
        params = {**name, "position": place(middle, 10), "context": {"includeDeclaration": True, "triggerKind": 1}}
        editor.ask(f"textDocument/{method}", params)
        started = time.perf_counter()
        editor.ask(f"textDocument/{method}", params)
        print(f"| {file.name}: {method} | {(time.perf_counter() - started) * 1000:.1f} ms wall | | | |")
    editor.end()


def main(prototype: str) -> None:
    """Print a row of the results table for each claim."""
    server = str(Path(sys.executable).parent / "strata")
    script = (
        "import json, subprocess, sys\n"
        "def framed(m):\n    b = json.dumps(m).encode()\n    return b'Content-Length: %d\\r\\n\\r\\n%s' % (len(b), b)\n"
        "hello = {'processId': None, 'rootUri': None, 'capabilities': {}}\n"
        "said = [{'jsonrpc': '2.0', 'id': 1, 'method': 'initialize', 'params': hello}, "
        "{'jsonrpc': '2.0', 'id': 2, 'method': 'shutdown'}, {'jsonrpc': '2.0', 'method': 'exit'}]\n"
        "sys.exit(subprocess.run(sys.argv[1:], input=b''.join(map(framed, said)), capture_output=True).returncode)"
    )
    ours = [sys.executable, "-c", script, server, "lsp"]
    bare = [sys.executable, "-c", script, sys.executable, "-c", BARE]
    compared = compare(ours, bare, runs=5)
    print(f"| greeting and good-bye, against a bare pygls server {_rest(compared)} | |")
    for one_module in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            typing(root, project(root, one_module=one_module), server, prototype)


def _rest(compared: Any) -> str:
    a, b = compared.a, compared.b
    return f"| {a.wall:.2f} s, {a.cpu:.2f} s CPU | {b.wall:.2f} s, {b.cpu:.2f} s CPU | {compared.cpu_ratio:.2f} CPU"


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(PEER))
