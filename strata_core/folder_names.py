"""What a model or an environment may be called: its name is the name of a folder, on every operating system."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
NAME_RULE = "a letter or _, then letters, digits and _, 128 characters at most"
"""What `names_a_folder` takes, in words."""


def names_a_folder(name: str) -> bool:
    """Whether `name` may name a folder of the store.

    >>> names_a_folder("orders_2024"), names_a_folder("../orders"), names_a_folder("é")
    (True, False, False)
    """
    return _NAME.fullmatch(name) is not None


_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_.=-]+)*/?")
"""What S3 reads otherwise than it is written (`?`, `%`, spaces) stands in no URL of ours."""


def names_a_bucket(url: str) -> bool:
    """Whether `url` is that of a place in a bucket: `s3://bucket/prefix`.

    >>> [names_a_bucket(url) for url in ("s3://lake/strata", "s3://lake", "s3://lake/../x", "gs://lake")]
    [True, True, False, False]
    """
    return _BUCKET.fullmatch(url) is not None and not {".", ".."} & set(url.split("/"))
