"""A project on disk with an editor on it. Each module has one server for its tests, which leave it as they find it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .client import Client

SOURCES = """\
domain code = string
source orders(csv: "o.csv") {
  columns: {
    order_id: int64 primary_key,
    country: code nonnull enum {ES, MX},
    amount: decimal(10,2) nonnull,
    buyer: int64,
  }
  description: "what was ordered"
}
source people(csv: "p.csv") { columns: { id: int64 primary_key, email: string } }
"""
PAID = """\
import sources

contract Paid {
  order_id: int64 primary_key
  country: string nonnull enum {ES, MX}
  email: string
  total: decimal(12,2) nonnull
}

model paid -> contract Paid {
  owner: "finance"
  from orders
  join_left people as p on orders.buyer == p.id expect many_to_one
  filter amount > 0
  select { order_id, country, p.email, total = cast(amount, "decimal(12,2)") }
}
"""
TOTALS = """\
model totals {
  from paid
  group { country } ( aggregate { n = count(), total = sum(total) } )
}
pipeline prod { env: prod  models: [paid, totals] }
test paid { expect total > 0 }
"""
FILES = {
    "strata.toml": '[project]\nname = "shop"\n',
    "models/sources.strata": SOURCES,
    "models/paid.strata": PAID,
    "models/totals.strata": TOTALS,
}


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    """Lay `files` out below `folder`, whose real path is given: links of the system's own would be other URIs."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder.resolve()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The project on disk."""
    return write(tmp_path / "shop", FILES)


@pytest.fixture
def editors() -> Iterator[type]:
    """Makes clients, which are gone after the test."""
    made: list[Client] = []

    def make(*folders: Path, **options: object) -> Client:
        made.append(Client(*folders, **options))
        return made[-1]

    yield make
    for one in made:
        one.end()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """An editor with the three modules of the project open."""
    folder = write(tmp_path_factory.mktemp("lsp"), FILES)
    editor = Client(folder)
    editor.folder = folder
    for name in FILES:
        if name.endswith(".strata"):
            editor.open(folder / name)
    yield editor
    assert editor.shutdown() == 0
    assert editor.process.stderr.read() == b""
