"""The diff of two revisions for people (text, Markdown for a pull request) and for programs (JSON)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..contract.changes import Impact
from ..diagnostics.listing import listed
from ..diagnostics.render import printable
from ..diagnostics.wording import plural
from .diff import Consumer, Finding, LineageDiff
from .selection import spelled

Paint = Callable[[str, Impact], str]

MARKS: Mapping[Impact, str] = {Impact.MAJOR: "✗", Impact.REVIEW: "?", Impact.MINOR: "+", Impact.PATCH: "·"}
WORDS: Mapping[Impact, str] = {
    Impact.MAJOR: "breaking",
    Impact.REVIEW: "review",
    Impact.MINOR: "compatible",
    Impact.PATCH: "notice",
}
COLOURS: Mapping[Impact, str] = {
    Impact.MAJOR: "\x1b[1;31m",
    Impact.REVIEW: "\x1b[1;33m",
    Impact.MINOR: "\x1b[32m",
    Impact.PATCH: "\x1b[2m",
}
MOST_CONSUMERS = 20
"""As many are shown to people for one change; JSON has all."""


def coloured(text: str, impact: Impact) -> str:
    """`text` in the colour of an impact, for a terminal."""
    return f"{COLOURS[impact]}{text}\x1b[0m"


def plain(text: str, _impact: Impact) -> str:
    """`text` as it is, for a pipe."""
    return text


def text_lines(diff: LineageDiff, paint: Paint = plain) -> Iterator[str]:
    """The diff for people: a summary, then each table with its changes and whom they reach."""
    yield printable(summary(diff))
    for table, findings in _by_table(diff.findings).items():
        yield ""
        yield printable(f"{table}{_renamed(findings)}")
        for finding in findings:
            impact = finding.impact
            word = paint(f"{MARKS[impact]} {WORDS[impact]:<10}", impact)
            column = f"{finding.change.column}  " if finding.change.column else ""
            yield f"  {word}  {printable(f'{column}{told(finding)}')}  [{finding.change.rule.id}]"
            yield from (printable(f"      {line}") for line in _reach_lines(finding, diff.project))
    yield from _left_out(diff)


def summary(diff: LineageDiff) -> str:
    """One line: how much changed, how much of it breaks, and who is to be told."""
    if not diff.findings:
        return "no change of meaning among what compiles" if diff.uncompared else "no change of meaning"
    tables = len(_by_table(diff.findings))
    parts = [f"{diff.count(i)} {_counted(i)}" for i in reversed(Impact) if diff.count(i)]
    owners = sorted({c.owner for f in diff.findings for c in f.consumers if c.owner})
    told = f"; reaches what {', '.join(owners)} own{'s' if len(owners) == 1 else ''}" if owners else ""
    return f"{plural(len(diff.findings), 'change')} of {plural(tables, 'table')}: {', '.join(parts)}{told}"


def _counted(impact: Impact) -> str:
    return {Impact.REVIEW: "to review", Impact.PATCH: "to note"}.get(impact, WORDS[impact])


def _by_table(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.table, []).append(finding)
    return found


def _renamed(findings: Iterable[Finding]) -> str:
    after = next((f.after for f in findings if f.after not in (None, f.table)), None)
    return f" → {after}" if after else ""


def told(finding: Finding) -> str:
    """What changed, in a few words, and what it follows from."""
    change = finding.change
    match change.before, change.after:
        case None, None:
            sides = ""
        case None, after:
            sides = f": {after}"
        case before, None:
            sides = f": was {before}"
        case before, after if before == after:  # what differs is not in what people read, such as an engine's template
            sides = f": {after}"
        case before, after:
            sides = f": {before} → {after}"
    said = [change.rule.says + sides]
    if finding.follows:
        said.append(f"follows {', '.join(f'{t}.{c}' for t, c in finding.follows)}")
    if change.protected and finding.breaks:
        said.append("protected")
    if change.rule.demand is not None:
        said.append(f"asks for {change.rule.demand}")
    if change.rule.unless is not None:
        said.append(change.rule.unless)
    return ", ".join(said)


def where_and_how(finding: Finding, project: str) -> list[tuple[str, str]]:
    """What a change reaches: each consumer, and by which edge, in which state and whose."""
    return [(_where(c, project), _how(c)) for c in finding.consumers]


def _reach_lines(finding: Finding, project: str) -> Iterator[str]:
    """What a change reaches; of one that follows from another it is told there."""
    rows = [] if finding.follows else where_and_how(finding, project)
    shown = rows[:MOST_CONSUMERS]
    width = max((len(where) for where, _ in shown), default=0)
    for where, how in shown:
        yield f"→ {where:<{width}}  {how}"
    if len(rows) > len(shown):
        yield f"→ and {len(rows) - len(shown):,} more"


def _where(consumer: Consumer, project: str) -> str:
    table = spelled(consumer.table, project)
    return f"{table}.{consumer.column}" if consumer.column else f"rows of {table}"


def _how(consumer: Consumer) -> str:
    parts = [consumer.how if consumer.direct else f"{consumer.how}, further down"]
    parts += [consumer.state.value] if consumer.state.value != "untouched" else []
    parts += [f"owner {consumer.owner}"] if consumer.owner else []
    return ", ".join(parts)


def _left_out(diff: LineageDiff) -> Iterator[str]:
    if diff.uncompared:
        yield ""
        yield "not compared, for they have errors: " + ", ".join(f"{n} ({s})" for n, s in diff.uncompared.items())


def markdown_lines(diff: LineageDiff, before: str, after: str) -> Iterator[str]:
    """The diff as a comment on a pull request."""
    verdict = "breaks consumers" if diff.breaks else "no consumer breaks"
    yield f"### Lineage: {_escaped(before)} → {_escaped(after)}, {verdict}"
    yield ""
    yield _escaped(summary(diff))
    if diff.findings:
        yield ""
        yield "| | table | column | change | reaches |"
        yield "|---|---|---|---|---|"
    for finding in diff.findings:
        impact = finding.impact
        table = f"`{finding.table}`" + (f" → `{finding.after}`" if finding.after not in (None, finding.table) else "")
        column = f"`{finding.change.column}`" if finding.change.column else ""
        cells = (f"{MARKS[impact]} {WORDS[impact]}", table, column, told(finding), _reach_cell(finding, diff.project))
        yield f"| {' | '.join(map(_cell, cells))} |"
    if diff.uncompared:
        yield ""
        yield f"Not compared, for they have errors: {', '.join(f'`{n}` ({s})' for n, s in diff.uncompared.items())}"


def _reach_cell(finding: Finding, project: str) -> str:
    if finding.follows:
        return ""
    shown = [f"`{_where(c, project)}`{f' ({c.owner})' if c.owner else ''}" for c in finding.consumers]
    return listed(shown, MOST_CONSUMERS)


def _cell(text: str) -> str:
    return _escaped(text).replace("|", "\\|")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\n", " ")


def as_json(diff: LineageDiff, before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, Any]:
    """The diff as a document of stable shape; `before` and `after` say what the sides are (`name`, `commit`)."""
    return {
        "project": diff.project,
        "before": dict(before),
        "after": dict(after),
        "breaking": diff.breaks,
        "summary": summary(diff),
        "changes": [_change(f, diff) for f in diff.findings],
        "not_compared": dict(diff.uncompared),
    }


def _change(finding: Finding, diff: LineageDiff) -> dict[str, Any]:
    change = finding.change
    return {
        "rule": change.rule.id,
        "table": finding.table,
        "table_after": finding.after,
        "column": change.column,
        "impact": finding.impact.value,
        "breaking": finding.breaks,
        "says": change.rule.says,
        "before": change.before,
        "after": change.after,
        "protected": change.protected,
        "demand": change.rule.demand.value if change.rule.demand else None,
        "fingerprint": change.fingerprint,
        "before_at": str(change.before_span) if change.before_span else None,
        "after_at": str(change.after_span) if change.after_span else None,
        "follows": [{"table": t, "column": c} for t, c in finding.follows],
        "reaches": [
            {
                "project": c.table.project,
                "table": c.table.name,
                "column": c.column,
                "columns": [c.column] if c.column else list(diff.before.tables[c.table].columns),
                "impact": "value" if c.column else "rows",
                "how": c.how,
                "direct": c.direct,
                "owner": c.owner,
                "state": c.state.value,
            }
            for c in finding.consumers
        ],
    }
