"""What an environment had of a model as of an instant: the artifact that was live then (Seed 1 *as-of*)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from strata_core.diagnostics import StrataError
from strata_core.store import orphans
from strata_core.store.instant import moment, spell
from strata_core.store.store import Store
from strata_core.store.tables import StoreError

from .test_orphans import adopted, published

NONE = timedelta(0)


@pytest.fixture
def store(tmp_path):
    return Store.open(tmp_path / "store")


def asked(store, as_of, model="t"):
    found = store.published(model, "prod", as_of=as_of)
    return int(found.artifact.address, 16), found.version.number


def test_each_instant_has_the_artifact_that_was_live_then(store):
    versions = [published(store, adopted(store, n)) for n in (1, 2, 3)]
    published(store, adopted(store, 9, "other"))
    for n, version in enumerate(versions, start=1):
        assert asked(store, version.at) == (n, n)
    assert asked(store, versions[1].at - 1) == (1, 1)
    assert asked(store, spell(versions[2].at - 1)) == (2, 2)
    assert asked(store, moment(versions[2].at).date()) == (3, 4)
    assert asked(store, None) == (3, 4)


def test_the_bound_is_told_as_it_was_understood(store):
    published(store, adopted(store, 1))
    assert store.published("t", "prod").bounds is None
    echo = {"as_of": "2200-01-01T00:00:00.000000000Z", "inclusive": False}
    assert store.published("t", "prod", as_of="2199-12-31").bounds == echo


def refused(store, as_of, model="t"):
    with pytest.raises(StoreError) as error:
        store.published(model, "prod", as_of=as_of)
    (diagnostic,) = error.value.diagnostics
    return error.value.code, diagnostic.message.partition(": ")[2], diagnostic.fix


def test_before_the_first_publication_the_oldest_answerable_instant_is_named(store):
    first = published(store, adopted(store, 1))
    published(store, adopted(store, 2))
    fix = f"ask for {spell(first.at)} or later, the oldest instant that is answered"
    assert refused(store, first.at - 1) == ("StoreAsOfUnretained", "t in prod: nothing of it was published yet", fix)
    assert refused(store, "2001-01-01")[2] == fix


def test_what_was_collected_is_not_answered_and_the_oldest_that_is_kept_is_named(store):
    first, second, third = (published(store, adopted(store, n)) for n in (1, 2, 3))
    assert len([*orphans.collect(store, keep=NONE, grace=NONE)]) == 2
    fix = f"ask for {spell(third.at)} or later, the oldest instant that is answered"
    told = "t in prod: the artifact that was live then, of version {}, was collected"
    assert refused(store, first.at) == ("StoreAsOfUnretained", told.format(1), fix)
    assert refused(store, second.at) == ("StoreAsOfUnretained", told.format(2), fix)
    assert asked(store, third.at) == (3, 3)


def test_a_model_that_was_taken_back_is_not_there_in_between(store):
    log = store.environment("prod")
    first = published(store, adopted(store, 1))
    gone = log.publish(log.head(), {}, {"t"})
    again = published(store, adopted(store, 2))
    assert asked(store, first.at) == (1, 1)
    code, why, _ = refused(store, gone.at)
    assert (code, why) == ("StoreAsOfUnretained", "t in prod: version 2, which was live then, has no t")
    assert asked(store, again.at) == (2, 3)


def test_what_is_no_instant_and_what_was_never_published(store):
    published(store, adopted(store, 1))
    assert refused(store, "yesterday")[0] == "StoreBoundInvalid"
    for as_of in (None, "2199-01-01"):
        with pytest.raises(StrataError) as error:
            store.published("other", "prod", as_of=as_of)
        assert [d.code for d in error.value.diagnostics] == ["E095"]


def test_versions_are_searched_by_bisection(store, monkeypatch):
    log = store.environment("prod")
    one, two = adopted(store, 1), adopted(store, 2)
    made = [published(store, (one, two)[n % 2]) for n in range(64)]
    read = []
    real = type(log.log).read

    def counted(self, number):
        read.append(number)
        return real(self, number)

    monkeypatch.setattr(type(log.log), "read", counted)
    assert log.as_of(made[40].at).number == 41
    assert len(read) <= 8
