"""What a project says about lints: their severity in `[lint]` of strata.toml, and allowances in comments.

`// strata: allow W004 because the column is public` takes the finding W004 from the line that the comment ends, or
from the line of code below a comment that stands alone. Errors cannot be allowed. An allowance without a reason takes
nothing away, and one that is of no use is a finding itself (W090): otherwise it would hide the next one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..diagnostics import CODES, Diagnostic, Severity, Span, has_errors, in_order
from ..diagnostics.suggest import nearest
from ..frozen import dataclass, replace

if TYPE_CHECKING:
    from .texts import SourceText

LINTS = tuple(code for code in CODES if code.startswith("W"))
SEVERITIES = ("off", "warning", "error")
IN_VAIN = "W090"
OF_PLAN = frozenset({"W016", "W017"})
"""Lints that are told by the plan, which has the store at hand: a check cannot know that nothing is to be allowed."""

_MENTION = rb"strata:\s*allow"
_ALLOW = r"strata:\s*allow\s+(?P<code>\w+)(?P<because>\s+because\s+\S)?"


@dataclass(frozen=True, slots=True)
class Allowance:
    """`allow code` for what is found on the line `about`; without a reason it is not valid."""

    code: str
    reasoned: bool
    span: Span
    about: int

    def covers(self, finding: Diagnostic) -> bool:
        """Whether it takes `finding` away."""
        place = finding.span
        return (
            self.reasoned
            and finding.code == self.code
            and finding.code in LINTS
            and place is not None
            and place.file == self.span.file
            and place.line <= self.about <= place.end_line
        )


def ruled(found: Sequence[Diagnostic], files: Sequence[SourceText], lint: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """`found` as the project wants it: without what is allowed or off, lints with the severity that they are given.

    With errors among `found` nothing is said about allowances, since lints may be missing.
    """
    allowances = [allowance for file in files for allowance in _allowances(file)]
    kept = [d for d in found if not any(allowance.covers(d) for allowance in allowances)]
    if not has_errors(kept):
        told = (a for a in allowances if not (a.reasoned and a.code in OF_PLAN))
        kept += [_in_vain(a) for a in told if not any(a.covers(d) for d in found)]
    return _weighed(kept, lint)


def ruled_of_plan(
    found: Sequence[Diagnostic], files: Sequence[SourceText], lint: Mapping[str, str]
) -> tuple[Diagnostic, ...]:
    """As `ruled`, of lints that the plan tells; about allowances nothing is said."""
    allowances = [allowance for file in files for allowance in _allowances(file)] if found else []
    return _weighed([d for d in found if not any(allowance.covers(d) for allowance in allowances)], lint)


def _weighed(found: Sequence[Diagnostic], lint: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    return in_order([replace(d, severity=_severity(d, lint)) for d in found if lint.get(d.code) != "off"])


def _severity(finding: Diagnostic, lint: Mapping[str, str]) -> Severity:
    return Severity(lint[finding.code]) if finding.code in lint else finding.severity


def _allowances(file: SourceText) -> list[Allowance]:
    if not re.search(_MENTION, file.content):
        return []
    from ..language.comments import comments  # loads the scanner only where there is an allowance

    text = file.content.decode("utf-8-sig", errors="replace")
    return [
        Allowance(match["code"], match["because"] is not None, comment.span, comment.about)
        for comment in comments(text, file.path)
        if (match := re.search(_ALLOW, comment.text))
    ]


def _in_vain(allowance: Allowance) -> Diagnostic:
    code = allowance.code
    if code not in LINTS:
        near = nearest(code, LINTS)
        fix = f"did you mean {near}?" if near and code not in CODES else "only lints (W…) can be allowed"
        message = f"`{code}` is no lint"
    elif not allowance.reasoned:
        message, fix = f"`{code}` is allowed without a reason", f"write `// strata: allow {code} because …`"
    else:
        message, fix = f"`{code}` is allowed here, and there is nothing to allow", "take the comment out"
    return Diagnostic(IN_VAIN, message, allowance.span, Severity.WARNING, fix=fix)
