"""Runs in Dagster send the run events that `strata apply` sends, below the Dagster run."""

import json

import pytest


@pytest.fixture
def events(tmp_path, monkeypatch):
    """What was sent so far: the transport is a file, as the environment says."""
    path = tmp_path / "events.jsonl"
    for name, value in {"TYPE": "file", "LOG_FILE_PATH": str(path), "APPEND": "true"}.items():
        monkeypatch.setenv(f"OPENLINEAGE__TRANSPORT__{name}", value)

    def sent() -> list[dict]:
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    return sent


def states(events) -> dict[str, list[str]]:
    told: dict[str, list[str]] = {}
    for event in events:
        told.setdefault(event["job"]["name"], []).append(event["eventType"])
    return told


def test_the_dagster_run_is_the_parent_and_each_model_a_run(shop, events) -> None:
    run = shop.run(assets=shop.assets()[:1])
    assert run.success
    assert states(events()) == {job: ["START", "COMPLETE"] for job in ("apply", "paid", "by_country", "rate")}
    whole = next(e for e in events() if e["job"]["name"] == "apply")
    parent = whole["run"]["facets"]["parent"]
    assert parent["run"]["runId"] == run.result.run_id
    assert parent["job"] == {"namespace": "dagster", "name": run.result.dagster_run.job_name}
    paid = [e for e in events() if e["job"]["name"] == "paid"][-1]
    assert paid["run"]["facets"]["parent"]["root"]["run"]["runId"] == run.result.run_id
    assert paid["outputs"][0]["facets"]["version"]["datasetVersion"] == run.made["paid"].tags["dagster/data_version"]
    assert "@example.com" not in json.dumps(events())


def test_a_violation_is_a_failure_with_its_findings(shop, events, bad_orders) -> None:
    shop.write("data/orders.csv", bad_orders)
    assert not shop.run(assets=shop.assets()[:1]).success
    assert states(events()) == {
        "apply": ["START", "FAIL"],
        "paid": ["START", "FAIL"],
        "by_country": ["START", "ABORT"],
        "rate": ["START", "ABORT"],
    }
    failed = next(e for e in events() if (e["job"]["name"], e["eventType"]) == ("paid", "FAIL"))
    assert "E082" in failed["run"]["facets"]["errorMessage"]["message"]


def test_a_run_that_finds_nothing_to_do_sends_nothing(shop, events) -> None:
    assert shop.run(assets=shop.assets()[:1]).success
    before = len(events())
    assert shop.run(assets=shop.assets()[:1]).success
    assert len(events()) == before
