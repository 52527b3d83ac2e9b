"""A PostgreSQL server of its own for tests, where one is installed; Dagster instances that keep their state in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

_USERS = ("postgres", "nobody")
"""Who runs the server where tests are run by root, as whom it refuses to start."""


def missing() -> str | None:
    """Why there is no server to test against; None where there is one."""
    if _programs() is None:
        return "PostgreSQL is not installed (apt-get install postgresql)"
    try:
        import dagster_postgres  # noqa: F401
    except ImportError:
        return "dagster-postgres is not installed (pip install 'strata-tables[test]' -c constraints.txt)"
    return None


def _programs() -> Path | None:
    """The folder of the server's programs: Debian keeps them off the path."""
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists() and (place / "postgres").exists()), None)


@dataclass(frozen=True, slots=True)
class Server:
    """A server on a socket in a folder, which no network reaches."""

    folder: Path

    def url(self, database: str) -> str:
        # The driver is named, for SQLAlchemy 2.1 takes another where none is.
        return f"postgresql+psycopg2://postgres@/{database}?host={self.folder}"

    def home(self, folder: Path, database: str) -> Path:
        """A `DAGSTER_HOME` in `folder` whose instance is in a database of its own."""
        import psycopg2

        connection = psycopg2.connect(user="postgres", dbname="postgres", host=str(self.folder))
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(f'create database "{database}"')
        connection.close()
        folder.mkdir(parents=True, exist_ok=True)
        storage = f'storage: {{postgres: {{postgres_url: "{self.url(database)}"}}}}\n'
        (folder / "dagster.yaml").write_text("telemetry: {enabled: false}\nnux: {enabled: false}\n" + storage)
        return folder


@contextmanager
def server() -> Iterator[Server]:
    """A server that is gone, with all it has, when the block ends."""
    programs = _programs()
    assert programs is not None
    folder = Path(tempfile.mkdtemp(prefix="strata-postgres-"))  # short: the name of a socket has at most 107 bytes
    user = next((u for u in _USERS if _exists(u)), None) if os.geteuid() == 0 else None
    if user:
        shutil.chown(folder, user)
    run = partial(subprocess.run, check=True, stdout=subprocess.DEVNULL, cwd="/", user=user)
    data = folder / "data"
    try:
        command = [str(programs / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust", "--no-sync"]
        run(command)
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        control = [str(programs / "pg_ctl"), "-D", str(data), "-w"]
        log = str(folder / "log")
        run([*control, "-l", log, "-o", options, "start"])
        try:
            yield Server(folder)
        finally:
            run([*control, "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _exists(user: str) -> bool:
    import pwd

    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True
