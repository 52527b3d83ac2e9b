"""What people do in the UI of `dagster dev`, with daemon, webserver and code server as they are."""

from datetime import timedelta

import pytest

from strata_core.store import disk
from strata_core.store.orphans import collect, orphans
from strata_core.store.store import Store

from .served import dev, until
from .test_deploy_jobs import JOBS, materialized

NONE = timedelta(0)


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["adopt", "publish"])
def test_a_run_that_is_terminated_in_the_ui_publishes_nothing_and_leaves_nothing_unlisted(shop_on_disk, moment) -> None:
    shop = shop_on_disk
    shop.write("jobs.py", JOBS)
    with dev(shop.root, shop.root.parent / "home", "jobs", HOLD=moment) as served:
        run = served.launch("paid", "by_country", "rate")
        until((shop.root / "held").exists)
        served.terminate(run)
        assert served.ended(run) == "CANCELED"
    store = Store.open(shop.root / ".strata/store")
    assert store.environment("prod").head().number == 0
    assert materialized(shop) == []
    assert disk.names_in(store.root / "staging") == ()
    left = sorted(orphan.table for orphan in orphans(store, keep=NONE, grace=NONE))
    assert left == ([] if moment == "adopt" else ["by_country", "paid", "rate"])
    assert sorted(c.table for c in collect(store, keep=NONE, grace=NONE)) == left
    assert list(orphans(store, keep=NONE, grace=NONE)) == []
    assert list(store.artifacts()) == []
