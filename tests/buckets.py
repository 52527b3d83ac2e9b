"""Buckets for tests: of a real S3 server on this machine, and of obstore's client over a folder, which is quicker and
shows on disk what lies in the bucket."""

from __future__ import annotations

import logging
import secrets
import urllib.request
from functools import cache
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

from strata_core.store.bucket import BucketFiles
from strata_core.store.part_cache import PartCache
from strata_core.store.s3 import ObstoreObjects


@cache
def server() -> str:
    """The endpoint of an S3 server of this process, on loopback."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    started = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    started.start()  # its thread is a daemon: it ends with the process
    host, port = started.get_host_and_port()
    return f"http://{host}:{port}"


def make_bucket(patch: pytest.MonkeyPatch, cache_folder: Path) -> str:
    """The URL of a new bucket of the server, which the environment leads to from now on."""
    name = f"lake-{secrets.token_hex(8)}"
    with urllib.request.urlopen(urllib.request.Request(f"{server()}/{name}", method="PUT")) as answer:
        assert answer.status == 200
    patch.setenv("AWS_ENDPOINT_URL", server())
    patch.setenv("AWS_ACCESS_KEY_ID", "key-of-tests")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-tests")
    patch.setenv("AWS_REGION", "us-east-1")
    patch.setenv("STRATA_CACHE_DIR", str(cache_folder))
    return f"s3://{name}"


def folder_as_bucket(folder: Path, cache_folder: Path) -> BucketFiles:
    """Files of a bucket whose objects are the files of `folder`."""
    from obstore.store import LocalStore

    return BucketFiles(ObstoreObjects(LocalStore(folder, mkdir=True), None), PartCache(cache_folder))
