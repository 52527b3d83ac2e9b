"""Seed 0 §7 on a project: the grammar knows its names, and what parses and breaks a contract is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from llguidance import LLMatcher, LLTokenizer
from llguidance.gbnf_to_lark import gbnf_to_lark
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from strata_core.language.gbnf import gbnf
from strata_core.planning.generation import check_in, generate_in, vocabulary
from strata_core.planning.project import Project, read_project

SALES = """\
source sales(csv: "sales.csv") {
  columns: {
    id: int64 nonnull primary_key,
    country: string nonnull enum {ES, MX},
    sold: date nonnull,
    amount: money(EUR),
  }
}
contract Total {
  country: string primary_key
  total: money(EUR)
}
model by_country -> contract Total {
  from sales as s
  let month = date_trunc(sold, month)
  filter s.amount is not none and month is not none
  group { country } ( aggregate { total = sum(amount) } )
}
"""
RIGHT = "model totals -> contract Total {\n  from by_country\n}\n"
WRONG = "model totals -> contract Total {\n  from by_country\n  derive { total = country }\n}\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "strata.toml").write_text('[project]\nname = "sales"\n')
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "sales.strata").write_text(SALES)
    return read_project(tmp_path)


def accepts(grammar: str, text: str) -> bool:
    """Byte by byte: what a model's tokens are makes no difference."""
    alphabet = {character: n for n, character in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocab=alphabet | {"<end>": 256}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    engine = LLTokenizer(tokenizer.to_str(), eos_token=256)
    matcher = LLMatcher(engine, LLMatcher.grammar_from_lark(gbnf_to_lark(grammar)), log_level=0)
    tokens = engine.tokenize_str(text)
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


def test_the_names_of_a_project(project):
    names = vocabulary(project)
    assert names.tables == {"sales": ("id", "country", "sold", "amount"), "by_country": ("country", "total")}
    assert names.columns == {"month", "total", "row_count"}
    assert names.contracts == {"Total"}
    assert {"sum", "coalesce"} <= names.functions
    assert "date_trunc" in names.word_functions
    assert "month" in names.words
    assert "+" not in names.functions


def test_seed0_s7_the_grammar_of_a_project_accepts_its_own_programs_and_no_invented_name(project):
    grammar = gbnf(vocabulary(project))
    assert accepts(grammar, SALES)
    assert accepts(grammar, RIGHT)
    assert accepts(grammar, "test by_country { expect row_count > 0; expect country in sales.country }")
    assert not accepts(grammar, "test by_month { expect row_count > 0 }")
    assert not accepts(grammar, SALES.replace("sum(amount)", "sum(price)"))
    assert not accepts(grammar, RIGHT.replace("by_country", "by_month"))
    assert not accepts(grammar, RIGHT.replace("Total", "Totals"))


def test_seed0_s7_a_program_that_parses_and_breaks_a_contract_is_refused_before_codegen(project):
    assert accepts(gbnf(vocabulary(project)), WRONG)
    shown = []

    def sampler(grammar, attempts):
        shown.append([d.code for attempt in attempts for d in attempt.diagnostics])
        return RIGHT if attempts else WRONG

    generated = generate_in(project, sampler)
    assert shown == [[], ["E011"]]
    assert generated.program == RIGHT
    assert generated.attempts[0].program == WRONG
    (found,) = generated.attempts[0].diagnostics
    assert found.span is not None
    assert (found.span.file, found.span.line) == ("generated.strata", 3)


def test_the_check_tells_only_what_the_program_adds(project, tmp_path):
    (tmp_path / "models" / "broken.strata").write_text("model broken {\n  from nowhere\n}\n")
    broken = read_project(tmp_path)
    assert check_in(broken, RIGHT) == ()
    assert [d.code for d in check_in(broken, "model again {\n  from nowhere_else\n}\n")] == ["E020"]


def test_a_program_that_declares_a_name_of_the_project_again_is_refused(project):
    assert any(d.blocks for d in check_in(project, "model by_country {\n  from sales\n}\n"))


def test_a_program_that_is_no_text_is_refused(project):
    assert [d.code for d in check_in(project, "model m { \ud800 }")] == ["E002"]


def test_a_module_that_was_generated_before_is_replaced(project, tmp_path):
    (tmp_path / "strata.toml").write_text('[project]\nname = "sales"\nmodels = ["."]\n')
    (tmp_path / "generated.strata").write_text(RIGHT)
    assert check_in(read_project(tmp_path), RIGHT) == ()
