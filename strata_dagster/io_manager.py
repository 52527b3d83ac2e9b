"""`StrataIOManager`: what assets in Python return lands in tables with three clocks, and is read from there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dagster import AssetKey, ConfigurableIOManager, Failure, InputContext, MetadataValue, OutputContext
from pydantic import Field

from strata_core.diagnostics import StrataError
from strata_core.diagnostics.suggest import nearest
from strata_core.digests import hexdigest
from strata_core.frames import as_kind
from strata_core.store import Store, Table
from strata_core.store.instant import moment

from .findings import findings
from .names import MODE, ROW_COUNT, TABLE

if TYPE_CHECKING:  # loaded when a run begins
    from strata_core.store.tables.reading import Read

BOUNDS = ("as_of", "valid_as_of", "available_as_of", "vintage", "pin")
"""Metadata of an `AssetIn`: what is read of the table."""


class StrataIOManager(ConfigurableIOManager):
    """Lands what an asset returns in the declared table of its name, and reads from there what others take of it.

    A step of a run lands once: tried again with the same rows it changes nothing, with other rows it fails. Inputs are
    annotated with what they want: `pyarrow.Table` (also without an annotation), `pyarrow.RecordBatchReader`,
    `polars.DataFrame`, `polars.LazyFrame` or `pandas.DataFrame`. Of a partitioned asset all partitions are read.
    """

    store: str = Field(description="The store's folder or `s3://bucket/prefix`, `[store] root` of the project.")
    endpoint: str | None = Field(default=None, description="The endpoint of the bucket, that of the environment else.")
    region: str | None = Field(default=None, description="The region of the bucket, that of the environment else.")

    def handle_output(self, context: OutputContext, obj: Any) -> None:
        """Lands `obj`: an Arrow table, batch or reader, a frame of polars or pandas, or paths of files."""
        if obj is None:
            return
        given = context.definition_metadata
        with _told(context.asset_key.to_user_string()):
            table = self._table(context, given.get(TABLE))
            partitions = context.asset_partition_keys if context.has_asset_partitions else ()
            run_id = run_id_of(context.run_id, context.asset_key, partitions)
            run = table.land(obj, run_id=run_id, mode=str(given.get(MODE, "append")))
        context.add_output_metadata(
            {
                "table": table.name,
                ROW_COUNT: run.rows,
                "run": run.run_id,
                "commit": run.commit_seq,
                "ingested_at": MetadataValue.timestamp(moment(run.ingested_at)),
                "repeated": run.repeated,
            }
        )

    def load_input(self, context: InputContext) -> Any:
        """The rows within the bounds that the input's metadata gives, as its annotation wants them."""
        given = dict(context.definition_metadata or {})
        upstream = context.upstream_output.definition_metadata if context.upstream_output is not None else {}
        asset = context.asset_key.to_user_string()
        _require_spelled(asset, given)
        with _told(asset):
            bounds: dict[str, Any] = {name: given[name] for name in BOUNDS if name in given}
            read = self._table(context, given.get(TABLE, upstream.get(TABLE))).read(**bounds)
            if read.bounds is not None:
                context.add_input_metadata({"bounds": MetadataValue.json(dict(read.bounds))})
            return _wanted(read, context.dagster_type.typing_type)

    def _table(self, context: InputContext | OutputContext, named: object) -> Table:
        name = named if isinstance(named, str) else "_".join(context.asset_key.path)
        return Store.at(self.store, endpoint=self.endpoint, region=self.region).opened(create=False).table(name)


def _require_spelled(asset: str, given: Iterable[str]) -> None:
    """Raise `Failure` where a bound is misspelled, which would bound nothing: the input would know what came later."""
    for name in given:
        if name not in BOUNDS and "/" not in name and (meant := nearest(name, BOUNDS)) is not None:
            told = f"{asset}: `{name}` in the metadata of the input bounds nothing: did you mean `{meant}`?"
            raise Failure(told, allow_retries=False)


def run_id_of(run: str, key: AssetKey, partitions: Sequence[str]) -> str:
    """One for each asset, run and partition; keys of partitions may hold any character."""
    return f"dagster-{run}-{hexdigest(*key.path, *partitions)[:16]}"


def _wanted(read: Read, type_: object) -> Any:
    import polars as pl

    if type_ is pl.LazyFrame:
        return read.lazy()
    made = as_kind(read.reader(), type_)
    return read.arrow() if made is None else made


@contextmanager
def _told(asset: str) -> Iterator[None]:
    """A refusal of the store is a failure of the step, as text for people; trying it again would not help."""
    try:
        yield
    except StrataError as error:
        raise Failure(f"{asset}: {findings(error.diagnostics, None)}", allow_retries=False) from None
