"""The formatter: what its style is, and the laws that hold for every program of the grammar."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from strata_core.analysis import compile_project
from strata_core.language.concrete import concrete
from strata_core.language.format import format_text
from strata_core.language.forms import FORMS
from strata_core.language.layout import WIDTH
from strata_core.language.parser import parse_module
from strata_core.language.scanner import scan
from strata_core.language.tables import load_tables
from strata_core.planning.fingerprints import fingerprints

from .programs import declaration, program, spaced

MODELS = sorted((Path(__file__).parents[2] / "models").rglob("*.strata"))
SEEDS = st.integers(0, 2**32)
LOOSE = """\
// head
domain   eur=money<EUR>
domain day = date
source orders ( csv : "orders.csv" ) { columns:{id:int64 nonnull primary_key;total:eur nonnull,tags:array<string>}
  // how old
  freshness <= 1d filter : total>cast(0,"money(EUR)") }
contract Big{ id:int64 primary_key total:eur,mask:string
}


model big->contract Big {
  owner:"x" from orders where total is not null   // paid

  /* the name
     is a word */
  select{id,total,mask=case(id==1,"one",id in [2,3],"two or three, and a text that is long enough","many")}
}
"""
FORMATTED = """\
// head
domain eur = money(EUR)
domain day = date

source orders(csv: "orders.csv") {
  columns: {
    id: int64 nonnull primary_key,
    total: eur nonnull,
    tags: array(string),
  }
  // how old
  freshness: <= 1d
  filter: total > cast(0, "money(EUR)")
}

contract Big {
  id: int64 primary_key
  total: eur,
  mask: string
}

model big -> contract Big {
  owner: "x"
  from orders
  filter total is not none  // paid

  /* the name
     is a word */
  select {
    id,
    total,
    mask = case(
      id == 1, "one",
      id in [2, 3], "two or three, and a text that is long enough",
      "many",
    ),
  }
}
"""


def formatted(text: str) -> str:
    result = format_text(text, "a.strata")
    assert result.text is not None, result.diagnostics
    return result.text


def meaning(text: str) -> Any:
    """The syntax tree without spans."""

    def bare(node: Any) -> Any:
        if isinstance(node, tuple):
            return tuple(map(bare, node))
        if is_dataclass(node):
            return type(node).__name__, *(bare(getattr(node, f.name)) for f in fields(node) if f.name != "span")
        return node

    parsed = parse_module(text, "a.strata")
    assert parsed.diagnostics == ()
    return bare(parsed.module.declarations)


def comments(text: str) -> list[str]:
    """The comments of a text, told from what is white space between its tokens by another way than the formatter's."""
    found, position = [], 0
    for token in scan(text, load_tables()):
        gap = text[position : token.start]
        position = token.end
        while gap := gap.lstrip():
            end = gap.find("*/") + 2 if gap.startswith("/*") else len(gap.split("\n", 1)[0])
            found.append(gap[:end].rstrip())
            gap = gap[end:]
    return found


LOOSE_FUNCTIONS = """
fn  by_country(names:List < Str >,least : Float,)->List<Model>   // of each country
[model"orders_${c}"->contract Paid{from paid filter country==c and amount>least}for c in names if c!="CO"]
fn label(c: Str)->Str concat( "of ",upper( c ) )
by_country( ["ES","MX",] , least:1.5 )
label("ES")
pipeline p{models:[a,by_country( ["PE"],2.0 )]}
"""
FUNCTIONS = """\
fn by_country(names: List<Str>, least: Float) -> List<Model> {  // of each country
  [
    model "orders_${c}" -> contract Paid {
      from paid
      filter country == c and amount > least
    }
    for c in names if c != "CO"
  ]
}

fn label(c: Str) -> Str {
  concat("of ", upper(c))
}

by_country(["ES", "MX"], least: 1.5)
label("ES")

pipeline p {
  models: [a, by_country(["PE"], 2.0)]
}
"""


def test_the_style_of_functions():
    assert formatted(LOOSE_FUNCTIONS) == FUNCTIONS
    assert formatted(FUNCTIONS) == FUNCTIONS


def test_the_style():
    assert formatted(LOOSE) == FORMATTED


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("from t as u", "from t as u"),
        ("select{}", "select {}"),
        ("take 5 .. 10", "take 5..10"),
        ("sort{-a,b desc}", "sort { -a, b desc }"),
        ("union all  t", "union all t"),
        ("dedup by a,b", "dedup by a, b"),
        ("freshness <= 1d,2d freshness_column : c", "freshness: <= 1d, 2d freshness_column: c"),
        ("freshness daily", "freshness: daily"),
        ("partition_by[a]", "partition_by: [a]"),
        ("incremental{strategy:upsert key:[a,b,]cursor:c}", "incremental { strategy: upsert, key: [a, b], cursor: c }"),
        ("select { t . * , * except{a,b} }", "select { t.*, * except {a, b} }"),
        ("derive{x=count( distinct a ),y=count( * )}", "derive { x = count(distinct a), y = count(*) }"),
        (
            "derive { x = sum(a) over(sort:[c]rows:..0), y = sum(a) over (sort:[c],rows:..) } take 2 .. 5",
            "derive { x = sum(a) over (sort: [c], rows: ..0), y = sum(a) over (sort: [c], rows: ..) }\n  take 2..5",
        ),
        (
            "derive { x = sum(a) over(partition_by:[b]sort:[-c]rows: - 1 .. 0) }",
            "derive { x = sum(a) over (partition_by: [b], sort: [-c], rows: -1..0) }",
        ),
        ("filter not(a or b)and-c<(2)", "filter not (a or b) and -c < (2)"),
        ("group{a}(aggregate{n=count()}sort{n}take 1)", "group { a } ( aggregate { n = count() } sort { n } take 1 )"),
        ("group{}()", "group {} ()"),
        (
            "join_left customers as c on orders.customer_id==c.customer_id and orders.country==c.country "
            "expect many_to_one",
            "join_left customers as c\n    on orders.customer_id == c.customer_id and orders.country == c.country\n"
            "    expect many_to_one",
        ),
        (
            'filter status in ["one", "two"] and customer.country in ["ES", "MX"] or customer.age * 12 + 1 > months',
            'filter status in ["one", "two"] and customer.country in ["ES", "MX"]\n'
            "    or customer.age * 12 + 1 > months",
        ),
        ("select { a, // one\n b /* two */ }", "select {\n    a,  // one\n    b,\n    /* two */\n  }"),
        ("select { /* one */ a, b }", "select { /* one */ a, b }"),
        ("filter // why\n a", "filter  // why\n    a"),
        ("select {\n // nothing yet\n }", "select {\n    // nothing yet\n  }"),
    ],
)
def test_the_style_of_statements(body, shown):
    assert formatted(f"model m {{ {body} }}") == f"model m {{\n  {shown}\n}}\n"


LOOSE_TABLE = """\
test m "t" { // the tables
  given a { // what is read
    | id | note | at | // header
    | 1|"a|b"|2024-01 -31 10: 00|

    # apart
    | 22 | null | 2024-01-01 | | 3 | /* within */ "x" | none |
    // end
  }
  expect { | id | l | r | | 1 | [ 1,2 , ] | {a : 1,"b c":2,} | }
}
"""
TABLE = """\
test m "t" {  // the tables
  given a {  // what is read
    | id | note  | at               |  // header
    | 1  | "a|b" | 2024-01-31 10:00 |

    # apart
    | 22 | none  | 2024-01-01       |
    | 3 | /* within */ "x" | none |
    // end
  }
  expect {
    | id | l      | r                |
    | 1  | [1, 2] | {a: 1, "b c": 2} |
  }
}
"""


def test_the_columns_of_a_literal_table_stand_below_one_another():
    assert formatted(LOOSE_TABLE) == TABLE


def test_what_does_not_parse_is_left_alone():
    result = format_text("model m {\n  fitler a\n}\n", "a.strata")
    assert result.text is None
    assert [d.code for d in result.diagnostics] == ["E001"]


def test_nothing_is_a_text_too():
    assert formatted("") == ""
    assert formatted("\n\n // end\n\n\n /* of it */") == "// end\n\n/* of it */\n"


def test_every_rule_of_the_grammar_has_a_form():
    named = {rule.action for rule in load_tables().rules if rule.action}
    assert named - FORMS.keys() == set()
    assert FORMS.keys() - named == {"paren"}


@settings(max_examples=80, deadline=None)
@example(229391, 0.05)  # a comment behind a blank line, where a brace is put in
@given(SEEDS, st.sampled_from([0, 0.05, 0.3]))
def test_law_formatting_keeps_the_tree_and_every_comment_and_is_done_at_once(seed, share):
    text = program(Random(seed), share)
    shown = formatted(text)
    assert meaning(shown) == meaning(text)
    assert comments(shown) == comments(text)
    assert formatted(shown) == shown


@settings(max_examples=100, deadline=None)
@given(SEEDS)
def test_law_layout_without_comments_does_not_depend_on_the_layout_before(seed):
    text = spaced(Random(seed), tokens := declaration(Random(seed)), 0)
    again = spaced(Random(seed + 1), tokens, 0)
    assert _without_blank_lines(formatted(again)) == _without_blank_lines(formatted(text))


@settings(max_examples=8, deadline=None)
@given(SEEDS)
def test_law_formatting_never_changes_a_fingerprint(seed):
    random = Random(seed)
    before, after = [], []
    for path in MODELS:
        tokens = [token.text for token in scan(path.read_text(encoding="utf-8"), load_tables())][:-1]
        text = spaced(random, tokens, 0.1)
        before.append(parse_module(text, path.name).module)
        after.append(parse_module(formatted(text), path.name).module)
    expected = fingerprints(compile_project(before))
    assert len(expected) > 8
    assert fingerprints(compile_project(after)) == expected


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_the_models_of_this_repository_are_formatted(path):
    text = path.read_text(encoding="utf-8")
    assert formatted(text) == text
    long = [line for line in text.splitlines() if len(line) > WIDTH]
    assert [line for line in long if not line.lstrip().startswith(("//", "description:"))] == []


def test_a_concrete_tree_wants_a_text_that_parses():
    with pytest.raises(ValueError, match="does not parse"):
        concrete("model m {")


def _without_blank_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]
