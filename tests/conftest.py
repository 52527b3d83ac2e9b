"""How property tests run everywhere: no deadline, since two cores are shared; the same examples on every CI run,
so that a landing never depends on luck. On a person's machine each run looks at new examples. And a test leaves the
garbage collector as it was: a command that is run in the process of the tests is not the end of that process."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "strata",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("strata")


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """A worker whose collector is off, or whose objects are all frozen, grew to several GiB over a run."""
    enabled, thresholds = gc.isenabled(), gc.get_threshold()
    yield
    left = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    gc.set_threshold(*thresholds)
    gc.unfreeze()
    assert left is enabled, "the test switches the garbage collector of its process"
