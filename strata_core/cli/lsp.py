"""`strata lsp`: the language server, for editors to start."""

from __future__ import annotations

from importlib.metadata import version

import click

from .exits import CLEAN, FINDINGS, USAGE


@click.command("lsp")
@click.option("--stdio", is_flag=True, help="Talk over standard input and output. That is what it does anyway.")
def lsp_command(stdio: bool) -> int:
    """Serve an editor: findings as one types, hover, completion, definitions, references, rename, formatting.

    Editors start it by themselves and talk the language server protocol to it over standard input and output;
    docs/editor.md says how to set them up. It needs the extra `editor`.
    """
    try:
        from ..lsp.server import serve
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in ("pygls", "lsprotocol"):
            raise
        click.echo(f"`strata lsp` needs `{library}`, which is not installed", err=True)
        click.echo("help: pip install 'strata-tables[editor]'", err=True)
        return USAGE
    return CLEAN if serve(version("strata-tables")) else FINDINGS
