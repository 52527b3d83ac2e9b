"""Previews show a few rows as text, and nothing that a contract hides anywhere upstream."""

from __future__ import annotations

from strata_core.planning.hidden import hidden_columns
from strata_core.planning.live.preview import Preview, preview

MASKED = "‹masked›"


def shown(shop, model: str) -> Preview:
    workspace = shop.workspace()
    artifact = workspace.store.artifact(model, workspace.store.environment("prod").head().models[model])
    columns = workspace.compiled.models[model].relation.schema.names
    return preview(workspace.store, artifact, tuple(columns), hidden_columns(workspace.compiled)[model])


def test_columns_stand_as_in_the_model_and_classified_values_are_masked(shop) -> None:
    shop.apply()
    found = shown(shop, "enriched")
    assert found.columns == ("order_id", "country", "email", "amount", "placed")
    assert found.rows[:2] == (
        ("1", "ES", MASKED, "12.50", "2026-01-01"),
        ("2", "ES", MASKED, "7.25", "2026-01-02"),
    )


def test_what_is_made_of_a_hidden_value_is_hidden_too(shop) -> None:
    shop.write(
        "models/derived.strata",
        'model derived { from enriched select { order_id, shout = upper(email), mail = email || "!", amount } }',
    )
    shop.apply()
    assert hidden_columns(shop.workspace().compiled)["derived"] == {"shout", "mail"}
    assert shown(shop, "derived").rows[0] == ("1", MASKED, MASKED, "12.50")


def test_of_a_source_the_columns_are_hidden_that_a_hidden_one_is_made_of(shop) -> None:
    """By way of models that hide nothing themselves; these show what they show."""
    shop.write(
        "models/people.strata", 'source people(csv: "p.csv") { columns: { id: int64, mail: string, town: string } }'
    )
    shop.write(
        "models/derived.strata",
        """
        model plain { from people select { id, low = lower(mail), town } }
        contract Kept { id: int64  name: string classification: "pii" mask: hash }
        model kept -> contract Kept { from plain select { id, name = low } }
        """,
    )
    hidden = hidden_columns(shop.workspace().compiled)
    assert {name: hidden[name] for name in ("people", "plain", "kept")} == {
        "people": {"mail"},
        "plain": set(),
        "kept": {"name"},
    }


def test_fewer_rows_than_asked_are_all_shown(shop) -> None:
    shop.apply()
    assert len(shown(shop, "top").rows) == 1
