"""Compile-time functions while a text is edited: the same as from scratch, and what an edit does not reach is kept."""

from __future__ import annotations

from random import Random

from strata_core.analysis.memory import Memory
from strata_core.analysis.project import compile_project, recompile
from strata_core.diagnostics import in_order
from strata_core.diagnostics.placing import placed
from strata_core.language.parser import ParseResult, parse_module
from strata_core.language.pieces import known_before

TEXT = """source t(csv: "t.csv") { columns: { id: int64 nonnull, country: string } }
contract C { id: int64 nonnull, country: string }
fn cs() -> List<Str> ["a", "b"]
fn f(xs: List<Str>) -> List<Model> {
[
model "m_${c}" -> contract C { from t filter country == c }
for c in xs
]
}
fn g() -> List<Model> {
[
model "g1" -> contract C { from t },
model "g2" -> contract C { from m_a }
]
}
fn h() -> Model
model "h" { from g2 }
f(cs())
g()
h()
model all -> contract C { from m_a union all m_b union all h }
pipeline p { models: [all, f(["z"])] }
test m_a { expect row_count > 0 }
"""
EDITS = [
    ('["a", "b"]', '["a", "b", "q"]'),
    ("country == c", "contry == c"),
    ("from m_a }\n]", "from m_b }\n]"),
    ("fn h", "fn hh"),
    ("h()\n", "hh()\n"),
    ("model all", "model alll"),
    ("id: int64 nonnull, country: string }\nfn", "id: int64, country: string }\nfn"),
    ('f(["z"])', 'f(["z", "a"])'),
    ("-> List<Str> [", "-> List<Int> ["),
    ("for c in xs", "for d in xs"),
    ('model "g1"', 'model "m_a"'),
    ("\n]\n}\nfn g", "\n}\nfn g"),
    ("row_count", "rowcount"),
]


def parsed(text: str, before: ParseResult | None = None) -> ParseResult:
    return parse_module(text, "m.strata", known_before(before.pieces)) if before else parse_module(text, "m.strata")


def test_law_an_edited_project_is_what_it_is_from_scratch() -> None:
    random = Random(3)
    text, result, memory = TEXT, None, Memory()
    for _ in range(120):
        before, after = random.choice(EDITS)
        text = text.replace(before, after) if before in text else text.replace(after, before)
        text = TEXT if random.random() < 0.2 else text
        result, fresh = parsed(text, result), parsed(text)
        standing = result.numbering.placed
        assert placed(result.module.declarations, standing) == fresh.module.declarations, text
        assert result.diagnostics == fresh.diagnostics, text
        kept, memory = recompile([result.module], memory)
        scratch = compile_project([fresh.module])
        assert in_order(placed(kept.diagnostics, standing)) == scratch.diagnostics, text
        assert {n: m.relation for n, m in kept.models.items()} == {n: m.relation for n, m in scratch.models.items()}
        assert (placed(kept.pipelines, standing), kept.broken) == (scratch.pipelines, scratch.broken)


def test_an_edit_keeps_the_generated_models_that_it_does_not_reach() -> None:
    text = TEXT.replace('\nmodel "', '\n  model "')
    first = parsed(text)
    before, memory = recompile([first.module], Memory())
    assert {"m_a", "m_b", "m_z", "g1", "g2", "h", "all"} == before.models.keys()
    edited = text.replace("union all m_b union all h }", "union all m_b }").replace("row_count > 0", "row_count > 1")
    second = parsed(edited, first)
    after, memory = recompile([second.module], memory)
    assert before.models.keys() == after.models.keys()
    assert [name for name, model in after.models.items() if model is not before.models[name]] == ["all"]
    third = parsed(edited.replace("== c }", "== upper(c) }"), second)
    anew, _ = recompile([third.module], memory)
    assert {name for name, model in anew.models.items() if model is after.models[name]} == {"g1"}
