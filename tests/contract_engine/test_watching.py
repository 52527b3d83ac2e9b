"""Whether anything changed is told from the file system's signatures, and never wrongly told that nothing did."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from strata_core.contract_engine.pipeline import open_setting
from strata_core.contract_engine.serving.products import live_versions
from strata_core.contract_engine.serving.watching import COARSEST_TICK, Seen, look
from strata_core.diagnostics import StrataError
from tests.buckets import make_bucket

from . import pinned
from .projects import ORDERS, PLACE, write

FRAGMENT = "product: shop.orders\nasset: orders\ndescription: Orders.\n"
TOML = '[project]\nname = "p"\n[contract_engine]\nscan = ["models"]\ngenerated = ["target/catalog.json"]\n'
LATER = COARSEST_TICK + 1


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "strata.toml": TOML,
        PLACE: ORDERS,
        "models/orders.contract.yaml": FRAGMENT,
        "models/.gitignore": "x.sql\n",
    }
    write(tmp_path, files)
    (tmp_path / "models/empty").mkdir()
    return tmp_path


def settled(root: Path) -> Seen:
    seen = look(root, look(root, None, 0.0), LATER)
    assert seen.settled
    return seen


def test_an_unchanged_tree_is_the_same_object_and_is_not_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = settled(root)
    monkeypatch.setattr("strata_core.contract_engine.serving.watching.discover", None)
    assert look(root, seen, 2 * LATER) is seen


def _edit(path: str, text: str) -> Callable[[Path], None]:
    return lambda root: write(root, {path: text}) and None


CHANGES: dict[str, Callable[[Path], None]] = {
    "a contract": _edit(PLACE, ORDERS + "\n# more\n"),
    "a fragment": _edit("models/orders.contract.yaml", FRAGMENT.replace("Orders.", "All.")),
    "a new contract": _edit("contracts/shop/other/contract.yaml", ORDERS),
    "a new file in an empty folder": _edit("models/empty/a.sql", "select 1"),
    "a folder in a folder": _edit("models/new/deep/a.sql", "select 1"),
    "strata.toml": _edit("strata.toml", TOML + "[dbt]\nmanifest = 'm.json'\n"),
    "a broken strata.toml": _edit("strata.toml", "[project"),
    "metadata that was missing": _edit("target/catalog.json", "{}"),
    "what git ignores": _edit("models/.gitignore", "*.contract.yaml\n"),
    "a promotion": _edit("contracts/.promotions/00000000000000000001.json", "{}"),
    "a file that goes": lambda root: (root / PLACE).unlink(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_every_kind_of_change_is_another_digest(root: Path, change: Callable[[Path], None]) -> None:
    seen = settled(root)
    change(root)
    after = look(root, seen, 2 * LATER)
    assert after.digest != seen.digest
    assert not after.settled


def test_an_edit_of_the_same_size_with_its_times_set_back_is_seen(root: Path) -> None:
    path = root / PLACE
    status = path.stat()
    seen = settled(root)
    path.write_text(ORDERS.replace("0.1.0", "0.2.0"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_mtime_ns == status.st_mtime_ns
    assert look(root, seen, 2 * LATER).digest != seen.digest


def test_an_edit_within_a_tick_of_a_coarse_clock_is_seen_though_no_signature_changes(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strata_core.contract_engine.serving.watching._signatures", lambda paths: dict.fromkeys(paths))
    first = look(root, None, 0.0)
    write(root, {PLACE: ORDERS.replace("0.1.0", "0.2.0")})
    second = look(root, first, 0.5)
    assert second.digest != first.digest
    assert not look(root, second, 1.0).settled
    assert look(root, second, 0.5 + LATER).settled


def test_a_file_that_is_touched_or_a_stranger_beside_it_is_no_change(root: Path) -> None:
    seen = settled(root)
    os.utime(root / PLACE)
    write(root, {"models/notes.txt": "x"})
    after = look(root, seen, 2 * LATER)
    assert (after.digest, after.settled) == (seen.digest, False)
    assert look(root, after, 3 * LATER + 1).settled


def test_a_broken_configuration_is_a_fault_at_its_place_until_it_is_mended(root: Path) -> None:
    seen = settled(root)
    write(root, {"strata.toml": "[project"})
    broken = look(root, seen, 10.0)
    assert [(d.code, str(d.span).partition(":")[0]) for d in broken.faults] == [("E073", "strata.toml")]
    again = look(root, broken, 20.0)
    assert (again.digest, again.settled) == (broken.digest, True)
    assert look(root, again, 30.0) is again
    write(root, {"strata.toml": TOML})
    mended = look(root, again, 40.0)
    assert (mended.digest, mended.faults) == (seen.digest, ())


def test_what_is_published_is_seen_wherever_the_store_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = make_bucket(monkeypatch, tmp_path / "cache")
    for place in (".strata/store", f"{url}/prod"):
        root = pinned.laid_out(tmp_path / url.rpartition("/")[2] / place.replace(":", ""))
        write(root, {"strata.toml": f'[project]\nname = "shop"\n[store]\nroot = "{place}"\n'})
        assert live_versions(open_setting(root), "prod") == (0, {})
        pinned.applied(root)
        number, live = live_versions(open_setting(root), "prod")
        assert (number, sorted(live)) == (1, ["paid", "people_of", "totals"])
        assert live_versions(open_setting(root), "dev") == (0, {})


def test_a_store_that_cannot_be_read_is_told_and_is_not_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = pinned.laid_out(tmp_path)
    pinned.applied(root)
    (entry,) = (root / ".strata/store").glob("environments/prod/**/*1.json")
    entry.write_text("{")
    with pytest.raises(StrataError, match="is damaged") as damaged:
        live_versions(open_setting(root), "prod")
    make_bucket(monkeypatch, tmp_path / "cache")
    write(root, {"strata.toml": '[project]\nname = "shop"\n[store]\nroot = "s3://pond-of-nobody/prod"\n'})
    with pytest.raises(StrataError, match="there is no such bucket") as gone:
        live_versions(open_setting(root), "prod")
    assert [damaged.value.diagnostics[0].code, gone.value.diagnostics[0].code] == ["E094", "E092"]
