"""Health: what is live is there, unchanged, and keeps the contract that it was published under."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.planning.live.health import Health, examine

ENGINES = {"looked at": None, "read again": ReferenceEngine()}


def health(shop, model: str = "enriched", later: timedelta = timedelta(0), how: str = "read again") -> Health:
    return examine(shop.project, "prod", model, datetime.now(UTC) + later, engine=ENGINES[how])


def codes(found: Health) -> list[str]:
    return [d.code for d in found.faults]


def part(shop, model: str):
    store = shop.workspace().store
    path = store.artifact(model, store.environment("prod").head().models[model]).paths[0]
    path.chmod(0o644)
    return path


def test_what_was_published_is_sound_and_has_an_age(shop) -> None:
    shop.apply()
    found = health(shop, later=timedelta(hours=2))
    assert found.sound
    assert found.age is not None
    assert timedelta(hours=2) <= found.age < timedelta(hours=3)
    assert found.report is not None
    assert found.report.rows == 4


def test_every_promise_is_asked_of_the_rows_again(shop) -> None:
    shop.apply()
    report = health(shop).report
    assert report is not None
    assert {r.status for r in report.rules} == {"checked"}


def test_without_an_engine_the_report_of_the_publication_is_told(shop) -> None:
    result = shop.result("enriched")
    assert health(shop, how="looked at").report == result.pin


@pytest.mark.parametrize("how", list(ENGINES))
def test_what_is_not_published_is_e095(shop, how: str) -> None:
    assert codes(health(shop, how=how)) == ["E095"]
    shop.apply()
    assert codes(health(shop, "nothing", how=how)) == ["E095"]


@pytest.mark.parametrize("how", list(ENGINES))
def test_a_part_that_is_gone_is_e094(shop, how: str) -> None:
    shop.apply()
    part(shop, "enriched").unlink()
    assert codes(health(shop, how=how)) == ["E094"]
    assert health(shop, "by_day", how=how).sound


def test_a_changed_byte_is_e094_once_it_is_read_again(shop) -> None:
    shop.apply()
    path = part(shop, "enriched")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert health(shop, how="looked at").sound
    assert codes(health(shop)) == ["E094"]


def test_rows_are_held_against_the_contract_of_their_publication(shop) -> None:
    shop.apply()
    shop.edit("models/enriched.strata", "amount: decimal(10,2) nonnull", "amount: decimal(12,2) nonnull unique")
    assert health(shop).sound


def test_age_is_told_against_the_freshness_that_the_model_declares(shop) -> None:
    shop.edit("models/by_day.strata", "from enriched", "from enriched\n  freshness <= 1h")
    shop.apply()
    assert health(shop, "by_day", timedelta(minutes=30)).sound
    old = health(shop, "by_day", timedelta(hours=2))
    assert codes(old) == ["E085"]
    assert old.only_old
    assert health(shop, "by_day", timedelta(hours=2), "looked at").only_old
