"""`dagster dev` of a project: webserver, daemon and code server as people run them, asked by GraphQL as the UI asks."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

LAUNCH = """mutation ($params: ExecutionParams!) { launchRun(executionParams: $params) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message }
  ... on RunConfigValidationInvalid { errors { message } } } }"""
TERMINATE = """mutation ($run: String!) { terminateRun(runId: $run) {
  __typename ... on TerminateRunFailure { message } ... on PythonError { message } } }"""
STATUS = "query ($run: ID!) { runOrError(runId: $run) { ... on Run { status tags { key value } } } }"
BACKFILL = """mutation ($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
  __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
BACKFILLED = """query ($id: String!) { partitionBackfillOrError(backfillId: $id) {
  ... on PartitionBackfill { status error { message } } } }"""
RUNS = """query ($tags: [ExecutionTag!]) { runsOrError(filter: {tags: $tags}) {
  ... on Runs { results { runId status tags { key value } assetSelection { path } } } } }"""
START = """mutation ($sensor: SensorSelector!) { startSensor(sensorSelector: $sensor) {
  __typename ... on PythonError { message } } }"""
TICKS = """query ($sensor: SensorSelector!) { sensorOrError(sensorSelector: $sensor) { __typename ... on Sensor {
  sensorState { ticks(limit: 20) { status skipReason error { message } runIds } } } } }"""
RELOAD = """mutation ($name: String!) { reloadRepositoryLocation(repositoryLocationName: $name) {
  __typename ... on WorkspaceLocationEntry { locationOrLoadError { __typename ... on PythonError { message } } } } }"""
LOADED = """{ workspaceOrError { ... on Workspace { locationEntries { name locationOrLoadError {
  __typename ... on PythonError { message } } } } } }"""


def until(found: Callable[[], Any], seconds: float = 300) -> Any:
    """What `found` gives, once that is something."""
    pause, end = threading.Event(), time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < end, "it did not come about"
        pause.wait(0.3)
    return value


@dataclass
class Served:
    """The address of a webserver with its daemon, and the code location that they serve."""

    address: str
    location: str
    log: Path

    def ask(self, query: str, **variables: Any) -> Any:
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(f"{self.address}/graphql", body, {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                said = json.load(answer)
        except urllib.error.HTTPError as error:
            pytest.fail(f"{error.code}: {error.read().decode()}\n{self.log.read_text()[-3000:]}")
        assert "errors" not in said, said["errors"]
        return said["data"]

    def launch(self, *assets: str, tags: dict[str, str] | None = None, job: str = "__ASSET_JOB") -> str:
        """The id of a run that materializes `assets`, or all of the job's."""
        keys = [{"path": name.split("/")} for name in assets]
        selector = {**self._repository, "pipelineName": job, **({"assetSelection": keys} if keys else {})}
        metadata = {"tags": [{"key": key, "value": value} for key, value in (tags or {}).items()]}
        params = {"selector": selector, "mode": "default", "executionMetadata": metadata, "runConfigData": {}}
        done = self.ask(LAUNCH, params=params)["launchRun"]
        assert done["__typename"] == "LaunchRunSuccess", done
        return str(done["run"]["runId"])

    def terminate(self, run: str) -> None:
        assert self.ask(TERMINATE, run=run)["terminateRun"]["__typename"] == "TerminateRunSuccess"

    def ended(self, run: str) -> str:
        """The status that a run ends with."""

        def status() -> str | None:
            found = str(self.ask(STATUS, run=run)["runOrError"]["status"])
            return found if found in ("SUCCESS", "FAILURE", "CANCELED") else None

        return str(until(status))

    def backfill(self, asset: str, partitions: list[str], seconds: float = 300) -> list[dict[str, Any]]:
        """The runs of a backfill that has ended."""
        params = {"assetSelection": [{"path": [asset]}], "partitionNames": partitions, "tags": [], "title": "b"}
        done = self.ask(BACKFILL, params=params)["launchPartitionBackfill"]
        assert done["__typename"] == "LaunchBackfillSuccess", done

        def status() -> str | None:
            found = self.ask(BACKFILLED, id=done["backfillId"])["partitionBackfillOrError"]
            return found["status"] if found["status"].startswith(("COMPLETED", "FAILED")) else None

        assert until(status, seconds) == "COMPLETED_SUCCESS"
        return self.runs({"dagster/backfill": done["backfillId"]})

    def runs(self, tags: dict[str, str]) -> list[dict[str, Any]]:
        wanted = [{"key": key, "value": value} for key, value in tags.items()]
        return list(self.ask(RUNS, tags=wanted)["runsOrError"]["results"])

    def start(self, sensor: str) -> None:
        assert self.ask(START, sensor=self._sensor(sensor))["startSensor"]["__typename"] == "Sensor"

    def ticks(self, sensor: str) -> list[dict[str, Any]]:
        """Ticks of a sensor, the newest first."""
        return list(self.ask(TICKS, sensor=self._sensor(sensor))["sensorOrError"]["sensorState"]["ticks"])

    def reload(self) -> str | None:
        """Reload definitions; why they do not load."""
        return _fault(self.ask(RELOAD, name=self.location)["reloadRepositoryLocation"])

    def loaded(self) -> dict[str, str | None]:
        """The code locations, each with why it does not load."""
        entries = self.ask(LOADED)["workspaceOrError"]["locationEntries"]
        return {entry["name"]: _fault(entry) for entry in entries}

    @property
    def _repository(self) -> dict[str, str]:
        return {"repositoryLocationName": self.location, "repositoryName": "__repository__"}

    def _sensor(self, name: str) -> dict[str, str]:
        return {**self._repository, "sensorName": name}


def _fault(entry: dict[str, Any]) -> str | None:
    found = entry["locationOrLoadError"]
    return found["message"] if found["__typename"] == "PythonError" else None


@contextmanager
def dev(root: Path, home: Path, *modules: str, **variables: str) -> Iterator[Served]:
    """`dagster dev` of modules in `root`, with webserver and daemon, on the loopback interface."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    places = [part for module in modules for part in ("-m", module)]
    command = [str(Path(sys.executable).parent / "dagster"), "dev", *places, "-h", "127.0.0.1", "-p", str(port)]
    environment = {**os.environ, "DAGSTER_HOME": str(home), "PYTHONWARNINGS": "ignore", **variables}
    log = home / "dev.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            command, cwd=root, env=environment, stdout=out, stderr=out, start_new_session=True, text=True
        )
    served = Served(f"http://127.0.0.1:{port}", modules[0], log)

    def answers() -> bool:
        if process.poll() is not None:
            pytest.fail("dagster dev ended:\n" + log.read_text())
        try:
            return bool(served.loaded())
        except OSError:
            return False

    try:
        until(answers)
        yield served
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
