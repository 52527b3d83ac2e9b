"""A small raw client of the language server: it starts `strata lsp`, and speaks the protocol over its streams.

It knows nothing of pygls, so that what tests see is what an editor sees.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = Any
PATIENCE = 60
"""Seconds after which a silent server fails a test."""
SERVER = f"""\
from strata_core.cli.main import main
from strata_core.lsp import desk
desk.PATIENCE = {PATIENCE}  # an answer is of the text as it is, however busy the machine
main()
"""


class RequestError(Exception):
    """An answer that is an error."""

    def __init__(self, error: Json) -> None:
        super().__init__(error["message"])
        self.code = error["code"]


class Client:
    """One editor with one server. `found` has the last findings of each document."""

    def __init__(self, *folders: Path, encodings: tuple[str, ...] = (), capabilities: Json = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, "lsp", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.environ.get("PYTHONPATH", str(Path(__file__).resolve().parents[2]))},
        )
        self.found: dict[str, list[Json]] = {}
        self.messages: list[Json] = []
        self.versions: dict[str, int] = {}
        self.texts: dict[str, str] = {}
        self._received: queue.Queue[Json] = queue.Queue()
        self._answers: dict[int, Json] = {}
        self._last = 0
        threading.Thread(target=self._read, daemon=True).start()
        wanted = capabilities or {
            "textDocument": {
                "completion": {"completionItem": {"snippetSupport": True}},
                "rename": {"prepareSupport": True},
            },
            "workspace": {"workspaceEdit": {"documentChanges": False}},
        }
        if encodings:
            wanted = wanted | {"general": {"positionEncodings": [*encodings]}}
        self.initialized = self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folders[0].as_uri() if folders else None,
                "capabilities": wanted,
                "workspaceFolders": [{"uri": f.as_uri(), "name": f.name} for f in folders] or None,
            },
        )
        self.notify("initialized", {})

    # --- the wire

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not line:
                self._received.put(None)
                return
            self._received.put(json.loads(stream.read(length)))

    def send_raw(self, body: bytes) -> None:
        stream = self.process.stdin
        assert stream is not None
        stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        stream.flush()

    def send(self, message: Json) -> None:
        self.send_raw(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def notify(self, method: str, params: Json) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: Json) -> int:
        """Send a request; `answer` takes its number."""
        self._last += 1
        self.send({"id": self._last, "method": method, "params": params})
        return self._last

    def answer(self, number: int) -> Json:
        # Answers may come in any order.
        while number not in self._answers:
            self.wait(lambda m: "method" not in m)
        message = self._answers.pop(number)
        if "error" in message:
            raise RequestError(message["error"])
        return message.get("result")

    def request(self, method: str, params: Json) -> Json:
        return self.answer(self.ask(method, params))

    def wait(self, wanted: Callable[[Json], bool]) -> Json:
        """The next message that is `wanted`; others are kept in `found` and `messages`."""
        while True:
            try:
                message = self._received.get(timeout=PATIENCE)
            except queue.Empty:
                raise AssertionError("the server is silent") from None
            if message is None:
                raise AssertionError(f"the server ended: {self.process.stderr.read().decode()}")
            if message.get("method") == "textDocument/publishDiagnostics":
                self.found[message["params"]["uri"]] = message["params"]["diagnostics"]
            elif "method" not in message:
                self._answers[message["id"]] = message
            else:
                self.messages.append(message)
                if "id" in message:
                    self.send({"id": message["id"], "result": None})
            if wanted(message):
                return message

    # --- documents

    def open(self, path: Path | str, text: str | None = None) -> str:
        uri = path.as_uri() if isinstance(path, Path) else path
        if text is None:
            assert isinstance(path, Path)
            text = path.read_bytes().decode()
        self.versions[uri], self.texts[uri] = 1, text
        document = {"uri": uri, "languageId": "strata", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def change(self, uri: str, text: str) -> None:
        """The whole text anew."""
        self.versions[uri] += 1
        self.texts[uri] = text
        self._changed(uri, [{"text": text}])

    def type(self, uri: str, line: int, character: int, text: str, until: tuple[int, int] | None = None) -> None:
        """Put `text` in at a position, in the place of what stands up to `until`."""
        self.versions[uri] += 1
        end = until or (line, character)
        range_ = {"start": at(line, character), "end": at(*end)}
        self._changed(uri, [{"range": range_, "text": text}])

    def _changed(self, uri: str, changes: list[Json]) -> None:
        document = {"uri": uri, "version": self.versions[uri]}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": changes})

    def close(self, uri: str) -> None:
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    # --- questions

    def findings(self, uri: str) -> list[tuple[str, str, str]]:
        """The findings of a document as its text is now: code, range, first line of the message."""
        self.settled(uri)
        return [(d["code"], shown(d["range"]), d["message"].split("\n")[0]) for d in self.found.get(uri, [])]

    def settled(self, uri: str) -> None:
        """Wait until the server has taken in everything that was sent. An answer is behind the findings it needs."""
        self.request("textDocument/foldingRange", {"textDocument": {"uri": uri}})

    def position(self, uri: str, marked: str) -> Json:
        """Where `‸` stands in the one line of the document that is `marked` without it (in UTF-16)."""
        line, column = self._marked(uri, marked)
        return {"textDocument": {"uri": uri}, "position": at(line, column)}

    def _marked(self, uri: str, marked: str) -> tuple[int, int]:
        wanted = marked.replace("‸", "")
        (line,) = [n for n, text in enumerate(self.texts[uri].split("\n")) if text == wanted]
        return line, len(marked[: marked.index("‸")].encode("utf-16-le")) // 2

    def at(self, method: str, uri: str, marked: str, **more: Json) -> Json:
        """The answer to a question about the place `marked`."""
        return self.request(f"textDocument/{method}", {**self.position(uri, marked), **more})

    def about(self, method: str, uri: str, **more: Json) -> Json:
        """The answer to a question about a document."""
        return self.request(f"textDocument/{method}", {"textDocument": {"uri": uri}, **more})

    def shutdown(self) -> int:
        """Say good-bye; the exit code."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self.process.wait(PATIENCE)

    def end(self) -> None:
        """However it stands, be gone; nothing may have been written to the error stream."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)


def at(line: int, character: int) -> Json:
    return {"line": line, "character": character}


def shown(range_: Json) -> str:
    """`1:2-1:5`, counted from 0."""
    start, end = range_["start"], range_["end"]
    return f"{start['line']}:{start['character']}-{end['line']}:{end['character']}"
