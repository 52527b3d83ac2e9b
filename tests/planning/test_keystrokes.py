"""A project of several files under keystrokes of every kind: what an editor is told is always what a fresh check finds.

Beside `test_revisions.py`, which edits whole declarations, this edits characters: half words, line ends of Windows, a
byte order mark, files that are cut off or gone, and what was there some steps ago.
"""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.diagnostics.placing import placed
from strata_core.planning.config import ProjectConfig
from strata_core.planning.fingerprints import fingerprints
from strata_core.planning.kept.revisions import Revision, first_revision, revised
from strata_core.planning.kept.trail import checked
from strata_core.planning.project import Project
from strata_core.planning.texts import SourceText

START = {
    "models/base.strata": """domain code = string
domain euros = money(EUR)
source orders(csv: "o.csv") {
  columns: { id: int64 nonnull primary_key, amount: euros nonnull, country: code nonnull enum {ES, MX}, qty: int64 }
}
contract Paid { id: int64 primary_key amount: euros nonnull country: code nonnull }
""",
    "models/fin/paid.strata": """import base
model paid -> contract Paid {
  owner: "größe 🦆"
  from orders
  filter amount > cast(0, "money(EUR)") // only those
  let half = qty / 2
  derive { double = half * 4, nth = row_number() over (partition_by: [country], sort: [id]) }
  select { id, amount, country }
}
test paid { expect row_count > 0 expect id in orders.id }
""",
    "models/fin/made.strata": """import fin.paid
fn each_of(names: List<Str>, n: Int) -> List<Model> {
  [ model "orders_${c}" { from paid filter country == c derive { n = n } } for c in names ]
}
each_of(["ES", "MX"], 3)
model total {
  from orders_ES
  union all orders_MX
  group { country } ( aggregate { total = sum(amount), orders = count() } filter orders > 1 )
}
pipeline nightly { env: prod, models: [total, paid], sources: { orders: from(csv: "eu.csv") } }
""",
}
TYPED = (
    *'{}()[]"`,;=#+\n\t /\ufeff\u202e\0',
    *("/*", "*/", "//", "\r\n", "->", "==", "${c}", "é", "🦆", "none", "paid", "country", "9" * 30),
    *("from orders", "filter qty > 1", "import base\n", "domain code = int64\n", "model m { from paid }\n"),
    *("fn f(x: Str) -> Str { x }\n", 'each_of(["MX"], 1)\n', "contract Paid { id: int64 }\n"),
)
WHERE = st.integers(0, 999)
STEP = st.tuples(
    st.sampled_from([*START]),
    st.one_of(
        st.tuples(st.just("type"), WHERE, st.sampled_from(TYPED)),
        st.tuples(st.just("delete"), WHERE, st.sampled_from([1, 2, 7, 60])),
        st.tuples(st.just("undo"), st.integers(1, 4), st.none()),
        st.tuples(st.sampled_from(["cut off", "double a line"]), WHERE, st.none()),
        st.tuples(st.sampled_from(["line ends", "mark", "broken bytes", "gone"]), st.just(0), st.none()),
    ),
)


def after(what: str, at: int, given: object, before: list[bytes | None]) -> bytes | None:
    """The content of a file after a step, of which all that it was `before` is known."""
    content = before[-1] or b""
    text = content.decode(errors="ignore")
    place = at * len(text) // 999
    match what, given:
        case "type", str(typed):
            text = text[:place] + typed + text[place:]
        case "delete", int(count):
            text = text[:place] + text[place + count :]
        case "cut off", _:
            text = text[:place]
        case "double a line", _:
            lines = text.split("\n")
            number = at % len(lines)
            text = "\n".join([*lines[:number], lines[number], *lines[number:]])
        case "line ends", _:
            text = text.replace("\r\n", "\n") if "\r\n" in text else text.replace("\n", "\r\n")
        case "mark", _:
            text = text.removeprefix("\ufeff") if text.startswith("\ufeff") else f"\ufeff{text}"
        case "broken bytes", _:
            return content[: len(content) // 2] + b"\xff" + content[len(content) // 2 :]
        case "undo", _:
            return before[max(0, len(before) - 1 - at)]
        case _:
            return None
    return text.encode()


def project_of(contents: dict[str, bytes | None]) -> Project:
    files = tuple(SourceText(path, content) for path, content in sorted(contents.items()) if content is not None)
    return Project(Path("/nowhere"), ProjectConfig(name="p", models=("models",)), files)


def told(revision: Revision) -> tuple[object, ...]:
    """All that a revision says of its project."""
    compiled = revision.compiled
    trees = [placed(parsed.module.declarations, parsed.numbering.placed) for parsed in revision.modules.values()]
    return revision.project, trees, revision.diagnostics, [*compiled.models], compiled.broken, fingerprints(compiled)


@settings(max_examples=60)
@given(st.lists(STEP, min_size=1, max_size=12))
def test_after_any_keystrokes_a_revision_says_what_a_fresh_one_does(steps):
    contents: dict[str, bytes | None] = {path: text.encode() for path, text in START.items()}
    history = {path: [content] for path, content in contents.items()}
    revision = first_revision(project_of(contents))
    assert not revision.diagnostics or not any(d.blocks for d in revision.diagnostics)
    _, trail = checked(revision.project, None)
    for path, (what, at, given_) in steps:
        contents[path] = after(what, at, given_, history[path])
        history[path].append(contents[path])
        revision = revised(revision, {path: contents[path]})
        afresh = first_revision(project_of(contents))
        assert told(revision) == told(afresh)
    in_a_new_process, _ = checked(afresh.project, trail)
    assert in_a_new_process.diagnostics == afresh.diagnostics
