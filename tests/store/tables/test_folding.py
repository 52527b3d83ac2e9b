"""Folding more rows than fit into one block: the snapshot streams, runs are merged into it, and both are sorted."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strata_core.store.digest import BLOCK_ROWS

from .conftest import World

KEYED = '[[pipeline.tables]]\nname = "t"\nprimary_key = ["k"]\n'
VALID = KEYED + '[pipeline.tables.valid_time]\nfrom = "since"\n'
FIRST = dt.datetime(2020, 1, 1)


def data(keys: np.ndarray, value: int) -> pa.Table:
    since = pa.array(keys % 1000, pa.int64()).cast(pa.timestamp("us"))
    return pa.table({"k": keys, "since": since, "v": np.full(len(keys), value), "text": [f"{k}" for k in keys]})


@pytest.mark.parametrize("toml", [KEYED, VALID])
def test_a_fold_over_several_blocks_keeps_the_latest_row_of_each_key_in_order(world: World, toml: str) -> None:
    rng = np.random.default_rng(0)
    table = world.declare(toml)
    expected: dict[int, int] = {}
    for value, keys in enumerate(
        (
            rng.permutation(2 * BLOCK_ROWS + 17),
            rng.permutation(4 * BLOCK_ROWS)[: BLOCK_ROWS + 5],
            rng.permutation(4 * BLOCK_ROWS)[:1000],
        )
    ):
        table.land(data(keys, value))
        expected.update(dict.fromkeys(keys.tolist(), value))
        before = table.read().arrow().sort_by("k")
        snapshot = table.fold()
        assert snapshot is not None
        assert table.read().arrow().sort_by("k") == before
        parts = sorted((world.root / f"tables/t/data/snapshots/{snapshot.snapshot_id}").glob("part-*"))
        folded = pa.concat_tables(pq.read_table(part) for part in parts)
        found = dict(zip(folded.column("k").to_pylist(), folded.column("v").to_pylist(), strict=True))
        assert found == expected
        assert folded.num_rows == len(expected)
        order = folded.column("k").to_numpy()
        if toml == VALID:
            order = folded.column("since").cast(pa.int64()).to_numpy() * 10**9 + order
        assert np.all(np.diff(order) > 0)
        assert folded.column("text").to_pylist()[:50] == [str(k) for k in folded.column("k").to_pylist()[:50]]
    assert table.verify().findings == ()


def test_two_folds_at_once_publish_one_snapshot(world: World) -> None:
    """A lost condition publishes nothing, and leaves nothing."""
    from strata_core.store.tables import folding

    table, other = world.declare(KEYED), world.reopened().tables.table("t")
    table.land(data(np.arange(5), 1))
    real, raced = folding._commit, []

    def commit(*arguments: object) -> object:
        if not raced:
            raced.append(None)
            raced[0] = other.fold()
        return real(*arguments)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folding, "_commit", commit)
        assert table.fold() is None
    assert raced[0] is not None
    assert table.log.head().number == 3
    assert table.read().arrow().num_rows == 5
    data_folder = world.root / "tables/t/data/snapshots"
    assert {p.parent.name for p in data_folder.rglob("part-*")} == {raced[0].snapshot_id}


def test_a_landing_while_a_fold_works_is_a_run_that_the_snapshot_omits(world: World) -> None:
    from strata_core.store.tables import folding

    table, other = world.declare(KEYED), world.reopened().tables.table("t")
    table.land(data(np.arange(5), 1))
    real = folding._commit

    def commit(*arguments: object) -> object:
        other.land(data(np.arange(2), 2))
        return real(*arguments)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folding, "_commit", commit)
        snapshot = table.fold()
    assert snapshot is not None
    assert (snapshot.commit_seq, snapshot.through) == (4, 2)
    assert table.read().frontier.runs == (3,)
    assert sorted(table.read().arrow().column("v").to_pylist()) == [1, 1, 1, 2, 2]
    assert table.read(as_of=snapshot.created_at - 1).arrow().num_rows == 5
