"""`strata.toml`: defaults, and E073 at the line of each fault."""

from __future__ import annotations

import pytest

from strata_core.diagnostics import StrataError
from strata_core.planning.config import (
    DbtConfig,
    EngineConfig,
    EnvironmentConfig,
    ProjectConfig,
    config_fault,
    find_project,
    read_config,
)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "p").mkdir()
    return tmp_path / "p"


def test_a_folder_without_a_file_has_the_defaults(root):
    assert read_config(root) == ProjectConfig(
        name="p",
        models=("models",),
        contracts=("contracts",),
        store_root=".strata/store",
        engine=EngineConfig("duckdb", None, None, None),
        environments={},
        dbt=DbtConfig("dbt_project/target/manifest.json", None),
    )


def test_every_key_is_read(root):
    (root / "strata.toml").write_text(
        """
        [project]
        name = "flights"
        models = ["a", "b.strata"]
        contracts = ["c"]
        [store]
        root = "/srv/store"
        [engine]
        name = "reference"
        memory_limit = "2GB"
        threads = 3
        spill = "spill"
        [dbt]
        manifest = "m.json"
        database = "d.duckdb"
        [environments.prod]
        publish = "each"
        sources = { orders = "data/prod.csv" }
        """
    )
    config = read_config(root)
    assert config == ProjectConfig(
        name="flights",
        models=("a", "b.strata"),
        contracts=("c",),
        store_root="/srv/store",
        engine=EngineConfig("reference", "2GB", 3, "spill"),
        environments={"prod": EnvironmentConfig("each", {"orders": "data/prod.csv"})},
        dbt=DbtConfig("m.json", "d.duckdb"),
    )
    assert config.environment("prod").publish == "each"
    assert config.environment("other") == EnvironmentConfig("together", {})


ROOT_TAKES = 'it takes a folder such as ".strata/store", or "s3://bucket/prefix"'
FAULTS = {
    "unknown section": (
        "[projct]\nname = 'x'\n",
        ("unknown section `projct`", "did you mean `project`?", "strata.toml:1:1"),
    ),
    "unknown section, none near": (
        "[xyzzy]\n",
        (
            "unknown section `xyzzy`",
            "accepted: project, store, engine, dbt, lint, contract_engine, classification, environments, layers",
            "strata.toml:1:1",
        ),
    ),
    "unknown key": (
        "[project]\nname = 'x'\nmodel = ['m']\n",
        ("unknown key `model`", "did you mean `models`?", "strata.toml:3:1"),
    ),
    "unknown key of an environment": (
        "[environments.prod]\npublsh = 'each'\n",
        ("unknown key `publsh`", "did you mean `publish`?", "strata.toml:2:1"),
    ),
    "a text where a list is due": (
        "[project]\nmodels = 'm'\n",
        ("`project.models` is not valid", 'it takes a list of texts such as ["x"]', "strata.toml:2:1"),
    ),
    "an empty text": (
        "[store]\nroot = ''\n",
        ("`store.root` is not valid", ROOT_TAKES, "strata.toml:2:1"),
    ),
    "a store that is no folder": (
        "[store]\nroot = 'gs://bucket/store'\n",
        ("`store.root` is not valid", ROOT_TAKES, "strata.toml:2:1"),
    ),
    "a bucket with one slash": (
        "[store]\nroot = 's3:/bucket/store'\n",
        ("`store.root` is not valid", ROOT_TAKES, "strata.toml:2:1"),
    ),
    "a path that no system takes": (
        '[project]\nmodels = ["a\\u0000b"]\n',
        ("`project.models` is not valid", 'it takes a list of texts such as ["x"]', "strata.toml:2:1"),
    ),
    "a limit that is no size": (
        "[engine]\nmemory_limit = 'lots'\n",
        ("`engine.memory_limit` is not valid", 'it takes a size such as "4GB" or "512MiB"', "strata.toml:2:1"),
    ),
    "no threads": (
        "[engine]\nthreads = 0\n",
        ("`engine.threads` is not valid", "it takes a number above zero", "strata.toml:2:1"),
    ),
    "threads that are true": (
        "[engine]\n  threads = true\n",
        ("`engine.threads` is not valid", "it takes a number above zero", "strata.toml:2:3"),
    ),
    "unknown engine": (
        "[engine]\nname = 'spark'\n",
        ("there is no engine `spark`", "engines are duckdb and reference", "strata.toml:2:1"),
    ),
    "unknown way to publish": (
        "[environments.prod]\npublish = 'some'\n",
        ("`environments.prod.publish` is not valid", 'it takes "together" or "each"', "strata.toml:2:1"),
    ),
    "locations that are no texts": (
        "[environments.prod]\nsources = { orders = 1 }\n",
        ("`environments.prod.sources` is not valid", 'it takes a table of source = "location"', "strata.toml:2:1"),
    ),
    "a value where a section is due": (
        "project = 1\n",
        ("`project` is a section", "write `[project]` and its keys below it", "strata.toml:1:1"),
    ),
    "environments that are a value": (
        "environments = 1\n",
        ("`environments` is a section", "write `[environments.prod]` and its keys below it", "strata.toml:1:1"),
    ),
    "an environment that is a value": (
        "[environments]\nprod = 1\n",
        ("`environments.prod` is a section", "write `[environments.prod]` and its keys below it", "strata.toml:2:1"),
    ),
    "a name that no environment can have": (
        "[environments.'../x']\npublish = 'each'\n",
        (
            "`../x` cannot name an environment",
            "use a letter or _, then letters, digits and _, 128 characters at most",
            "strata.toml:1:1",
        ),
    ),
}


@pytest.mark.parametrize(("text", "told"), FAULTS.values(), ids=FAULTS)
def test_e073_a_fault_is_told_at_its_line(root, text, told):
    (root / "strata.toml").write_text(text)
    with pytest.raises(StrataError) as caught:
        read_config(root)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message, found.fix, str(found.span)) == ("E073", *told)


def test_e073_every_fault_is_told(root):
    (root / "strata.toml").write_text("[project]\nname = 1\n[engine]\nthreads = -1\n")
    with pytest.raises(StrataError) as caught:
        read_config(root)
    assert [d.message for d in caught.value.diagnostics] == [
        "`project.name` is not valid",
        "`engine.threads` is not valid",
    ]


def test_e073_what_is_no_toml_is_told_where_it_stops(root):
    (root / "strata.toml").write_text("[project]\nname = \n")
    with pytest.raises(StrataError) as caught:
        read_config(root)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message, str(found.span)) == (
        "E073",
        "strata.toml is not TOML: Invalid value",
        "strata.toml:2:8",
    )


@pytest.mark.parametrize("text", ["x = " + "[" * 5000 + "]" * 5000, "[engine]\nthreads = " + "9" * 5000])
def test_e073_toml_beyond_all_measure(root, text):
    (root / "strata.toml").write_text(text)
    with pytest.raises(StrataError) as caught:
        read_config(root)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == (
        "E073",
        "strata.toml nests too deep, or has a number of too many digits",
    )


def test_e073_bytes_that_are_no_text(root):
    (root / "strata.toml").write_bytes(b"[project]\nname = '\xff'\n")
    with pytest.raises(StrataError) as caught:
        read_config(root)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E073", "strata.toml is not UTF-8")


def test_the_mark_that_some_editors_begin_a_file_with_is_no_text(root):
    (root / "strata.toml").write_bytes(b"\xef\xbb\xbf[project]\r\nname = 'p'\r\n")
    assert read_config(root).name == "p"
    assert str(config_fault(root, "project.name", "it is odd", "").span) == "strata.toml:2:1"


def test_the_nearest_file_upwards_is_the_project(root):
    (root / "a" / "b").mkdir(parents=True)
    (root / "strata.toml").write_text("")
    assert find_project(root / "a" / "b") == root
    (root / "a" / "strata.toml").write_text("")
    assert find_project(root / "a" / "b") == root / "a"
