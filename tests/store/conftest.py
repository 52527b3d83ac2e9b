"""A store in a temporary folder, and rows to put into it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from strata_core.store import Artifact, Candidate, Pointer, Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store")


class Rows:
    """Rows of one column `n`, staged and adopted at an address that is derived from them."""

    def stage(self, store: Store, table: str, *values: int) -> Candidate:
        batch = pa.record_batch({"n": pa.array(values, pa.int64())})
        return store.stage(table, batch.schema, [batch])

    def adopt(self, store: Store, table: str, *values: int) -> Artifact:
        address = "-".join(("at", *(str(v) for v in values)))
        return store.adopt(self.stage(store, table, *values), address, {"fingerprint": "f"})

    def pointer(self, artifact: Artifact) -> Pointer:
        return Pointer(artifact.address, artifact.manifest.digest, "f")

    def read(self, store: Store, artifact: Artifact) -> list[int]:
        return store.reader(artifact).read_all().column("n").to_pylist()


@pytest.fixture
def rows() -> Rows:
    return Rows()
