"""docs/deploy.md is run: its code location, its commands, and what deploy/Dockerfile does as far as no registry is
needed."""

import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from click.testing import CliRunner

from strata_core.cli.verbs import strata
from strata_dagster import StrataProject

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/deploy.md").read_text(encoding="utf-8")
CLI_PAGE = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8")
UNSTABLE = ((re.compile(r" *\d+\.\d\d s\b"), " _ s"), (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ"), "_"))


def instructions(text: str, name: str) -> list[str]:
    """What follows the keyword `name` in each line of a Dockerfile."""
    return re.findall(rf"^{name} (.+)$", text, re.MULTILINE)


@pytest.fixture
def location(shop, monkeypatch):
    """Loads the page's code location beside the shop's project, as the environment's variables want it."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    shop.write("deployed.py", code)
    shop.project.compile()

    def load(**variables: str) -> dg.Definitions:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        spec = importlib.util.spec_from_file_location("deployed", shop.root / "deployed.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.defs

    return load


def published(shop, environment: str) -> set[str]:
    from strata_core.planning.environments import published_environments

    found = published_environments(shop.project.opened)
    return set(found[environment].models) if environment in found else set()


def test_the_code_location_of_the_page_publishes_in_the_environment_of_its_branch(shop, location) -> None:
    defs = location(DAGSTER_CLOUD_IS_BRANCH_DEPLOYMENT="1", DAGSTER_CLOUD_PULL_REQUEST_ID="12")
    job = defs.resolve_implicit_global_asset_job_def()
    assert job.execute_in_process(instance=shop.instance).success
    assert (published(shop, "pr_12"), published(shop, "prod")) == ({"paid", "by_country", "rate"}, set())

    main = location(DAGSTER_CLOUD_IS_BRANCH_DEPLOYMENT="0")
    job = main.resolve_job_def("promote_staging")
    assert job.execute_in_process(instance=shop.instance, tags={"strata/promote_from": "pr_12"}).success
    assert published(shop, "prod") == {"paid", "by_country", "rate"}


def test_the_commands_of_the_page_do_what_it_says(tmp_path, monkeypatch) -> None:
    for path, text in re.findall(r"^`([\w./]+)`:\n```\w+\n(.*?)```", CLI_PAGE, re.DOTALL | re.MULTILINE):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.chdir(tmp_path)

    def stable(text: str) -> list[str]:
        for pattern, replacement in UNSTABLE:
            text = pattern.sub(replacement, text)
        return sorted(text.splitlines())

    commands = re.findall(r"^\$ strata (.+)\n((?:(?!\$ |```).*\n)*)", PAGE, re.MULTILINE)
    assert len(commands) == 5
    for command, output in commands:
        ran = CliRunner().invoke(strata, command.split(), standalone_mode=False)
        assert ran.exception is None, command
        assert stable(ran.output) == stable(output), command


def test_the_image_copies_what_there_is_and_its_steps_run(tmp_path) -> None:
    """Each folder that is copied is there and tracked; the steps after the installation run in a folder of just these,
    and what they make is what a code location loads from."""
    copied = [path for line in instructions(DOCKERFILE, "COPY") for path in line.split()[:-1]]
    for path in copied:
        (shutil.copytree if (ROOT / path).is_dir() else shutil.copy)(ROOT / path, tmp_path / path)
    shutil.rmtree(tmp_path / "dbt_project/target", ignore_errors=True)
    install, *steps = instructions(DOCKERFILE, "RUN")
    assert install.startswith("pip install --no-cache-dir -c constraints.txt ")
    assert steps[-1] == "strata compile --manifest"
    for step in steps:
        program, *arguments = step.split()
        ran = subprocess.run(
            [str(Path(sys.executable).parent / program), *arguments], cwd=tmp_path, capture_output=True, text=True
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
    assert StrataProject(tmp_path).is_compiled
    assert len(StrataProject(tmp_path).outline.models) > 10


@pytest.mark.parametrize("text", [DOCKERFILE, *re.findall(r"```dockerfile\n(.*?)```", PAGE, re.DOTALL)])
def test_no_image_names_a_registry_of_packages_and_each_makes_the_manifest(text) -> None:
    assert not re.search(r"://|index.url", text, re.IGNORECASE)
    assert "strata compile --manifest" in instructions(text, "RUN")
    (command,) = instructions(text, "CMD")
    (health,) = instructions(text, "HEALTHCHECK")
    assert json.loads(health[health.index("[") :]) == ["dagster", "api", "grpc-health-check", "-p", "4000"]
    assert json.loads(command)[-3:-2] == ["4000"]
    assert '"code-server", "start"' in command


@pytest.mark.slow
def test_the_code_server_of_the_image_answers_its_health_check_once_it_has_loaded(shop_on_disk) -> None:
    """The commands of the image, with a port that is free and the shop's definitions."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    (command,) = instructions(DOCKERFILE, "CMD")
    (health,) = (text[text.index("CMD") + 3 :] for text in instructions(DOCKERFILE, "HEALTHCHECK"))
    bin_, home = Path(sys.executable).parent, str(shop_on_disk.root.parent / "home")

    def ours(text: str) -> list[str]:
        program, *arguments = json.loads(text.replace("4000", port).replace('"definitions"', '"shop_definitions"'))
        return [str(bin_ / program), *arguments]

    environment = {**os.environ, "DAGSTER_HOME": home, "PYTHONWARNINGS": "ignore"}
    server = subprocess.Popen(
        ours(command),
        cwd=shop_on_disk.root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        assert server.stdout is not None
        said = next(line for line in server.stdout if "Started Dagster code proxy server" in line)
        assert f"on port {port}" in said
        asked = subprocess.run(ours(health), env=environment, capture_output=True, text=True, check=False)
        assert (asked.returncode, asked.stdout.strip()) == (0, "gRPC connection successful")
    finally:
        os.killpg(server.pid, signal.SIGKILL)  # with the process that holds the definitions
        server.communicate()
