"""What a bucket refuses, in words: E092 with the cause and what to do.

The text of a fault is never shown as it came: it quotes requests, which may hold keys and signatures. Only the
provider's own code (`NoSuchBucket`, `AccessDenied`) and the status are taken from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath
from types import MappingProxyType

from ..diagnostics import Diagnostic, StrataError

_CODE = re.compile(r"<Code>([A-Za-z0-9]{1,64})</Code>")
_STATUS = re.compile(r"status code: (\d{3})\b")
_CREDENTIALS = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (AWS_SESSION_TOKEN too where they are temporary)"
_RIGHTS = f"{_CREDENTIALS} of a user that may list, read, write and delete in this bucket"
_REGION = "set [store] region, or AWS_REGION, to the region of the bucket"
_BUCKET = "make the bucket, or name another one in [store] root"
_CLOCK = "set the clock of this machine"
_REMEDIES = MappingProxyType(
    {
        "NoSuchBucket": ("there is no such bucket", _BUCKET),
        "InvalidBucketName": ("that is no name of a bucket", _BUCKET),
        "InvalidAccessKeyId": ("the access key is not known there", _CREDENTIALS),
        "SignatureDoesNotMatch": ("the secret key is not the one of the access key", _CREDENTIALS),
        "ExpiredToken": ("the credentials have expired", _CREDENTIALS),
        "InvalidToken": ("the session token is not valid", _CREDENTIALS),
        "AccessDenied": ("access is denied", _RIGHTS),
        "AllAccessDisabled": ("access is denied", _RIGHTS),
        "PermanentRedirect": ("the bucket is in another region", _REGION),
        "AuthorizationHeaderMalformed": ("the bucket is in another region", _REGION),
        "IllegalLocationConstraintException": ("the bucket is in another region", _REGION),
        "RequestTimeTooSkewed": ("this machine's clock is wrong", _CLOCK),
        "401": ("access is denied", _RIGHTS),
        "403": ("access is denied", _RIGHTS),
        "301": ("the bucket is in another region", _REGION),
        "501": ("it knows no conditional writes, which commits need", "use a bucket that takes `If-None-Match: *`"),
    }
)
"""Codes and statuses of answers: what they mean, and what to do."""
_METADATA_ADDRESS = "169.254.169.254"
"""Where credentials are asked for when the environment has none."""


def require_bucket(cause: FileNotFoundError, path: PurePath) -> None:
    """Raises E092 when it is the bucket that is not there, and not the object alone."""
    if "NoSuchBucket" in str(cause):
        raise unusable(path, "look at", cause, "") from None


def is_unclear(cause: Exception) -> bool:
    """Whether the request of this fault may have taken effect, or may yet: no answer came, or none that tells."""
    if isinstance(cause, FileNotFoundError):
        return False
    text = str(cause)
    if _METADATA_ADDRESS in text:
        return False  # nothing was asked of the bucket
    status = _STATUS.search(text)
    return status is None or status[1] in ("408", "409", "429") or (status[1][0] == "5" and status[1] != "501")


def unusable(path: PurePath, doing: str, cause: Exception, place: str) -> StrataError:
    """E092: `doing` ("write") failed at `path` because of `cause`."""
    reason, fix = _told(cause, place)
    return StrataError(Diagnostic("E092", f"cannot {doing} {path}: {reason}", fix=fix))


def unclear(path: PurePath, cause: Exception, place: str) -> StrataError:
    """E092: whether `path` was created is not known."""
    reason, fix = _told(cause, place)
    note = "it may have been written all the same, or may be yet: nothing that it names was removed"
    return StrataError(
        Diagnostic("E092", f"cannot create {path}: {reason}", notes=(note,), fix=f"{fix}; then run again")
    )


def not_installed() -> StrataError:
    """E092: the library of buckets is missing."""
    message = "a store in a bucket needs the package obstore, which is not installed"
    return StrataError(Diagnostic("E092", message, fix="pip install 'strata-tables[object-store]'"))


def no_endpoint(name: str) -> StrataError:
    """E092: what `name` says is no URL that requests can be sent to. It is not shown: it may hold keys."""
    fix = 'it takes a URL such as "https://s3.example.com" or "http://127.0.0.1:9000"'
    return StrataError(Diagnostic("E092", f"{name} is no URL that a bucket can be asked for at", fix=fix))


def unsendable(name: str) -> StrataError:
    """E092: what `name` says has a sign that no request can carry."""
    message = f"{name} has a line break in it, or another sign that no request can carry"
    fix = f'set it without: `{name}="$(cat FILE)"` leaves out the line break at the end of a file'
    return StrataError(Diagnostic("E092", message, fix=fix))


def not_taken(names: Iterable[str]) -> StrataError:
    """E092: one of the variables `names` has a value that the library of buckets does not take."""
    told = ", ".join(names)
    message = f"the environment says of buckets what is not understood, in one of {told}"
    return StrataError(Diagnostic("E092", message, fix="unset those that you do not need"))


def _told(cause: Exception, place: str) -> tuple[str, str]:
    text = str(cause)
    if _METADATA_ADDRESS in text:
        return "no credentials are set", _CREDENTIALS
    code, status = _CODE.search(text), _STATUS.search(text)
    for found in (code, status):
        if found is not None and found[1] in _REMEDIES:
            return _REMEDIES[found[1]]
    if status is not None:
        said = f"{status[1]}{f' {code[1]}' if code else ''}"
        return f"{place or 'the bucket'} answered {said}", "look up that answer with the provider, then run again"
    if type(cause).__name__ in ("UnauthenticatedError", "PermissionDeniedError"):
        return "access is denied", _RIGHTS
    return f"no answer from {place or 'the bucket'}", "check [store] endpoint (or AWS_ENDPOINT_URL) and the network"
