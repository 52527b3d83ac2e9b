"""What no environment needs is listed and collected, and what an apply takes up meanwhile is not."""

from __future__ import annotations

import os
from datetime import timedelta

import pyarrow as pa
import pytest

from strata_core.diagnostics import StrataError
from strata_core.store import Artifact, disk, orphans
from strata_core.store.environments import EMPTY, Pointer
from strata_core.store.store import Store
from strata_core.store.verifying import VerifiedArtifacts, verify_artifacts

NONE = timedelta(0)
DAY = timedelta(days=1)


@pytest.fixture
def store(tmp_path):
    return Store.open(tmp_path / "store")


def adopted(store, value, table="t"):
    schema = pa.schema([pa.field("x", pa.int64())])
    batch = pa.record_batch([pa.array([value], pa.int64())], schema=schema)
    return store.adopt(store.stage(table, schema, [batch]), f"{value:064x}", {})


def pointer(artifact):
    return Pointer(artifact.address, artifact.manifest.digest, "meaning")


def published(store, *artifacts, environment="prod"):
    log = store.environment(environment)
    return log.publish(log.head(), {a.manifest.table: pointer(a) for a in artifacts})


def found(store, keep=NONE, grace=NONE):
    return [(o.table, int(o.address, 16)) for o in orphans.orphans(store, keep=keep, grace=grace)]


def collected(store, keep=NONE, grace=NONE):
    return [(o.table, int(o.address, 16)) for o in orphans.collect(store, keep=keep, grace=grace)]


def aged(artifact, age):
    stamp = os.stat(artifact.directory / "_manifest.json").st_mtime - age.total_seconds()
    os.utime(artifact.directory / "_manifest.json", (stamp, stamp))


def test_what_is_live_anywhere_stays_and_the_rest_goes(store):
    one, two, three, never = (adopted(store, n) for n in range(1, 5))
    published(store, one)
    published(store, two)
    published(store, three, environment="pr_1")
    adopted(store, 9, "other")
    assert found(store) == [("other", 9), ("t", 1), ("t", 4)]
    assert collected(store) == [("other", 9), ("t", 1), ("t", 4)]
    assert found(store) == []
    assert not never.directory.exists()
    assert [a.verify() for a in (two, three)] == [(), ()]
    assert disk.names_in(store.root / "staging") == ()


def test_a_version_that_may_be_rolled_back_to_keeps_its_artifacts(store):
    one, two = adopted(store, 1), adopted(store, 2)
    published(store, one)
    published(store, two)
    assert collected(store, keep=DAY) == []
    store.environment("prod").rollback(1)
    assert collected(store) == [("t", 2)]
    with pytest.raises(StrataError, match="is missing; its environment names the digest"):
        store.environment("prod").rollback(2)


def test_what_an_apply_has_just_made_or_taken_up_stays(store):
    made, old = adopted(store, 1), adopted(store, 2)
    aged(old, 2 * DAY)
    assert found(store, grace=DAY) == [("t", 2)]
    assert store.use(old) is old
    assert found(store, grace=DAY) == []
    aged(made, 2 * DAY)
    assert adopted(store, 1).directory == made.directory, "made again: the same artifact, taken up"
    assert found(store, grace=DAY) == []


@pytest.mark.parametrize("taken_up", ["before it is moved", "published", "while it is aside"])
def test_an_apply_and_a_collection_at_once_never_leave_an_environment_without_its_artifact(
    store, monkeypatch, taken_up
):
    """Whatever the apply does between the two looks of the collection, either it is seen or it is told."""
    artifact = adopted(store, 1)
    aged(artifact, 2 * DAY)
    move, refused = disk.move_directory, []

    def moved(source, target):
        if source == artifact.directory and taken_up == "before it is moved":
            assert store.use(artifact) is artifact
        if source == artifact.directory and taken_up == "published":
            published(store, artifact)
        done = move(source, target)
        if source == artifact.directory and taken_up == "while it is aside":
            assert store.use(artifact) is None, "an apply that finds it gone computes it"
            with pytest.raises(StrataError) as raised:
                store.environment("prod").publish(EMPTY, {"t": pointer(artifact)})
            refused.extend(d.code for d in raised.value.diagnostics)
        return done

    monkeypatch.setattr(disk, "move_directory", moved)
    gone = collected(store, grace=DAY)
    if taken_up == "while it is aside":
        assert (gone, refused) == ([("t", 1)], ["E094"])
        assert store.environment("prod").head() == EMPTY
    else:
        assert gone == []
        assert artifact.verify() == ()


def test_a_folder_without_a_manifest_is_an_orphan_too(store):
    artifact = adopted(store, 1)
    (artifact.directory / "_manifest.json").unlink()
    assert collected(store) == [("t", 1)]
    assert not artifact.directory.exists()


def test_what_is_collected_while_it_is_verified_is_no_damage(store, monkeypatch):
    address = adopted(store, 1, "orders").address
    verify = Artifact.verify

    def collected(artifact, *how):
        disk.remove_directory(artifact.directory)
        return verify(artifact, *how)

    monkeypatch.setattr(Artifact, "verify", collected)
    assert verify_artifacts(store, "orders", [address]) == VerifiedArtifacts(0, 0, ())
