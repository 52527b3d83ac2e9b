"""What a model or an environment may be called: its name is the name of a folder, on every operating system. And what
names a place in a bucket, and where the bucket is asked for."""

from __future__ import annotations

import re

_NAME = r"[A-Za-z_][A-Za-z0-9_]{0,127}"
NAME_RULE = "a letter or _, then letters, digits and _, 128 characters at most"
"""What `names_a_folder` takes, in words."""


def names_a_folder(name: str) -> bool:
    """Whether `name` may name a folder of the store.

    >>> names_a_folder("orders_2024"), names_a_folder("../orders"), names_a_folder("é")
    (True, False, False)
    """
    return re.fullmatch(_NAME, name) is not None


_BUCKET = r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_.=-]+)*/?"
"""What S3 reads otherwise than it is written (`?`, `%`, spaces) stands in no URL of ours."""


def names_a_bucket(url: str) -> bool:
    """Whether `url` is that of a place in a bucket: `s3://bucket/prefix`.

    >>> [names_a_bucket(url) for url in ("s3://lake/strata", "s3://lake", "s3://lake/../x", "gs://lake")]
    [True, True, False, False]
    """
    return re.fullmatch(_BUCKET, url) is not None and not {".", ".."} & set(url.split("/"))


_ENDPOINT = r"https?://(?:[A-Za-z0-9._-]+|\[([0-9A-Fa-f:.]+)\])(?::([0-9]{1,5}))?(/[A-Za-z0-9_.~-]+)*/?"


def names_an_endpoint(url: str) -> bool:
    """Whether `url` is one that requests can be sent to: without keys, a query or signs that no URL has.

    >>> [names_an_endpoint(url) for url in ("http://[::1]:9000", "https://s3.example.com/", "http://[::1", "h:9000")]
    [True, True, False, False]
    """
    found = re.fullmatch(_ENDPOINT, url)
    return found is not None and int(found[2] or 0) < 65_536 and (found[1] is None or _is_address(found[1]))


def _is_address(text: str) -> bool:
    from ipaddress import AddressValueError, IPv6Address

    try:
        return bool(IPv6Address(text).packed)
    except AddressValueError:
        return False


def leads_elsewhere(path: str) -> bool:
    """Whether `path` begins as a URL does, with a scheme and a colon (`s3:/lake`): no folder is meant by it.

    >>> [leads_elsewhere(path) for path in ("s3://lake", "s3:/lake", "data/a:b", "C:/data")]
    [True, True, False, False]
    """
    return "://" in path or re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", path) is not None
