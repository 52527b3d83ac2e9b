"""What people really get wrong: each is told at its place, and hides nothing else (issue 6, "Bad input")."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from strata_core.contract_engine.pipeline import check, open_setting
from strata_core.contract_engine.yaml_text import MOST_BYTES, read_yaml
from strata_core.diagnostics import Diagnostic, StrataError

from .projects import ORDERS, PLACE, TODAY, checked, line, told, write

TWIN = {"contracts/shop/returns/contract.yaml": ORDERS.replace("shop.orders", "shop.returns")}
GOOD = {place: text.replace("- id: orders", "- id: returns") for place, text in TWIN.items()}

WRONG = [
    ("bad indentation", ORDERS + "purpose: a\n  b: c\n", "E101", 17, 4),
    ("an item that begins elsewhere", ORDERS.replace("    kind: table", "   kind: table"), "E101", 12, 4),
    ("tabs", ORDERS + "usage:\n\tintended: [a]\n", "E101", 17, 1),
    ("a quote that is not closed", ORDERS + "purpose: 'a\n", "E101", 17, 1),
    ("duplicate keys", ORDERS + "name: Again\n", "E102", 16, 1),
    ("an alias that holds itself", ORDERS + "extensions:\n  a: &a [*a]\n", "E103", 17, 6),
    ("a wrong type", ORDERS.replace("name: Orders", "name: [Orders]"), "E105", 4, 7),
    ("a Norway boolean", ORDERS.replace("primary_key: true", "primary_key: yes"), "E105", 14, 52),
    ("an unquoted version", ORDERS.replace("0.1.0", "1.0"), "E105", 5, 10),
    ("a version of two parts", ORDERS.replace("0.1.0", '"1.0"'), "E107", 5, 10),
    ("an unknown field", ORDERS + "purpos: a\n", "E104", 16, 1),
    ("a missing owner", ORDERS.replace("owner: {team: orders, approvers: [head-of-orders]}\n", ""), "E106", 1, 1),
    ("an empty value", ORDERS + "purpose:\n", "E105", 16, 9),
    ("an enum that is no list", ORDERS + "      - {name: s, type: string, enum: a}\n", "E105", 16, 39),
    (
        "a dangling asset",
        ORDERS + "agent_permissions: [{agent: a, actions: [read], assets: [odrers]}]\n",
        "E122",
        16,
        58,
    ),
    ("an upstream that is not there", ORDERS + "lineage: {upstream: [{product: shop.carts}]}\n", "E122", 16, 32),
    ("a mask of texts on a number", ORDERS.replace("int64,", "int64, mask: partial(4),"), "E070", 14, 45),
    ("a type that is none", ORDERS.replace("int64", "bigint"), "E072", 14, 32),
    ("an absolute path as location", ORDERS.replace("table\n", "table\n    location: /x.csv\n"), "E109", 13, 15),
    ("a location out of the tree", ORDERS.replace("table\n", "table\n    location: a/../../x\n"), "E109", 13, 15),
    ("an absolute path as id", ORDERS.replace("id: shop.orders", "id: /etc/passwd"), "E107", 3, 5),
    ("a path out of the tree as id", ORDERS.replace("id: shop.orders", "id: ../../x"), "E107", 3, 5),
    (
        "several statements",
        ORDERS + "tests: [{id: t, kind: sql, severity: blocking, sql: 'select 1; select 2'}]\n",
        "E140",
        16,
        53,
    ),
    ("a write", ORDERS + "tests: [{id: t, kind: sql, severity: blocking, sql: 'drop table orders'}]\n", "E140", 16, 53),
    (
        "another table",
        ORDERS + "tests: [{id: t, kind: sql, severity: blocking, sql: 'select 1 from carts'}]\n",
        "E140",
        16,
        53,
    ),
    (
        "a file function",
        ORDERS + "tests: [{id: t, kind: sql, severity: blocking, sql: \"from read_csv('/etc/passwd')\"}]\n",
        "E140",
        16,
        53,
    ),
    ("a list as the whole file", "- a\n- b\n", "E105", 1, 1),
    ("an empty file", "", "E106", 1, 1),
    ("no UTF-8", "name: caf\xe9\n".encode("latin-1"), "E100", 1, 10),
    ("a second document", ORDERS + "---\nid: shop.carts\n", "E101", 16, 1),
    ("a second document that is empty", ORDERS + "--- # end\n", "E101", 16, 1),
    ("a first document that is empty", "---\n---\n" + ORDERS, "E101", 2, 1),
    ("another format", '[project]\nname = "p"\n', "E101", 2, 1),
    ("what follows the end of the document", ORDERS + "...\npurpose: To know.\n", "E101", 17, 1),
    ("a control character", "name: a\x00b\n", "E101", 1, 8),
]


@pytest.mark.parametrize(("text", "code", "line", "column"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_seed2_what_is_wrong_is_told_at_its_place(
    tmp_path: Path, text: str | bytes, code: str, line: int, column: int
) -> None:
    found = checked(tmp_path, {PLACE: text, **GOOD})
    assert f"{code} {PLACE}:{line}:{column}" in [" ".join(told_at(d)) for d in found.diagnostics]
    assert {d.span.file for d in found.diagnostics if d.span} == {PLACE}
    assert all(d.fix for d in found.diagnostics)
    assert "shop.returns" in found.validated.compatibility


def told_at(diagnostic: Diagnostic) -> tuple[str, str]:
    return diagnostic.code, str(diagnostic.span)


@pytest.mark.parametrize("type_", ["decimal(10,2)", "map(string, int64)", "array(map(string, int64))"])
def test_a_comma_that_cuts_a_type_in_two_is_told_once_with_the_quotes_that_it_needs(tmp_path: Path, type_: str) -> None:
    text = ORDERS.replace('type: "decimal(10,2)"', f"type: {type_}, nullable: false")
    (found,) = checked(tmp_path, {PLACE: text}).diagnostics
    cut, _, rest = type_.partition(",")
    assert (line(found), found.fix) == (f"E101 {PLACE}:15:30", f'put it in quotes: `"{cut},{rest.strip()}"`')
    assert found.message == f"the comma ends the value: this is `{cut}`, and a field `{rest.strip()}`"


def test_a_second_document_is_told_where_it_begins(tmp_path: Path) -> None:
    (found,) = checked(tmp_path, {PLACE: ORDERS + "---\n" + ORDERS.replace("orders", "carts")}).diagnostics
    assert found.message == "a second YAML document begins here: a file holds one, and nothing of this file is read"
    assert found.fix == (
        "move what follows the `---` into a file of its own; where both belong together, remove the `---`"
    )
    assert [(str(r.span), r.message) for r in found.related] == [(f"{PLACE}:1:1", "the first one begins here")]


def test_the_fix_says_what_would_be_accepted() -> None:
    """Words of YAML 1.1 and numbers that were texts."""
    found: list[Diagnostic] = []
    text = ORDERS.replace("0.1.0", "1.10").replace("primary_key: true", "primary_key: no")
    from strata_core.contract_engine.schemas import AUTHORED
    from strata_core.contract_engine.shapes import shaped

    document = read_yaml("c.yaml", text.encode(), found.append)
    assert document is not None
    shaped(document, AUTHORED, found.append)
    assert [d.fix for d in found] == [
        "write `1.10.0`",
        "write `false`: YAML 1.2 knows no other words for it",
    ]


@pytest.mark.parametrize(
    ("was", "wrong", "fix"),
    [
        ("layer: bronze", "layer: Bronze", "write `bronze`"),
        ("version: 0.1.0", "version: v0.1.0", "write `0.1.0`"),
        ("version: 0.1.0", "version: next", "write it like `1.0.0`"),
        ("id: shop.orders", "id: Shop.Orders", "write `shop.orders`"),
        ("kind: table\n", "kind: table\n    freshness: {max_age: 24}\n", "write it like `24h`"),
        ("kind: table\n", "kind: table\n    freshness: {max_age: 1 day}\n", "write it like `24h`"),
        ("type: int64", "type: int64, mask: partial(0)", "write it like `hash` or `partial(4)`"),
        (
            "type: int64",
            "type: int64, mask: partial(4)",
            "use `hash`, `null` or `drop`; `partial` is for columns of type string or uuid",
        ),
        ("team: orders", "team: 12", 'put it in quotes: `"12"`'),
    ],
)
def test_the_fix_is_accepted_where_it_is_plain_what_was_meant(tmp_path: Path, was: str, wrong: str, fix: str) -> None:
    found = checked(tmp_path, {PLACE: ORDERS.replace(was, wrong, 1)}).diagnostics
    assert fix in [d.fix for d in found]


def test_yaml_is_read_by_the_core_schema_of_1_2() -> None:
    text = "a: no\nb: 1:30\nc: 012\nd: 1.10\ne: 0o17\nf: 0x1F\ng: ~\nh: TRUE\ni: 1e3\nj: NO\nk: '1'\nl: 1_000\n"
    document = read_yaml("c.yaml", text.encode(), lambda d: pytest.fail(str(d)))
    assert document is not None
    assert document.data == {
        "a": "no",
        "b": "1:30",
        "c": 12,
        "d": 1.1,
        "e": 15,
        "f": 31,
        "g": None,
        "h": True,
        "i": 1000.0,
        "j": "NO",
        "k": "1",
        "l": "1_000",
    }
    assert document.written[("c",)] == "012"
    assert document.written[("d",)] == "1.10"


def test_an_alias_bomb_is_told_at_once() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]")
    found: list[Diagnostic] = []
    assert read_yaml("c.yaml", "\n".join(lines).encode(), found.append) is None
    assert [d.code for d in found] == ["E103"]


def test_a_file_of_100_megabytes_is_not_read(tmp_path: Path) -> None:
    huge = tmp_path / PLACE
    huge.parent.mkdir(parents=True)
    with open(huge, "wb") as file:
        file.truncate(100 * 1024 * 1024)
    assert told(tmp_path, GOOD) == [f"E100 {PLACE}:1:1"]
    assert huge.stat().st_size > MOST_BYTES


@pytest.mark.parametrize(
    ("name", "what"), [("dump.sql", "a SQL file"), ("rows.py", "a Python file"), ("seeds.yml", "a YAML file")]
)
def test_a_file_that_is_too_large_to_be_looked_at_for_a_fragment_is_told(tmp_path: Path, name: str, what: str) -> None:
    assert told(tmp_path / "a", {PLACE: ORDERS, f"models/{name}": b"#" * MOST_BYTES}) == []
    (found,) = checked(tmp_path / "b", {PLACE: ORDERS, f"models/{name}": b"#" * (MOST_BYTES + 1)}).diagnostics
    assert (line(found), found.blocks) == (f"E100 models/{name}:1:1", False)
    assert found.message == (
        f"the file has 4,194,305 bytes; of {what} that may bear a fragment at most 4,194,304 are read"
    )
    assert found.fix == (
        "split it, or keep it out of the folders of `[contract_engine] scan`, with a `*.contract.yaml` for its table"
    )


def test_two_contracts_for_one_id(tmp_path: Path) -> None:
    found = checked(tmp_path, {PLACE: ORDERS, "contracts/shop/carts/contract.yaml": ORDERS})
    first, second = (d for d in found.diagnostics)
    assert [told_at(d) for d in (first, second)] == [
        ("E115", "contracts/shop/carts/contract.yaml:3:5"),
        ("E113", f"{PLACE}:3:5"),
    ]
    assert str(second.related[0].span) == "contracts/shop/carts/contract.yaml:3:5"


def test_products_in_a_circle(tmp_path: Path) -> None:
    made_of = "lineage: {{upstream: [{{product: shop.{}}}]}}\n"
    files = {
        f"contracts/shop/{name}/contract.yaml": ORDERS.replace("shop.orders", f"shop.{name}").replace(
            "id: orders", f"id: {name}"
        )
        + made_of.format(upstream)
        for name, upstream in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"))
    }
    (found,) = checked(tmp_path, files).diagnostics
    assert found.code == "E123"
    assert "shop.a → shop.b → shop.c → shop.a" in found.message


FRAGMENTS = [
    ("no target", "columns: [{name: amount}]\n", "E110 models/x.contract.yaml:1:1"),
    ("a product that is not there", "product: shop.odrers\n", "E112 models/x.contract.yaml:1:10 product"),
    ("an asset that is not there", "product: shop.orders\nasset: carts\n", "E112 models/x.contract.yaml:2:8 asset"),
    ("an asset of nobody", "asset: carts\n", "E112 models/x.contract.yaml:1:8 asset"),
    ("an unknown field", "product: shop.orders\nowner: {team: a}\n", "E104 models/x.contract.yaml:2:1 owner"),
]


@pytest.mark.parametrize(("text", "expected"), [f[1:] for f in FRAGMENTS], ids=[f[0] for f in FRAGMENTS])
def test_seed2_a_fragment_declares_its_target(tmp_path: Path, text: str, expected: str) -> None:
    assert told(tmp_path, {PLACE: ORDERS, **GOOD, "models/x.contract.yaml": text}) == [expected]


def test_seed2_a_fragment_of_a_table_that_two_products_have_says_which_is_meant(tmp_path: Path) -> None:
    found = told(tmp_path, {PLACE: ORDERS, **TWIN, "models/x.contract.yaml": "asset: orders\n"})
    assert found == [
        "W115 contracts/shop/returns/contract.yaml:11:9 assets[orders].id",
        "E111 models/x.contract.yaml:1:8 asset",
    ]


def test_a_fragment_at_one_model_that_names_another(tmp_path: Path) -> None:
    contract = ORDERS + "  - {id: carts, kind: dbt_model}\n"
    yml = "models:\n  - name: carts\n    meta:\n      contract: {asset: orders}\n"
    assert told(tmp_path, {PLACE: contract, "models/s.yml": yml}) == ["E111 models/s.yml:4:25 asset"]


def test_a_truncated_manifest(tmp_path: Path) -> None:
    manifest = json.dumps({"metadata": {"dbt_schema_version": "https://x/dbt/manifest/v12.json"}, "nodes": {"a": {}}})
    toml = '[dbt]\nmanifest = "manifest.json"\n'
    found = checked(tmp_path, {PLACE: ORDERS, "manifest.json": manifest[:-8]}, toml)
    assert [told_at(d) for d in found.diagnostics] == [("E108", f"manifest.json:1:{len(manifest) - 8 + 1}")]
    assert "shop.orders" in found.validated.compatibility


@pytest.mark.parametrize(("version", "blocks", "read"), [("v9", True, 0), ("v13", False, 1), ("v0", True, 0)])
def test_a_manifest_of_an_unknown_version_is_told_and_a_newer_one_is_read(
    tmp_path: Path, version: str, blocks: bool, read: int
) -> None:
    head = {"dbt_schema_version": f"https://schemas.getdbt.com/dbt/manifest/{version}.json"}
    nodes = {"model.p.orders": {"resource_type": "model", "unique_id": "model.p.orders", "name": "orders"}}
    manifest = json.dumps({"metadata": head, "nodes": nodes})
    found = checked(tmp_path, {PLACE: ORDERS, "manifest.json": manifest}, '[dbt]\nmanifest = "manifest.json"\n')
    assert [told_at(d) for d in found.diagnostics] == [("E108", "manifest.json:1:1")]
    assert (found.diagnostics[0].blocks, len(found.parsed.generated)) == (blocks, read)


@pytest.mark.parametrize("entry", ["../elsewhere", "/etc", "a/../../b", "C:/x"])
def test_paths_out_of_the_project(tmp_path: Path, entry: str) -> None:
    toml = f'[contract_engine]\nscan = ["{entry}"]\n'
    assert told(tmp_path, {PLACE: ORDERS}, toml) == ["E109 strata.toml:4:1 contract_engine.scan"]


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("/var/promotions", "is committed with the contracts, and `/var/promotions` leads out of the project"),
        ("../promotions", "is committed with the contracts, and `../promotions` leads out of the project"),
        ("contracts", "has a folder of its own, and `contracts` has contracts in it"),
        ("contracts/", "has a folder of its own, and `contracts` has contracts in it"),
        (".", "has a folder of its own, and `.` has contracts in it"),
        ("contracts_promoted", None),
    ],
)
def test_the_promotion_record_lies_in_a_folder_of_its_own_inside_the_project(
    tmp_path: Path, place: str, why: str | None
) -> None:
    toml = f'[contract_engine]\npromotions = "{place}"\n'
    if why is None:
        assert told(tmp_path, {PLACE: ORDERS}, toml) == []
        return
    with pytest.raises(StrataError) as stopped:
        told(tmp_path, {PLACE: ORDERS}, toml)
    (one,) = stopped.value.diagnostics
    assert line(one) == "E073 strata.toml:4:1 contract_engine.promotions"
    assert one.message == f"the promotion record {why}"
    assert one.fix == "name a folder of its own inside the project, such as `contracts/.promotions`"


@pytest.mark.parametrize(
    ("entry", "what"),
    [("modles", "is not there"), ("models/a.sql", "is a file, and folders are named here")],
)
@pytest.mark.parametrize("key", ["project.contracts", "contract_engine.scan"])
def test_a_folder_of_the_configuration_that_is_none_is_told(tmp_path: Path, key: str, entry: str, what: str) -> None:
    section, _, name = key.partition(".")
    here = ["contracts"] if name == "contracts" else ["models"]
    lists = f"{name} = {json.dumps([*here, entry])}\n"
    toml = lists if section == "project" else f"[{section}]\n{lists}"
    (found,) = checked(tmp_path, {PLACE: ORDERS, "models/a.sql": "select 1"}, toml).diagnostics
    assert line(found) == f"W113 strata.toml:{3 if section == 'project' else 4}:1 {key}"
    assert found.message == f"`{entry}` {what}: nothing of it is read"
    assert found.fix == "name a folder of the project, or take it out of the list"
    assert not found.blocks


@pytest.mark.parametrize(
    ("rule", "expected", "message"),
    [
        ("contract.yaml", f"W116 {PLACE}:1:1", f"git ignores `{PLACE}`: nothing of it is read"),
        (
            "models/a.*",
            "W116 models/a.contract.yaml:1:1",
            "git ignores `models/a.contract.yaml`: nothing of it is",
        ),
        (
            "/contracts",
            "W116 contracts/shop/draft.contract.yml:1:1",
            f"git ignores `contracts/shop/draft.contract.yml`, `{PLACE}`: nothing of them is read",
        ),
        ("**/orders/", f"W116 {PLACE}:1:1", f"git ignores `{PLACE}`: nothing of it is read"),
        ("*.sql\nmodels/target/", None, ""),
    ],
)
def test_contract_files_that_git_ignores_are_told(
    tmp_path: Path, rule: str, expected: str | None, message: str
) -> None:
    fragment = "product: shop.orders\nasset: orders\n"
    files: dict[str, str | bytes] = {
        ".gitignore": f"{rule}\n",
        PLACE: ORDERS,
        "contracts/shop/draft.contract.yml": fragment,
        "models/a.contract.yaml": fragment,
        "models/b.sql": "select 1",
        "models/target/c.contract.yaml": fragment,  # a build folder may hold a million files: it is not looked into
    }
    found = [d for d in checked(tmp_path, files).diagnostics if d.code == "W116"]
    assert [line(d) for d in found] == ([] if expected is None else [expected])
    for one in found:
        assert one.message.startswith(message)
        assert one.span is not None
        assert one.fix == (
            f"`git check-ignore -v {one.span.file}` names the rule: except the file from it, or keep it elsewhere"
        )
        assert not one.blocks


def _pipe(place: Path) -> None:
    os.mkfifo(place)


def _link_to_folder(place: Path) -> None:
    place.symlink_to(place.parent.parent / "returns", target_is_directory=True)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (Path.mkdir, "it is a folder"),
        (_pipe, "it is neither a file nor a folder"),
        (_link_to_folder, "it is a folder"),
    ],
)
@pytest.mark.parametrize("path", [PLACE, "contracts/shop/orders/a.contract.yml", "models/b.contract.yaml"])
def test_what_is_called_as_a_file_of_contracts_and_is_none_is_told(
    tmp_path: Path, path: str, make: Callable[[Path], None], why: str
) -> None:
    write(tmp_path, {**GOOD, "models/returns/a.sql": "select 1"})
    place = tmp_path / path
    place.parent.mkdir(parents=True, exist_ok=True)
    if make is _link_to_folder and path.startswith("models"):
        place = tmp_path / "models/x/b.contract.yaml"
        place.parent.mkdir()
    make(place)
    (found,) = checked(tmp_path, {}).diagnostics
    assert line(found) == f"E100 {place.relative_to(tmp_path).as_posix()}:1:1"
    assert found.message == f"the file cannot be read: {why}"
    assert found.fix == "a contract is a file of YAML: put one in its place, or give it another name"
    assert found.blocks


def test_a_folder_called_as_a_contract_is_looked_into(tmp_path: Path) -> None:
    inside = PLACE.replace("orders/contract.yaml", "contract.yaml/orders/contract.yaml")
    found = checked(tmp_path, {inside: ORDERS})
    told_lines = [line(d) for d in found.diagnostics]
    assert told_lines == ["E100 contracts/shop/contract.yaml:1:1", f"E115 {inside}:3:5 id"]
    assert [c.file for c in found.collated.candidates] == [inside]


def test_nobody_waits_for_generated_metadata_that_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "events.jsonl")
    toml = '[contract_engine]\ngenerated = ["events.jsonl"]\n'
    (found,) = checked(tmp_path, {PLACE: ORDERS}, toml).diagnostics
    assert line(found) == "E100 events.jsonl:1:1"
    assert found.message == "the file cannot be read: it is neither a file nor a folder"


def test_a_folder_of_contracts_that_was_made_since_is_said_to_be_there(tmp_path: Path) -> None:
    write(tmp_path, {"strata.toml": '[project]\nname = "p"\n', "models/a.sql": "select 1"})
    (before,) = check(open_setting(tmp_path, TODAY)).diagnostics
    (tmp_path / "contracts").mkdir()
    (after,) = check(open_setting(tmp_path, TODAY)).diagnostics
    missing = "this project has no contract: there is no contract.yaml in `contracts`"
    assert (before.message, after.message) == (f"{missing} (which is not there)", missing)


def test_symbolic_links_that_leave_or_circle(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x.contract.yaml").write_text("product: shop.orders\nasset: nowhere\n")
    (project / "models" / "deep").mkdir(parents=True)
    (project / "models" / "out").symlink_to(tmp_path / "elsewhere")
    (project / "models" / "file.contract.yaml").symlink_to(tmp_path / "elsewhere" / "x.contract.yaml")
    (project / "models" / "deep" / "up").symlink_to(project / "models")
    (project / "models" / "self").symlink_to(project / "models" / "self")
    assert told(project, {PLACE: ORDERS}) == [
        "E109 models/deep/up:1:1",
        "E109 models/file.contract.yaml:1:1",
        "E109 models/out:1:1",
        "E109 models/self:1:1",
    ]


def test_a_file_that_may_not_be_read_hides_no_other(tmp_path: Path) -> None:
    (tmp_path / PLACE).parent.mkdir(parents=True)
    (tmp_path / PLACE).mkdir()
    found = checked(tmp_path, GOOD)
    assert "shop.returns" in found.validated.compatibility


def test_python_that_would_have_to_be_run_is_not_run(tmp_path: Path) -> None:
    python = """\
    from dagster import asset

    raise SystemExit("this file was run")

    @asset(metadata={"contract": {"product": PRODUCT}})
    def orders(): ...
    """
    assert told(tmp_path, {PLACE: ORDERS, "models/a.py": python}) == ["E110 models/a.py:5:42"]


def test_python_that_is_none(tmp_path: Path) -> None:
    python = "@asset(metadata={'contract': {}})\ndef orders(:\n"
    assert [t.split()[0] for t in told(tmp_path, {PLACE: ORDERS, "models/a.py": python})] == ["E101"]


def test_a_file_name_that_is_no_text_is_told_in_every_format(tmp_path: Path) -> None:
    from strata_core.diagnostics.exchange import render_github, render_junit, render_sarif
    from strata_core.diagnostics.render import render_json

    write(tmp_path, {PLACE: ORDERS})
    os.mkdir(os.fsencode(tmp_path / "models"))
    os.makedirs(os.path.join(os.fsencode(tmp_path), b"contracts", b"\xff"))
    with open(os.path.join(os.fsencode(tmp_path), b"models", b"\xfe.contract.yaml"), "wb") as file:
        file.write(b"a: [")
    found = checked(tmp_path, {}).diagnostics
    assert [told_at(d) for d in found] == [("E100", "contracts:1:1"), ("E100", "models:1:1")]
    for text in (render_sarif(found, "t", "1"), render_junit(found, [], "t"), render_github(found), render_json(found)):
        assert text.encode()
