"""`contract-engine diff`: what changed between two Git revisions, and what it breaks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from ...contract_engine.revisions import ContractDiff, ProductDiff, contract_diff
from ...diagnostics import StrataError
from ...diagnostics.render import printable
from ...diagnostics.wording import plural
from ..exits import FINDINGS, exit_code
from ..options import format_option
from ..progress import Progress
from .answering import tell


@click.command("diff")
@click.argument("revisions", metavar="BASE..HEAD")
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    default=Path("."),
    help="The project's folder (default: this one).",
)
@format_option("text", "json")
def diff_command(revisions: str, project: Path, format_: str) -> int:
    """Show what changed of each product between two Git revisions, and what it breaks.

    BASE...HEAD compares HEAD with where it branched off, BASE alone with the files as they are now. Nothing is checked
    out. The exit code is 1 where a change breaks a live contract. Whether it may be promoted is for `validate` to say:
    that compares with what was promoted.
    """
    from ...contract_engine.observations import utc_now

    try:
        with Progress(f"comparing {revisions}", quiet=format_ != "text"):
            found = contract_diff(revisions, project, utc_now().date())
    except StrataError as error:
        tell(error.diagnostics, project, format_, err=True)
        return exit_code(error.diagnostics)
    if format_ == "json":
        click.echo(json.dumps(_plain(found), indent=2, ensure_ascii=False))
    else:
        for line in _lines(found):
            click.echo(line)
        click.echo(f"{plural(len(found.products), 'product')} changed from {found.before} to {found.after}", err=True)
    tell(found.diagnostics, project, "text", err=True)
    return FINDINGS if any(p.breaks for p in found.products) else exit_code(found.diagnostics)


def _lines(found: ContractDiff) -> Iterator[str]:
    for product in found.products:
        yield f"{product.id}  {_versions(product)}"
        for change in product.changes:
            yield printable(f"  {change.impact.value:<6}  {change.where}: {change.rule.says} ({change.rule.id})")
            for word, text in (("-", change.before), ("+", change.after)):
                if text is not None and text != change.where:
                    yield printable(f"          {word} {text if len(text) <= 100 else text[:99] + '…'}")
        yield ""


def _versions(product: ProductDiff) -> str:
    if product.before is None or product.after is None:
        side = product.after or product.before
        assert side is not None
        return f"{side.data['version']}  {'added' if product.before is None else 'removed'}"
    old, new = product.before.data["version"], product.after.data["version"]
    verdict = product.verdict.value if product.verdict else ""
    renamed = f"renamed from {product.renamed_from}, " if product.renamed_from else ""
    return f"{old if old == new else f'{old} → {new}'}  {renamed}{verdict}"


def _plain(found: ContractDiff) -> dict[str, Any]:
    return {
        "before": found.before,
        "after": found.after,
        "products": [
            {
                "id": p.id,
                "renamed_from": p.renamed_from,
                "before": p.before.data["version"] if p.before else None,
                "after": p.after.data["version"] if p.after else None,
                "verdict": p.verdict.value if p.verdict else None,
                "breaks": p.breaks,
                "changes": [
                    {
                        "rule": c.rule.id,
                        "impact": c.impact.value,
                        "field_path": c.where,
                        "before": c.before,
                        "after": c.after,
                        "fingerprint": c.fingerprint,
                    }
                    for c in p.changes
                ],
            }
            for p in found.products
        ],
    }
