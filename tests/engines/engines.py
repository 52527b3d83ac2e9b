"""The engines that every shared test runs on."""

from strata_core.engines.protocol import Engine
from strata_core.engines.reference.engine import ReferenceEngine

ENGINES: tuple[Engine, ...] = (ReferenceEngine(),)
