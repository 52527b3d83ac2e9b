"""Pull requests over the REST API that hosting services share: `GET`, `POST` and `PATCH` of `<repository>/pulls`.

One pull request per branch: where one is open, its text is brought up to date. Code: E180.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPException
from typing import IO, Any

from ...diagnostics import Diagnostic, StrataError
from ...diagnostics.render import printable
from ...frozen import dataclass

_SECONDS = 30
_MOST_BYTES = 1 << 24
_MOST_TOLD = 200


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request as it is now; `opened` says whether it was opened by this call."""

    url: str
    opened: bool


def pull_request(api: str, token: str, *, head: str, base: str, title: str, body: str) -> PullRequest:
    """The open pull request of the branch `head` into `base` in the repository at `api`. Raises `StrataError` E180."""
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable():  # the library that sends it would show it
        raise _refused("the token has characters that no token has")
    pulls = f"{_web_address(api).rstrip('/')}/pulls"
    owner = urllib.parse.urlsplit(api).path.rstrip("/").split("/")[-2:][0]
    query = urllib.parse.urlencode({"state": "open", "head": f"{owner}:{head}", "base": base})
    listed = _asked("GET", f"{pulls}?{query}", token)
    # Not every service filters by branch.
    numbers = [_number_of(one, head) for one in listed] if isinstance(listed, list) else []
    known = next((number for number in numbers if number is not None), None)
    texts = {"title": title, "body": body}
    if known is not None:
        answer = _asked("PATCH", f"{pulls}/{known}", token, texts)
    else:
        answer = _asked("POST", pulls, token, {**texts, "head": head, "base": base})
    url = answer.get("html_url") if isinstance(answer, dict) else None
    return PullRequest(printable(url) if isinstance(url, str) else api, known is None)


def _web_address(api: str) -> str:
    try:
        parts = urllib.parse.urlsplit(api)
        known = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known or not api.isascii() or not api.isprintable() or " " in api:
        raise _refused("the address of the hosting service is no web address")
    return api


def _number_of(listed: Any, branch: str) -> int | None:
    """The number of a pull request that is listed, where it is that of the branch."""
    match listed:
        case {"number": int(number), "head": {"ref": ref}} if ref == branch:
            return number
        case _:
            return None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A token is given to the address that was configured and to no other."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _asked(method: str, url: str, token: str, value: dict[str, str] | None = None) -> Any:
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json", "Content-Type": "application/json"}
    data = json.dumps(value).encode() if value is not None else None
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=_SECONDS) as answer:
            return _read(answer)
    except urllib.error.HTTPError as error:
        why = _why(error, token)
        raise _refused(f"the hosting service answers {error.code} to {method} of pull requests{why}") from None
    except (ValueError, RecursionError):
        raise _refused(f"the hosting service answers {method} of pull requests with no JSON") from None
    except (OSError, HTTPException) as error:
        raise _refused(f"the hosting service does not answer: {printable(str(error) or repr(error))}") from None


def _read(answer: IO[bytes]) -> Any:
    return json.loads(answer.read(_MOST_BYTES))


def _why(error: urllib.error.HTTPError, token: str) -> str:
    """What the service says of its refusal, in a line, where it says anything that is told by this API."""
    try:
        said = _read(error)
    except (OSError, HTTPException, ValueError, RecursionError):
        return ""
    match said:
        case {"message": str(message), "errors": [{"message": str(more)}, *_]}:
            told = f"{message}: {more}"
        case {"message": str(message)}:
            told = message
        case _:
            return ""
    return f": {printable(' '.join(told.split()).replace(token, '…'))[:_MOST_TOLD]}"


def _refused(message: str) -> StrataError:
    fix = "the branch is there: open the pull request by hand, or mend `pull_requests` and the token"
    return StrataError(Diagnostic("E180", message, fix=fix))
