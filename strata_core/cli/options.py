"""The options that verbs share.

A verb is a function from an opened project and its options to an exit code. It raises `StrataError` where what was
asked cannot be had; `on_project` tells it, so that no verb prints findings of its own faults.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..planning.config import MAIN
from .report import answered_for

if TYPE_CHECKING:
    from ..planning.partitions.asked_periods import Asked

Verb = TypeVar("Verb", bound=Callable[..., int])


def on_project(verb: Callable[..., int]) -> Callable[..., int]:
    """Give `verb` the option `--project`, and the opened project in its place.

    A `StrataError` is told with the source lines it is about, in the format asked for; its codes decide the exit
    code.
    """

    @click.option(
        "--project",
        "project",
        type=click.Path(exists=True, path_type=Path),
        metavar="DIR",
        help="The project's folder, or a single .strata file (default: the nearest strata.toml upwards).",
    )
    @wraps(verb)
    def run(project: Path | None, **options: Any) -> int:
        return answered_for(lambda found: verb(found, **options), options.get("path"), project, options.get("format_"))

    return run


def models_argument(command: Verb) -> Verb:
    """`MODELS`: names or selections (`planning.choosing.models_named`)."""
    return click.argument("models", nargs=-1)(command)


def environment_option(command: Verb) -> Verb:
    """`--env`, the same for every verb that reads or publishes."""
    return environment_of("The environment.")(command)


def environment_of(meaning: str) -> Callable[[Verb], Verb]:
    """`--env`, with what the verb does with it."""
    return click.option(
        "--env", "environment", default=MAIN, show_default=True, callback=environment_name, help=meaning
    )


def format_option(*formats: str) -> Callable[[Verb], Verb]:
    """`--format`, the first being the default."""
    return click.option("--format", "format_", type=click.Choice(formats), default=formats[0], show_default=True)


def force_option(command: Verb) -> Verb:
    """`--force`."""
    return click.option("--force", is_flag=True, help="Take the selected models for stale even if they are fresh.")(
        command
    )


def full_refresh_option(command: Verb) -> Verb:
    """`--full-refresh`."""
    return click.option(
        "--full-refresh", is_flag=True, help="Compute the selected incremental models in full, from all rows."
    )(command)


def keep_going_option(command: Verb) -> Verb:
    """`--keep-going`."""
    return click.option(
        "--keep-going",
        is_flag=True,
        help="Go on with the models that compile where others do not; what is live of these stays, and the exit code "
        "is not 0.",
    )(command)


def partition_option(command: Verb) -> Verb:
    """`--partition`."""
    return click.option(
        "--partition",
        "asked",
        metavar="KEY|FIRST..LAST",
        callback=_asked,
        help="Only these partitions of time of the selected models, or of all that have them.",
    )(command)


def _asked(_context: click.Context, _parameter: click.Parameter, text: str | None) -> Asked | None:
    if text is None:
        return None
    from ..planning.partitions.asked_periods import Asked

    first, dots, last = text.partition("..")
    return Asked(first, last if dots else first)


def environment_name(_context: click.Context, _parameter: click.Parameter, name: str) -> str:
    """The callback of an option or argument that names an environment."""
    from ..folder_names import NAME_RULE, names_a_folder

    if not names_a_folder(name):
        raise click.BadParameter(f"{name!r} cannot name an environment: use {NAME_RULE}")
    return name
