"""Guarded tables as others see them: promotion to another environment, the catalog, lineage (Seed 0 §5 B)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from strata_core.cli.verbs import strata
from strata_core.contract_engine.governed import governed_promotion
from strata_core.contract_engine.pin.guard import open_guard, promise_of, rows_of
from strata_core.contract_engine.pin.judging import Verdict, judge
from strata_core.contract_engine.pin.promoting import promote
from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.lineage.selection import find
from strata_core.planning.catalog import read_catalog
from strata_core.planning.guarded.refusals import standing_refusals
from strata_core.planning.lineage import project_lineage
from strata_core.planning.live.dropping import drop_environment
from strata_core.planning.live.promotion import Promotion
from strata_core.planning.live.promotion import promote as carry_out
from strata_core.planning.project import compile_sound, open_project
from strata_core.planning.workspace import open_workspace
from strata_core.store import Store

from .projects import HEAD, PLACE, write

CONTRACT = (
    HEAD.replace("orders}", "orders, approvers: [ana]}")
    + """\
assets:
  - id: orders
    kind: table
    location: data/orders.parquet
    columns:
      - {name: id, type: int64, primary_key: true}
      - {name: country, type: string, nullable: false, enum: [ES, MX]}
"""
)
MODEL = """\
source sold(store: "orders", ns: "shop") {
  columns: { id: int64 nonnull primary_key, country: string nonnull enum {ES, MX} }
}
model by_country {
  owner: "finance"
  from sold
  group { country } ( aggregate { orders = count() } )
}
"""
READ = "(source `sold`, models/m.strata:1)"


def toml(name: str) -> str:
    return f'[project]\nname = "{name}"\n[store]\nroot = "../store"\n'


def rows(root: Path, **columns: list[Any]) -> None:
    (root / "data").mkdir(exist_ok=True)
    pq.write_table(pa.table({"id": [2, 1], "country": ["MX", "ES"], **columns}), root / "data/orders.parquet")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "shop"
    write(place, {"strata.toml": toml("shop"), PLACE: CONTRACT})
    rows(place)
    return place


def reader(root: Path, name: str = "marts") -> Path:
    """A project that reads the guarded table; it is applied."""
    place = root.parent / name
    write(place, {"strata.toml": toml(name), "models/m.strata": MODEL})
    assert run("apply", root=place)[0] == 0
    return place


def run(*arguments: str, root: Path) -> tuple[int, str]:
    result = CliRunner().invoke(strata, [*arguments, "--project", str(root)], standalone_mode=False)
    return (result.return_value if isinstance(result.return_value, int) else 2), result.stdout


def guarded(root: Path, environment: str = "prod") -> Verdict:
    guard = open_guard(root, environment)
    promise = promise_of(guard, "orders")
    verdict = judge(guard, promise, *rows_of(guard, promise))
    promote(guard, [verdict])
    return verdict


def planned(root: Path, *selected: str, source: str = "dev", target: str = "prod") -> tuple[Any, Promotion]:
    project = open_project(project=root)
    workspace = open_workspace(project, target, compile_sound(project))
    return workspace, governed_promotion(workspace, source, selected or None, tested=False)


def refusal(root: Path, *selected: str) -> list[tuple[str, str]]:
    return [(d.code, d.message) for d in planned(root, *selected)[1].plan.conflicts]


def live(root: Path, environment: str = "prod") -> dict[str, str]:
    models = Store.open(root.parent / "store").environment(environment).head().models
    return {name: pointer.digest for name, pointer in models.items()}


def test_a_promotion_takes_guarded_tables_and_models_in_one_version(root: Path) -> None:
    write(root, {"models/m.strata": MODEL})
    guarded(root, "dev")
    assert run("apply", "--env", "dev", root=root)[0] == 0
    assert run("promote", "dev", "prod", root=root) == (
        0,
        "orders      2 rows, new\nby_country  2 rows, new\n"
        "prod: version 1 is live, with 1 model and 1 guarded table of dev\n",
    )
    assert live(root) == live(root, "dev")
    assert run("promote", "dev", "prod", root=root) == (0, "prod: nothing to do, version 1 has what dev has\n")
    assert [t.held_to for t in read_catalog(Store.open(root.parent / "store"), "prod")["shop"].tables.values()] == [
        None,
        "shop.orders/orders",
    ]


def test_a_rollback_tells_of_blocking_tests_that_the_old_rows_of_a_guarded_table_do_not_hold(root: Path) -> None:
    guarded(root)
    test = "  - {id: late, kind: sql, severity: blocking, sql: select * from orders where id < 2}\n"
    write(root, {PLACE: f"{CONTRACT}tests:\n{test}"})
    rows(root, id=[3, 2])
    guarded(root)
    result = CliRunner().invoke(strata, ["rollback", "1", "--project", str(root)], standalone_mode=False)
    assert (result.return_value, result.stdout) == (0, "prod: version 3 is live, with the 1 model of version 1\n")
    assert result.stderr.startswith(
        "warning[E144]: the blocking test `late` of `shop.orders` does not hold:"
        " a row is wrong, for instance country = ES, id = 1\n"
    )
    result = CliRunner().invoke(strata, ["rollback", "2", "--project", str(root)], standalone_mode=False)
    assert result.stderr == ""


def test_a_refusal_that_sound_rows_ended_comes_back_with_no_rollback_and_no_drop(root: Path) -> None:
    def guard(**columns: list[Any]) -> tuple[int, list[str]]:
        rows(root, **columns)
        return run("guard", "orders", root=root)[0], refused()

    def refused() -> list[str]:
        store = Store.open(root.parent / "store")
        return list(standing_refusals(store, store.environment("prod").head(), "prod")[1])

    assert guard() == (0, [])
    assert guard(country=["FR", "ES"]) == (3, ["orders"])
    assert guard(id=[3, 2]) == (0, [])
    assert run("rollback", "1", root=root)[0] == 0
    assert refused() == []
    assert guard(country=["FR", "ES"]) == (3, ["orders"])
    assert run("rollback", "2", root=root)[0] == 0
    assert refused() == ["orders"], "those rows are refused still"
    assert guard(id=[4, 3]) == (0, [])
    assert drop_environment(open_project(project=root), "prod").removed == ("orders",)
    assert refused() == []


def test_a_guarded_table_is_selected_by_name_and_a_model_brings_it_along(root: Path) -> None:
    write(root, {"models/m.strata": MODEL})
    guarded(root, "dev")
    run("apply", "--env", "dev", root=root)
    assert [t.name for t in planned(root, "by_country")[1].tables] == ["orders"]
    workspace, promotion = planned(root, "orders")
    assert promotion.plan.models == ()
    list(carry_out(workspace, promotion))
    assert [*live(root)] == ["orders"]
    with pytest.raises(StrataError, match="nope"):
        planned(root, "nope")


def test_rows_that_were_held_to_another_contract_than_this_checkout_has_are_not_promoted(root: Path) -> None:
    guarded(root, "dev")
    write(root, {PLACE: CONTRACT.replace("enum: [ES, MX]", "enum: [ES]")})
    message = "`orders` of dev was held to another `shop.orders/orders` than this project has"
    assert refusal(root) == [("E035", message)]
    write(root, {PLACE: CONTRACT.replace("shop.orders", "shop.other")})
    assert [code for code, _ in refusal(root)] == ["E036"]
    assert live(root) == {}


def test_rows_that_are_lost_or_whose_name_is_taken_in_the_target_are_not_promoted(root: Path) -> None:
    guarded(root, "dev")
    write(root, {"models/m.strata": 'source s(csv: "x.csv") { columns: { id: int64 } }\nmodel orders { from s }\n'})
    assert ("E036", "`orders` is a model of this project: its rows cannot be kept under this name") in refusal(root)
    (root / "models/m.strata").unlink()
    for part in (root.parent / "store").rglob("*.parquet"):
        part.unlink()
    assert [code for code, _ in refusal(root)] == ["E094"]


def test_seed0_s5b_a_promotion_that_would_break_readers_in_the_target_is_refused(root: Path) -> None:
    guarded(root)
    reader(root)
    write(root, {PLACE: CONTRACT.replace("nullable: false, enum: [ES, MX]", "nullable: false")})
    guarded(root, "dev")
    found = refusal(root)
    assert [code for code, _ in found] == ["E032"]
    assert "`orders.country`" in found[0][1]


@pytest.mark.parametrize(
    ("contract", "columns", "code", "message"),
    [
        (
            CONTRACT.replace("      - {name: country, type: string, nullable: false, enum: [ES, MX]}\n", ""),
            {"country": None},
            "E030",
            "`orders.country`: removed, and other projects read it",
        ),
        (
            CONTRACT.replace("nullable: false, ", ""),
            {},
            "E032",
            "`orders.country`: may be null now (nonnull → nullable), and other projects read it",
        ),
        (
            CONTRACT.replace("[ES, MX]", "[ES, MX, FR]"),
            {},
            "E032",
            "`orders.country`: further values (enum {ES, MX} → enum {ES, FR, MX}), and other projects read it",
        ),
    ],
    ids=["removed", "nullability", "enum"],
)
def test_seed0_s5b_who_guards_a_table_is_told_what_it_breaks(
    root: Path, contract: str, columns: dict[str, Any], code: str, message: str
) -> None:
    guarded(root)
    reader(root)
    before = live(root)
    write(root, {PLACE: contract})
    rows(root)
    if "country" in columns:
        pq.write_table(pa.table({"id": [1]}), root / "data/orders.parquet")
    verdict = guarded(root)
    assert [(d.code, d.message) for d in verdict.violations] == [(code, message)]
    assert verdict.violations[0].notes == (f"read by `by_country` of project marts, owner finance {READ}",)
    assert run("guard", "orders", root=root)[0] == 1
    assert live(root) == before


def test_seed0_s5b_models_of_the_same_project_are_told_of_too_as_their_text_has_them(root: Path) -> None:
    write(root, {"models/m.strata": MODEL})
    guarded(root)
    run("apply", root=root)
    dropped = CONTRACT.replace("      - {name: country, type: string, nullable: false, enum: [ES, MX]}\n", "")
    write(root, {PLACE: dropped})
    pq.write_table(pa.table({"id": [1]}), root / "data/orders.parquet")
    (told,) = guarded(root).violations
    assert (told.code, told.message) == ("E030", "`orders.country`: removed, and models read it")
    assert told.notes == (f"read by `by_country` of this project, owner finance {READ}",)
    write(
        root,
        {"models/m.strata": MODEL.replace("group { country } ( aggregate { orders = count() } )", "select { id }")},
    )
    assert guarded(root).violations == ()


def test_seed0_s5b_an_owner_approves_a_change_of_a_guarded_table(root: Path) -> None:
    guarded(root)
    reader(root)
    wider = CONTRACT.replace("[ES, MX]", "[ES, MX, FR]")
    write(root, {PLACE: wider})
    (told,) = guarded(root).violations
    assert told.fix is not None
    change = told.fix.split("approve the change ")[1].split()[0]
    approval = f'compatibility: {{approvals: [{{kind: owner, by: ana, at: 2026-11-30, changes: ["{change}"]}}]}}\n'
    write(root, {PLACE: wider + approval})
    verdict = guarded(root)
    assert verdict.violations == ()
    assert [(a.table, a.by) for a in verdict.approved] == [("orders", "ana")]
    store = Store.open(root.parent / "store")
    assert [(a.table, a.by) for a in read_catalog(store, "prod")["shop"].approvals] == [("orders", "ana")]


def test_seed0_s5b_lineage_passes_through_a_guarded_table_in_its_own_and_in_other_projects(root: Path) -> None:
    write(root, {"models/m.strata": MODEL})
    guarded(root)
    marts = reader(root)
    run("apply", root=root)
    for place in (root, marts):
        found = project_lineage(open_project(project=place))
        start = find(found.graph, found.project, "guarded:orders.country")
        reached = {f"{c.table.project}:{c.table.name}.{c.column}" for c in found.graph.down(*start).columns}
        assert reached == {
            "marts:sold.country",
            "marts:by_country.country",
            "shop:sold.country",
            "shop:by_country.country",
        }
    assert run("lineage", "by_country.country", root=root)[1].startswith(
        "by_country.country  string nonnull\n└─ grouped  sold.country  string nonnull\n"
        "   └─ passthrough  guarded:orders.country  string nonnull\n"
    )


def test_a_guarded_table_is_a_copy_of_the_model_of_dbt_that_makes_it(root: Path) -> None:
    contract = CONTRACT.replace("kind: table", "kind: dbt_model\n    ref: stg_orders")
    write(root, {PLACE: contract})
    guarded(root)
    (table,) = read_catalog(Store.open(root.parent / "store"), "prod")["shop"].lineage
    assert (table.id, table.stands_for, table.owner) == (("guarded", "stg_orders"), ("dbt", "stg_orders"), "orders")


def test_an_apply_leaves_guarded_tables_of_its_project_live_and_registered_and_a_drop_takes_them(root: Path) -> None:
    guarded(root)
    write(root, {"models/m.strata": MODEL})
    assert run("apply", root=root)[0] == 0
    write(root, {"models/m.strata": MODEL.replace("model by_country", "model totals")})
    assert run("apply", root=root)[0] == 0
    assert sorted(live(root)) == ["orders", "totals"]
    store = Store.open(root.parent / "store")
    assert sorted(read_catalog(store, "prod")["shop"].tables) == ["orders", "totals"]
    marts = root.parent / "marts"
    write(marts, {"strata.toml": toml("marts"), "models/m.strata": MODEL})
    run("apply", root=marts)
    with pytest.raises(StrataError, match="removed with its table, and other projects read it"):
        drop_environment(open_project(project=root), "prod")
    assert drop_environment(open_project(project=marts), "prod").left == ("orders", "totals")
    assert drop_environment(open_project(project=root), "prod").removed == ("orders", "totals")
    assert live(root) == {}


def test_a_table_that_another_project_guards_is_taken_over_with_a_warning(root: Path) -> None:
    guarded(root)
    other = root.parent / "heir"
    contract = CONTRACT.replace("shop.orders", "heir.orders").replace("domain: shop", "domain: heir")
    write(other, {"strata.toml": toml("heir"), "contracts/heir/orders/contract.yaml": contract})
    rows(other)
    assert guarded(root).lints == ()
    assert [d.code for d in guarded(other).lints] == ["W017"]
    result = CliRunner().invoke(strata, ["guard", "orders", "--project", str(root)], standalone_mode=False)
    assert result.return_value == 0
    assert "warning[W017]: `orders` is live as the project `heir` published it, and would be this project's" in (
        result.stderr
    )
    assert "--> contracts/shop/orders/contract.yaml:11:5" in result.stderr
    assert "help: give the asset of the contract another `ref` or `id`, or take `orders` out of `heir`" in result.stderr
    write(other, {"strata.toml": toml("heir") + '[lint]\nW017 = "error"\n'})
    before = live(root)
    refused = guarded(other)
    assert [d.code for d in refused.violations] == ["W017"]
    assert not refused.sound
    assert live(root) == before
    write(other, {"strata.toml": toml("heir") + '[lint]\nW017 = "off"\n'})
    assert guarded(other).lints == ()


def test_a_promotion_tells_of_a_guarded_table_of_another_project(root: Path) -> None:
    other = root.parent / "heir"
    contract = CONTRACT.replace("shop.orders", "heir.orders").replace("domain: shop", "domain: heir")
    write(other, {"strata.toml": toml("heir"), "contracts/heir/orders/contract.yaml": contract})
    rows(other, size=[1, 2])
    guarded(other)
    guarded(root, "dev")
    assert [(d.code, d.severity) for d in planned(root)[1].plan.lints] == [("W017", "warning")]


TESTED = """\
  - id: totals
    kind: strata_model
    ref: by_country
tests:
  - {id: many, kind: sql, severity: blocking, sql: select count(*) from orders having count(*) < 2}
  - {id: all, kind: sql, severity: blocking, sql: from orders where country not in (select country from totals)}
"""


def test_guarded_tables_and_models_of_a_promotion_are_held_against_blocking_tests_together(root: Path) -> None:
    write(root, {"models/m.strata": MODEL})
    guarded(root)
    assert run("apply", root=root)[0] == 0
    rows(root, country=["ES", "ES"])
    guarded(root, "dev")
    assert run("apply", "--env", "dev", root=root)[0] == 0
    write(root, {PLACE: CONTRACT + TESTED})
    # The file has other rows by now than those that would go live.
    rows(root)
    assert run("promote", "dev", "prod", root=root)[0] == 0
    assert live(root) == live(root, "dev")
    rows(root, country=["MX", "ES"])
    write(root, {PLACE: CONTRACT})
    guarded(root, "dev")
    write(root, {PLACE: CONTRACT + TESTED})
    # The table without the model that is made of it.
    assert [(d.code, str(d.span)) for d in planned_with_tests(root, "orders")] == [("E144", f"{PLACE}:22:10")]
    assert run("promote", "dev", "prod", "orders", root=root)[0] == 1
    assert run("apply", "--env", "dev", root=root)[0] == 0
    assert planned_with_tests(root) == []
    assert run("promote", "dev", "prod", root=root)[0] == 0
    assert live(root) == live(root, "dev")


def planned_with_tests(root: Path, *selected: str) -> list[Diagnostic]:
    project = open_project(project=root)
    workspace = open_workspace(project, "prod", compile_sound(project))
    return [*governed_promotion(workspace, "dev", selected or None).plan.conflicts]


def test_a_promotion_asks_tests_that_came_after_the_table_was_guarded(root: Path) -> None:
    guarded(root, "dev")
    few = "tests: [{id: many, kind: sql, severity: blocking, sql: select count(*) from orders having count(*) < 3}]\n"
    write(root, {PLACE: CONTRACT + few})
    assert [d.code for d in planned_with_tests(root)] == ["E144"]
    assert run("promote", "dev", "prod", root=root)[0] == 1
