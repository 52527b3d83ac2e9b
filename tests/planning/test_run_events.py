"""An apply as OpenLineage run events: which are sent when, that they keep the specification, what they hide."""

from __future__ import annotations

import importlib
import json
import pkgutil
import threading
from collections import defaultdict
from datetime import UTC, datetime
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from uuid import UUID

import attr
import cattrs
import pytest
from openlineage.client import event_v2, generated

from strata_core.diagnostics import StrataError
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.planning.applying.apply import apply_plan
from strata_core.planning.applying.run_events import Parent, announced, told
from strata_core.planning.live.promotion import plan_promotion, promote

STRICT = cattrs.Converter(forbid_extra_keys=True)
MADE = ("_producer", "_schemaURL")


@cache
def classes() -> dict[str, type]:
    """The classes that the OpenLineage project generates of its schemas, by the address of the schema."""
    found = {}
    for module in pkgutil.iter_modules(generated.__path__):
        for value in vars(importlib.import_module(f"{generated.__name__}.{module.name}")).values():
            if attr.has(value) and hasattr(value, "_get_schema"):
                found.setdefault(value._get_schema(), value)
    return found


def keeps_the_specification(event):
    """Every object of the event is one that the generated classes have, with no other fields."""
    assert event["schemaURL"] == event_v2.RunEvent._get_schema()
    kinds = {"eventTime", "eventType", "producer", "schemaURL", "run", "job", "inputs", "outputs"}
    assert event.keys() == kinds
    facets = [*event["run"]["facets"].values(), *event["job"]["facets"].values()]
    for one in (*event["inputs"], *event["outputs"]):
        assert one.keys() <= {"namespace", "name", "facets", "inputFacets", "outputFacets"}
        facets += [f for key in ("facets", "inputFacets", "outputFacets") for f in one.get(key, {}).values()]
    for facet in facets:
        made = classes()[facet["_schemaURL"]]
        content = {key: value for key, value in facet.items() if key not in MADE}
        STRICT.structure(content, made)
    event_v2.RunEvent(
        eventTime=event["eventTime"],
        producer=event["producer"],
        eventType=event_v2.RunState(event["eventType"]),
        run=event_v2.Run(**event["run"]),
        job=event_v2.Job(**event["job"]),
    )
    return True


def sent(shop, environment="prod", publish="together", parent=None, engine=None, until=None):
    """The events of an apply; it is left after `until` events where that is given."""
    workspace, found = shop.workspace(environment), []
    plan = workspace.plan()
    happened = apply_plan(workspace, plan, engine or ReferenceEngine(), publish=publish)
    telling = told(happened, workspace, found.append, parent, now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    for number, _ in enumerate(telling):
        if until is not None and number == until:
            telling.close()
            break
    assert all(map(keeps_the_specification, found))
    return found


def states(events):
    told = defaultdict(list)
    for event in events:
        told[event["job"]["name"]].append(event["eventType"])
    return dict(told)


def of(events, job, state):
    (event,) = (e for e in events if (e["job"]["name"], e["eventType"]) == (job, state))
    return event


def test_each_model_starts_and_is_complete_once_it_is_published(shop):
    events = sent(shop)
    jobs = ("apply", "enriched", "by_country", "by_day", "top")
    assert states(events) == {job: ["START", "COMPLETE"] for job in jobs}
    order = [(e["job"]["name"], e["eventType"]) for e in events]
    assert order.index(("top", "START")) < order.index(("enriched", "COMPLETE")), "they are published together"
    each = [(e["job"]["name"], e["eventType"]) for e in sent(shop, "each", publish="each")]
    assert each.index(("enriched", "COMPLETE")) < each.index(("top", "START"))
    assert states(sent(shop)) == {"apply": ["START", "COMPLETE"]}


def test_what_is_complete_has_schema_lineage_version_counts_and_findings(shop):
    event = of(sent(shop), "enriched", "COMPLETE")
    assert (event["eventTime"], event["producer"]) == ("2026-01-01T00:00:00Z", "urn:strata")
    assert event["job"]["namespace"] == "strata://shop"
    assert [d["name"] for d in event["inputs"]] == ["orders", "customers"]
    orders = event["inputs"][0]
    assert orders["facets"]["schema"]["fields"][0] == {"name": "order_id", "type": "int64 nonnull"}
    assert len(orders["facets"]["version"]["datasetVersion"]) == 64
    found = orders["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert {"column": "country", "assertion": "enum"}.items() <= next(
        a for a in found if a["assertion"] == "enum"
    ).items()
    assert all(a["success"] for a in found)
    (output,) = event["outputs"]
    assert (output["namespace"], output["name"]) == ("strata://shop", "enriched")
    assert output["outputFacets"]["outputStatistics"]["rowCount"] == 4
    lineage = output["facets"]["columnLineage"]["fields"]
    assert [f["field"] for f in lineage["email"]["inputFields"]] == ["email"]
    metrics = output["facets"]["dataQualityMetrics"]
    assert (metrics["rowCount"], metrics["columnMetrics"]["email"]) == (4, {"nullCount": 1})
    assert metrics["columnMetrics"]["order_id"] == {"nullCount": 0, "min": 1, "max": 4}


def test_runs_of_models_belong_to_the_apply_and_that_to_whoever_runs_it(shop):
    events = sent(shop, parent=Parent(str(UUID(int=7)), "dagster", "nightly"))
    whole, model = of(events, "apply", "START"), of(events, "top", "COMPLETE")
    assert whole["run"]["facets"]["parent"]["run"] == {"runId": str(UUID(int=7))}
    parent = model["run"]["facets"]["parent"]
    assert parent["run"] == {"runId": whole["run"]["runId"]}
    assert parent["job"] == {"namespace": "strata://shop", "name": "apply"}
    assert parent["root"] == {"run": {"runId": str(UUID(int=7))}, "job": {"namespace": "dagster", "name": "nightly"}}
    assert of(events, "top", "START")["run"]["runId"] == model["run"]["runId"]
    assert model["run"]["runId"] != of(events, "by_day", "COMPLETE")["run"]["runId"]


def test_a_parent_whose_id_is_no_uuid_is_told_as_one_that_is_made_of_it(shop):
    first, second, other = (
        of(sent(shop, parent=Parent(run_id, "cron", "nightly")), "apply", "START") for run_id in ("r1", "r1", "r2")
    )
    ids = [event["run"]["facets"]["parent"]["run"]["runId"] for event in (first, second, other)]
    assert UUID(ids[0]).version == 5
    assert ids[0] == ids[1] != ids[2]


def test_another_environment_is_another_namespace_and_a_tag(shop):
    event = of(sent(shop, "pr_1"), "top", "COMPLETE")
    assert event["outputs"][0]["namespace"] == event["job"]["namespace"] == "strata://shop/pr_1"
    (tag,) = event["run"]["facets"]["tags"]["tags"]
    assert tag == {"key": "environment", "value": "pr_1", "source": "STRATA"}


def test_a_violation_fails_its_model_and_nothing_is_told_as_complete(shop):
    shop.edit("models/sources.strata", "country: string nonnull enum {ES, MX, CO}", "country: string nonnull")
    shop.edit("models/enriched.strata", "enum {ES, MX, CO}", "enum {ES, CO}")
    events = sent(shop)
    assert states(events) == {
        "apply": ["START", "FAIL"],
        "enriched": ["START", "FAIL"],
        "by_country": ["START", "ABORT"],
        "by_day": ["START", "ABORT"],
        "top": ["START", "ABORT"],
    }
    failed = of(events, "enriched", "FAIL")
    assert "E082" in failed["run"]["facets"]["errorMessage"]["message"]
    broken = [a for a in failed["outputs"][0]["facets"]["dataQualityAssertions"]["assertions"] if not a["success"]]
    assert [(a["column"], a["assertion"], a["actual"]) for a in broken] == [("country", "enum", "offending rows: 1")]
    assert "version" not in failed["outputs"][0]["facets"]
    why = of(events, "by_day", "ABORT")["run"]["facets"]["errorMessage"]["message"]
    assert why == "not computed: waits for enriched"


def test_what_is_sound_and_held_back_is_aborted(shop):
    shop.write("models/other.strata", "model other { from customers select { customer_id } }")
    shop.write("orders.csv", (shop.root / "orders.csv").read_text().replace("ES,12.50", "XX,12.50"))
    events = sent(shop)
    assert states(events)["other"] == ["START", "ABORT"]
    assert "held back" in of(events, "other", "ABORT")["run"]["facets"]["errorMessage"]["message"]


def test_an_apply_that_is_left_or_stopped_closes_every_run_that_it_began(shop):
    events = sent(shop, until=2)
    assert states(events) == {
        "apply": ["START", "ABORT"],
        "enriched": ["START", "ABORT"],
        "by_country": ["START", "ABORT"],
    }
    assert of(events, "apply", "ABORT")["run"]["facets"]["errorMessage"]["message"] == "interrupted"

    workspace, found = shop.workspace(), []
    plan = workspace.plan()
    shop.apply()  # another publishes first
    shop.edit("orders.csv", "3,11,MX,3.00", "3,11,MX,4.00")
    shop.apply()
    with pytest.raises(StrataError, match="E093"):
        list(told(apply_plan(workspace, plan, ReferenceEngine()), workspace, found.append))
    assert states(found)["apply"] == ["START", "FAIL"]
    assert "COMPLETE" not in {e["eventType"] for e in found}


def test_no_value_of_a_classified_column_is_in_any_event(shop):
    text = json.dumps(sent(shop))
    assert "a@x.es" not in text
    assert "b@x.mx" not in text


def test_a_promotion_tells_runs_too(shop):
    shop.apply(environment="pr_1")
    workspace, found = shop.workspace(), []
    promotion = plan_promotion(workspace, "pr_1")
    list(told(promote(workspace, promotion), workspace, found.append))
    assert all(map(keeps_the_specification, found))
    assert states(found)["top"] == ["START", "COMPLETE"]
    assert "outputFacets" not in of(found, "top", "COMPLETE")["outputs"][0], "nothing was written"


class Catalog(BaseHTTPRequestHandler):
    """Keeps what it is sent."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.got.append((self.path, self.headers.get("authorization"), json.loads(body)))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_arguments) -> None: ...


@pytest.fixture
def catalog(monkeypatch):
    server = HTTPServer(("127.0.0.1", 0), Catalog)
    server.got, server.status = [], 200
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    for name in ("OPENLINEAGE_CONFIG", "OPENLINEAGE_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    settings = {
        "TYPE": "http",
        "URL": f"http://127.0.0.1:{server.server_port}",
        "AUTH": '{"type": "api_key", "apiKey": "k"}',
        "RETRY": '{"total": 0}',
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"OPENLINEAGE__TRANSPORT__{name}", value)
    yield server
    server.shutdown()


def applied(shop, warnings):
    workspace = shop.workspace()
    plan = workspace.plan()
    return list(announced(apply_plan(workspace, plan, ReferenceEngine()), workspace, plan, warnings.append))


def test_the_events_reach_the_catalog_that_the_environment_names(shop, catalog):
    warnings = []
    applied(shop, warnings)
    assert warnings == []
    assert {(path, key) for path, key, _ in catalog.got} == {("/api/v1/lineage", "Bearer k")}
    events = [event for *_, event in catalog.got]
    assert states(events)["top"] == ["START", "COMPLETE"]
    assert len(events) == 10
    assert of(events, "top", "COMPLETE")["outputs"][0]["facets"]["dataQualityMetrics"]["rowCount"] == 1
    applied(shop, warnings)
    assert len(catalog.got) == 10, "nothing was to be done"


def test_a_catalog_that_refuses_stops_no_apply_and_is_told_of_once(shop, catalog):
    catalog.status, warnings = 500, []
    *_, outcome = applied(shop, warnings)
    assert len(outcome.published) == 4
    assert len(catalog.got) == 1
    assert [w.split(":")[0] for w in warnings] == ["OpenLineage events are not sent any more"]


def test_without_its_variables_nothing_is_sent_and_nothing_of_the_client_is_loaded(shop, catalog, monkeypatch):
    monkeypatch.setenv("OPENLINEAGE_DISABLED", "true")
    assert len(applied(shop, [])[-1].published) == 4
    assert catalog.got == []


def test_a_wrong_configuration_is_a_warning(shop, monkeypatch):
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "pigeon")
    warnings = []
    *_, outcome = applied(shop, warnings)
    assert len(outcome.published) == 4
    assert len(warnings) == 1
    assert warnings[0].startswith("no OpenLineage events are sent: ")
