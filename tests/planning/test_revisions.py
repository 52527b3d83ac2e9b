"""Revisions: after any edits, what compiling afresh gives; and only what an edit reaches is computed again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.diagnostics.placing import placed
from strata_core.language.parser import ParseResult, parse_piece
from strata_core.planning.config import ProjectConfig
from strata_core.planning.fingerprints import fingerprints
from strata_core.planning.kept.revisions import Revision, changed_findings, first_revision, revised
from strata_core.planning.kept.trail import checked
from strata_core.planning.project import Project, compile_, read_project
from strata_core.planning.texts import SourceText

FILES = ("models/a.strata", "models/b.strata", "models/sub/c.strata")


def project_of(texts: Mapping[str, str]) -> Project:
    files = tuple(SourceText(path, text.encode()) for path, text in texts.items())
    return Project(Path("/nowhere"), ProjectConfig(name="p", models=("models",)), files)


# One line is one declaration, so that an edit may change, move, double, break or take away any of them.
SOURCES = (
    'source orders(csv: "o.csv") { columns: { id: int64 nonnull primary_key, amount: float64, country: code } }',
    'source orders(csv: "o.csv") { columns: { id: int64 nonnull, amount: float64 nonnull, country: code } }',
    'source orders(csv: "p.csv") { columns: { id: int64 nonnull primary_key, amount: float64, country: code } }',
    'source orders(csv: "o.csv") { columns: { id: int64, amount: float64, country: code } filter: amount > 0.0 }',
    'source orders(csv: "o.csv") { columns: { id: int64, amount: float64, country: code } filter: amount > -0.0 }',
    "source orders { }",
    "source orders { columns: {",
)
DOMAINS = ("domain code = string", "domain code = decimal(9,2)", "domain code = cod", "domain cod = string")
CONTRACTS = (
    "contract Paid { id: int64 primary_key amount: float64 }",
    "contract Paid { id: int64 amount: float64 nonnull }",
    'contract Paid { id: int64 amount: float64 classification: "pii" }',
    "contract Paid { id: int64 owner: code }",
    "contract Paid { id int64 }",
    "contract Pay {",
)
PAID = (
    "model paid -> contract Paid { from orders select { id, amount = coalesce(amount, 0.0) } }",
    "model paid -> contract Paid { from orders select { id, amount } } // the same, if nullable",
    "model paid -> contract Paid { from orders filter amount > 1.0 select { id, amount } }",
    "model paid { from orders filter amont > 1.0 select { id, amount } }",
    'model paid { from orders select { id, amount, country = cast(country, "code") } }',
    "model paid { from total select { id = 1, amount = total } }",
    "model paid -> contract Payd { from order select { id, amount } }",
    "model paid { from orders select { id, amount } // a bracket is missing",
    'model paid { owner: "no end',
)
OTHERS = (
    "model total { from paid aggregate { total = sum(amount), largest = max(id) } }",
    "model total { from paid aggregate { total = sum(amount), largest = max(amount) } }",
    "model named { from paid join_left orders on paid.id == orders.id expect many_to_one select { orders.country } }",
    "model last { from total select { largest } }",
    "model last { from total select { biggest } }",
    "test paid { expect amount > 0.0 expect id in orders.id expect row_count > 0 }",
    "test last { expect largest > 0 }",
    'test last "from one row" { given total { | largest | | 3 | } expect { | largest | | 3 | } }',
    "test lost { expect largest > 0 }",
    'pipeline nightly { env: prod, models: [paid, totl], sources: { orders: from(dataset: "eu") } }',
    'extern fn bare(text: string) -> string deterministic { duckdb: "lower(text)" }',
    'extern fn bare(text: string) -> string nonnull deterministic { duckdb: "upper(text)" }',
    "extern fn bare(text: text) -> string deterministic { }",
    "model named { from orders select { id, country = bare(country) } }",
    "model orders -: contract Paid { from orders }",
    "model last { from orders }",
    "import sub.c",
    "import b",
    "// a comment",
    "// größer als 🦆\r",
    "\n\n",
    'model größte { owner: "🦆 größer" from orders select { id, größe = amont } }\r',
    "/* a comment that has no end",
    "",
    "}",
)
LINES = st.sampled_from((*SOURCES, *DOMAINS, *CONTRACTS, *PAID, *OTHERS))
EDIT = st.tuples(
    st.sampled_from(FILES), st.sampled_from(["insert", "replace", "remove", "drop file"]), st.integers(0, 9), LINES
)


def trees(parsed: ParseResult) -> tuple[Any, ...]:
    """The trees of a module, where the text has them."""
    return placed(parsed.module.declarations, parsed.numbering.placed), parsed.module.span


def edited(lines: list[str] | None, what: str, at: int, line: str) -> list[str] | None:
    if what == "drop file":
        return None
    lines = list(lines or ())
    at = min(at, len(lines))
    return lines[:at] + ([line] if what != "remove" else []) + lines[at + (what != "insert") :]


START = {
    FILES[0]: [SOURCES[0], DOMAINS[0], PAID[0]],
    FILES[1]: [CONTRACTS[0], OTHERS[0]],
    FILES[2]: [OTHERS[2], OTHERS[3], OTHERS[5]],
}


@settings(max_examples=150)
@given(st.lists(EDIT, min_size=1, max_size=8))
def test_after_any_edits_a_revision_is_what_compiling_afresh_gives(edits):
    texts: dict[str, list[str] | None] = dict(START)
    revision = first_revision(project_of({path: "\n".join(lines) for path, lines in START.items()}))
    for path, what, at, line in edits:
        texts[path] = edited(texts[path], what, at, line)
        left = texts[path]
        revision = revised(revision, {path: None if left is None else "\n".join(left).encode()})
        afresh = first_revision(
            project_of({path: "\n".join(lines) for path, lines in texts.items() if lines is not None})
        )
        assert revision.project == afresh.project
        assert [trees(result) for result in revision.modules.values()] == [
            trees(result) for result in afresh.modules.values()
        ]
        assert revision.standing() == afresh.standing()
        assert revision.diagnostics == afresh.diagnostics
        assert list(revision.compiled.models) == list(afresh.compiled.models)
        assert fingerprints(revision.compiled) == fingerprints(afresh.compiled)


@settings(max_examples=150)
@given(st.lists(EDIT, min_size=1, max_size=8))
def test_after_any_edits_a_check_in_a_new_process_finds_what_one_without_a_trail_does(edits):
    texts: dict[str, list[str] | None] = dict(START)
    _, trail = checked(project_of({path: "\n".join(lines) for path, lines in START.items()}), None)
    for path, what, at, line in edits:
        texts[path] = edited(texts[path], what, at, line)
        project = project_of({path: "\n".join(lines) for path, lines in texts.items() if lines is not None})
        revision, trail = checked(project, trail)
        afresh = first_revision(project)
        assert revision.diagnostics == afresh.diagnostics
        assert revision.compiled.models.keys() == afresh.compiled.models.keys()
        assert revision.compiled.broken == afresh.compiled.broken


SECOND_NAMES = [
    (
        "contract Pay {\n",
        "model paid -> contract Paid { }\n",
        [
            "E071 the model `paid` reads nothing: begin it with `from table`",
            "E024 no contract `Paid`: declare it: there is none yet",
        ],
    ),
    (
        "model orders -: contract Paid { }\n",
        'source orders(csv: "o.csv") { columns: { } }\nmodel last { from orders }\n',
        ["E071 the model `last` has no columns: choose some with `select { … }`"],
    ),
]


@pytest.mark.parametrize(("gone", "stays", "found"), SECOND_NAMES, ids=["contract", "source and model"])
def test_a_broken_declaration_that_goes_takes_its_name_with_it_from_what_is_kept(gone, stays, found):
    _, trail = checked(project_of({FILES[0]: stays, FILES[1]: gone}), None)
    revision, _ = checked(project_of({FILES[0]: stays, FILES[1]: ""}), trail)
    assert {f"{d.code} {d.message}: {d.fix}" for d in revision.diagnostics if d.blocks} == set(found)


def test_what_an_edit_does_not_reach_stays_text(monkeypatch):
    (path, text), *_ = CHAIN.items()
    _, trail = checked(project_of(CHAIN), None)
    read = []
    monkeypatch.setattr(
        "strata_core.planning.kept.trail.parse_piece", lambda text, *rest: read.append(text) or parse_piece(text, *rest)
    )
    checked(project_of({path: text.replace("from second select { id }", "from second select { id, amount }")}), trail)
    assert read == []
    checked(project_of({path: text.replace("select { id, amount }", "select { id, amount = 1.0 }", 1)}), trail)
    assert [piece.split()[1] for piece in read] == ["second", "third"]


def test_a_trail_that_lacks_little_is_followed_on():
    source = 'source orders(csv: "o.csv") { columns: { id: int64 nonnull } }'
    lines = [source, *(f"model m{n} {{ from orders filter id > 0 select {{ id }} }}" for n in range(200))]

    def filtered(changed: int) -> Project:
        """The project with other filters in the first of its models."""
        text = "\n".join([*(line.replace("> 0", "> 1") for line in lines[: changed + 1]), *lines[changed + 1 :]])
        return project_of({FILES[0]: text})

    _, trail = checked(filtered(0), None)
    for changed in (0, 1, 2):
        assert checked(filtered(changed), trail)[1] is trail
    _, other = checked(filtered(3), trail)
    assert other is not trail
    assert checked(filtered(5), other)[1] is other


CHAIN = {
    "models/a.strata": """
source orders(csv: "o.csv") { columns: { id: int64 nonnull, amount: float64 } }
model first { from orders select { id, amount } }
model second { from first select { id, amount } }
model third { from second select { id } }
model beside { from orders select { id } }
"""
}


def computed(before: Revision, after: Revision) -> list[str]:
    """The models that were compiled for `after`."""
    return [name for name, kept in after.memory.models.items() if before.memory.models.get(name) is not kept]


@pytest.mark.parametrize(
    ("old", "new", "reached"),
    [
        ("from orders select { id, amount }", "from orders  select { id, amount }", ["first"]),
        ("from orders select { id, amount }", "from orders filter id < 9 select { id, amount }", ["first"]),
        ("from orders select { id, amount }", "from orders select { id, amount = amount * 2.0 }", ["first"]),
        # The column is no longer nullable, which its readers see, and those of `second`, as `third` reads no `amount`.
        (
            "from orders select { id, amount }",
            "from orders select { id, amount = coalesce(amount, 0.0) }",
            ["first", "second", "third"],
        ),
        ("from second select { id }", "from second select { id, amount }", ["third"]),
        ("amount: float64 }", "amount: float64 } ", ["first", "beside"]),
        ("model beside {", "model aside {", ["aside"]),
        # A line belongs to what stands above it; what it moves is as it was.
        ("model second {", "\nmodel second {", ["first"]),
        ("source orders", "// größer als\r\n\n\nsource orders", []),
        ("model second {", "model fifth { from orders }\nmodel second {", ["fifth"]),
        ("model third { from second select { id } }\n", "", []),
    ],
)
def test_an_edit_reaches_those_who_see_it_and_no_others(old, new, reached):
    before = first_revision(project_of(CHAIN))
    (path, text), *_ = CHAIN.items()
    assert old in text
    after = revised(before, {path: text.replace(old, new).encode()})
    assert sorted(computed(before, after)) == sorted(reached)


def test_only_the_piece_that_was_edited_is_parsed_again():
    before = first_revision(project_of(CHAIN))
    (path, text), *_ = CHAIN.items()
    after = revised(before, {path: text.replace("filter", "").replace("from second", "from first").encode()})
    old, new = (r.modules[path].module.declarations for r in (before, after))
    assert [a is b for a, b in zip(old, new, strict=True)] == [True, True, True, False, True]


def test_changed_findings_are_those_of_the_files_that_have_others():
    texts = {FILES[0]: "model m { from nothing }", FILES[1]: "model n { from m }\n"}
    before = first_revision(project_of(texts))
    assert set(changed_findings(None, before)) == {FILES[0]}
    after = revised(before, {FILES[1]: b"model n { from m select { } }"})
    assert {path: [d.code for d in those] for path, those in changed_findings(before, after).items()} == {
        FILES[1]: ["E071"]
    }
    gone = revised(
        after, {FILES[0]: b"source nothing { columns: { a: int64 } }\nmodel m -> contract C { from nothing }"}
    )
    assert changed_findings(after, gone)[FILES[0]][0].code == "E024"


def test_new_files_stand_where_reading_the_project_puts_them(tmp_path):
    (tmp_path / "strata.toml").write_text('[project]\nmodels = ["z", "a"]\n')
    for name in ("z/b.strata", "a/b.strata", "a/b/c.strata"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('source s(csv: "x.csv") { columns: { a: int64 } }')
    before = first_revision(read_project(tmp_path))
    (tmp_path / "z" / "a.strata").write_text("model m { from s }")
    after = revised(before, {"z/a.strata": b"model m { from s }"})
    assert after.project == read_project(tmp_path)
    assert after.standing() == compile_(read_project(tmp_path))
