"""What a check leaves on disk, where models are made by functions or lie on a circle: the next check finds what one
without it would, and computes what an edit does not reach no second time."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from strata_core.analysis import project as compilation
from strata_core.analysis.model import compile_model
from strata_core.planning.config import ProjectConfig
from strata_core.planning.kept.revisions import first_revision
from strata_core.planning.kept.trail import checked
from strata_core.planning.project import Project
from strata_core.planning.texts import SourceText

FUNCTIONS = """\
source t(csv: "t.csv") { columns: { id: int64 nonnull, country: string } }
contract C { id: int64 nonnull, country: string }
fn cs() -> List<Str> ["a", "b"]
fn f(xs: List<Str>) -> List<Model> {
[
  model "m_${c}" -> contract C { from t filter country == c }
  for c in xs
]
}
f(cs())
model both -> contract C { from m_a union all m_b }
model beside -> contract C { from t }
model last -> contract C { from beside }
pipeline p { models: [both, f(["z"])] }
test m_a { expect row_count > 0 }
"""
CIRCLE = """\
source t(csv: "t.csv") { columns: { id: int64 nonnull, country: string } }
contract C { id: int64 nonnull, country: string }
model a -> contract C { from b }
model b -> contract C { from c }
model c { from a select { id, country } }
model behind -> contract C { from a }
model beside -> contract C { from t }
model last -> contract C { from beside }
test last { expect row_count > 0 }
"""
CLOCKS = """\
source t(csv: "t.csv") { columns: { id: int64 nonnull, day: date, out: date, v: int64 }  valid_from: day }
source u(store: "u", vintage: all) {
  columns: { id: int64 primary_key, day: date primary_key, out: date primary_key, v: int64 }
  valid_from: day
  available_time: out
}
source e(csv: "e.csv") { columns: { id: int64 primary_key, day: date nonnull, known: date nonnull } }
model a { from e  join_asof t on t.id == e.id at e.day  select { id, t.v } }
model b { from e  join_asof u on u.id == e.id at e.day available_as_of: known  select { id, u.v } }
model beside { from e }
"""
EDITS = {
    CLOCKS: [
        ("at e.day  select", "at e.day within 7d  select"),
        ("model beside { from e }", "model beside { from  e }"),
        ("valid_from: day }", "}"),
        (", vintage: all", ""),
        ("available_time: out", "valid_to: out"),
        ("{ id, u.v }", "{ id, u.w }"),
        ("valid_from: day\n", "valid_from: dya\n"),
        ("model b", "modl b"),
    ],
    FUNCTIONS: [
        ('["a", "b"]', '["a", "b", "q"]'),
        ("country == c", "contry == c"),
        ("m_a union all m_b", "m_b union all m_a"),
        ("model both", "model bothh"),
        ("id: int64 nonnull, country: string }\nfn", "id: int64, country: string }\nfn"),
        ('f(["z"])', 'f(["z", "a"])'),
        ("-> List<Str> [", "-> List<Int> ["),
        ('model "m_${c}"', 'model "beside"'),
        ("model beside", "model m_b"),
        ("\n]\n}\nf(", "\n}\nf("),
        ("row_count", "rowcount"),
    ],
    CIRCLE: [
        ("from b }", "from t }"),
        ("from c }", "from b }"),
        ("from c }", "from t }"),
        ("from a select", "from t select"),
        ("from a select { id,", "from a select { ix,"),
        ("model c", "model d"),
        ("model beside -> contract C { from t", "model beside -> contract C { from last"),
        ("{ from a }", "{ from beside }"),
        ("{ id: int64 nonnull, country: string }\nmodel", "{ id: int64, country: string }\nmodel"),
        ("row_count", "rowcount"),
    ],
}


def project_of(text: str) -> Project:
    return Project(Path("/nowhere"), ProjectConfig(name="p", models=("models",)), (SourceText("a", text.encode()),))


@pytest.mark.parametrize("start", EDITS, ids=["clocks", "functions", "circle"])
def test_after_any_edits_a_check_finds_what_one_without_a_trail_does(start):
    random, text, trail = Random(7), start, None
    for _ in range(120):
        before, after = random.choice(EDITS[start])
        text = text.replace(before, after, 1) if before in text else text.replace(after, before, 1)
        text = start if random.random() < 0.2 else text
        revision, trail = checked(project_of(text), trail)
        afresh = first_revision(project_of(text))
        assert revision.diagnostics == afresh.diagnostics, text
        assert revision.compiled.models.keys() == afresh.compiled.models.keys(), text
        assert revision.compiled.broken == afresh.compiled.broken, text


@pytest.mark.parametrize(
    ("start", "computed"),
    [(FUNCTIONS, {"m_a", "m_b", "m_z", "beside"}), (CIRCLE, {"a", "b", "c", "behind", "beside"})],
    ids=["functions", "circle"],
)
def test_what_an_edit_does_not_reach_is_not_computed_again(start, computed, monkeypatch):
    _, trail = checked(project_of(start), None)
    names: list[str] = []
    monkeypatch.setattr(
        compilation, "compile_model", lambda model, *rest: names.append(model.name.text) or compile_model(model, *rest)
    )
    edited = start.replace("model beside -> contract C { from t }", "model beside -> contract C { from  t }")
    checked(project_of(edited), trail)
    assert set(names) == computed
