"""`contract-engine` from the command line: what it prints, and with which code it ends."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from strata_core.cli.contracts.verbs import VERBS, contract_engine
from strata_core.contract_engine.yaml_text import read_yaml

from .projects import ORDERS, PLACE, write

LIVE = ORDERS.replace("0.1.0", "1.0.0").replace("draft", "active")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, {"strata.toml": '[project]\nname = "p"\n', PLACE: LIVE})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> tuple[int, str, str]:
    result: Result = CliRunner().invoke(contract_engine, list(arguments), standalone_mode=False)
    code = result.return_value if isinstance(result.return_value, int) else getattr(result.exception, "exit_code", 0)
    if result.exception is not None and not hasattr(result.exception, "exit_code"):
        raise result.exception
    return code, result.stdout, result.stderr


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=root, capture_output=True, check=True, text=True)
    return done.stdout.strip()


def committed(root: Path, message: str = "x") -> str:
    if not (root / ".git").exists():
        git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", message)
    return git(root, "rev-parse", "HEAD")


def test_help_names_every_verb(project: Path) -> None:
    code, out, _ = run("--help")
    assert code == 0
    assert all(verb in out for verb in VERBS)
    for verb in VERBS:
        assert run(verb, "--help")[0] == 0


def test_discover_lists_the_inventory(project: Path) -> None:
    assert run("discover")[:2] == (0, f"contract  {PLACE}\n")
    (one,) = json.loads(run("discover", "--format", "json")[1])
    assert (one["path"], one["kind"], len(one["sha256"])) == (PLACE, "contract", 64)


def test_validate_is_quiet_where_all_is_well(project: Path) -> None:
    code, out, err = run("validate")
    assert (code, out) == (0, "")
    assert err.startswith("1 contract, 1 input: 0 errors, 0 warnings (")
    assert run("validate", "-v")[1] == "shop.orders  1.0.0  bronze  first-version\n"


def test_validate_shows_the_line_and_ends_with_1(project: Path) -> None:
    write(project, {PLACE: LIVE.replace("int64", "bigint")})
    code, out, _ = run("validate")
    assert code == 1
    assert out == (
        "error[E072]: `bigint` is no type; types are int64, float64, string, bool, date, timestamp, uuid, json,"
        " decimal, money, array, map, struct\n"
        f"  --> {PLACE}:14:32\n"
        "   |\n"
        "14 |       - {name: order_id, type: bigint, primary_key: true}\n"
        "   |                                ^^^^^^\n"
        "   |\n"
        "   = help: write `int64`\n\n"
    )


def test_validate_for_other_programs(project: Path) -> None:
    write(project, {PLACE: LIVE + "purpos: x\n"})
    code, out, _ = run("validate", "--format", "json")
    (found,) = json.loads(out)
    assert (code, found["code"], found["field_path"], found["blocks"]) == (1, "E104", "purpos", True)
    assert json.loads(run("validate", "--format", "sarif")[1])["runs"][0]["results"][0]["ruleId"] == "E104"
    suite = ElementTree.fromstring(run("validate", "--format", "junit")[1])[0]
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("1", "1")
    assert run("validate", "--format", "github")[1].startswith(f"::error file={PLACE},line=16,col=1,")


def test_validate_shows_the_findings_of_one_contract(project: Path) -> None:
    other = "contracts/shop/returns/contract.yaml"
    write(project, {other: LIVE.replace("shop.orders", "shop.returns").replace("int64", "bigint")})
    assert run("validate", "--contract", PLACE)[0] == 0
    assert run("validate", "--contract", other)[0] == 1
    code, _, err = run("validate", "--contract", "contracts/shop/odrers/contract.yaml")
    assert code == 2
    assert f"did you mean `{PLACE}`?" in err


def test_a_configuration_that_is_not_valid_is_usage(project: Path) -> None:
    write(project, {"strata.toml": "[contract_engine]\nscan = 3\n"})
    code, _, err = run("validate")
    assert code == 2
    assert "E073" in err
    assert "strata.toml:2:1" in err


def test_project_prints_or_writes_the_view(project: Path) -> None:
    code, out, _ = run("project", "--contract", PLACE)
    assert (code, json.loads(out)["kind"]) == (0, "DataProductRuntimeView")
    assert run("project", "--out", "views")[0] == 0
    assert json.loads((project / "views/shop/orders.json").read_text())["id"] == "shop.orders"


@pytest.mark.parametrize("verb", ["project", "docs"])
def test_where_nothing_can_be_written_is_told(project: Path, verb: str) -> None:
    (project / "taken").write_text("a file where a folder should be")
    code, _, err = run(verb, "--out", "taken/below")
    assert code == 2
    assert "error[E073]: `taken/below/" in err
    assert "cannot be written: Not a directory" in err


def test_publish_wants_what_is_committed(project: Path) -> None:
    code, _, err = run("publish")
    assert code == 1
    assert "there is no commit" in err
    commit = committed(project)
    code, _, err = run("publish", "--by", "ana")
    assert (code, err.splitlines()[0]) == (0, "promoted shop.orders 1.0.0 (first-version)")
    view = json.loads((project / ".generated/contracts/current/views/shop/orders.json").read_text())
    assert (view["provenance"]["git_commit"], view["provenance"]["promoted_by"]) == (commit, "ana")
    write(project, {PLACE: LIVE.replace("1.0.0", "1.0.1").replace("name: Orders", "name: All orders")})
    code, _, err = run("publish")
    assert code == 1
    assert f"what is promoted is not what is committed: {PLACE}" in err
    assert run("validate", "-v")[1] == "shop.orders  1.0.1  bronze  patch-compatible, 1 change since 1.0.0\n"


def test_seed2_promotion_mode_asks_more_and_ci_mode_never_publishes(project: Path) -> None:
    assert run("validate")[0] == 0
    code, out, _ = run("validate", "--mode", "promotion", "--format", "json")
    assert (code, [d["code"] for d in json.loads(out)]) == (1, ["E160"])
    committed(project)
    assert run("validate", "--mode", "promotion")[0] == 0
    assert run("validate", "--mode", "promotion", "--contract", PLACE)[0] == 0
    assert not (project / ".generated").exists()
    assert not (project / "contracts" / ".promotions").exists()


def test_diff_between_revisions(project: Path) -> None:
    committed(project)
    other = "contracts/shop/returns/contract.yaml"
    write(project, {PLACE: LIVE.replace("1.0.0", "2.0.0").replace("decimal(10,2)", "decimal(8,2)")})
    write(project, {other: LIVE.replace("shop.orders", "shop.returns")})
    code, out, err = run("diff", "HEAD")
    assert (code, out) == (
        1,
        "shop.orders  1.0.0 → 2.0.0  major-breaking\n"
        "  major   assets[orders].columns[amount]: narrowed (type-narrowed)\n"
        "          - decimal(10,2)\n"
        "          + decimal(8,2)\n"
        "\n"
        "shop.returns  1.0.0  added\n"
        "\n",
    )
    assert err == "2 products changed from HEAD to the working tree\n"
    committed(project)
    code, out, _ = run("diff", "HEAD~1..HEAD", "--format", "json")
    found = json.loads(out)
    assert (code, [p["id"] for p in found["products"]]) == (1, ["shop.orders", "shop.returns"])
    assert found["products"][0]["changes"][0]["rule"] == "type-narrowed"
    assert run("diff", "HEAD..HEAD")[:2] == (0, "")
    assert run("diff", "nowhere..HEAD")[0] == 2


def test_diff_tells_a_product_that_was_renamed_and_says_nothing_of_a_file_that_was_moved(project: Path) -> None:
    write(project, {PLACE: LIVE})
    committed(project)
    moved = "contracts/sales/paid/contract.yaml"
    write(project, {moved: LIVE.replace("decimal(10,2)", "decimal(8,2)").replace("shop", "sales")})
    (project / PLACE).unlink()
    code, out, _ = run("diff", "HEAD")
    assert (code, out.splitlines()[:2]) == (
        1,
        [
            "sales.orders  1.0.0  renamed from shop.orders, major-breaking",
            "  major   assets[orders].columns[amount]: narrowed (type-narrowed)",
        ],
    )
    (product,) = json.loads(run("diff", "HEAD", "--format", "json")[1])["products"]
    assert (product["id"], product["renamed_from"], product["breaks"]) == ("sales.orders", "shop.orders", True)
    committed(project)
    write(project, {"contracts/sales/orders/contract.yaml": (project / moved).read_text()})
    (project / moved).unlink()
    assert run("diff", "HEAD")[:2] == (0, "")


def test_seed2_a_live_contract_that_is_removed_is_a_breaking_change(project: Path) -> None:
    write(project, {PLACE: LIVE})
    committed(project)
    assert run("publish", "--by", "ann")[0] == 0
    other = "contracts/shop/returns/contract.yaml"
    write(project, {other: LIVE.replace("shop.orders", "shop.returns").replace("1.0.0", "0.1.0")})
    (project / PLACE).unlink()
    code, out, _ = run("validate", "--format", "json")
    (found,) = json.loads(out)
    assert (code, found["code"], found["message"]) == (
        1,
        "E131",
        "`shop.orders` 1.0.0 is live, and its contract is gone",
    )
    assert found["span"]["file"] == "contracts/.promotions/00000000000000000001.json"
    # A contract that cannot be read may be the one that is missing.
    write(project, {PLACE: "id: [\n"})
    assert "E131" not in run("validate", "--format", "json")[1]
    # Draft products come and go.
    write(project, {PLACE: LIVE})
    committed(project)
    assert run("publish", "--by", "ann")[0] == 0
    (project / other).unlink()
    assert run("validate")[0] == 0


STRATA = """\
source people(csv: "people.csv") {
  columns: { id: int64 nonnull primary_key, country: string enum {ES, NO} }
}

model country -> contract Country {
  description: "People by country."
  from people
  group { country } ( aggregate { people = count() } )
}

contract Country { country: string, people: int64 nonnull }
"""


def test_init_drafts_a_contract_that_holds(project: Path) -> None:
    write(project, {"models/m.strata": STRATA})
    code, out, _ = run("init", "shop.people", "country", "people")
    assert code == 2
    code, out, _ = run("init", "shop.people", "country", "--layer", "silver")
    place = "contracts/shop/people/contract.yaml"
    assert (code, out) == (
        0,
        f"drafted {place}: fill in what is TODO, then `contract-engine validate --contract {place}`\n",
    )
    assert (
        (project / place)
        .read_text()
        .endswith(
            """\
owner:
  team: TODO
purpose: TODO
assets:
  - id: country
    kind: strata_model
    description: People by country.
    columns:
      - name: country
        type: string
      - name: people
        type: int64
        nullable: false
"""
        )
    )
    code, out, _ = run("validate", "--format", "json", "--contract", place)
    assert {d["code"] for d in json.loads(out)} == {"E120", "E124"}
    odd = STRATA.replace(
        "contract Country { country: string,", 'contract Country { country: string enum {ES, "on", "1e5", "0o7", "NO"},'
    )
    write(project, {"models/m.strata": odd})
    run("init", "shop.odd", "country")
    drafted = read_yaml("odd", (project / "contracts/shop/odd/contract.yaml").read_bytes(), pytest.fail)
    assert drafted is not None
    assert drafted.data["assets"][0]["columns"][0]["enum"] == ["ES", "on", "1e5", "0o7", "NO"]
    assert run("init", "shop.people", "country")[0] == 2
    assert run("init", "../x", "country")[0] == 2


def test_a_shell_completes_verbs_and_products(project: Path) -> None:
    write(project, {"contracts/shop/returns/contract.yaml": LIVE, "contracts/finance/costs/contract.yaml": "not: one"})

    def offered(*words: str) -> list[str]:
        shown = ShellComplete(contract_engine, {}, "contract-engine", "_CONTRACT_ENGINE_COMPLETE")
        return [one.value for one in shown.get_completions(list(words[:-1]), words[-1])]

    assert offered("va") == ["validate"]
    assert offered("validate", "--mode", "") == ["ci", "promotion", "suggestion"]
    assert offered("test", "shop.") == ["shop.orders", "shop.returns"]
    assert offered("suggest", "--product", "") == ["finance.costs", "shop.orders", "shop.returns"]
    write(project, {"strata.toml": "[project"})
    assert offered("export", "") == []


ON_CONTRACTS = ("validate", "discover", "test", "project", "docs", "refresh", "status", "suggest")
WITHOUT = "this project has no contract: there is no contract.yaml in"


@pytest.mark.parametrize("verb", ON_CONTRACTS)
def test_a_project_without_contracts_is_told(verb: str, tmp_path: Path) -> None:
    write(tmp_path, {"strata.toml": '[project]\nname = "p"\n'})
    code, out, err = run(verb, "--project", str(tmp_path))
    assert code == 0
    assert f"warning[W112]: {WITHOUT} `contracts` (which is not there)\n --> strata.toml:1:1\n" in out + err
    write(tmp_path, {"strata.toml": '[project]\ncontracts = ["products"]\n', "products/read.me": ""})
    code, out, err = run(verb, "--project", str(tmp_path))
    assert code == 0
    assert f"warning[W112]: {WITHOUT} `products`\n --> strata.toml:2:1\n" in out + err


@pytest.mark.parametrize("verb", [*ON_CONTRACTS, "publish"])
def test_a_folder_that_is_no_project_or_not_the_one_that_is_meant_is_usage(verb: str, tmp_path: Path) -> None:
    code, out, err = run(verb, "--project", str(tmp_path))
    assert code == 2
    assert (
        f"error[E073]: there is no project here: no strata.toml in `{tmp_path}` or above, and there is no" in out + err
    )
    assert list(tmp_path.iterdir()) == []  # nothing is left in a folder that was not meant
    write(tmp_path, {"strata.toml": '[project]\ncontracts = ["products", "more"]\n'})
    code, out, err = run(verb, "--project", str(tmp_path))
    assert code == 2
    places = "`products` (which is not there), `more` (which is not there)"
    assert f"error[E073]: {WITHOUT} {places}\n --> strata.toml:2:1\n" in out + err


@pytest.mark.parametrize("format_", ["json", "sarif", "junit", "github"])
def test_other_programs_are_told_of_a_folder_that_is_no_project(format_: str, tmp_path: Path) -> None:
    code, out, _ = run("validate", "--project", str(tmp_path), "--format", format_)
    assert (code, "E073" in out, "there is no project here" in out) == (2, True, True)


def test_a_first_contract_is_drafted_where_there_is_none(tmp_path: Path) -> None:
    write(tmp_path, {"models/m.strata": "source s { columns: { a: int64 nonnull } }\nmodel m { from s }\n"})
    assert run("init", "shop.things", "m", "--project", str(tmp_path))[0] == 0
    assert run("validate", "--project", str(tmp_path))[0] == 0


def test_a_status_of_what_is_served_elsewhere_needs_no_project(project: Path, tmp_path: Path) -> None:
    committed(project)
    assert run("publish", "--by", "ana")[0] == 0
    away = tmp_path / "away"
    away.mkdir()
    code, out, _ = run("status", "--project", str(away), "--out", str(project / ".generated/contracts"))
    assert (code, out.partition(" 1.0.0: ")[0]) == (0, "shop.orders")


@pytest.mark.parametrize("verb", ["publish", "status", "test"])
def test_a_product_whose_contract_cannot_be_read_is_told_with_what_is_wrong_there(project: Path, verb: str) -> None:
    committed(project)
    write(project, {"contracts/shop/torn/contract.yaml": "id: shop.torn\n  x: [\n"})
    code, _, err = run(verb, "shop.torn")
    assert code == 2
    assert [t.partition(":")[0] for t in err.splitlines() if t.startswith("error")] == ["error[E101]", "error[E073]"]
    assert "contracts/shop/torn/contract.yaml:2:4" in err


def test_views_of_all_products_do_not_hide_a_contract_that_cannot_be_read(project: Path) -> None:
    write(project, {"contracts/shop/torn/contract.yaml": "id: [\n"})
    for verb in ("project", "docs"):
        code, _, err = run(verb, "--out", "out")
        assert (code, err.count("error[E101]"), "contracts/shop/torn/contract.yaml:" in err) == (1, 1, True)
        assert (project / "out").is_dir()


def test_a_difference_between_revisions_without_contracts_is_none_of_contracts(tmp_path: Path) -> None:
    for text in ("one", "two"):
        write(tmp_path, {"read.me": text})
        committed(tmp_path)
    code, out, err = run("diff", "HEAD~1..HEAD", "--project", str(tmp_path), "--format", "json")
    assert (code, json.loads(out)["products"], "error[E073]: there is no project here" in err) == (2, [], True)


@pytest.mark.parametrize("verb", ["test", "refresh"])
def test_an_environment_that_is_none_is_told_by_every_verb_that_asks_for_one(project: Path, verb: str) -> None:
    result = CliRunner().invoke(contract_engine, [verb, "--env", "../x"])
    assert result.exit_code == 2
    assert "'../x' cannot name an environment: use a letter or _" in result.stderr


def test_explain_shows_the_page(project: Path) -> None:
    code, out, _ = run("explain", "E130")
    assert code == 0
    assert "version does not cover the changes" in out


def test_completion_is_that_of_click(project: Path) -> None:
    from click.shell_completion import ShellComplete

    complete = ShellComplete(contract_engine, {}, "contract-engine", "_CONTRACT_ENGINE_COMPLETE")
    assert [c.value for c in complete.get_completions([], "val")] == ["validate"]
    assert "--contract" in [c.value for c in complete.get_completions(["validate"], "--c")]
