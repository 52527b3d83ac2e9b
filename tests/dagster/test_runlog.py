"""The run's log: progress is told while something takes long, not for every batch."""

from __future__ import annotations

import json

import dagster as dg

from strata_dagster import StrataProject, StrataResource
from strata_dagster.runlog import RunLog


class Lines:
    def __init__(self) -> None:
        self.said: list[str] = []

    def info(self, msg: object, extra: dict[str, object]) -> None:
        self.said.append(f"info {msg}")

    def error(self, msg: object, extra: dict[str, object]) -> None:
        self.said.append(f"error {msg}")


def test_rows_are_told_at_most_every_ten_seconds(shop) -> None:
    lines, instants = Lines(), iter([0.0, 4.0, 11.0, 11.0, 12.0, 30.0, 30.0])
    log = RunLog(lines, StrataProject(shop.root).opened, "prod", clock=lambda: next(instants))
    for rows in (100_000, 200_000, 300_000, 400_000):
        log.progress("paid", rows)
    assert lines.said == ["info paid: 200,000 rows so far", "info paid: 400,000 rows so far"]


def test_records_have_their_facts_as_fields_and_keys_of_offenders_masked_where_classified(
    shop, bad_orders, capsys
) -> None:
    shop.edit("models/sales/orders.strata", "email: string classification", "email: string unique classification")
    shop.write("data/orders.csv", bad_orders + "5,MX,2.00,ann@example.com\n")
    models, *_ = shop.assets()
    job = dg.Definitions(
        assets=[models],
        resources={"strata": StrataResource(project_dir=shop.root)},
        jobs=[dg.define_asset_job("all", "*")],
        loggers={"json": dg.json_console_logger},
    ).resolve_job_def("all")
    ran = job.execute_in_process(
        instance=shop.instance, raise_on_error=False, run_config={"loggers": {"json": {"config": {}}}}
    )
    assert not ran.success
    records = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
    told = {(r["strata"]["event"], r["strata"].get("model")): r for r in records if "strata" in r}
    paid = told["finished", "paid"]
    fields = paid["strata"]
    assert (fields["environment"], fields["status"], sorted(fields["codes"])) == ("prod", "violated", ["E082", "E083"])
    assert told["started", "paid"]["strata"]["reasons"] == ["missing"]
    assert told["finished", "by_country"]["strata"]["status"] == "skipped"
    assert told["finished", "rate"]["strata"]["rows"] == 2
    assert "order_id = 4, country = FR" in paid["msg"]
    assert "email = ‹masked›" in paid["msg"]
    assert "@example.com" not in json.dumps(records)
    tags = shop.instance.get_run_by_id(ran.run_id).tags
    assert tags["strata/environment"] == "prod"
    assert len(tags["strata/fingerprint"]) == 16
