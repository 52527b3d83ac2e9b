"""`strata history` and `strata rollback`: the versions of an environment."""

from __future__ import annotations

import itertools
import json

import click

from ..diagnostics.listing import listed
from ..diagnostics.wording import plural
from ..planning.config import has_products
from ..planning.environments import published_environment
from ..planning.project import Project
from ..store.environments import EnvironmentVersion
from ..store.instant import spell, spelled_second
from .exits import CLEAN
from .options import environment_option, format_option, on_project
from .report import tell

SHOWN_NAMES = 6


@click.command("history")
@on_project
@environment_option
@format_option("text", "json")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="How many versions to list.")
def history_command(project: Project, environment: str, format_: str, limit: int) -> int:
    """List the versions of an environment, newest first."""
    versions = list(itertools.islice(published_environment(project, environment).history(), limit + 1))
    befores = [*versions[1:], None]
    pairs = list(zip(versions, befores, strict=True))[:limit]
    if format_ == "json":
        click.echo(json.dumps([_as_json(version, before) for version, before in pairs], indent=2))
    else:
        for version, before in pairs:
            click.echo(_line(version, before))
    return CLEAN


@click.command("rollback")
@click.argument("version", type=click.IntRange(1))
@on_project
@environment_option
def rollback_command(project: Project, version: int, environment: str) -> int:
    """Make an earlier VERSION of an environment live again, as a new version.

    The next `apply` finds the models stale again whose meaning or data differs from what that version held. Blocking
    tests of product contracts that do not hold of its rows are told, and refuse nothing: it was live before.
    """
    published = published_environment(project, environment)
    before, made = published.head(), published.rollback(version)
    held = plural(len(made.models), "model")
    click.echo(f"{environment}: version {made.number} is live, with the {held} of version {version}")
    if has_products(project.root, project.config):
        from ..contract_engine.pin.blocking import broken_tests

        tell(broken_tests(project, environment, before, made), project.line_source)
    return CLEAN


def _changed(version: EnvironmentVersion, before: EnvironmentVersion | None) -> list[str]:
    old = before.models if before else {}
    changed = {m for m, p in version.models.items() if not p.same_rows(old.get(m))}
    return sorted(changed | (old.keys() - version.models.keys()))


def _line(version: EnvironmentVersion, before: EnvironmentVersion | None) -> str:
    at = spelled_second(version.at)
    what = f"rollback to {version.restores}" if version.restores else version.cause
    names = _changed(version, before)
    shown = listed(names, SHOWN_NAMES) or "no new rows"
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
