"""The map is true: ARCHITECTURE.md names files that exist, and the house has no room that it leaves out."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAP = (ROOT / "ARCHITECTURE.md").read_text()


def test_every_path_that_is_named_exists() -> None:
    named = set(re.findall(r"`(\w+/(?:[\w/]*/|[\w/]+\.(?:py|lark))?)`", MAP))
    assert len(named) > 40
    places = (ROOT, ROOT / "strata_core")
    assert sorted(n for n in named if not any((place / n).exists() for place in places)) == []


def test_every_module_that_is_named_without_its_folder_exists() -> None:
    folders = ("strata_core", "strata_dagster", "tests")
    known = {path.name for folder in folders for path in (ROOT / folder).rglob("*.py")} | {"definitions.py"}
    named = set(re.findall(r"`(\w+\.py)`", MAP))
    assert len(named) > 10
    assert sorted(named - known) == []


def test_every_test_that_is_named_exists() -> None:
    tests = [path for folder in ("tests", "strata_core") for path in (ROOT / folder).rglob("test_*.py")]
    known = "".join(f"{path.stem} {path.read_text()}" for path in tests)
    named = set(re.findall(r"\btest_\w+", MAP + (ROOT / "CONTRIBUTING.md").read_text()))
    assert len(named) > 60
    assert sorted(n for n in named if n not in known) == []


def test_every_link_between_pages_leads_to_a_heading_or_a_file() -> None:
    pages = {p: p.read_text(encoding="utf-8") for p in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))}
    links = [
        (page, *link) for page, text in pages.items() for link in re.findall(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)", text)
    ]
    assert len(links) > 30
    lost = []
    for page, path, anchor in links:
        to = (page.parent / path).resolve() if path else page
        headings = {_anchor(h) for h in re.findall(r"^#+ (.*)$", pages.get(to, ""), re.MULTILINE)}
        if not to.exists() or (anchor and anchor not in headings):
            lost.append(f"{page.name}: {path}#{anchor}")
    assert lost == []


def test_every_module_that_a_page_says_to_run_can_be_run() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md"), ROOT / "Makefile"]
    named = {name for page in pages for name in re.findall(r"python -m (\w+(?:\.\w+)+)", page.read_text("utf-8"))}
    assert "demo.fetch" in named
    files = {name: ROOT.joinpath(*name.split(".")).with_suffix(".py") for name in named}
    programs = {n for n, file in files.items() if file.exists() and 'if __name__ == "__main__":' in file.read_text()}
    assert sorted(named - programs) == []


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_the_codes_that_a_module_lists_are_all_that_it_gives() -> None:
    code, span = re.compile(r"[EW]\d{3}"), re.compile(r"([EW])(\d{3}) to [EW](\d{3})")
    for path in (ROOT / "strata_core").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        _, lists, listed = (ast.get_docstring(tree) or "").partition("Codes:")
        if not lists:
            continue
        named = {*code.findall(listed)}
        for letter, first, last in span.findall(listed):
            named |= {f"{letter}{number:03}" for number in range(int(first), int(last) + 1)}
        strings = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        given = {text for text in strings if code.fullmatch(text)}
        assert given <= named, f"{path.relative_to(ROOT)} does not list {sorted(given - named)}"


def test_every_package_is_on_the_map() -> None:
    packages = [path.parent.name for path in (ROOT / "strata_core").glob("*/__init__.py")]
    assert sorted(name for name in packages if f"`strata_core/{name}/`" not in MAP) == []


def test_every_section_of_seed_0_that_is_built_has_tests_of_its_name() -> None:
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    sections = ("s1", "s2", "s3", *(f"s4_rule{n}" for n in range(1, 7)), "s5a", "s5b", "s5c", "s6", "s7")
    assert [s for s in sections if f"def test_seed0_{s}_" not in tests] == []


SEED_1 = """
two_clocks valid_time_declaration valid_time_type instant_comparison as_of row_age_cutoff as_of_unretained valid_as_of
valid_time_undeclared pin_bound unbounded_latest beneath_enforcement covering_versions interval_rows echo
declaration lag_fill live_since available_as_of bound_echo undeclared vintage_rows vintage_hash vintage_validation
vintage_dedup_key vintage_scope adjustment_factors
""".split()  # noqa: SIM905 - a list of words reads best as words


def test_every_clause_of_seed_1_has_a_test_of_its_name() -> None:
    tests = "".join(
        (ROOT / "tests/store/tables" / f"test_{page}_time.py").read_text() for page in ("bound", "available")
    )
    assert [clause for clause in SEED_1 if f"def test_{clause}(" not in tests] == []
