"""`strata explain`: the page of a diagnostic code, or the list of all codes."""

from __future__ import annotations

import textwrap

import click

from ..diagnostics.codes import CODES, FAMILIES, family
from ..diagnostics.pages import Page, read_page
from ..diagnostics.suggest import nearest
from .exits import CLEAN
from .report import colored, terminal_columns


@click.command("explain")
@click.argument("code", required=False)
def explain_command(code: str | None) -> int:
    """Say what a finding's code means, with an example that fails and one that is clean.

    CODE is the code that stands in brackets, such as E012; without it all codes are listed.
    """
    if code is None:
        click.echo(_overview())
    else:
        click.echo(_shown(read_page(_known(code)), min(100, terminal_columns())), color=colored())
    return CLEAN


def _known(code: str) -> str:
    if (written := code.upper()) in CODES:
        return written
    near = nearest(written, CODES)
    hint = f"did you mean {near}?" if near else "`strata explain` lists all codes"
    raise click.UsageError(f"there is no code {code!r}; {hint}")


def _overview() -> str:
    parts = []
    for prefix, title in FAMILIES.items():
        parts.append(f"{title}\n" + "".join(f"  {c}  {text}\n" for c, text in CODES.items() if family(c) == prefix))
    return "\n".join(parts).rstrip()


def _shown(page: Page, width: int) -> str:
    parts = [click.style(page.title, bold=True), textwrap.fill(page.meaning, width)]
    for section in page.sections:
        body = textwrap.indent(section.text, "  ").rstrip() if section.is_program else ""
        parts.append(f"{click.style(section.name, bold=True)}\n{body or textwrap.fill(section.text, width)}")
    return "\n\n".join(parts)
