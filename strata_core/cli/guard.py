"""`strata guard`: hold tables that others made against their contracts, and keep what is sound in the store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..diagnostics.render import diagnostic_as_json, printable
from ..diagnostics.wording import plural
from .contracts.answering import answered_for
from .exits import CLEAN, FINDINGS, exit_code
from .options import environment_option, format_option
from .progress import Progress
from .report import STRATA, Lines, lines_below, rendered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..contract_engine.pin.guard import Guard, Promise
    from ..contract_engine.pin.judging import Verdict
    from ..contract_engine.pin.promoting import Promotion
    from ..contract_engine.pipeline import Setting


@click.command("guard")
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@click.option(
    "--project",
    "project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="The project's folder (default: the nearest strata.toml upwards).",
)
@environment_option
@format_option("text", "json")
@click.option(
    "--contract",
    metavar="CONTRACT",
    help="What TABLE is held to: `product/asset`, or a `contract` of the models (default: the one that covers it).",
)
@click.option("--rows", metavar="PATH", help="Where the rows are: Parquet or CSV (default: as the contract says).")
@click.option(
    "--partition",
    "partitions",
    multiple=True,
    metavar="KEY",
    help="Only these partitions of TABLE, each judged alone: the rows whose `partition_by` column is KEY, or those in "
    "the file that `--rows` names with `{partition}` for KEY.",
)
def guard_command(
    project: Path | None,
    tables: tuple[str, ...],
    environment: str,
    format_: str,
    contract: str | None,
    rows: str | None,
    partitions: tuple[str, ...],
) -> int:
    """Hold tables that others made (dbt models, files) against their contracts, and keep what is sound.

    Rows that keep the contract of TABLE, and the blocking tests about it, become its live version in the store: what
    `strata show` prints and sources of kind `table:` read. Where they do not, nothing changes, the last-known-good
    stays live, and the exit code is 3. With --partition those that keep it go live beside the others of the table, and
    those that do not stay as they were.
    """
    if len(tables) > 1 and (contract or rows or partitions):
        raise click.UsageError("--contract, --rows and --partition are about one TABLE")

    def answer(setting: Setting) -> int:
        root = setting.root
        return _guarded(root, tables, environment, format_, contract, rows, partitions, lines_below(root))

    return answered_for(answer, project, format_, STRATA)


def _guarded(
    root: Path,
    tables: tuple[str, ...],
    environment: str,
    format_: str,
    contract: str | None,
    rows: str | None,
    partitions: tuple[str, ...],
    lines: Lines,
) -> int:
    from ..contract_engine.pin.guard import open_guard, promise_of, rows_of
    from ..contract_engine.pin.judging import judge
    from ..contract_engine.pin.promoting import promote, record_refused

    with Progress("looking at files", quiet=format_ == "json") as shown:
        guard = open_guard(root, environment)
        promises = [promise_of(guard, contract or table, table if contract else None) for table in tables]
        if partitions:
            judged: Iterator[Verdict] = iter([_judged_apart(guard, promises[0], rows, partitions)])
        else:
            found = [(promise, *rows_of(guard, promise, rows)) for promise in promises]
            judged = (judge(guard, promise, table, place) for promise, table, place in found)
        verdicts = []
        for promise in promises:
            shown.set(promise.name)
            verdicts.append(next(judged))
            for verdict in verdicts[-1].partitions.values() or (verdicts[-1],):
                shown.say(_line(verdict))
            if told := (*verdicts[-1].lints, *verdicts[-1].violations):
                shown.say(rendered(told, lines, err=True))
        done = promote(guard, verdicts, message=f"guard {', '.join(p.name for p in promises)}")
        record_refused(guard, verdicts, done)
    if format_ == "json":
        click.echo(json.dumps(_as_json(verdicts, done, environment), indent=2, ensure_ascii=False))
    else:
        click.echo(_summary(done, environment))
    apart = [one for verdict in verdicts for one in (verdict.partitions.values() or (verdict,))]
    return max((FINDINGS if v.breaks else exit_code(v.violations) for v in apart), default=CLEAN)


def _judged_apart(guard: Guard, promise: Promise, rows: str | None, keys: tuple[str, ...]) -> Verdict:
    from ..contract_engine.pin.guard import rows_of
    from ..contract_engine.pin.partitions import PARTITION, in_files, in_one_table, judge_partitions

    if rows is not None and PARTITION in rows:
        return judge_partitions(guard, promise, in_files(guard, promise, rows, keys), rows)
    table, place = rows_of(guard, promise, rows)
    return judge_partitions(guard, promise, in_one_table(guard, promise, table, keys), place)


def _line(verdict: Verdict) -> str:
    state = "violated" if verdict.violations else "reused" if verdict.kept and verdict.kept.reused else "kept"
    rows = plural(verdict.report.rows, "row") if verdict.report and verdict.report.rows is not None else ""
    left = f"  without {', '.join(verdict.left_out)}" if verdict.left_out else ""
    return printable(f"{state:<8}  {verdict.promise.name}  {rows}, {verdict.place} ({verdict.seconds:.2f} s){left}")


def _summary(done: Promotion, environment: str) -> str:
    live = f"version {done.version.number} is live"
    if done.promoted:
        return f"{environment}: {live} ({', '.join(sorted(done.promoted))})"
    stays = f"version {done.version.number} stays live" if done.version.number else "nothing is live yet"
    return f"{environment}: nothing was published, {stays}"


def _as_json(verdicts: list[Verdict], done: Promotion, environment: str) -> dict[str, object]:
    from ..contract.encoding import report_to_json

    return {
        "environment": environment,
        "version": done.version.number,
        "published": sorted(done.promoted),
        "tables": [
            {
                "name": v.promise.name,
                "contract": v.promise.reference,
                "place": v.place,
                "sound": v.sound and not v.refused,
                "partitions": {key: one.sound for key, one in v.partitions.items()},
                "reused": v.kept.reused if v.kept else None,
                "rows": v.report.rows if v.report else None,
                "digest": v.kept.artifact.manifest.digest if v.kept else None,
                "live": v.live.digest if v.live else None,
                "seconds": round(v.seconds, 3),
                "left_out": list(v.left_out),
                "pin": report_to_json(v.report) if v.report else None,
                "tests": [{"test": t.test, "outcome": t.outcome, "offenders": t.offenders} for t in v.tests],
                "lints": [diagnostic_as_json(d) for d in v.lints],
                "diagnostics": [diagnostic_as_json(d) for d in v.violations],
            }
            for v in verdicts
        ],
    }
