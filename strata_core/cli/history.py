"""`strata history` and `strata rollback`: the versions of an environment."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime
from pathlib import Path

import click

from ..store.environments import EnvironmentVersion
from ..store.instant import spell
from ..store.store import Store
from .report import environment_option, format_option, opened, plural, project_option


@click.command()
@project_option
@environment_option
@format_option("text", "json")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="How many versions to list.")
def history(project: Path | None, environment: str, format_: str, limit: int) -> None:
    """List the versions of an environment, newest first."""
    store = Store.open(opened(project).store_root, create=False)
    log = store.environment(environment)
    versions = list(itertools.islice(log.history(), limit + 1))
    pairs = list(itertools.pairwise([*versions, None]))[:limit]
    if format_ == "json":
        click.echo(json.dumps([_as_json(version, before) for version, before in pairs if version], indent=2))
        return
    if not versions:
        click.echo(f"{environment}: nothing was published yet")
        return
    for version, before in pairs:
        if version is not None:
            click.echo(_line(version, before))


@click.command()
@click.argument("version", type=int)
@project_option
@environment_option
def rollback(version: int, project: Path | None, environment: str) -> None:
    """Make an earlier VERSION of an environment live again, as a new version.

    The next `apply` finds the models stale again where their source text differs from what that version held.
    """
    store = Store.open(opened(project).store_root, create=False)
    made = store.environment(environment).rollback(version)
    click.echo(
        f"{environment}: version {made.number} is live, with the {plural(len(made.models), 'model')} of {version}"
    )


def _changed(version: EnvironmentVersion, before: EnvironmentVersion | None) -> list[str]:
    old = before.models if before else {}
    changed = {m for m, p in version.models.items() if not p.same_rows(old.get(m))}
    return sorted(changed | (old.keys() - version.models.keys()))


def _line(version: EnvironmentVersion, before: EnvironmentVersion | None) -> str:
    at = datetime.fromtimestamp(version.at / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S")
    what = f"rollback to {version.restores}" if version.restores else version.cause
    names = _changed(version, before)
    shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "") if names else "no new rows"
    return f"{version.number:>5}  {at}Z  {what:<14} {shown}"


def _as_json(version: EnvironmentVersion, before: EnvironmentVersion | None) -> dict[str, object]:
    return {
        "version": version.number,
        "id": version.id,
        "at": spell(version.at),
        "cause": version.cause,
        "restores": version.restores,
        "message": version.message,
        "changed": _changed(version, before),
        "models": {name: {"address": p.address, "digest": p.digest} for name, p in version.models.items()},
    }
