"""`strata store`: tables with three clocks, landed, read as of any instant, folded, kept and verified."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..diagnostics import Diagnostic, StrataError
from ..diagnostics.wording import plural
from ..planning.config import ProjectConfig, find_project, read_config
from ..planning.stores import store_of
from ..store import Store, Table
from ..store.instant import spell, spelled_second
from ..store.tables.bounds import VINTAGES
from .exits import CLEAN, exit_code
from .options import format_option
from .progress import Progress
from .report import answered, lines_below, rendered

if TYPE_CHECKING:  # pyarrow takes 0.2 s to import
    import pyarrow as pa

    from ..store.tables.enforcement import Principal
    from ..store.tables.entries import TableEntry

DEFAULT_ROWS = 20
UNNAMED_SHOWN = 5


@click.group("store")
def store_command() -> None:
    """Tables with three clocks: what was known then, what was true then, what could have been known then.

    An instant is RFC 3339 (2014-05-01T09:30:00Z); a date is the whole day: everything before the next one starts.
    """


def on_store(create: bool = False) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a verb the option `--store`, and the opened store first. It needs no project: where there is no
    `strata.toml` upwards, the store is `.strata/store` of this folder."""

    def wrap(verb: Callable[..., int]) -> Callable[..., int]:
        @click.option(
            "--store",
            "folder",
            metavar="PLACE",
            help="A folder or s3://bucket/prefix (default: [store] of the nearest strata.toml upwards).",
        )
        @wraps(verb)
        def run(folder: str | None, **options: Any) -> int:
            def answer() -> int:
                store = _configured(folder)
                if not create and not store.exists():
                    message = f"there is no store at {store.root}"
                    raise StrataError(Diagnostic("E095", message, fix="make one: `strata store init FILE`"))
                return verb(store.opened(create), **options)

            return answered(answer, lines_below(Path.cwd()), options.get("format_"))

        return run

    return wrap


def _configured(root: str | None) -> Store:
    """The store at `root`, with the endpoint and region of the project around here, or that project's own."""
    project = find_project(Path.cwd())
    config = ProjectConfig() if project is None else read_config(project)
    if root is not None:
        return Store.at(root, endpoint=config.store_endpoint, region=config.store_region)
    return store_of(project or Path.cwd(), config)


def _tables(store: Store, names: Sequence[str]) -> list[Table]:
    """The tables of these names, or all."""
    return [store.table(name) for name in (names or store.tables.names())]


@store_command.command("init")
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@on_store(create=True)
def init(store: Store, files: tuple[Path, ...]) -> int:
    """Make the store, and declare the tables of FILES (TOML with `[[pipeline.tables]]`)."""
    declared = [table.name for file in files for table in store.declare(file)]
    click.echo(f"store at {store.root}: {plural(len(declared), 'table')} declared" + _listed(declared))
    return CLEAN


def _listed(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


@store_command.command("land")
@click.argument("table")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@on_store()
@click.option("--run-id", help="A name for this run: landed once, however often it is tried.")
@click.option(
    "--mode",
    type=click.Choice(["append", "replace"]),
    default="append",
    show_default=True,
    help="Whether the rows come to those that are there, or stand in their place.",
)
def land(store: Store, table: str, paths: tuple[Path, ...], run_id: str | None, mode: str) -> int:
    """Land the rows of PATHS (.parquet, .csv, .ndjson) in TABLE as one run."""
    found = store.table(table)
    with Progress(f"landing in {table}"):
        run = found.land(list(paths), run_id=run_id, mode=mode)
    what = "had landed before" if run.repeated else "landed"
    click.echo(f"{table}: {plural(run.rows, 'row')} {what} as {run.run_id}, commit {run.commit_seq}")
    for change in () if run.repeated else found.schema_changes(run):
        click.echo(f"{table}: {change}")
    return CLEAN


def _attribute(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> tuple[Any, ...]:
    pairs = []
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise click.BadParameter(f"{text!r} is no attribute: write name=value")
        try:
            pairs.append((name, json.loads(value)))
        except ValueError:
            pairs.append((name, value))
    return tuple(pairs)


@store_command.command("read")
@click.argument("table")
@on_store()
@click.option("--as-of", metavar="WHEN", help="What the table was at that instant (transaction time).")
@click.option("--valid-as-of", metavar="WHEN", help="What was true at that instant (valid time).")
@click.option("--available-as-of", metavar="WHEN", help="What the source had published by that instant.")
@click.option(
    "--vintage",
    type=click.Choice(VINTAGES),
    default="latest",
    show_default=True,
    help="Which of what the source published of a record: the last within the bounds, the first, or all.",
)
@click.option("--pin", metavar="NAME", help="At most the instant that a build recorded.")
@click.option("--columns", metavar="A,B", help="Only these columns.")
@click.option("--filter", "condition", metavar="EXPR", help="Only rows for which this condition holds.")
@click.option("--principal", "name", default="anonymous", metavar="NAME", help="Who reads.")
@click.option("--tenant", metavar="NAME", help="The reader's tenant.")
@click.option("--clearance", "clearances", multiple=True, metavar="CLASS", help="A classification shown unmasked.")
@click.option(
    "--attribute",
    "attributes",
    multiple=True,
    callback=_attribute,
    metavar="NAME=VALUE",
    help="What row conditions may ask of the reader, as `principal.NAME`.",
)
@format_option("table", "csv", "json")
@click.option("--limit", type=click.IntRange(0), help=f"Rows to print (default: {DEFAULT_ROWS} in a table, else all).")
def read(
    store: Store,
    table: str,
    columns: str | None,
    condition: str | None,
    name: str,
    tenant: str | None,
    clearances: tuple[str, ...],
    attributes: tuple[Any, ...],
    format_: str,
    limit: int | None,
    **bounds: Any,
) -> int:
    """Print the rows of TABLE within the bounds given; the bounds as they were understood go to stderr."""
    from ..store.tables.enforcement import Principal
    from .rows import write_csv, write_json, write_table

    who: Principal = Principal(name, tenant, frozenset(clearances), attributes)
    wanted = None if columns is None else [c.strip() for c in columns.split(",") if c.strip()]
    found = store.table(table).read(**bounds, columns=wanted, filter=condition, principal=who)
    if found.bounds is not None:
        click.echo(f"bounds: {json.dumps(found.bounds)}", err=True)
    names = found.schema.names
    with _spelled(found.reader()) as reader:
        match format_:
            case "csv":
                write_csv(reader, names, limit)
            case "json":
                write_json(reader, names, limit)
            case _:
                most = DEFAULT_ROWS if limit is None else limit
                shown, total = _first(reader, most)
                write_table(shown, names, most, total)
    return CLEAN


def _spelled(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """Nanoseconds as text: Python's datetimes do not hold them."""
    import pyarrow as pa

    def exact(type_: pa.DataType) -> bool:
        return bool(pa.types.is_timestamp(type_) and type_.unit == "ns")

    schema = pa.schema([pa.field(f.name, pa.string()) if exact(f.type) else f for f in reader.schema])

    def text(column: pa.Array) -> pa.Array:
        zone = "" if column.type.tz is not None else "Z"
        values = column.cast(pa.int64()).to_pylist()
        return pa.array([None if v is None else spell(v).removesuffix(zone) for v in values], pa.string())

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in reader:
            columns = [text(c) if exact(c.type) else c for c in batch.columns]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _first(reader: pa.RecordBatchReader, most: int) -> tuple[pa.RecordBatchReader, int]:
    """The first rows, and how many there are: the others are counted as they pass."""
    import pyarrow as pa

    kept, total = [], 0
    for batch in reader:
        if total < most:
            kept.append(batch.slice(0, most - total))
        total += batch.num_rows
    return pa.RecordBatchReader.from_batches(reader.schema, kept), total


@store_command.command("fold")
@click.argument("tables", nargs=-1)
@on_store()
def fold(store: Store, tables: tuple[str, ...]) -> int:
    """Merge the runs of TABLES (default: all) into new snapshots."""
    for table in _tables(store, tables):
        with Progress(f"folding {table.name}"):
            made = table.fold()
        if made is None:
            click.echo(f"{table.name}: nothing to fold")
        else:
            click.echo(f"{table.name}: {made.snapshot_id} holds {plural(made.rows, 'row')}, commit {made.commit_seq}")
    return CLEAN


@store_command.command("collect")
@click.argument("tables", nargs=-1)
@on_store()
@click.option("--grace", default="1h", show_default=True, help="How long readers of an older state may still take.")
def collect(store: Store, tables: tuple[str, ...], grace: str) -> int:
    """Remove what `retain_runs` of TABLES (default: all) lets go and no hold keeps."""
    for table in _tables(store, tables):
        with Progress(f"collecting {table.name}") as shown:
            done = table.collect(grace=grace, progress=shown.update)
        floor = "everything is kept" if done.floor is None else f"answers from {spell(done.floor)} on"
        counted = f"{plural(done.snapshots, 'snapshot')} and {plural(done.runs, 'run')} let go"
        click.echo(f"{table.name}: {counted}, {plural(done.parts_deleted, 'part')} deleted; {floor}")
    return CLEAN


@store_command.command("history")
@click.argument("table")
@on_store()
@format_option("text", "json")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="How many commits to list.")
def history(store: Store, table: str, format_: str, limit: int) -> int:
    """List the commits of TABLE, newest first."""
    entries = [entry for entry, _ in zip(store.table(table).history(), range(limit), strict=False)]
    if format_ == "json":
        told = [{"commit": e.number, "at": spell(e.at), "what": _what(e)} for e in entries]
        click.echo(json.dumps(told, indent=2))
    else:
        for entry in entries:
            click.echo(f"{entry.number:>5}  {spelled_second(entry.at)}Z  {_what(entry)}")
    return CLEAN


def _what(entry: TableEntry) -> str:
    from typing import assert_never

    from ..store.tables.entries import Collected, Declared, Holds, Pins, RunCommit, SnapshotCommit

    match entry.commit:
        case Declared():
            return "declared"
        case RunCommit() as run:
            return f"run {run.run_id}: {plural(run.rows, 'row')}{', replacing' if run.replaces else ''}"
        case SnapshotCommit() as snapshot:
            return f"{snapshot.snapshot_id}: {plural(snapshot.rows, 'row')}, up to commit {snapshot.through}"
        case Collected() as collected:
            return f"collected: answers from {spell(collected.floor)} on"
        case Holds(holds=holds):
            return f"holds: {', '.join(f'{n} ({spell(h.at)})' for n, h in sorted(holds.items())) or 'none'}"
        case Pins(pins=pins):
            return f"pins: {', '.join(f'{n} ({spell(at)})' for n, at in sorted(pins.items())) or 'none'}"
        case _ as unknown:
            assert_never(unknown)


@store_command.command("hold")
@click.argument("table")
@click.argument("name")
@on_store()
@click.option("--as-of", metavar="WHEN", help="The instant whose state is kept (default: now).")
@click.option("--release", is_flag=True, help="End the hold instead.")
def hold(store: Store, table: str, name: str, as_of: str | None, release: bool) -> int:
    """Keep a state of TABLE from collection, under NAME."""
    if release:
        store.table(table).release(name)
        click.echo(f"{table}: hold {name} released")
    else:
        held = store.table(table).hold(name, as_of=as_of)
        click.echo(f"{table}: held as of {spell(held.at)} under {name}")
    return CLEAN


@store_command.command("pin")
@click.argument("name")
@click.argument("tables", nargs=-1)
@on_store()
@click.option("--as-of", metavar="WHEN", help="The upper bound (default: now).")
def pin(store: Store, name: str, tables: tuple[str, ...], as_of: str | None) -> int:
    """Record the upper bound of the build NAME on TABLES (default: all), for `read --pin NAME`."""
    for table in _tables(store, tables):
        click.echo(f"{table.name}: pinned at {spell(table.pin(name, as_of=as_of))} under {name}")
    return CLEAN


@store_command.command("verify")
@click.argument("tables", nargs=-1)
@on_store()
@click.option("--quick", is_flag=True, help="Look at presence and size of parts, and do not read them.")
def verify(store: Store, tables: tuple[str, ...], quick: bool) -> int:
    """Check TABLES: the log and parts of those with three clocks, the artifacts of models and of guarded tables.

    Without TABLES all of them, the logs of environments, and files that nothing names are looked at.
    """
    from ..store.unnamed import unnamed
    from ..store.verifying import verify_artifacts, verify_environment

    findings: list[Diagnostic] = []
    published: dict[str, list[str]] = {}
    for name, address, _ in store.artifacts():
        published.setdefault(name, []).append(address)
    declared = [name for name in tables if name not in published] if tables else store.tables.names()
    for table in map(store.table, declared):
        with Progress(f"verifying {table.name}") as shown:
            done = table.verify(contents=not quick, progress=shown.update)
        counts = ((done.entries, "commit"), (done.runs, "run"), (done.snapshots, "snapshot"), (done.parts, "part"))
        findings += _verified(table.name, counts, done.findings)
    for name in (name for name in published if not tables or name in tables):
        with Progress(f"verifying {name}") as shown:
            whole = verify_artifacts(store, name, published[name], contents=not quick, progress=shown.update)
        findings += _verified(name, ((whole.artifacts, "artifact"), (whole.parts, "part")), whole.findings)
    for name in () if tables else store.environments():
        log = verify_environment(store, name)
        findings += _verified(f"environment {name}", ((log.versions, "version"),), log.findings)
    if not tables and (left := list(unnamed(store))):
        paths = [str(path) for path in left[:UNNAMED_SHOWN]] + (["…"] if len(left) > UNNAMED_SHOWN else [])
        click.echo(f"{plural(len(left), 'file')} that nothing names, of work killed or under way: {', '.join(paths)}")
    if findings:
        click.echo(rendered(findings, lambda _: None), nl=False, color=True)
    return exit_code(findings)


def _verified(name: str, counts: Iterable[tuple[int, str]], findings: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    counted = ", ".join(plural(number, noun) for number, noun in counts)
    click.echo(f"{name}: {counted}: {plural(len(findings), 'finding') if findings else 'sound'}")
    return findings
