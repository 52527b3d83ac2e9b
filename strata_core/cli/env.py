"""`strata env`: the environments of a store, and what is left of those that are gone."""

from __future__ import annotations

import json
from datetime import timedelta

import click

from ..diagnostics.wording import plural
from ..planning.environments import published_environments
from ..planning.live.dropping import drop_environment
from ..planning.project import Project
from ..store.instant import spell, spelled_second
from .exits import CLEAN
from .options import environment_name, format_option, on_project
from .report import sized


@click.group("env")
def env_command() -> None:
    """The environments of the store: which there are, dropping one, and collecting what no one needs any more."""


@env_command.command("list")
@on_project
@format_option("text", "json")
def list_environments(project: Project, format_: str) -> int:
    """List the environments, with their version, when it went live, and its models."""
    found = published_environments(project)
    if format_ == "json":
        told = [
            {"name": n, "version": v.number, "at": spell(v.at), "models": sorted(v.models), "message": v.message}
            for n, v in found.items()
        ]
        click.echo(json.dumps(told, indent=2))
        return CLEAN
    width = max(map(len, found), default=0)
    for name, version in found.items():
        at = spelled_second(version.at)
        click.echo(f"{name:<{width}}  {at}Z  version {version.number}, {plural(len(version.models), 'model')}")
    if not found:
        click.echo("nothing is published: run `strata apply`")
    return CLEAN


@env_command.command("drop")
@click.argument("environment", metavar="NAME", callback=environment_name)
@on_project
def drop(project: Project, environment: str) -> int:
    """Take back what this project has published in the environment NAME, in one step.

    It is refused where another project that shares the store reads it there. `strata rollback` undoes it, as long as
    `strata env collect` has not removed what it held.
    """
    done = drop_environment(project, environment)
    left = f"; {plural(len(done.left), 'model')} of other projects stay" if done.left else ""
    click.echo(f"{environment}: version {done.version.number} is without {plural(len(done.removed), 'model')}{left}")
    back = f"strata rollback {done.version.number - 1} --env {environment}"
    click.echo(f"undo it with `{back}`, until `strata env collect` removes what it held")
    return CLEAN


class _Age(click.ParamType[timedelta]):
    """A duration such as `30d`."""

    name = "age"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Its length; fails where it is none."""
        from ..durations import duration

        try:
            return timedelta(microseconds=0 if value in ("0", "0s") else duration(str(value)) // 1_000)
        except ValueError as cause:
            self.fail(f"{cause}: write 0s, 12h or 30d", param, ctx)


@env_command.command("collect")
@on_project
@format_option("text", "json")
@click.option("--keep", default="30d", show_default=True, type=_Age(), help="How far back a rollback may reach.")
@click.option(
    "--grace", default="1d", show_default=True, type=_Age(), help="How long an apply may take from start to end."
)
@click.option("--dry-run", is_flag=True, help="List them; remove nothing.")
def collect_artifacts(project: Project, format_: str, keep: timedelta, grace: timedelta, dry_run: bool) -> int:
    """Remove the artifacts that no environment needs.

    They are what was superseded or dropped more than --keep ago, and what applies had computed that published nothing
    (killed, refused) and that no apply has taken up within --grace. Applies may run meanwhile.
    """
    from ..store.orphans import collect, orphans

    store = project.store
    if not store.exists():
        found = []
    else:
        store.opened(create=not dry_run)
        found = list((orphans if dry_run else collect)(store, keep=keep, grace=grace))
        if not dry_run:
            store.sweep_staging(grace)
    if format_ == "json":
        told = [{"table": o.table, "address": o.address, "bytes": o.bytes, "used_at": spell(o.used_at)} for o in found]
        click.echo(json.dumps(told, indent=2))
        return CLEAN
    for orphan in found:
        used = spelled_second(orphan.used_at)
        click.echo(f"{orphan.table}  {orphan.address[:12]}  {sized(orphan.bytes)}, last used {used}Z")
    total = f"{plural(len(found), 'artifact')}, {sized(sum(o.bytes for o in found))}"
    click.echo(f"{total} {'would be removed' if dry_run else 'removed'}")
    return CLEAN
