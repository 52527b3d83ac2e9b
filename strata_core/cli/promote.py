"""`strata promote`: make live in one environment what another has, as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import click

from ..diagnostics.wording import plural
from ..planning.project import Project, compile_sound
from .exits import CLEAN, FINDINGS
from .options import environment_name, format_option, on_project
from .progress import Progress
from .report import tell

if TYPE_CHECKING:
    from ..planning.forecast import Effect
    from ..planning.live.promotion import Promotion
    from ..store.store import Store


@click.command("promote")
@click.argument("source", metavar="FROM", callback=environment_name)
@click.argument("target", metavar="TO", callback=environment_name)
@click.argument("tables", nargs=-1)
@on_project
@format_option("text", "json")
@click.option("--dry-run", is_flag=True, help="Show what would go live; publish nothing.")
def promote_command(
    project: Project, source: str, target: str, tables: tuple[str, ...], format_: str, dry_run: bool
) -> int:
    """Make live in the environment TO what FROM has, as it is: in one step, and nothing is computed.

    TABLES limits it to these models and guarded tables, and to what they read. It is refused (exit code 1) where this
    checkout means something else than what is published in FROM, where the two read their sources in different places,
    where a contract or another project that shares the store would be broken.
    """
    from ..contract_engine.governed import governed_promotion
    from ..planning.applying.results import Outcome
    from ..planning.applying.run_events import announced
    from ..planning.forecast import effects
    from ..planning.live.promotion import promote
    from ..planning.workspace import open_workspace

    with Progress("looking at what is published", quiet=format_ == "json"):
        workspace = open_workspace(project, target, compile_sound(project), write=False)
        promotion = governed_promotion(workspace, source, tables or None)
        changed = effects(workspace, promotion.plan)
    if format_ == "text":
        for line in _lines(workspace.store, promotion, changed):
            click.echo(line)
    if promotion.plan.conflicts:
        tell(promotion.plan.conflicts, project.line_source, format_)
        return FINDINGS
    if promotion.plan.lints and format_ == "text":
        tell(promotion.plan.lints, project.line_source)
    version = promotion.plan.base
    if not dry_run:
        events = announced(promote(workspace, promotion), workspace, promotion.plan, partial(click.echo, err=True))
        version = [e.version for e in events if isinstance(e, Outcome)][-1]
    if format_ == "json":
        click.echo(json.dumps(_as_json(promotion, version.number), indent=2))
    elif dry_run:
        click.echo(f"{target}: {_counted(promotion)} would go live; nothing was published")
    elif version.number == promotion.plan.base.number:
        click.echo(f"{target}: nothing to do, version {version.number} has what {source} has")
    else:
        click.echo(f"{target}: version {version.number} is live, with {_counted(promotion)} of {source}")
    return CLEAN


def _counted(promotion: Promotion) -> str:
    models, tables = len(promotion.plan.stale), len(promotion.changed_tables)
    told = [plural(models, "model")] if models or not tables else []
    return " and ".join([*told, *([plural(tables, "guarded table")] if tables else [])])


def _lines(store: Store, promotion: Promotion, effects: Mapping[str, Effect]) -> Iterator[str]:
    """A line for each table that changes, guarded ones first, what readers of models will notice below them."""
    from .plan import effect_lines

    changed = [*((t.name, t.live) for t in promotion.changed_tables), *((m.name, m.live) for m in promotion.plan.stale)]
    width = max((len(name) for name, _ in changed), default=0)
    for name, live in changed:
        there = promotion.there.models[name]
        told = plural(store.artifact(name, there).manifest.rows, "row")
        if live is None:
            told = f"{told}, new"
        elif live.digest == there.digest:
            told = f"{told}, the same"
        else:
            found = store.find(name, live.address)
            told = f"{told}, {found.manifest.rows:,} before" if found else told
        yield f"{name:<{width}}  {told}"
        if name in effects:
            yield from (f"    {line}" for line in effect_lines(effects[name]))
    yield from (f"{name}: no model of the project any more, will be unpublished" for name in promotion.plan.removed)


def _as_json(promotion: Promotion, version: int) -> dict[str, object]:
    plan, there = promotion.plan, promotion.there
    return {
        "from": promotion.source,
        "from_version": there.number,
        "to": plan.environment,
        "before": plan.base.number,
        "version": version,
        "removed": list(plan.removed),
        "models": [
            {
                "name": m.name,
                "changed": m.stale,
                "digest": there.models[m.name].digest,
                "before": m.live.digest if m.live else None,
            }
            for m in plan.models
        ],
        "tables": [
            {
                "name": t.name,
                "changed": t.changed,
                "digest": t.pointer.digest,
                "before": t.live.digest if t.live else None,
            }
            for t in promotion.tables
        ],
    }
