"""What the write pin says of one table: a value that is stored with the artifact and shown to people.

Samples are text, and masked where a column is classified, from the moment the report is made: no way of
showing it can leak what the contract hides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Set
from enum import StrEnum
from types import MappingProxyType

from ..diagnostics import Diagnostic, Span
from ..diagnostics.markdown import markdown_cell, markdown_code
from ..diagnostics.wording import plural
from ..frozen import dataclass
from ..types.texts import shown_text
from .rules import Fact, Rule

MASKED = "‹masked›"
SHOWN_SAMPLES = 3
_TEXT = 60


class Status(StrEnum):
    """How a promise fared. `skipped`: its columns are missing or of another type, so nothing could be asked."""

    PROVEN = "proven"
    CHECKED = "checked"
    VIOLATED = "violated"
    SKIPPED = "skipped"


Sample = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One promise and its outcome.

    `how` says what proves it, or what was measured; `found` what the data has instead (types, the latest
    instant). `code`, `fix` and `samples` belong to a violation. `offenders` counts rows.
    """

    fact: Fact
    promise: str
    status: Status
    how: str
    offenders: int = 0
    samples: tuple[Sample, ...] = ()
    code: str | None = None
    found: str | None = None
    fix: str | None = None
    span: Span | None = None

    @property
    def field(self) -> str:
        """The columns that the promise is about."""
        return self.fact.field

    @property
    def rule(self) -> Rule:
        """The kind of promise."""
        return self.fact.rule

    @property
    def counted(self) -> bool:
        """Whether rows were asked, so that `offenders` is a number of rows that were found and not an absence."""
        return self.rule not in (Rule.TYPE, Rule.CLOSED) and self.status is not Status.SKIPPED

    @property
    def holds(self) -> bool:
        """Whether the promise is known to be kept."""
        return self.status in (Status.PROVEN, Status.CHECKED)


@dataclass(frozen=True, slots=True)
class PinReport:
    """All promises of `contract` held against one table of `rows` rows (unknown where it could not be read).

    Of a `source` the promises are its declaration, which has the source's name.
    """

    contract: str
    rules: tuple[RuleResult, ...]
    rows: int | None
    source: bool = False

    @property
    def passed(self) -> bool:
        """Whether the table may be published: every promise is known to be kept."""
        return all(r.holds for r in self.rules)

    @property
    def violations(self) -> tuple[RuleResult, ...]:
        """The broken promises."""
        return tuple(r for r in self.rules if r.status is Status.VIOLATED)

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """One error for each broken promise, E080 to E088."""
        return tuple(_diagnostic(r, self._kind, self.contract) for r in self.violations)

    @property
    def _kind(self) -> str:
        return "source" if self.source else "contract"

    def markdown(self) -> str:
        """A headline and a table with one line a promise, broken ones first."""
        counts = Counter(r.status for r in self.rules)
        verdict = f"kept: {len(self.rules)} promises"
        if not self.passed:
            verdict = f"**violated**: {counts[Status.VIOLATED]} of {len(self.rules)} promises"
            verdict += f", {counts[Status.SKIPPED]} not asked" if counts[Status.SKIPPED] else ""
        rows = "rows unknown" if self.rows is None else plural(self.rows, "row")
        lines = [
            f"{self._kind.capitalize()} {markdown_code(self.contract)}, {verdict} ({rows})",
            "",
            "| field | rule | promised | result | how | offenders | samples |",
            "|---|---|---|---|---|---:|---|",
        ]
        for r in sorted(self.rules, key=lambda r: ORDER[r.status]):
            result = f"**violated** {r.code}" if r.status is Status.VIOLATED else r.status.value
            how = f"{r.how}: {r.found}" if r.found else r.how
            cells = (r.field, r.rule.value, r.promise, how, spelled_samples(r.samples))
            field, rule, promise, how, samples = map(markdown_cell, cells)
            offenders = f"{r.offenders:,}" if r.offenders else ""
            lines.append(f"| {field} | {rule} | {promise} | {result} | {how} | {offenders} | {samples} |")
        return "\n".join(lines) + "\n"


ORDER = MappingProxyType({Status.VIOLATED: 0, Status.SKIPPED: 1, Status.CHECKED: 2, Status.PROVEN: 3})


def shown(value: object) -> str:
    """A value as reports show it: one line, bounded, `none` for null."""
    text = shown_text(value)
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: _TEXT + 1])
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"


def shown_row(row: Mapping[str, object], hidden: Set[str]) -> str:
    """A row as reports show it, the values of `hidden` columns left out: `order_id = 4, country = XX`."""
    return ", ".join(f"{name} = {MASKED if name in hidden else shown(value)}" for name, value in row.items())


def spelled_samples(samples: tuple[Sample, ...]) -> str:
    """The first few samples: `order_id = 4, country = XX; …`."""
    spelled = ["; ".join(", ".join(f"{k} = {v}" for k, v in s.items()) for s in samples[:SHOWN_SAMPLES] if s)]
    return "; ".join([*spelled, "…"] if len(samples) > SHOWN_SAMPLES else spelled)


def _diagnostic(r: RuleResult, kind: str, name: str) -> Diagnostic:
    assert r.code is not None, "a violation has a code"
    return Diagnostic(
        r.code,
        MESSAGES[r.code](r, f"{kind} `{name}`"),
        r.span,
        label=f"promised: {r.promise}",
        fix=r.fix,
        notes=(f"for instance {spelled_samples(r.samples)}",) if any(r.samples) else (),
        field_path=f"{kind}s.{name}" + (f".{r.field}" if r.fact.columns else ""),
    )


def _rows(r: RuleResult, one: str, many: str) -> str:
    return f"1 row {one}" if r.offenders == 1 else f"{r.offenders:,} rows {many}"


MESSAGES: Mapping[str, Callable[[RuleResult, str], str]] = MappingProxyType(
    {
        "E080": lambda r, c: f"{_mistyped(r)}, but {c} promises {r.promise}",
        "E081": lambda r, c: f"{_rows(r, 'has', 'have')} a null in `{r.field}`, which {c} promises {r.promise}",
        "E082": lambda r, c: f"{_rows(r, 'has', 'have')} a value of `{r.field}` outside what {c} promises: {r.promise}",
        "E083": lambda r, c: f"{_rows(r, 'repeats', 'repeat')} a value of `{r.field}`, which {c} promises {r.promise}",
        "E084": lambda r, c: f"the data has no column `{r.field}`, which {c} promises as {r.promise}",
        "E085": lambda r, c: f"{_latest(r)}, but {c} promises {r.promise}",
        "E086": lambda r, c: f"{_rows(r, 'breaks', 'break')} the assertion `{r.promise}` of {c}",
        "E088": lambda r, c: f"the data has columns that closed {c} does not name: {r.found}",
    }
)


def _mistyped(r: RuleResult) -> str:
    if r.offenders:
        return f"{_rows(r, 'has', 'have')} {r.found} in `{r.field}`"
    return f"`{r.field}` is {r.found} in the data"


def _latest(r: RuleResult) -> str:
    return f"the latest `{r.field}` is {r.found}" if r.found else f"`{r.field}` is older than it may be"
