"""The rows of tables that contracts name, where they can be reached from here, and queries over them.

A Strata model's rows are its live artifact; a dbt model's, the Parquet file or DuckDB table that dbt made; of anything
else, the file in the project that is its location. What is out of reach is told by a `StrataError`: E030, E095.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...diagnostics import Diagnostic, StrataError
from ...engines.protocol import Answer, CsvTable, DuckDBTable, ParquetTable, TableInput
from ...regular_files import other_kind
from ...relation.schema import Column
from ...types.inferred import Inferred
from ..artifact_relation import stored_columns
from ..config import MAIN, ProjectConfig
from ..dbt import read_manifest
from ..engines import engine_settings
from ..environments import not_published
from ..provenance import hidden_of
from ..stores import store_of
from .sources import parquet_files

if TYPE_CHECKING:  # DuckDB is loaded when something is asked
    from ...engines.protocol import Engine
    from ...store.artifacts import Artifact
    from ...store.environments import EnvironmentVersion
    from ...store.store import Store

__all__ = ["Answer", "ReachableTables", "TableInput"]


class ReachableTables:
    """The tables of the project in `root`, as they are published in `environment`: in its latest version, or in `live`
    with `candidates` in the place of what they would replace."""

    def __init__(
        self,
        root: Path,
        config: ProjectConfig,
        environment: str = MAIN,
        *,
        candidates: Mapping[str, Artifact] = MappingProxyType({}),
        live: EnvironmentVersion | None = None,
    ) -> None:
        self.root, self.config, self.environment = root, config, environment
        self._candidates, self._version = candidates, live

    def model(self, name: str) -> TableInput:
        """The rows of a Strata model. Raises `StrataError` E094, E095."""
        artifact = self._artifact(name)
        # Tests ask again what was promised: nothing is taken for proven.
        columns = tuple(Column(c.name, Inferred(c.inferred.type, nullable=True)) for c in stored_columns(artifact))
        return ParquetTable(artifact.paths, columns)

    def hidden(self, name: str) -> frozenset[str]:
        """The columns of a Strata model whose values are not shown, whatever a product's contract says of them."""
        try:
            return hidden_of(self._artifact(name).manifest)
        except StrataError:  # its rows are not shown either
            return frozenset()

    def dbt_model(self, name: str) -> TableInput:
        """The rows that dbt made of a model. Raises `StrataError` E030, E033."""
        manifest = read_manifest(self.root, self.config.dbt)
        node = manifest.find(name)
        place = node.parquet or manifest.database
        if place is None or not place.is_file():
            message = f"dbt has not built `{name}`, or into a database that `[dbt] database` does not name"
            raise StrataError(Diagnostic("E030", message, fix="run `dbt build`"))
        return ParquetTable((place,), ()) if node.parquet is not None else DuckDBTable(place, node.table, ())

    def file(self, location: str, columns: Sequence[Column]) -> TableInput:
        """The rows of a Parquet file, a folder of them, or a CSV file of `columns`. Raises `StrataError` E030."""
        path = (self.root / location).resolve()
        if not path.is_relative_to(self.root.resolve()):
            raise StrataError(Diagnostic("E030", f"`{location}` is outside the project", fix="name a file inside it"))
        if path == self.root.resolve():
            fix = "name a Parquet or CSV file, or a folder of Parquet files, inside it"
            raise StrataError(Diagnostic("E030", f"`{location or '.'}` is the project's folder, and no table", fix=fix))
        if path.is_dir() and (files := parquet_files(path)):
            return ParquetTable(files, ())
        if path.is_file() and path.suffix == ".parquet":
            return ParquetTable((path,), ())
        if path.is_file() and path.suffix == ".csv":
            return CsvTable(path, tuple(columns))
        kind = other_kind(path)
        message = f"`{location}` is no Parquet or CSV file of the project" + (f": {kind}" if kind else "")
        raise StrataError(Diagnostic("E030", message, fix="the path is relative to the project"))

    def ask(self, query: str, tables: Mapping[str, TableInput], *, seconds: float, samples: int) -> Answer:
        """The answer of the embedded engine to one read-only query; errors as `engines.duckdb.queries.ask` says."""
        from ...engines.duckdb.queries import ask

        return ask(query, tables, engine_settings(self.root, self.config), seconds=seconds, samples=samples)

    @property
    def engine(self) -> Engine:
        """The embedded engine, for conditions in the Strata language."""
        from ...engines.duckdb.engine import DuckDBEngine

        return DuckDBEngine(engine_settings(self.root, self.config))

    def _artifact(self, name: str) -> Artifact:
        if name in self._candidates:
            return self._candidates[name]
        pointer = self._live.models.get(name) if self._live is not None else None
        if pointer is None or self._store is None:
            raise StrataError(not_published(name, self.environment))
        return self._store.artifact(name, pointer)

    @cached_property
    def _store(self) -> Store | None:
        store = store_of(self.root, self.config)
        return store.opened(create=False) if store.exists() else None

    @cached_property
    def _live(self) -> EnvironmentVersion | None:
        if self._version is not None:
            return self._version
        return self._store.environment(self.environment).head() if self._store is not None else None
