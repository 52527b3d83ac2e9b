"""The run's log: progress is told while something takes long, not for every batch."""

from __future__ import annotations

from strata_dagster import StrataProject
from strata_dagster.runlog import RunLog


class Lines:
    def __init__(self) -> None:
        self.said: list[str] = []

    def info(self, msg: object) -> None:
        self.said.append(f"info {msg}")

    def error(self, msg: object) -> None:
        self.said.append(f"error {msg}")


def test_rows_are_told_at_most_every_ten_seconds(shop) -> None:
    lines, instants = Lines(), iter([0.0, 4.0, 11.0, 11.0, 12.0, 30.0, 30.0])
    log = RunLog(lines, StrataProject(shop.root).opened, clock=lambda: next(instants))
    for rows in (100_000, 200_000, 300_000, 400_000):
        log.progress("paid", rows)
    assert lines.said == ["info paid: 200,000 rows so far", "info paid: 400,000 rows so far"]
