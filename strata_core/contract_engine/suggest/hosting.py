"""Pull requests over the REST API that hosting services share: `GET`, `POST` and `PATCH` of `<repository>/pulls`.

One pull request per branch: where one is open, its text is brought up to date. Code: E180.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from ...diagnostics import Diagnostic, StrataError
from ...frozen import dataclass

_SECONDS = 30


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request as it is now; `opened` says whether it was opened by this call."""

    url: str
    opened: bool


def pull_request(api: str, token: str, *, head: str, base: str, title: str, body: str) -> PullRequest:
    """The open pull request of the branch `head` into `base` in the repository at `api`. Raises `StrataError` E180."""
    owner = urllib.parse.urlsplit(api).path.rstrip("/").split("/")[-2:][0]
    query = urllib.parse.urlencode({"state": "open", "head": f"{owner}:{head}", "base": base})
    listed = _asked("GET", f"{api.rstrip('/')}/pulls?{query}", token)
    texts = {"title": title, "body": body}
    # Not every service filters by branch.
    known = [p for p in listed if isinstance(p, dict) and _head(p) == head] if isinstance(listed, list) else []
    if known:
        answer = _asked("PATCH", f"{api.rstrip('/')}/pulls/{int(known[0]['number'])}", token, texts)
        return PullRequest(str(answer.get("html_url", api)), False)
    answer = _asked("POST", f"{api.rstrip('/')}/pulls", token, {**texts, "head": head, "base": base})
    return PullRequest(str(answer.get("html_url", api)), True)


def _head(listed: dict[str, Any]) -> object:
    head = listed.get("head")
    return head.get("ref") if isinstance(head, dict) else None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A token is given to the address that was configured and to no other."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _asked(method: str, url: str, token: str, value: dict[str, str] | None = None) -> Any:
    if urllib.parse.urlsplit(url).scheme not in ("https", "http"):
        raise _refused("the address of the hosting service is no web address")
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json", "Content-Type": "application/json"}
    data = json.dumps(value).encode() if value is not None else None
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=_SECONDS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise _refused(f"the hosting service answers {error.code} to {method} of pull requests") from None
    except (OSError, ValueError) as error:
        raise _refused(f"the hosting service does not answer: {error}") from None


def _refused(message: str) -> StrataError:
    fix = "the branch is there: open the pull request by hand, or mend `pull_requests` and the token"
    return StrataError(Diagnostic("E180", message, fix=fix))
