"""The command on a small project in a temporary folder, in this process; exit code and both streams are kept."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from strata_core.cli.ending import end_with
from strata_core.cli.main import main

SALES = """\
source sales(csv: "sales.csv") {
  columns: {
    id: int64 nonnull primary_key,
    country: string nonnull enum {ES, MX},
    amount: money(EUR) nonnull,
  }
}
"""
PAID = """\
contract Paid {
  id: int64 primary_key
  country: string nonnull enum {ES, MX}
  amount: money(EUR) nonnull
}
model paid -> contract Paid {
  from sales
  filter amount > cast(0, "money(EUR)")
}
"""
TOTALS = """\
contract Total {
  country: string primary_key
  total: money(EUR) nonnull
}
model totals -> contract Total {
  from paid
  group { country } ( aggregate { total = sum(amount) } )
}
"""
PROJECT = {
    "strata.toml": '[project]\nname = "sales"\n[engine]\nname = "reference"\n',
    "models/sales.strata": SALES,
    "models/paid.strata": PAID,
    "models/totals.strata": TOTALS,
    "sales.csv": "id,country,amount\n1,ES,10.00\n2,MX,2.50\n3,ES,0.00\n4,ES,5.25\n",
}


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> object:
        return json.loads(self.out)

    @property
    def clean(self) -> bool:
        """Nothing that only a programmer could read."""
        return "Traceback" not in self.err and "fault of Strata" not in self.err


class Cli:
    """`strata` run in the project's folder."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.root, self._capsys, self._patch = root, capsys, patch
        patch.setattr("strata_core.cli.main.end_at_once", end_with)  # the process is that of the tests

    def __call__(self, *arguments: str) -> Ran:
        self._capsys.readouterr()
        self._patch.setattr(sys, "argv", ["strata", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        captured = self._capsys.readouterr()
        assert isinstance(left.value.code, int)
        return Ran(left.value.code, captured.out, captured.err)

    def write(self, path: str, text: str | bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path}"
        self.write(path, text.replace(old, new))


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STRATA_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        for name in ("FORCE_COLOR", "NO_COLOR"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def empty(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command in a folder without anything."""
    monkeypatch.chdir(folder)
    return Cli(folder, capsys, monkeypatch)


@pytest.fixture
def cli(empty: Cli) -> Cli:
    """The command in a project that was never applied."""
    for path, text in PROJECT.items():
        empty.write(path, text)
    return empty


@pytest.fixture
def project_files() -> Callable[[Path], None]:
    """Writes the project's files into a folder."""

    def write(root: Path) -> None:
        for path, text in PROJECT.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)

    return write
