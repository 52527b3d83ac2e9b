"""Apply: what is computed, what is reused, what is published and what is left as it was (Seed 0 §5 C, §6)."""

from __future__ import annotations

import os

import pytest

from strata_core.diagnostics import StrataError
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.planning.applying.apply import apply_plan
from strata_core.planning.applying.results import Finished, Outcome, Published, Started
from strata_core.store.environments import Pointer

ALL = ("enriched", "by_country", "by_day", "top")
BY_COUNTRY = [
    {"country": "CO", "orders": 1, "total": "99.99"},
    {"country": "ES", "orders": 2, "total": "19.75"},
    {"country": "MX", "orders": 1, "total": "3.00"},
]


def texts(rows):
    return [{k: str(v) if k == "total" else v for k, v in row.items()} for row in rows]


def codes(result):
    return [d.code for d in result.violations]


def test_everything_is_computed_and_published_in_one_version(shop):
    outcome = shop.apply()
    assert {n: str(r.status) for n, r in outcome.results.items()} == dict.fromkeys(ALL, "computed")
    assert (outcome.version.number, outcome.published) == (1, frozenset(ALL))
    assert outcome.violated == outcome.failed == ()
    assert texts(shop.rows("by_country")) == BY_COUNTRY
    assert texts(shop.rows("top")) == [{"country": "CO", "total": "99.99"}]


def test_what_happens_is_told_in_order(shop):
    told = list(shop.events())
    assert [type(e) for e in told] == [Started, Finished] * 4 + [Published, Outcome]
    started = [e for e in told if isinstance(e, Started)]
    assert [(e.name, e.position, e.total) for e in started] == [(n, i, 4) for i, n in enumerate(ALL, start=1)]
    assert next(e for e in told if isinstance(e, Published)).models == ALL


def test_seed0_s6_unchanged_inputs_compute_and_publish_nothing(shop):
    shop.apply()
    outcome = shop.apply()
    assert {str(r.status) for r in outcome.results.values()} == {"fresh"}
    assert (outcome.version.number, outcome.published, shop.head()) == (1, frozenset(), 1)


def test_seed0_s6_only_what_is_stale_is_computed(shop):
    shop.apply()
    shop.edit("models/by_country.strata", "sum(amount)", "max(amount)")
    assert shop.statuses() == {"enriched": "fresh", "by_country": "computed", "by_day": "fresh", "top": "computed"}


def test_early_cutoff_a_change_that_changes_no_row_stops_there(shop):
    shop.apply()
    shop.edit("models/enriched.strata", "amount, placed }", "amount = amount + 0.00, placed }")
    shop.edit("models/enriched.strata", "amount = amount + 0.00", 'amount = cast(amount + 0.00, "decimal(10,2)")')
    outcome = shop.apply()
    assert {n: str(r.status) for n, r in outcome.results.items()} == {
        "enriched": "computed",
        "by_country": "reused",
        "by_day": "fresh",
        "top": "reused",
    }
    assert shop.statuses() == dict.fromkeys(ALL, "fresh")


def test_early_cutoff_across_environments_nothing_is_computed_twice(shop):
    shop.apply()
    assert shop.statuses(environment="dev") == dict.fromkeys(ALL, "reused")
    assert shop.rows("top", "dev") == shop.rows("top")


def test_going_back_reuses_what_was_computed_before(shop):
    shop.apply()
    shop.edit("models/by_country.strata", "sum(amount)", "max(amount)")
    shop.apply()
    shop.edit("models/by_country.strata", "max(amount)", "sum(amount)")
    assert shop.statuses() == {"enriched": "fresh", "by_country": "reused", "by_day": "fresh", "top": "reused"}
    assert (texts(shop.rows("by_country")), shop.head()) == (BY_COUNTRY, 3)


def test_forced_models_are_computed_to_the_same_artifact(shop):
    shop.apply()
    before = shop.artifact_bytes("by_day")
    outcome = shop.apply("by_day", force=True)
    assert {n: str(r.status) for n, r in outcome.results.items()} == {"by_day": "computed"}
    assert shop.artifact_bytes("by_day") == before


def test_a_selection_applies_what_it_reads_and_no_more(shop):
    assert shop.statuses("by_day") == {"enriched": "computed", "by_day": "computed"}
    assert shop.statuses("by_day") == {"by_day": "fresh"}
    assert sorted(shop.workspace().store.environment("prod").head().models) == ["by_day", "enriched"]


def test_an_artifact_with_a_missing_part_is_made_again(shop):
    shop.apply()
    (path,) = (shop.root / ".strata/store/tables/by_day").rglob("*.parquet")
    whole = path.read_bytes()
    path.unlink()
    assert shop.statuses("by_day", force=True) == {"by_day": "computed"}
    assert path.read_bytes() == whole
    path.write_bytes(whole[:10])
    shop.edit("models/by_day.strata", "orders: int64 nonnull", "orders: int64 nonnull protected")
    shop.apply()
    shop.edit("models/by_day.strata", "orders: int64 nonnull protected", "orders: int64 nonnull")
    assert shop.statuses("by_day") == {"by_day": "computed"}
    assert path.read_bytes() == whole


VIOLATIONS = {
    "null": ("2,10,ES,7.25,2026-01-02", "2,10,,7.25,2026-01-02", ["E081"]),
    "enum": ("2,10,ES,7.25,2026-01-02", "2,10,XX,7.25,2026-01-02", ["E082"]),
    "duplicate": ("2,10,ES,7.25,2026-01-02", "1,10,ES,7.25,2026-01-02", ["E083"]),
    "type": ("2,10,ES,7.25,2026-01-02", "2,10,ES,seven,2026-01-02", ["E080"]),
}


@pytest.mark.parametrize(("old", "new", "found"), VIOLATIONS.values(), ids=VIOLATIONS)
def test_seed0_s5c_a_bad_batch_leaves_the_last_known_good(shop, old, new, found):
    shop.apply()
    good = {name: shop.artifact_bytes(name) for name in ALL}
    shop.edit("orders.csv", old, new)
    outcome = shop.apply()
    assert {n: str(r.status) for n, r in outcome.results.items()} == {
        "enriched": "violated",
        "by_country": "skipped",
        "by_day": "skipped",
        "top": "skipped",
    }
    assert codes(outcome.results["enriched"]) == found
    assert outcome.results["top"].waits_for == ("by_country",)
    assert (shop.head(), outcome.published) == (1, frozenset())
    assert {name: shop.artifact_bytes(name) for name in ALL} == good
    assert list((shop.root / ".strata/store/staging").iterdir()) == []
    shop.edit("orders.csv", new, old.replace("7.25", "8.25"))
    assert shop.statuses() == {**dict.fromkeys(ALL, "computed"), "by_day": "reused"}  # it reads no amount
    assert shop.head() == 2


def break_by_country(shop):
    """A promise of `by_country` that only the data decides."""
    shop.edit("models/by_country.strata", "  from enriched\n", "  from enriched\n  filter amount > 5.00\n")
    shop.edit("models/by_country.strata", "orders: int64 nonnull", "orders: int64 unique")


def test_seed0_s5c_a_candidate_that_breaks_its_contract_is_discarded(shop):
    shop.edit("orders.csv", "3.00", "30.00")
    break_by_country(shop)
    outcome = shop.apply()
    result = outcome.results["by_country"]
    assert (str(result.status), codes(result)) == ("violated", ["E083"])
    assert result.pin is not None
    assert not result.pin.passed
    assert {n: str(r.status) for n, r in outcome.results.items()} == {
        "enriched": "computed",
        "by_country": "violated",
        "by_day": "computed",
        "top": "skipped",
    }
    assert not (shop.root / ".strata/store/tables/by_country").exists()


def test_together_publishes_nothing_where_one_is_violated_and_keeps_what_was_computed(shop):
    shop.edit("orders.csv", "3.00", "30.00")
    break_by_country(shop)
    assert shop.apply().published == frozenset()
    assert shop.head() == 0
    shop.edit("models/by_country.strata", "orders: int64 unique", "orders: int64")
    assert shop.statuses() == {
        "enriched": "reused",
        "by_country": "computed",
        "by_day": "reused",
        "top": "computed",
    }
    assert shop.head() == 1


def test_each_publishes_the_branches_that_are_sound(shop):
    shop.edit("orders.csv", "3.00", "30.00")
    break_by_country(shop)
    outcome = shop.apply(publish="each")
    assert (outcome.published, outcome.version.number) == (frozenset({"enriched", "by_day"}), 2)
    assert sorted(shop.workspace().store.environment("prod").head().models) == ["by_day", "enriched"]
    history = shop.workspace().store.environment("prod").history()
    assert [sorted(v.models) for v in history] == [["by_day", "enriched"], ["enriched"]]


def test_a_computation_that_fails_is_told_at_its_model(shop):
    shop.apply()
    shop.edit("models/by_day.strata", "orders = count()", "orders = count() + 9223372036854775807")
    outcome = shop.apply()
    result = outcome.results["by_day"]
    assert str(result.status) == "failed"
    (found,) = result.diagnostics
    assert (found.code, found.span.file) == ("E090", "models/by_day.strata")
    assert found.message.startswith("model `by_day`: ")
    assert (outcome.failed, shop.head()) == ((result,), 1)
    assert list((shop.root / ".strata/store/staging").iterdir()) == []


def test_a_missing_file_fails_the_models_that_read_it_and_no_others(shop):
    shop.write(
        "models/alone.strata",
        "contract A { customer_id: int64 nonnull }\n"
        "model alone -> contract A { from customers select { customer_id } }\n",
    )
    (shop.root / "orders.csv").unlink()
    outcome = shop.apply()
    assert {n: str(r.status) for n, r in outcome.results.items()} == {
        "alone": "computed",
        "enriched": "failed",
        "by_country": "skipped",
        "by_day": "skipped",
        "top": "skipped",
    }
    assert codes(outcome.results["enriched"]) == ["E030"]


def test_e095_a_model_that_reads_what_is_not_published_is_told_so(shop):
    workspace = shop.workspace()
    from strata_core.engines.reference.engine import ReferenceEngine
    from strata_core.planning.applying.apply import apply_plan

    plan = workspace.plan(["top"], with_upstream=False)
    *_, outcome = apply_plan(workspace, plan, ReferenceEngine())
    assert codes(outcome.results["top"]) == ["E095"]


class Interrupted:
    """The reference engine, and what another process does when it has read the rows of a model."""

    name = "reference"

    def __init__(self, meanwhile):
        self._engine, self._meanwhile = ReferenceEngine(), meanwhile

    def execute(self, relation, tables):
        reader = self._engine.execute(relation, tables)
        self._meanwhile()
        return reader

    def physical_schema(self, table):
        return self._engine.physical_schema(table)

    def assess(self, table, assertions, key=()):
        return self._engine.assess(table, assertions, key)


def test_e033_a_file_that_changes_while_it_is_read_is_not_published_under_what_it_was(shop):
    shop.apply()
    shop.edit("orders.csv", "3.00", "4.00")
    engine = Interrupted(lambda: shop.write("orders.csv", "order_id,customer_id,country,amount,placed\n"))
    outcome = shop.apply(engine=engine)
    (found,) = outcome.results["enriched"].diagnostics
    assert (found.code, found.message) == ("E033", "model `enriched`: `orders.csv` changed while it was read")
    assert (str(outcome.results["enriched"].status), shop.head()) == ("failed", 1)
    assert shop.statuses("enriched") == {"enriched": "computed"}
    assert shop.rows("enriched") == []


def test_a_file_that_is_only_touched_while_it_is_read_is_no_fault(shop):
    shop.apply()
    shop.edit("orders.csv", "3.00", "4.00")
    engine = Interrupted(lambda: os.utime(shop.root / "orders.csv", (1, 1)))
    assert shop.statuses("enriched", engine=engine) == {"enriched": "computed"}


NARROWED = {
    "an enum": ("\nnote: string }", "\nnote: string enum {a, b} }", "`note` has only these values"),
    "a key": (
        "Noted { order_id: int64 nonnull",
        "Noted { order_id: int64 primary_key",
        "no two rows agree on `order_id`",
    ),
}


@pytest.mark.parametrize("case", NARROWED)
def test_e032_a_model_read_as_it_was_before_it_promised_more(shop, case):
    """What reads it would count as proven what nobody asked of the rows that are live."""
    old, new, known = NARROWED[case]
    shop.write("orders.csv", "order_id,customer_id,country,amount,placed,note\n" + "1,,ES,1,2026-01-01,z\n" * 2)
    shop.edit("models/sources.strata", "order_id: int64 nonnull primary_key", "order_id: int64 nonnull")
    shop.edit("models/sources.strata", "    placed: date nonnull,\n", "    placed: date nonnull,\n    note: string,\n")
    shop.write(
        "models/notes.strata",
        "contract Noted { order_id: int64 nonnull\nnote: string }\n"
        "model noted -> contract Noted { from orders select { order_id, note } }\n"
        "contract Kept { order_id: int64 primary_key\nnote: string enum {a, b} }\n"
        "model kept -> contract Kept { from noted filter order_id > 0 }\n",
    )
    shop.apply("noted")
    shop.edit("models/notes.strata", old, new)
    workspace = shop.workspace()
    plan = workspace.plan(["kept"], with_upstream=False)
    *_, outcome = apply_plan(workspace, plan, ReferenceEngine())
    (found,) = outcome.results["kept"].diagnostics
    assert (found.code, str(found.span)) == ("E032", "models/notes.strata:6:7")
    assert found.message == (
        f"model `kept`: `noted` is live as it was before it changed, and it was not known then that {known}"
    )
    assert outcome.published == frozenset()


def test_a_model_read_as_it_was_before_a_change_that_promises_no_more(shop):
    shop.apply()
    shop.edit("models/enriched.strata", "  from orders\n", "  from orders\n  filter amount > 5.00\n")
    workspace = shop.workspace()
    *_, outcome = apply_plan(workspace, workspace.plan(["by_day"], with_upstream=False), ReferenceEngine())
    assert str(outcome.results["by_day"].status) == "reused"


def test_e093_another_apply_that_published_first_wins(shop):
    shop.apply()
    shop.edit("models/by_day.strata", "count()", "count() + 1")
    late = shop.events()
    next(late)
    shop.edit("models/by_day.strata", "count() + 1", "count() + 2")
    assert shop.statuses()["by_day"] == "computed"
    with pytest.raises(StrataError) as caught:
        list(late)
    assert [d.code for d in caught.value.diagnostics] == ["E093"]
    assert (shop.head(), [r["orders"] for r in shop.rows("by_day")]) == (2, [3, 4, 3])


def test_two_applies_of_different_models_both_win(shop):
    shop.apply()
    shop.edit("models/by_day.strata", "count()", "count() + 1")
    late = shop.events("by_day")
    next(late)
    shop.edit("models/by_country.strata", "sum(amount)", "max(amount)")
    shop.apply("top")
    *_, outcome = late
    assert (outcome.version.number, shop.head()) == (3, 3)
    assert [r["orders"] for r in shop.rows("by_day")] == [2, 3, 2]
    assert [str(r["total"]) for r in shop.rows("by_country")] == ["99.99", "12.50", "3.00"]


def test_e093_what_was_read_must_still_be_live_at_the_commit(shop):
    shop.apply()
    shop.edit("models/by_day.strata", "count()", "count() + 1")
    late = shop.events("by_day")
    next(late)
    shop.edit("orders.csv", "3.00", "4.00")
    shop.apply("enriched")
    with pytest.raises(StrataError) as caught:
        list(late)
    assert [d.code for d in caught.value.diagnostics] == ["E093"]


def test_the_rows_written_are_told_while_it_runs(shop):
    from strata_core.engines.reference.engine import ReferenceEngine
    from strata_core.planning.applying.apply import apply_plan

    workspace, told = shop.workspace(), []
    plan = workspace.plan(["enriched"])
    list(apply_plan(workspace, plan, ReferenceEngine(), progress=lambda name, rows: told.append((name, rows))))
    assert told == [("enriched", 4)]


def test_a_version_says_what_it_was_published_with(shop):
    shop.apply()
    head = shop.workspace().store.environment("prod").head()
    pointer = head.models["by_day"]
    assert isinstance(pointer, Pointer)
    assert pointer.fingerprint == shop.fingerprint("by_day").merkle
