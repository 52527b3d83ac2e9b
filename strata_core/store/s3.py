"""The requests of `bucket.Objects` through obstore: the bucket of a URL, its endpoint and its credentials.

Credentials come from the environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, a web identity
or the machine's role), never from a file of the project; endpoint and region too, where `strata.toml` says nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..folder_names import names_an_endpoint
from . import bucket_faults

_PIECE_BYTES = 8 * 1024 * 1024
"""Bytes of one piece of a large object, both ways."""
_CLIENT: dict[str, Any] = {"timeout": "300s", "connect_timeout": "5s"}
_SENT = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_TOKEN",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
)
"""What stands in requests as it is given."""
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_KEYS = re.compile(r"(https?://)[A-Za-z0-9._~%:-]*@")
"""What may stand in front of the host."""
_RETRIES: Any = {"max_retries": 3, "retry_timeout": timedelta(seconds=60)}


@dataclass(frozen=True, slots=True)
class ObstoreObjects:
    """See `bucket.Objects`: an obstore client. `endpoint` is None for the provider's own."""

    client: Any
    endpoint: str | None

    def put(self, key: str, content: bytes | memoryview) -> None:
        """See `bucket.Objects`."""
        import obstore

        obstore.put(self.client, key, memoryview(content).cast("B"), chunk_size=_PIECE_BYTES)

    def create(self, key: str, content: bytes) -> None:
        """See `bucket.Objects`."""
        import obstore

        obstore.put(self.client, key, content, mode="create", use_multipart=False)

    def upload(self, key: str, source: Path) -> None:
        """See `bucket.Objects`."""
        import obstore

        obstore.put(self.client, key, source, chunk_size=_PIECE_BYTES)

    def get(self, key: str) -> Iterable[bytes | memoryview]:
        """See `bucket.Objects`."""
        import obstore

        return (memoryview(piece) for piece in obstore.get(self.client, key).stream(min_chunk_size=_PIECE_BYTES))

    def size(self, key: str) -> int:
        """See `bucket.Objects`."""
        import obstore

        return int(obstore.head(self.client, key)["size"])

    def keys(self, prefix: str, after: str) -> Iterator[str]:
        """See `bucket.Objects`."""
        import obstore

        return (str(one["path"]) for page in obstore.list(self.client, prefix, offset=after or None) for one in page)

    def names(self, prefix: str) -> Iterable[str]:
        """See `bucket.Objects`."""
        import obstore

        found = obstore.list_with_delimiter(self.client, prefix)
        return [*found["common_prefixes"], *(one["path"] for one in found["objects"])]

    def delete(self, key: str) -> None:
        """See `bucket.Objects`."""
        import obstore

        try:
            obstore.delete(self.client, key)
        except FileNotFoundError:
            return


def connected(bucket: str, endpoint: str | None, region: str | None) -> ObstoreObjects:
    """The bucket of that name. Nothing is asked of it yet. Errors: E092 when obstore is not installed, or when the
    environment says what no request can be made of."""
    chosen = tuple(sorted((name, value) for name, value in os.environ.items() if name.startswith("AWS_")))
    return _connected(bucket, endpoint, region, chosen)


@lru_cache(maxsize=32)
def _connected(
    bucket: str, endpoint: str | None, region: str | None, environment: tuple[tuple[str, str], ...]
) -> ObstoreObjects:
    """One client, which keeps its connections, for each bucket and environment."""
    try:
        from obstore.exceptions import BaseError
        from obstore.store import S3Store
    except ImportError:
        raise bucket_faults.not_installed() from None
    given = dict(environment)
    _require_sendable(given, region)
    name, address = _endpoint(given) if endpoint is None else ("[store] endpoint", endpoint)
    if address is not None and not names_an_endpoint(_KEYS.sub(r"\1", address)):
        raise bucket_faults.no_endpoint(name)
    client: Any = {**_CLIENT, "allow_http": (address or "").startswith("http://")}
    # Commits depend on conditional puts, whatever the environment says of them.
    options: dict[str, Any] = {"conditional_put": "etag"} | ({} if address is None else {"endpoint": address})
    options["region"] = region or given.get("AWS_REGION") or given.get("AWS_DEFAULT_REGION") or "us-east-1"
    try:
        made = S3Store(bucket, **options, client_options=client, retry_config=_RETRIES)
    except BaseError:
        raise bucket_faults.not_taken(n for n in sorted(given) if n not in (*_SENT, *_ENDPOINTS)) from None
    return ObstoreObjects(made, address)


def _endpoint(given: Mapping[str, str]) -> tuple[str, str | None]:
    """The variable that says where the bucket is asked for, and what it says; None where none does."""
    return next(((name, given[name]) for name in _ENDPOINTS if given.get(name)), ("", None))


def _require_sendable(given: Mapping[str, str], region: str | None) -> None:
    """E092 where a value has a sign that no request can carry: obstore would stop the process."""
    for name, value in (*((name, given.get(name, "")) for name in _SENT), ("[store] region", region or "")):
        if not value.isprintable():
            raise bucket_faults.unsendable(name)
