"""The cache: a miss is never a fault, and what is written is written whole."""

from __future__ import annotations

import multiprocessing
import os
import pickle

import pytest

from strata_core.planning import cache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("STRATA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "compiled"


def test_what_is_saved_is_loaded(folder):
    key = cache.content_key("kind", b"a", b"b")
    assert cache.load(key) is None
    cache.save(key, {"a": (1, 2)})
    assert cache.load(key) == {"a": (1, 2)}
    assert [path.name for path in folder.iterdir()] == [f"{key}.pickle"]


def test_keys_tell_parts_and_kinds_apart(folder):
    keys = {
        cache.content_key("kind", b"ab", b"c"),
        cache.content_key("kind", b"a", b"bc"),
        cache.content_key("other", b"ab", b"c"),
    }
    assert len(keys) == 3
    assert all(len(key) == 64 for key in keys)


@pytest.mark.parametrize(
    "damage",
    [b"", b"\x80", b"no pickle", pickle.dumps({"a": 1})[:-3], b"cno_such_module\nname\n.", b"\x80\x05N."],
    ids=["empty", "cut", "text", "half", "of another program", "none"],
)
def test_a_damaged_entry_is_a_miss_and_is_replaced(folder, damage):
    key = cache.content_key("kind", b"a")
    cache.save(key, 1)
    (folder / f"{key}.pickle").write_bytes(damage)
    assert cache.load(key) is None
    cache.save(key, 2)
    assert cache.load(key) == 2


def test_whatever_bit_of_an_entry_is_changed_it_is_a_miss(folder):
    key = cache.content_key("kind", b"a")
    cache.save(key, {"digest": "d6ac35fce40cf9baa20e45bc7e4e7ca6", "size": 0x7FFFFFFF})
    (entry,) = folder.iterdir()
    whole = entry.read_bytes()
    for bit in range(8 * len(whole)):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        entry.write_bytes(changed)
        assert cache.load(key) is None


def test_a_folder_that_cannot_be_written_is_no_fault(folder, tmp_path):
    (tmp_path / "cache").write_text("a file stands here")
    key = cache.content_key("kind", b"a")
    cache.save(key, 1)
    assert cache.load(key) is None


def test_a_full_disk_is_no_fault_and_leaves_nothing(folder, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    key = cache.content_key("kind", b"a")
    monkeypatch.setattr(os, "replace", full)
    cache.save(key, 1)
    assert list(folder.iterdir()) == []


def test_what_cannot_be_kept_leaves_nothing(folder):
    with pytest.raises((pickle.PicklingError, AttributeError)):
        cache.save(cache.content_key("kind", b"a"), lambda: 1)
    assert not folder.exists()


def _write_often(folder, number, key):
    os.environ["STRATA_CACHE_DIR"] = folder
    for _ in range(50):
        cache.save(key, [number] * 2000)


def test_writers_at_once_leave_one_whole_entry(folder):
    key = cache.content_key("kind", b"shared")
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_often, args=(str(folder.parent), n, key)) for n in (1, 2)]
    for writer in writers:
        writer.start()
    seen = set()
    while any(writer.is_alive() for writer in writers):
        found = cache.load(key)
        if found is not None:
            seen.add((len(found), len(set(found))))
    for writer in writers:
        writer.join()
    assert seen <= {(2000, 1)}
    assert len(cache.load(key)) == 2000
    assert [path.name for path in folder.iterdir()] == [f"{key}.pickle"]
