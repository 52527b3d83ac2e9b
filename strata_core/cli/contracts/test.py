"""`contract-engine test`: the tests of products, asked of the rows that are in reach."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from ...contract_engine.pipeline import Setting
from ...diagnostics.render import printable
from ...diagnostics.wording import plural
from ..exits import CLEAN, FINDINGS
from ..options import environment_of, format_option
from ..progress import Progress
from .shared import examined, named, on_contracts, product_names


@click.command("test")
@click.argument("products", nargs=-1, metavar="[PRODUCT]...", shell_complete=product_names)
@on_contracts
@environment_of("Whose published models are asked.")
@format_option("text", "json")
def test_command(setting: Setting, products: Sequence[str], environment: str, format_: str) -> int:
    """Run the SQL and the expectations of products (all of them by default) on the rows that are in reach.

    Nothing is written. The exit code is 1 where a blocking test fails; dbt's own tests are run by dbt.
    """
    from ...contract_engine.execution.run import run_tests
    from ...contract_engine.observations import utc_now
    from ...planning.inputs.reachable import ReachableTables

    with Progress("running tests", quiet=format_ != "text"):
        checked = examined(setting)
        tables = ReachableTables(setting.root, setting.config, environment)
        seen = run_tests(checked, tables, utc_now(), {c.id for c in named(checked, products)}).tests
    severities = {(c.id, t.id): t.severity for c in checked.collated.candidates if c.sound for t in c.contract.tests}
    if format_ == "json":
        listed = [
            {
                "product": t.product,
                "test": t.test,
                "severity": severities[t.product or "", t.test],
                "outcome": t.outcome,
                "offenders": t.offenders,
                "message": t.message,
            }
            for t in seen
        ]
        click.echo(json.dumps(listed, indent=2, ensure_ascii=False))
    else:
        for one in seen:
            told = f": {one.message}" if one.message else ""
            severity = severities[one.product or "", one.test]
            click.echo(printable(f"{one.outcome:<11}  {one.product}  {one.test} ({severity}){told}"))
        failed = sum(t.outcome in ("failed", "error") for t in seen)
        away = sum(t.outcome in ("not_run", "unsupported") for t in seen)
        click.echo(f"{plural(len(seen), 'test')}: {failed} failed, {away} not run", err=True)
    blocking = (t for t in seen if severities[t.product or "", t.test] == "blocking")
    return FINDINGS if any(t.outcome in ("failed", "error") for t in blocking) else CLEAN
