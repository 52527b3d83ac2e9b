"""Guarded tables: rows of others that keep their contract are kept in the store, others are not (Seed 0 §5 C)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.cli.verbs import strata
from strata_core.contract_engine.observations import Observations, SeenCheck, SeenRun
from strata_core.contract_engine.pin import judging
from strata_core.contract_engine.pin.covering import covered
from strata_core.contract_engine.pin.guard import Guard, open_guard, promise_of, rows_of
from strata_core.contract_engine.pin.judging import Verdict, judge
from strata_core.contract_engine.pin.promoting import Promotion, promote
from strata_core.contract_engine.pipeline import examine as examine_contracts
from strata_core.contract_engine.pipeline import open_setting
from strata_core.contract_engine.runtime_view import RuntimeView
from strata_core.contract_engine.serving.ages import age_of
from strata_core.contract_engine.serving.observed import seen_of_assets
from strata_core.contract_engine.serving.products import live_versions, products_of
from strata_core.contract_engine.serving.project import Known, project, view_faults
from strata_core.diagnostics import StrataError
from strata_core.engines.protocol import ArrowTable
from strata_core.planning.guarded.refusals import record_refusals, standing_refusals
from strata_core.planning.live.health import examine
from strata_core.planning.live.published import published_rows
from strata_core.planning.project import compile_, open_project
from strata_core.store import Store
from strata_core.store.log import CommitLog
from strata_core.types import INT64, STRING, TIMESTAMP, Array
from strata_core.types import Decimal as DecimalType
from strata_core.types.physical import value_type

from . import pinned
from .projects import HEAD, PLACE, write
from .test_standing import AGES, MANIFEST, results

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CONTRACT = (
    HEAD
    + """\
assets:
  - id: orders
    kind: table
    location: data/orders.parquet
    columns:
      - {name: id, type: int64, primary_key: true}
      - {name: country, type: string, nullable: false, enum: [ES, MX]}
      - {name: email, type: string, classification: restricted, mask: hash}
      - {name: note}
"""
)
TESTS = [
    {"id": "positive", "kind": "sql", "severity": "blocking", "sql": "select * from orders where id < 0"},
    {"id": "many", "kind": "expectation", "severity": "degrading", "asset": "orders"}
    | {"expectation": {"type": "row_count", "min": 10}},
]
ROWS: dict[str, list[Any]] = {
    "id": [2, 1, 3],
    "country": ["MX", "ES", "ES"],
    "email": ["secret-2@x", "secret-1@x", None],
    "note": [7, 8, None],
}
KINDS = {"id": pa.int64(), "country": pa.string(), "email": pa.string(), "note": pa.int16()}


def table(**columns: list[Any]) -> pa.Table:
    rows = {**ROWS, **columns}
    return pa.table(rows, schema=pa.schema({n: KINDS.get(n) or pa.array(v).type for n, v in rows.items()}))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    tests = f"tests: {json.dumps(TESTS)}\n"
    write(tmp_path, {"strata.toml": '[project]\nname = "shop"\n', PLACE: CONTRACT + tests})
    (tmp_path / "data").mkdir()
    pq.write_table(table(), tmp_path / "data/orders.parquet")
    return tmp_path


def judged(guard: Guard, reference: str = "shop.orders/orders", **options: Any) -> Verdict:
    promise = promise_of(guard, reference)
    return judge(guard, promise, *rows_of(guard, promise), **options)


def guarded(root: Path, reference: str = "orders", now: datetime = NOW) -> tuple[Verdict, Promotion]:
    guard = open_guard(root, "prod", now)
    verdict = judged(guard, reference)
    return verdict, promote(guard, [verdict])


def live(root: Path, name: str = "orders") -> list[dict[str, Any]]:
    project = open_project(project=root)
    return published_rows(project, compile_(project), name, "prod").reader.read_all().to_pylist()


def codes(verdict: Verdict) -> list[str]:
    return [d.code for d in verdict.violations]


def test_seed0_s5c_rows_that_keep_their_contract_are_kept_masked_for_readers(root: Path) -> None:
    verdict, done = guarded(root)
    assert verdict.sound
    assert (done.version.number, done.promoted) == (1, {"orders"})
    assert live(root) == [
        {"country": "ES", "email": "‹masked›", "id": 1, "note": 8},
        {"country": "MX", "email": "‹masked›", "id": 2, "note": 7},
        {"country": "ES", "email": None, "id": 3, "note": None},
    ]


def test_seed0_s5c_a_violation_leaves_the_last_known_good_live_and_names_rows_but_no_secret(root: Path) -> None:
    guarded(root)
    before = live(root)
    pq.write_table(table(country=["MX", "FR", "ES"]), root / "data/orders.parquet")
    verdict, done = guarded(root)
    assert not verdict.sound
    assert done == Promotion(Store.open(root / ".strata/store").environment("prod").head(), frozenset())
    assert [(d.code, d.notes) for d in verdict.violations] == [("E082", ("for instance id = 1, country = FR",))]
    assert live(root) == before
    assert "secret" not in repr(verdict)


def test_seed2_blocking_tests_block_and_degrading_ones_are_recorded(root: Path) -> None:
    pq.write_table(table(id=[-2, 1, 3]), root / "data/orders.parquet")
    verdict, done = guarded(root)
    assert [(t.test, t.outcome, t.offenders) for t in verdict.tests] == [
        ("positive", "failed", 1),
        ("many", "failed", 1),
    ]
    assert [(d.code, str(d.span)) for d in verdict.violations] == [
        ("E144", "contracts/shop/orders/contract.yaml:19:16")
    ]
    assert "email = ‹masked›" in verdict.violations[0].message
    assert not done.promoted


def test_equal_rows_in_another_order_are_the_same_artifact_and_renew_its_age(root: Path) -> None:
    first, _ = guarded(root)
    pq.write_table(table().sort_by([("id", "descending")]), root / "data/orders.parquet", row_group_size=1)
    second, done = guarded(root)
    assert first.kept is not None
    assert second.kept is not None
    assert second.kept.reused
    assert second.kept.artifact == first.kept.artifact
    history = list(Store.open(root / ".strata/store").environment("prod").history())
    assert [v.number for v in history] == [2, 1]
    assert history[0].models["orders"].published_at > history[1].models["orders"].published_at
    assert done.promoted == {"orders"}


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(-5, 5), st.text("ab", max_size=2)), max_size=12), st.randoms())
def test_the_digest_is_one_of_rows_without_a_key_too(rows: list[tuple[int, str]], random: Any) -> None:
    from strata_core.contract.model import TableContract
    from strata_core.planning.guarded.guarding import Note, fitted, keep, pin_rows

    shuffled = random.sample(rows, len(rows))
    digests = []
    import tempfile

    from strata_core.engines.duckdb.engine import DuckDBEngine
    from strata_core.engines.protocol import EngineSettings

    with tempfile.TemporaryDirectory() as folder:
        store, engine = Store.open(Path(folder)), DuckDBEngine(EngineSettings(threads=1))
        for order in (rows, shuffled):
            columns = {"a": pa.array([r[0] for r in order], pa.int64()), "b": pa.array([r[1] for r in order])}
            if not order:
                columns["b"] = pa.array([], pa.string())
            given_ = fitted(engine, ArrowTable(pa.table(columns), ()), TableContract("t", ()))
            report = pin_rows(engine, given_, NOW)
            kept = keep(store, engine, "t", given_, report, Note("t", "memory"))
            digests.append(kept.artifact.manifest.digest)
            assert sorted((r["a"], r["b"]) for r in store.reader(kept.artifact).read_all().to_pylist()) == sorted(rows)
    assert digests[0] == digests[1]


def test_health_reads_what_is_kept_again_and_counts_its_age_from_the_last_good_look(root: Path) -> None:
    text = (root / PLACE).read_text().replace("    columns:", "    freshness: {max_age: 1h}\n    columns:")
    write(root, {PLACE: text})
    guarded(root)
    project = open_project(project=root)
    at = Store.open(root / ".strata/store").environment("prod").head().models["orders"].published_at
    assert at is not None
    from strata_core.planning.engines import make_engine
    from strata_core.store.instant import moment

    sound = examine(project, "prod", "orders", moment(at) + timedelta(minutes=59), engine=make_engine(project))
    assert sound.sound
    old = examine(project, "prod", "orders", moment(at) + timedelta(minutes=61), engine=make_engine(project))
    assert [d.code for d in old.faults] == ["E085"]


def test_a_strata_contract_guards_a_file_under_another_name(root: Path) -> None:
    write(root, {"models/m.strata": "contract Paid { id: int64 primary_key }\n"})
    guard = open_guard(root, "prod", NOW)
    promise = promise_of(guard, "Paid", "imports/paid")
    verdict = judge(guard, promise, *rows_of(guard, promise, "data/orders.parquet"))
    assert promote(guard, [verdict]).promoted == {"imports_paid"}


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ('source s(csv: "x.csv") { columns: { id: int64 } }\nmodel orders { from s }', "a model of this project"),
        ("", "a published model"),
    ],
)
def test_a_name_that_is_taken_is_refused(root: Path, models: str, message: str) -> None:
    if not models:
        write(root, {"models/m.strata": 'source s(csv: "x.csv") { columns: { id: int64 } }\nmodel orders { from s }'})
        write(root, {"x.csv": "id\n1\n"})
        assert CliRunner().invoke(strata, ["apply", "--project", str(root)]).exit_code == 0
    write(root, {"models/m.strata": models})
    verdict, done = guarded(root)
    assert codes(verdict) == ["E036"]
    assert message in verdict.violations[0].message
    assert not done.promoted


def test_together_takes_all_or_nothing_each_takes_what_is_sound(root: Path) -> None:
    other = "  - {id: refunds, kind: table, location: data/refunds.parquet, columns: [{name: id, type: string}]}\n"
    write(root, {PLACE: (root / PLACE).read_text().replace("tests:", f"{other}tests:")})
    pq.write_table(table(), root / "data/refunds.parquet")

    def run() -> tuple[list[bool], frozenset[str]]:
        guard = open_guard(root, "prod", NOW)
        verdicts = [judged(guard, "orders"), judged(guard, "shop.orders/refunds")]
        return [v.sound for v in verdicts], promote(guard, verdicts).promoted

    assert run() == ([True, False], frozenset())
    write(root, {"strata.toml": '[project]\nname = "shop"\n[environments.prod]\npublish = "each"\n'})
    assert run() == ([True, False], {"orders"})


def test_columns_without_a_type_in_the_language_are_left_out_and_named(root: Path) -> None:
    at = pa.array([datetime(2026, 1, 1, tzinfo=UTC)] * 3, pa.timestamp("us", "UTC"))
    rows = table().append_column("at", at).append_column("tags", pa.array([["a"], [], None]))
    pq.write_table(rows, root / "data/orders.parquet")
    verdict, _ = guarded(root)
    assert verdict.left_out == ("at",)
    assert [set(r) for r in live(root)] == [{"country", "email", "id", "note", "tags"}] * 3


def test_a_csv_file_is_read_as_its_contract_promises_and_told_row_by_row(root: Path) -> None:
    write(root, {PLACE: (root / PLACE).read_text().replace("orders.parquet", "orders.csv")})
    pa.csv.write_csv(table(), root / "data/orders.csv")
    assert guarded(root)[0].sound
    (root / "data/orders.csv").write_text("id,country,email,note\nseven,ES,secret@x,1\n")
    verdict, _ = guarded(root)
    assert codes(verdict) == ["E080"]
    assert "secret" not in repr(verdict)


@pytest.mark.parametrize(("kind", "schema"), [("model", "main"), ("seed", "main"), ("snapshot", "main_snaps")])
def test_rows_in_memory_a_dbt_table_and_what_is_out_of_reach(root: Path, kind: str, schema: str) -> None:
    guard = open_guard(root, "prod", NOW)
    assert judge(guard, promise_of(guard, "orders"), ArrowTable(table(), ()), "memory").sound
    (root / "data/orders.parquet").unlink()
    with pytest.raises(StrataError, match=r"orders\.parquet"):
        rows_of(guard, promise_of(guard, "orders"))
    manifest: dict[str, Any] = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
        "nodes": {"x.p.orders": {"resource_type": kind, "unique_id": f"{kind}.p.orders", "name": "orders"}},
        "sources": {},
    }
    manifest["nodes"]["x.p.orders"]["schema"] = schema
    write(root, {"target/manifest.json": json.dumps(manifest)})
    toml = '[project]\nname = "shop"\n[dbt]\nmanifest = "target/manifest.json"\ndatabase = "dev.duckdb"\n'
    text = (root / PLACE).read_text().replace("kind: table", "kind: dbt_model")
    write(root, {"strata.toml": toml, PLACE: text.replace("    location: data/orders.parquet\n", "")})
    with duckdb.connect(str(root / "dev.duckdb")) as connection:
        connection.execute(f"create schema if not exists {schema}")
        connection.execute(
            f"create table {schema}.orders as select 1::bigint as id, 'ES' as country, 'e' as email, 1 as note"
        )
    verdict, done = guarded(root)
    assert (verdict.place, verdict.sound, done.promoted) == ("dbt model orders", True, {"orders"})


def test_a_file_that_changes_while_it_is_read_is_not_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = judging.keep

    def meanwhile(*arguments: Any, **options: Any) -> Any:
        kept = keep(*arguments, **options)
        pq.write_table(table(id=[5, 6, 7]), root / "data/orders.parquet")
        return kept

    monkeypatch.setattr(judging, "keep", meanwhile)
    verdict, done = guarded(root)
    assert codes(verdict) == ["E033"]
    assert not done.promoted


def test_another_that_promotes_first_is_told_and_nothing_is_lost(root: Path) -> None:
    guarded(root)
    guard = open_guard(root, "prod", NOW)
    pq.write_table(table(note=[1, 2, 3]), root / "data/orders.parquet")
    verdict = judged(guard)
    pq.write_table(table(note=[4, 5, 6]), root / "data/orders.parquet")
    guarded(root)
    with pytest.raises(StrataError, match="other rows of orders"):
        promote(guard, [verdict])
    assert [r["note"] for r in live(root)] == [5, 4, 6]


CASES: Mapping[str, tuple[dict[str, str], str, str]] = {
    "no contract": ({}, "refunds", "E036"),
    "a broken contract": ({PLACE: CONTRACT.replace("int64, primary_key", "int65, primary_key")}, "orders", "E072"),
    "two contracts": (
        {"contracts/shop/more/contract.yaml": CONTRACT.replace("shop.orders", "shop.more")},
        "orders",
        "E036",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_no_one_sound_contract_covers_is_told(root: Path, case: str) -> None:
    files, reference, code = CASES[case]
    write(root, files)
    with pytest.raises(StrataError) as raised:
        promise_of(open_guard(root, "prod", NOW), reference)
    assert code in [d.code for d in raised.value.diagnostics]


@pytest.mark.parametrize(
    ("path", "text", "reference", "told"),
    [
        ("models/a.strata", "contract Paid { id int64 }\n", "Paid", ["E001 models/a.strata:1:20"]),
        ("models/a.strata", "contract Paid { id: foo }\n", "Paid", ["E072 models/a.strata:1:21"]),
        ("models/a.strata", "domain d = foo\ncontract Paid { id: d }\n", "Paid", ["E072 models/a.strata:1:12"]),
        ("models/a.strata", "contract Paid { id: int64 enum { a } }\n", "Paid", ["E070 models/a.strata:1:17"]),
        ("models/a.strata", "contract Fine { id: int64 }\nmodel m { from Paid }\n", "Paid", ["E036 "]),
        (PLACE, "a: [", "shop.orders/orders", [f"E101 {PLACE}:1:5", "E036 "]),
        (PLACE, CONTRACT.replace("layer: bronze\n", ""), "orders", [f"E106 {PLACE}:1:1", "E036 "]),
    ],
)
def test_a_contract_that_cannot_be_used_is_told_as_what_it_is(
    root: Path, path: str, text: str, reference: str, told: list[str]
) -> None:
    write(root, {path: text})
    with pytest.raises(StrataError) as raised:
        promise_of(open_guard(root, "prod", NOW), reference, "orders")
    assert [f"{d.code} {d.span or ''}" for d in raised.value.diagnostics] == told


def test_a_contract_of_models_holds_though_another_is_broken(root: Path) -> None:
    write(root, {"models/a.strata": "contract Paid { id int64 }\n\ncontract Fine { id: int64 }\nmodel m { from x }\n"})
    assert promise_of(open_guard(root, "prod", NOW), "Fine", "orders").reference == "Fine"


def test_the_command_tells_json_and_exit_codes(root: Path) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(strata, ["guard", *arguments, "--project", str(root)], standalone_mode=False)
        return (result.return_value if isinstance(result.return_value, int) else 2), result.stdout

    code, out = run("orders", "--format", "json")
    document = json.loads(out)
    assert code == 0
    assert (document["version"], document["published"]) == (1, ["orders"])
    assert [(t["name"], t["contract"], t["rows"], t["sound"]) for t in document["tables"]] == [
        ("orders", "shop.orders/orders", 3, True)
    ]
    pq.write_table(table(country=["MX", "FR", "ES"]), root / "data/orders.parquet")
    code, out = run("orders", "--format", "json")
    assert code == 3
    assert "secret" not in out
    assert run("nope")[0] == 2
    code, out = run("orders", "--rows", "", "--format", "json")
    assert (code, [d["message"] for d in json.loads(out)]) == (4, ["`.` is the project's folder, and no table"])
    assert run("orders", "shop.orders", "--contract", "x")[0] == 2


@pytest.mark.parametrize(
    "models", [{}, {"m.strata": 'model twice { from orders }\nsource orders(ns: "x")'}], ids=["none", "beside it"]
)
def test_a_folder_without_strata_toml_is_a_project_whose_tables_can_be_guarded(root: Path, models: dict) -> None:
    (root / "strata.toml").unlink()
    write(root, models)
    result = CliRunner().invoke(strata, ["guard", "orders", "--project", str(root)], standalone_mode=False)
    assert (result.return_value, result.stdout) == (0, "prod: version 1 is live (orders)\n")


def test_each_arrow_type_is_kept_in_the_narrowest_type_that_holds_it() -> None:
    found = {str(t): value_type(t) for t in (pa.int8(), pa.uint64(), pa.float32(), pa.large_string(), pa.date64())}
    assert [str(v) if v else None for v in found.values()] == ["int64", None, "float64", "string", "date"]
    assert value_type(pa.decimal128(9, 3)) == DecimalType(9, 3)
    assert value_type(pa.list_(pa.int16())) == Array(INT64)
    assert value_type(pa.dictionary(pa.int8(), pa.string())) == STRING
    assert value_type(pa.timestamp("ms")) == TIMESTAMP
    assert value_type(pa.timestamp("ns")) is None
    assert str(value_type(pa.struct({"a": pa.int8(), "b": pa.string()}))) == "struct<a: int64, b: string>"
    assert value_type(pa.struct({"a": pa.timestamp("us", "UTC")})) is None
    assert str(value_type(pa.map_(pa.string(), pa.decimal128(4, 1)))) == "map(string, decimal(4,1))"
    assert Decimal(1) == 1


def test_rows_at_an_address_are_not_those_that_the_store_has_by_now(root: Path) -> None:
    guarded(root)
    at = CONTRACT.replace("location: data/orders.parquet", "location: postgresql://db.example.com/shop")
    assert at != CONTRACT
    write(root, {PLACE: at})
    with pytest.raises(StrataError) as caught:
        guarded(root)
    (found,) = caught.value.diagnostics
    assert (found.code, str(found.span)) == ("E036", "contracts/shop/orders/contract.yaml:11:5")
    assert found.message == "the rows of `shop.orders/orders` are at an address, which nothing here reads"


@pytest.mark.parametrize("kind", ["table", "dbt_model", "dlt_resource"])
def test_what_is_live_of_a_guarded_table_is_in_the_view_of_its_product(root: Path, kind: str) -> None:
    text = CONTRACT.replace("kind: table", "kind: table\n    ref: warehouse.orders") + "freshness: {max_age: 24h}\n"
    write(root, {PLACE: text})
    assert guarded(root, "shop.orders/orders")[1].promoted == {"warehouse_orders"}
    write(root, {PLACE: text.replace("kind: table", f"kind: {kind}")})
    found = examine_contracts(open_setting(root, NOW.date()))
    (candidate,) = found.collated.candidates
    view = project(candidate, Known(found.parsed, seen_of_assets(found), (candidate,)), None, "0.1.0", NOW)
    assert [(r.asset, r.run_id, r.rows) for r in view.latest_runs] == [("orders", "prod version 1", 3)]
    assert [f.state for f in view.freshness] == ["fresh"]
    assert [[c.name for c in s.columns] for s in view.observed_schema] == [["country", "email", "id", "note"]]
    assert products_of(found.setting).products[0].stored == ("warehouse_orders",)


def test_rows_of_dbt_that_a_guard_refused_make_nothing_fresh(root: Path) -> None:
    text = CONTRACT.replace("kind: table", "kind: dbt_model") + "freshness: {max_age: 24h}\n"
    generated = '[contract_engine]\ngenerated = ["manifest.json", "run_results.json"]\n'
    write(root, {PLACE: text, "strata.toml": f'[project]\nname = "shop"\n{generated}'})
    write(root, {"manifest.json": json.dumps(MANIFEST), "run_results.json": results("build")})
    guarded(root, "shop.orders/orders")

    def shown() -> tuple[Any, Any, Any]:
        found = examine_contracts(open_setting(root, NOW.date()))
        (candidate,) = found.collated.candidates
        view = project(candidate, Known(found.parsed, seen_of_assets(found), (candidate,)), None, "0.1.0", NOW)
        assert view_faults(view, candidate) == ()
        (run,), (live,) = view.latest_runs, view.live
        assert (live.asset, live.version, live.rows) == ("orders", "prod version 1", 3)
        assert view.freshness[0].latest == live.at
        return (run.run_id, run.live), [r.message for r in view.status.reasons if r.code == "not-live"], live.at

    assert shown()[:2] == (("prod version 1", None), [])
    write(root, {"run_results.json": results("build").replace("2026-11-30T10:00:00.5Z", "2099-01-01T00:00:00Z")})
    pq.write_table(table(country=["FR", "ES", "ES"]), root / "data/orders.parquet")
    assert not guarded(root, "shop.orders/orders")[0].sound
    told = (
        "the rows that `dbt i1` made at 2099-01-01T00:00:00Z are not live: nobody has held them against the contract"
        " (`strata guard`); older ones are"
    )
    assert shown()[:2] == (("dbt i1", False), [told])


def view_of(root: Path, others: Observations | None = None) -> RuntimeView:
    found = examine_contracts(open_setting(root, NOW.date()))
    (candidate,) = found.collated.candidates
    known = Known(found.parsed, seen_of_assets(found, others=others), (candidate,))
    return project(candidate, known, None, "0.1.0", NOW)


def test_a_refusal_is_kept_and_told_until_rows_that_are_sound_go_live(root: Path) -> None:
    """Readers learn that newer rows exist, when they were refused and why, as they do of a model's candidate."""
    write(root, {PLACE: CONTRACT})

    def guard(*arguments: str) -> int:
        arguments = ("guard", "orders", "--project", str(root), *arguments)
        code: int = CliRunner().invoke(strata, arguments, standalone_mode=False).return_value
        return code

    def told() -> tuple[str, list[tuple[str, str, str | None]]]:
        view = view_of(root)
        return view.status.state, [(c.check, c.outcome, c.message) for c in view.checks]

    refused = "E082 1 row has a value of `country` outside what contract `shop.orders/orders` promises: enum {ES, MX}"
    pq.write_table(table(country=["FR", "ES", "ES"]), root / "data/orders.parquet")
    numbers = [live_versions(open_setting(root), "prod")[0]]
    assert (guard(), told()) == (3, ("degraded", [("write_pin", "failed", refused)]))
    numbers.append(live_versions(open_setting(root), "prod")[0])
    pq.write_table(table(), root / "data/orders.parquet")
    assert (guard(), told()) == (0, ("healthy", []))
    pq.write_table(table(country=["FR", "FR", None]), root / "data/orders.parquet")
    assert guard("--env", "pr_1") == 3
    assert told() == ("healthy", [])
    assert guard() == 3
    state, ((check, outcome, why),) = told()
    assert (state, check, outcome) == ("degraded", "write_pin", "failed")
    assert why == "E081 1 row has a null in `country`, which contract `shop.orders/orders` promises nonnull and 1 more"
    (reason,) = view_of(root).status.reasons
    assert (reason.code, reason.asset, reason.message) == ("check-failed", "orders", f"write_pin failed: {why}")
    numbers.append(live_versions(open_setting(root), "prod")[0])
    assert numbers == [0, 1, 4]
    pq.write_table(table(), root / "data/orders.parquet")
    assert (guard(), told()) == (0, ("healthy", []))
    assert standing(root) == []


def standing(root: Path) -> list[tuple[str, str, str, str]]:
    store = Store.open(root / ".strata/store")
    found = standing_refusals(store, store.environment("prod").head(), "prod")[1]
    return [(name, one.contract, one.place, one.why) for name, one in found.items()]


def test_of_a_run_whose_rows_were_refused_the_view_says_so(root: Path) -> None:
    text = CONTRACT.replace("kind: table", "kind: dbt_model")
    generated = '[contract_engine]\ngenerated = ["manifest.json", "run_results.json"]\n'
    write(root, {PLACE: text, "strata.toml": f'[project]\nname = "shop"\n{generated}'})
    made = "2099-01-01T00:00:00Z"
    told = results("build").replace("2026-11-30T10:00:00.5Z", made)
    write(root, {"manifest.json": json.dumps(MANIFEST), "run_results.json": told})
    guarded(root, "shop.orders/orders")

    def why(refused: str) -> list[str]:
        seen = SeenCheck("orders", "write_pin", "failed", "degrading", refused, "E082")
        reasons = view_of(root, Observations(checks=(seen,))).status.reasons
        return [r.message for r in reasons if r.code == "not-live"]

    begun = f"the rows that `dbt i1` made at {made} are not live: "
    assert why("2099-01-01T00:00:07Z") == [f"{begun}the write pin refused them at 2099-01-01T00:00:07Z; older ones are"]
    assert why("2098-12-31T23:59:59Z") == [
        f"{begun}nobody has held them against the contract (`strata guard`); older ones are"
    ]


def test_refusals_that_meet_are_both_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store.open(root / ".strata/store")
    append = CommitLog.append

    def meanwhile(log: CommitLog, *arguments: Any, **options: Any) -> Any:
        monkeypatch.undo()
        record_refusals(store, "prod", {"b": ("shop.b/b", "b.csv", "E081 b")})
        return append(log, *arguments, **options)

    monkeypatch.setattr(CommitLog, "append", meanwhile)
    record_refusals(store, "prod", {"a": ("shop.a/a", "a.csv", "E081 a")})
    assert standing(root) == [("a", "shop.a/a", "a.csv", "E081 a"), ("b", "shop.b/b", "b.csv", "E081 b")]


@pytest.mark.parametrize("payload", [{}, {"tables": {"a": {"at": 1}}}])
def test_refusals_that_are_damaged_are_told_with_what_to_do(root: Path, payload: Any) -> None:
    Store.open(root / ".strata/store").refusals("prod").append("refusal", payload)
    with pytest.raises(StrataError) as caught:
        standing(root)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E094", "entry 1 of the refusals is none (refusal)")
    assert found.fix == "remove the store's folder `refusals`: what a guard refuses from now on is told"


def test_a_model_of_strata_is_live_as_it_was_published_whatever_kind_of_asset_it_is(tmp_path: Path) -> None:
    """Who publishes a model tells of the run a moment later (OpenLineage), and has refused nothing."""
    root = pinned.laid_out(tmp_path)
    pinned.applied(root)
    write(root, {pinned.PLACE: pinned.CONTRACT.replace("kind: strata_model", "kind: table")})
    found = examine_contracts(open_setting(root, NOW.date()))
    (candidate,) = found.collated.candidates
    told = Observations(runs=(SeenRun("paid", "r1", "succeeded", "2099-01-01T00:00:00Z"),))
    view = project(candidate, Known(found.parsed, seen_of_assets(found, others=told), (candidate,)), None, "0.1.0", NOW)
    assert [(r.asset, r.run_id, r.live) for r in view.latest_runs][:1] == [("paid", "r1", None)]
    assert [(live.asset, live.rows) for live in view.live] == [("paid", 2), ("customers", 2)]
    assert view.status.reasons == ()


def test_a_store_that_cannot_be_read_is_told_and_not_taken_for_an_empty_one(root: Path) -> None:
    more = "  - {id: paid, kind: strata_model}\n"
    write(root, {PLACE: CONTRACT + more})
    guarded(root, "shop.orders/orders")
    for entry in (root / ".strata/store").rglob("*"):
        if entry.is_file() and "environments" in entry.parts:
            entry.write_bytes(b"{")
    found = examine_contracts(open_setting(root, NOW.date()))
    (candidate,) = found.collated.candidates
    view = project(candidate, Known(found.parsed, seen_of_assets(found), (candidate,)), None, "0.1.0", NOW)
    checks = [(c.asset, c.check, c.outcome, c.weight) for c in view.checks]
    assert checks == [
        ("orders", "store_readable", "error", "degrading"),
        ("paid", "store_readable", "error", "blocking"),
    ]
    assert view.status.state == "blocked"
    assert view.status.reasons[0].message.startswith("store_readable error: E094 ")
    write(root, {PLACE: CONTRACT})
    assert state_of(root) == "degraded"


def state_of(root: Path) -> str:
    found = examine_contracts(open_setting(root, NOW.date()))
    (candidate,) = found.collated.candidates
    known = Known(found.parsed, seen_of_assets(found), (candidate,))
    return project(candidate, known, None, "0.1.0", NOW).status.state


def test_a_model_is_told_by_its_own_name_and_not_by_that_of_its_asset(tmp_path: Path) -> None:
    root = pinned.laid_out(tmp_path)
    write(root, {"models/more.strata": "model customers { from people select { name } }\n"})
    pinned.applied(root)
    seen = seen_of_assets(examine_contracts(open_setting(root, NOW.date())))
    assert [(r.ref, r.rows) for r in seen.runs] == [("paid", 2), ("people_of", 2)]


def test_the_view_and_the_guard_tell_one_age_of_what_is_live(root: Path) -> None:
    """By when dbt says that the newest rows were loaded, else by when they were published."""
    text = CONTRACT.replace("kind: table", "kind: table\n    ref: raw.orders") + "freshness: {max_age: 24h}\n"
    toml = '[project]\nname = "shop"\n[contract_engine]\ngenerated = ["manifest.json", "sources.json"]\n'
    write(root, {PLACE: text, "strata.toml": toml})
    guarded(root, "shop.orders/orders")

    def ages() -> tuple[str, str, str | None]:
        found = examine_contracts(open_setting(root, NOW.date()))
        (candidate,) = found.collated.candidates
        view = project(candidate, Known(found.parsed, seen_of_assets(found), (candidate,)), None, "0.1.0", NOW)
        (covered_asset,) = covered(found.setting)
        age = age_of(found, covered_asset, "prod", NOW)
        assert age is not None
        return view.freshness[0].state, age.state, view.freshness[0].latest

    assert ages()[:2] == ("fresh", "fresh")
    write(root, {"manifest.json": json.dumps(MANIFEST), "sources.json": json.dumps(AGES)})
    assert ages() == ("stale", "stale", "2026-11-28T10:00:00Z")
