"""What is noted of a computation, and what is read from it later."""

from __future__ import annotations

from strata_core.planning.fingerprints import data_digest
from strata_core.planning.provenance import applied, kept_declarations, pin_of, sound_artifact
from strata_core.store import manifest
from strata_core.store.environments import Pointer


def artifact(shop, model):
    store = shop.workspace().store
    return store.artifact(model, store.environment("prod").head().models[model])


def test_an_artifact_says_how_it_was_made(shop):
    shop.apply()
    note, prints = artifact(shop, "enriched").manifest.provenance, shop.fingerprint("enriched")
    sources = shop.workspace().sources
    assert sorted(note) == [
        "contract",
        "engine",
        "fingerprint",
        "ground",
        "grounds",
        "hidden",
        "inputs",
        "known",
        "local",
        "meaning",
        "own",
        "pin",
        "promises",
        "read",
        "readings",
        "seconds",
        "source_contracts",
    ]
    assert (note["own"], note["contract"], note["local"], note["fingerprint"]) == (
        prints.own,
        prints.contract,
        prints.local,
        prints.merkle,
    )
    assert note["inputs"] == {"orders": sources["orders"].digest, "customers": sources["customers"].digest}
    assert note["engine"] == "reference"
    assert sorted(note["source_contracts"]) == ["customers", "orders"]


def test_what_was_applied_is_read_back(shop):
    shop.apply()
    store = shop.workspace().store
    pointer = store.environment("prod").head().models["by_day"]
    found = applied(store, "by_day", pointer)
    assert found is not None
    assert found.own == shop.fingerprint("by_day").own
    read = {"placed": artifact(shop, "enriched").manifest.columns["placed"]}
    assert (found.inputs, found.read) == ({"enriched": data_digest(read)}, {"enriched": read})
    assert found.readings == shop.fingerprint("by_day").readings
    below = applied(store, "enriched", store.environment("prod").head().models["enriched"])
    assert below is not None
    assert found.grounds == {"enriched": below.ground}
    assert (found.columns, found.meaning) == (
        artifact(shop, "by_day").manifest.columns,
        shop.fingerprint("by_day").meaning,
    )
    assert applied(store, "by_day", Pointer("nowhere", "d", "f")) is None


def test_what_is_known_of_sources_is_read_back(shop):
    shop.apply()
    workspace = shop.workspace()
    known = set(kept_declarations(artifact(shop, "enriched").manifest))
    assert known == {
        (name, workspace.sources[name].digest, workspace.compiled.sources[name].contract.digest)
        for name in ("orders", "customers")
    }


def test_the_pin_is_read_back(shop):
    result = shop.result("by_day")
    assert pin_of(artifact(shop, "by_day").manifest) == result.pin


def test_a_damaged_artifact_is_none(shop):
    shop.apply()
    store = shop.workspace().store
    found = artifact(shop, "by_day")
    assert sound_artifact(store, "by_day", found.address) == found
    (found.directory / manifest.NAME).write_text("{}")
    assert sound_artifact(store, "by_day", found.address) is None
