"""The engines that every shared test runs on."""

from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import Engine, EngineSettings
from strata_core.engines.reference.engine import ReferenceEngine

ENGINES: tuple[Engine, ...] = (
    ReferenceEngine(),
    DuckDBEngine(EngineSettings(memory_limit="512MiB", threads=2)),
)
