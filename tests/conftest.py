"""How property tests run everywhere: no deadline, since two cores are shared; the same examples on every CI run,
so that a landing never depends on luck. On a person's machine each run looks at new examples."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "strata",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("strata")
