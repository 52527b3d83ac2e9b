"""Documentation: what a page says, that nothing in it becomes markup, and that a browser finds what it searches
(Seed 2, "Generate Docs")."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from strata_core.contract_engine.authored import AuthoredContract, Governance
from strata_core.contract_engine.authored_tests import (
    AcceptedValues,
    FreshnessCheck,
    NotNull,
    Range,
    Referential,
    Regex,
    RowCount,
    Unique,
)
from strata_core.contract_engine.docs.blocks import Code, Folded, Part, Table, To
from strata_core.contract_engine.docs.boxes import cut
from strata_core.contract_engine.docs.documented import Documented, Reader, documented
from strata_core.contract_engine.docs.drawing import drawing
from strata_core.contract_engine.docs.edges import lineage
from strata_core.contract_engine.docs.expectations import in_words
from strata_core.contract_engine.docs.site import site
from strata_core.contract_engine.docs.stacked import stacked
from strata_core.contract_engine.observations import Observations, SeenRun, SeenSchema, SeenTest
from strata_core.contract_engine.pipeline import Checked
from strata_core.contract_engine.runtime_view import LineageEdge, ProductStatus, RuntimeView, ViewProvenance
from strata_core.contract_engine.serving.project import Known, project
from strata_core.contract_engine.serving.publish import TARGETS, Provenance, prepare, publish
from strata_core.frozen import replace

from .projects import ORDERS, PLACE, checked
from .test_cli import run

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SCREENSHOTS = Path(__file__).resolve().parents[2] / ".generated" / "screenshots"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FULL = """\
apiVersion: strata/v0
kind: DataProductContract
id: shop.orders
name: Orders
version: 1.0.0
status: active
layer: silver
domain: shop
owner: {team: order-team, contact: "#orders", approvers: [head-of-orders]}
purpose: Every paid order.
usage:
  intended: [billing]
  prohibited: [advertising]
assets:
  - id: orders
    kind: table
    description: One row per order.
    freshness: {max_age: 24h}
    columns:
      - {name: order_id, type: int64, primary_key: true, description: Number of the order.}
      - {name: amount, type: "decimal(10,2)", nullable: false, protected: true, description: Gross amount.}
      - {name: email, type: string, classification: restricted, mask: hash, description: Where the bill goes.}
      - {name: country, type: string, enum: [DE, NO], description: Where it is sent.}
semantics:
  grain: one row per order
  entities: [{name: order, keys: [orders.order_id]}]
  measures: [{name: revenue, column: orders.amount, unit: money, currency: EUR, aggregation: sum}]
tests:
  - id: amounts_are_positive
    kind: expectation
    severity: blocking
    asset: orders
    expectation: {type: range, column: amount, min: 0}
  - {id: no_orphans, kind: sql, severity: degrading, sql: "select * from orders where country = '<b>'"}
  - {id: secret_trial, kind: sql, severity: experimental, sql: "select * from orders where amount > 7777"}
governance:
  classification: restricted
  retention: {period: 52w, basis: tax law}
  residency: [EU]
  lawful_basis: contract
agent_permissions:
  - {agent: analyst, actions: [query], purpose: monthly report, constraints: {row_limit: 500, masked: true}}
"""
BILLS = (
    ORDERS.replace("shop.orders", "shop.bills")
    .replace("name: Orders", "name: Bills")
    .replace("id: orders", "id: bills")
    + "lineage: {upstream: [{product: shop.orders}]}\n"
)
SEEN = Observations(
    tests=(
        SeenTest("shop.orders", "amounts_are_positive", "failed", "2026-11-30T10:00:00Z", 3, "3 rows are negative"),
        SeenTest("shop.orders", "secret_trial", "failed", None, 9, "experiment"),
    ),
    schemas=(SeenSchema("orders", (("order_id", "int64", False), ("email", "string", True))),),
    runs=(SeenRun("orders", "run 7", "succeeded", "2026-11-28T10:00:00Z"),),
)


def files_of(found: Checked, seen: Observations = SEEN) -> Mapping[str, str]:
    around = Known(found.parsed, seen, found.collated.candidates)
    views = {c.id: project(c, around, found.promotions.get(c.id), "0.1.0", NOW) for c in found.collated.candidates}
    return {path: content.decode() for path, content in site(documented(found, views)).items()}


@pytest.fixture
def shop(tmp_path: Path) -> Mapping[str, str]:
    return files_of(checked(tmp_path, {PLACE: FULL, "contracts/shop/bills/contract.yaml": BILLS}))


class Words(HTMLParser):
    """The text of each section of a page, and its ids and links."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.sections: dict[str, str] = {"": ""}
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.at = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        if tag == "section" and (section := found.get("id")):
            self.at = section
            self.sections[section] = ""
        if id_ := found.get("id"):
            self.ids.append(id_)
        if link := found.get("href"):
            self.links.append(link)

    def handle_data(self, data: str) -> None:
        self.sections[self.at] += f"{data} "

    def handle_endtag(self, tag: str) -> None:
        if tag == "section":
            self.at = ""


def words(text: str) -> str:
    return " ".join(text.split())


def test_seed2_docs_say_every_thing_that_the_seed_lists(shop: Mapping[str, str]) -> None:
    said = {name: words(text) for name, text in Words(shop["shop/orders.html"]).sections.items()}
    expected = {
        "overview": ["shop.orders", "silver", "shop", "order-team", "#orders", "active", "blocked", "3 rows are neg"],
        "usage": ["Meant for billing", "prohibited Not to be used for advertising"],
        "assets": [
            "One row per order.", "order_id int64 key never null", "decimal(10,2) never null protected Gross amount.",
            "email string may be null restricted masked: hash", "one of DE , NO",
            "`amount` is promised and not there",
        ],
        "semantics": ["Grain one row per order", "order orders. order_ id", "revenue orders. amount money EUR sum"],
        "freshness": ["orders 24h 2026-11-28 10:00 UTC stale succeeded: run 7"],
        "tests": [
            "amounts_ are_ positive orders : amount is at least 0 blocking failed 3 rows at 2026-11-30 10:00 UTC",
            "no_ orphans no row is wrong: SQL below degrading not run", "where country = '<b>'",
        ],
        "lineage": ["Bills the product shop.orders"],
        "governance": ["restricted", "52w (tax law)", "EU", "Lawful basis contract", "orders. email hash"],
        "agents": ["analyst query all assets monthly report 500 rows; masked values only"],
        "versions": ["1.0.0 is not promoted: first-version"],
        "provenance": ["contracts/ shop/ orders/ contract. yaml:17"],
    }  # fmt: skip
    missing = {
        (section, text)
        for section, texts in expected.items()
        for text in texts
        if text.replace(" ", "") not in said[section].replace(" ", "")
    }
    assert missing == set()


def test_seed2_experimental_tests_are_on_no_page(shop: Mapping[str, str]) -> None:
    assert [path for path, text in shop.items() if "secret_trial" in text or "7777" in text] == []


def test_seed2_docs_serve_agents(shop: Mapping[str, str]) -> None:
    told = json.loads(shop["shop/orders.json"])
    assert told["view"]["contract"]["usage"] == {"intended": ["billing"], "prohibited": ["advertising"]}
    assert told["values"]["assets[orders].columns[amount].type"] == "contract contracts/shop/orders/contract.yaml:21"
    assert told["readers"] == [{"product": "shop.bills", "asset": "*", "reads": "shop.orders"}]
    listed = "- [Orders](shop/orders.md): `shop.orders`, silver, active, blocked, version 1.0.0. Every paid order."
    assert f"{listed} Assets: orders. As data: [JSON](shop/orders.json)" in shop["llms.txt"]
    assert "| `order_id` | `int64` | *key* *never null* | Number of the order. |" in shop["shop/orders.md"]
    assert (
        "| `amounts_are_positive` | `orders`: amount is at least 0 | *blocking* | *failed* 3 rows"
        in (shop["shop/orders.md"])
    )


def test_links_lead_to_what_is_there(shop: Mapping[str, str]) -> None:
    pages = {path: Words(text) for path, text in shop.items() if path.endswith(".html")}
    broken = []
    for path, page in pages.items():
        assert len(page.ids) == len(set(page.ids)), path
        for link in page.links:
            where, _, anchor = link.partition("#")
            target = path if not where else _resolved(path, where)
            if target not in shop or (anchor and anchor not in pages[target].ids):
                broken.append((path, link))
    assert broken == []


def _resolved(path: str, link: str) -> str:
    parts = path.split("/")[:-1]
    for step in link.split("/"):
        parts = parts[:-1] if step == ".." else [*parts, step]
    return "/".join(parts)


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{data}}|`*["


def test_nothing_that_people_wrote_becomes_markup(tmp_path: Path) -> None:
    quoted = json.dumps(HOSTILE)
    contract = (
        FULL.replace("Every paid order.", quoted)
        .replace("name: Orders", f"name: {quoted}")
        .replace("One row per order.", quoted)
        .replace("{name: country,", f"{{name: {quoted},")
        .replace("team: order-team", f"team: {quoted}")
        .replace("advertising", quoted)
    )
    found = checked(tmp_path, {PLACE: contract, "contracts/shop/bills/contract.yaml": BILLS})
    assert found.collated.by_id["shop.orders"].sound
    plain = files_of(checked(tmp_path / "plain", {PLACE: FULL, "contracts/shop/bills/contract.yaml": BILLS}))
    shown = files_of(found)
    for path in ("index.html", "shop/orders.html"):
        tags = Words(shown[path]).tags
        assert (tags.count("script"), tags.count("img")) == (Words(plain[path]).tags.count("script"), 0)
        assert HOSTILE.partition("{{")[0] in Words(shown[path]).sections[""]
    assert "<script" not in re.sub(r"\\.|`[^`\n]*`", "", shown["shop/orders.md"])
    # The name of a column cannot leave its id or its link.
    assert not [i for i in Words(shown["shop/orders.html"]).ids if re.search(r"[^A-Za-z0-9_.~-]", i)]


def test_no_text_of_a_contract_steers_a_terminal_or_turns_the_writing_of_a_page(tmp_path: Path) -> None:
    odd = "a\\e[31mb\\a\\u202Ec"
    sql = f'tests: [{{id: t, kind: sql, severity: blocking, sql: "select * from orders -- {odd}"}}]\n'
    text = ORDERS.replace("name: Orders", f'name: "{odd}"') + f'purpose: "{odd}"\n{sql}'
    files = files_of(checked(tmp_path, {PLACE: text}))
    assert sorted(files) == ["index.html", "llms.txt", "shop/orders.html", "shop/orders.json", "shop/orders.md"]
    for path, page_ in files.items():
        assert not re.search("[\x1b\x07]", page_), path
        assert ("\u202e" in page_) == (path == "shop/orders.json")
        assert path.endswith("json") or "a␛[31mb␇�c" in page_.replace("\\[", "[") or path == "index.html"
    assert json.loads(files["shop/orders.json"])["view"]["contract"]["name"] == "a\x1b[31mb\x07\u202ec"


def test_one_of_a_thing_is_told_as_one(tmp_path: Path) -> None:
    agents = "agent_permissions:\n" + "".join(
        f"  - {{agent: {name}, actions: [query], constraints: {{row_limit: {limit}}}}}\n"
        for name, limit in (("one", 1), ("many", 10000))
    )
    page_ = files_of(checked(tmp_path, {PLACE: ORDERS + agents}))["shop/orders.html"]
    for said in (">Made of 1 file<", ">1 row<", ">10,000 rows<"):
        assert said in page_


def test_a_product_may_be_drawn_on_both_sides_and_its_own_steps_are_not_drawn() -> None:
    contract = AuthoredContract.of(
        {
            **{"apiVersion": "strata/v0", "kind": "DataProductContract", "id": "a.b", "name": "B", "version": "1.0.0"},
            **{"status": "draft", "layer": "gold", "domain": "a", "owner": {"team": "t"}},
            "assets": [{"id": "x", "kind": "table"}, {"id": "y", "kind": "table"}],
        }
    )
    edges = (
        LineageEdge("x", "up", "compiled", "a.other"),
        LineageEdge("y", "x", "compiled", "a.b"),
        LineageEdge("*", "raw<1>", "declared"),
    )
    view = RuntimeView(
        *("strata/v0", "DataProductRuntimeView", "a.b", "1.0.0"),
        ViewProvenance((), "0"),
        contract,
        ProductStatus("healthy"),
        Governance(),
        lineage=edges,
    )
    drawn = drawing(Documented(view, {}, (), {}, (), (Reader("a.other", "down", "y"),)), {"a.b": "B", "a.other": "O"})
    assert re.findall(r"</title>([^<]*)</text>", drawn) == [
        *("a.other", "up", "raw&lt;1&gt;"),
        *("B", "x", "y"),
        *("a.other", "down"),
    ]
    assert drawn.count("<path") == 3
    assert 'aria-label="Lineage of B. Made of: 2. Read by: 1."' in drawn


def test_of_many_products_on_a_side_those_of_a_domain_are_one_box() -> None:
    contract = AuthoredContract.of(
        {
            **{"apiVersion": "strata/v0", "kind": "DataProductContract", "id": "a.b", "name": "B", "version": "1.0.0"},
            **{"status": "draft", "layer": "gold", "domain": "a", "owner": {"team": "t"}},
            "assets": [{"id": "x", "kind": "table"}],
        }
    )
    edges = (
        *(LineageEdge("*", f"d{n % 2}.p{n}", "declared", f"d{n % 2}.p{n}") for n in range(50)),
        LineageEdge("*", "raw", "declared"),
    )
    view = RuntimeView(
        *("strata/v0", "DataProductRuntimeView", "a.b", "1.0.0"),
        ViewProvenance((), "0"),
        contract,
        ProductStatus("healthy"),
        Governance(),
        lineage=edges,
    )
    drawn = drawing(Documented(view, {}, (), {}, (), ()), {"a.b": "B", "d0.p0": "P"})
    texts = re.findall(r"</title>([^<]*)</text>", drawn)
    assert texts[:3] == ["d0", "p0", "p10"]
    assert texts[16:18] == ["and 10 more", "d1"]
    assert texts[34:] == ["outside of products", "raw", "B", "x"]
    assert drawn.count("<path") == 3
    assert drawn.count("<a href=") == 1
    assert re.search(r'<a href="{{d0.p0}}"><text [^>]*><title>p0</title>', drawn)
    height = re.search(r'height="(\d+)"', drawn)
    assert height is not None
    assert int(height[1]) < 1500
    assert 'aria-label="Lineage of B. Made of: 51. Read by: 0."' in drawn


def test_the_lineage_of_a_hub_is_told_by_domain_and_opened_on_demand() -> None:
    contract = AuthoredContract.of(
        {
            **{"apiVersion": "strata/v0", "kind": "DataProductContract", "id": "a.b", "name": "B", "version": "1.0.0"},
            **{"status": "draft", "layer": "gold", "domain": "a", "owner": {"team": "t"}},
            "assets": [{"id": "x", "kind": "table"}, {"id": "y", "kind": "table"}],
        }
    )
    made_of = tuple(LineageEdge(asset, "up", "compiled", "c.up") for asset in ("x", "y"))
    view = RuntimeView(
        *("strata/v0", "DataProductRuntimeView", "a.b", "1.0.0"),
        ViewProvenance((), "0"),
        contract,
        ProductStatus("healthy"),
        Governance(),
        lineage=(*made_of, LineageEdge("*", "raw", "declared")),
    )
    edges = [(n, asset) for n in range(15) for asset in ("x", "y")]
    readers = (
        *(Reader(f"d{n % 2}.p{n}", f"t{n}", asset) for n, asset in edges),
        Reader("d0.p0", "*", "a.b"),
        Reader("d2.q", "*", "a.b"),
    )
    blocks = list(lineage(Documented(view, {}, (), {}, (), readers), {"c.up": "Up"}))
    made, read = (block for block in blocks if isinstance(block, Part))
    assert (made.anchor, made.heading, read.heading) == ("lineage~made-of", ("Made of",), ("Read by",))
    (above,), folded = made.blocks, read.blocks
    assert isinstance(above, Table)
    assert [row.cells for row in above.rows] == [
        ((Code("up"),), (To("c.up", "Up"),), (Code("x"), ", ", Code("y")), ("compiled",)),
        ((Code("raw"),), ("",), ("the product",), ("declared",)),
    ]
    titles = [block.title for block in folded if isinstance(block, Folded)]
    assert titles == ["8 products of d0", "7 products of d1", "1 product of d2"]
    tables = [inner for block in folded if isinstance(block, Folded) for inner in block.blocks]
    assert [len(table.rows) for table in tables if isinstance(table, Table)] == [8, 7, 1]
    assert isinstance(tables[0], Table)
    first = tables[0].rows[0].cells
    assert first == ((To("d0.p0", "d0.p0"),), (Code("t0"),), (Code("x"), ", ", Code("y")))


def test_on_a_phone_what_a_product_is_made_of_stands_above_it_and_who_reads_it_below() -> None:
    contract = AuthoredContract.of(
        {
            **{"apiVersion": "strata/v0", "kind": "DataProductContract", "id": "a.b", "name": "B", "version": "1.0.0"},
            **{"status": "draft", "layer": "gold", "domain": "a", "owner": {"team": "t"}},
            "assets": [{"id": f"x{n}", "kind": "table"} for n in range(9)],
        }
    )
    view = RuntimeView(
        *("strata/v0", "DataProductRuntimeView", "a.b", "1.0.0"),
        ViewProvenance((), "0"),
        contract,
        ProductStatus("healthy"),
        Governance(),
        lineage=(LineageEdge("x1", "up", "compiled", "a.other"), LineageEdge("*", "raw", "declared")),
    )
    product = Documented(view, {}, (), {}, (), (Reader("a.down", "d", "x1"),))
    drawn = stacked(product, {"a.b": "B", "a.other": "O"})
    assert re.findall(r"</title>([^<]*)</text>", drawn) == [
        *("a.other", "up", "raw"),
        *("B", "x0", "x1", "x2", "x3", "x4", "and 4 more"),
        *("a.down", "d"),
    ]
    tops = [float(y) for y in re.findall(r'<rect x="24" y="([\d.]+)"', drawn)]
    assert tops == [1, 67, 125, 327]
    assert re.findall(r'<path d="([^"]*)"', drawn) == [
        "M24 15H6",
        "M24 81H6",
        "M6 15V139H22l-5 -4m5 4l-5 4",
        "M24 287H6V341",
        "M6 341H22l-5 -4m5 4l-5 4",
    ]
    assert 'class="narrow" viewBox="0 0 301 384"' in drawn
    alone = stacked(Documented(replace(view, lineage=()), {}, (), {}, (), ()), {})
    assert (alone.count("<rect"), alone.count("<path")) == (1, 0)


def test_long_names_of_a_family_are_told_apart_in_the_drawing() -> None:
    assert [cut(f"a_rather_long_name_of_a_product_{n:04d}") for n in (1, 2)] == [
        "a_rather_long_name_of…product_0001",
        "a_rather_long_name_of…product_0002",
    ]


def test_pages_load_nothing(shop: Mapping[str, str]) -> None:
    for path, text in shop.items():
        if path.endswith(".html"):
            assert "default-src 'none'" in text
            assert not re.search(r"https?://|//cdn|@import|url\(|<link|src=|fetch\(|XMLHttpRequest", text), path


def test_the_same_contracts_give_the_same_files(tmp_path: Path) -> None:
    files = {PLACE: FULL, "contracts/shop/bills/contract.yaml": BILLS}
    assert files_of(checked(tmp_path / "a", files)) == files_of(checked(tmp_path / "b", files))


def test_expectations_in_words() -> None:
    assert [
        in_words(NotNull("not_null", ("a", "b"))),
        in_words(Unique("unique", ("a",))),
        in_words(AcceptedValues("accepted_values", "a", (1, "x"))),
        in_words(Range("range", "a", 1, 2)),
        in_words(Range("range", "a", max=2)),
        in_words(Regex("regex", "a", "x+")),
        in_words(RowCount("row_count", 1)),
        in_words(FreshnessCheck("freshness", "at", "24h")),
        in_words(Referential("referential", ("a",), ("b.c",))),
    ] == [
        "a and b are never null",
        "a names one row",
        "a is one of 1, x",
        "a is between 1 and 2",
        "a is at most 2",
        "a matches x+",
        "the number of rows is at least 1",
        "the latest at is at most 24h old",
        "a is found in b.c",
    ]


def test_seed2_publish_writes_docs_with_the_version_that_is_promoted_now(tmp_path: Path) -> None:
    found = checked(tmp_path, {PLACE: FULL})
    publish(
        prepare(found, (), Observations(), Provenance("ana", "c0ffee", "0.1.0", NOW)),
        TARGETS,
        found.setting.root / "out",
    )
    page = (tmp_path / "out" / "current" / "docs" / "shop" / "orders.html").read_text(encoding="utf-8")
    said = words(Words(page).sections["versions"])
    assert said.startswith("Versions Versions version verdict promoted by commit 1. 0. 0 first-")
    assert "is not promoted" not in said


def test_docs_on_the_command_line(tmp_path: Path) -> None:
    found = checked(tmp_path, {PLACE: FULL, "contracts/shop/bills/contract.yaml": BILLS})
    root = str(found.setting.root)
    done = run("docs", "--project", root, "--out", str(tmp_path / "site"))
    assert (done[0], done[2]) == (0, f"2 products documented in {tmp_path}/site/index.html\n")
    one = run("docs", "--project", root, "--contract", str(tmp_path / PLACE), "--out", str(tmp_path / "one"))
    assert one[0] == 0
    assert sorted(p.name for p in (tmp_path / "one").rglob("*.html")) == ["index.html", "orders.html"]


def test_docs_of_a_contract_that_does_not_hold_say_what_is_wrong(tmp_path: Path) -> None:
    found = checked(tmp_path, {PLACE: FULL.replace("type: int64", "type: int65")})
    code, _, err = run("docs", "--project", str(found.setting.root), "--out", str(tmp_path / "s"))
    assert code == 1
    assert "`int65` is no type" in err
    assert "No product is documented yet." in (tmp_path / "s" / "index.html").read_text()


@pytest.mark.slow
@pytest.mark.browser
def test_a_browser_searches_and_finds(shop: Mapping[str, str], tmp_path: Path) -> None:
    assert CHROMIUM, "the browser tests need chromium (apt-get install chromium)"
    for path, text in shop.items():
        place = tmp_path / "site" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    found = _seen(tmp_path, "index.html?q=bill+goes", "docs-found")
    assert 'role="status">1 product found<' in found
    assert "shop/orders.html#orders.email" in Words(found).links
    assert re.findall(r'<li class="card" data-id="([^"]*)">', found) == ["shop.orders"]
    nothing = _seen(tmp_path, "index.html?q=zebra", "docs-nothing")
    assert 'role="status">0 products found<' in nothing
    page = _seen(tmp_path, "shop/orders.html", "docs-product")
    assert 'aria-current="true"' in page  # the script ran under the page's policy


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("size", ["1280,1000", "500,1000"])
def test_a_browser_keeps_long_names_and_addresses_within_the_page(tmp_path: Path, size: str) -> None:
    assert CHROMIUM, "the browser tests need chromium (apt-get install chromium)"
    columns = "".join(
        f"      - {{name: {'long_' * 20}{n}, type: string, enum: [{'D' * 60}],"
        f" derived_from: {{columns: [orders.email]}}, description: 'See https://example.com/{'a' * 120}'}}\n"
        for n in range(200)
    )
    wide = FULL.replace("semantics:\n", f"{columns}semantics:\n", 1)
    page = files_of(checked(tmp_path / "p", {PLACE: wide}))["shop/orders.html"]
    # The page's policy runs no script but its own; here another one measures it.
    measured = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    measured += "<script>document.title = `${document.documentElement.scrollWidth} of ${innerWidth}`</script>"
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "wide.html").write_text(measured, encoding="utf-8")
    told = re.search(r"<title>(\d+) of (\d+)</title>", _seen(tmp_path, "wide.html", f"docs-wide-{size[:4]}", size))
    assert told is not None
    assert int(told[1]) <= int(told[2])


def _seen(folder: Path, address: str, name: str, size: str = "1280,1000") -> str:
    """The page's text after its scripts ran; a screenshot of it is kept."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    command = (
        CHROMIUM or "",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        f"--window-size={size}",
        "--virtual-time-budget=10000",
        f"--user-data-dir={folder / name}",
        f"--screenshot={SCREENSHOTS / name}.png",
        "--dump-dom",
        f"file://{folder / 'site' / address}",
    )
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
