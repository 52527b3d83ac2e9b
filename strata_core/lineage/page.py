"""The diff of two revisions as one HTML file: the list of changes, and a graph of what they reach.

The file needs no network and holds everything: markup and styles here and in `assets/`, the data as JSON. Without
JavaScript the list is still there; the script adds the graph and links the two.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from ..contract.changes import Impact
from ..digests import policy_source
from .diff import LineageDiff
from .diff_shown import MARKS, WORDS, as_json, summary, told, where_and_how
from .tables import ColumnId, TableId


def page(diff: LineageDiff, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The whole file; `before` and `after` say what the sides are (`name`, `commit`)."""
    style, script = _asset("page.css"), _asset("page.js")
    data = json.dumps({**as_json(diff, before, after), "graph": _graph(diff)}, ensure_ascii=True)
    filled = {
        "policy": f"default-src 'none'; style-src {policy_source(style)}; script-src {policy_source(script)}",
        "title": html.escape(f"{diff.project}: {before['name']} → {after['name']}"),
        "project": html.escape(diff.project),
        "before": html.escape(before["name"]),
        "after": html.escape(after["name"]),
        "verdict": "breaking" if diff.breaks else "compatible",
        "says": "breaks consumers" if diff.breaks else "no consumer breaks",
        "summary": html.escape(summary(diff)),
        "changes": "\n".join(_changes(diff)),
        "left_out": _left_out(diff),
        "style": style,
        "script": script,
        # `<` could end the element that holds the data.
        "data": data.replace("<", "\\u003c"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda place: filled[place[1]], _asset("page.html"))


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _changes(diff: LineageDiff) -> Iterator[str]:
    for number, finding in enumerate(diff.findings):
        change = finding.change
        impact = finding.impact
        name = finding.table + (f".{change.column}" if change.column else "")
        reach = "".join(
            f"<li><code>{html.escape(where)}</code> {html.escape(how)}</li>"
            for where, how in where_and_how(finding, diff.project)
        )
        details = f"<details><summary>reaches {len(finding.consumers)}</summary><ul>{reach}</ul></details>"
        yield (
            f'<li class="change {impact.value}" data-change="{number}">'
            f'<button type="button" aria-pressed="false"><span class="word">{MARKS[impact]} {WORDS[impact]}</span> '
            f"<code>{html.escape(name)}</code> <span>{html.escape(told(finding))}</span></button>"
            f"{details if reach else ''}</li>"
        )
    if not diff.findings:
        yield '<li class="nothing">Nothing that consumers could tell changed.</li>'


def _left_out(diff: LineageDiff) -> str:
    if not diff.uncompared:
        return ""
    names = ", ".join(f"<code>{html.escape(n)}</code> ({s})" for n, s in diff.uncompared.items())
    return f'<p class="left-out">Not compared, for they have errors: {names}</p>'


def _graph(diff: LineageDiff) -> dict[str, Any]:
    """The tables that changed or are reached, one step of what they read, and the edges between them."""
    graph = diff.before
    impacts: dict[TableId, Impact] = {}
    columns: dict[ColumnId, Impact] = {}
    for finding in diff.findings:
        table = TableId(diff.project, finding.table)
        impacts[table] = max(impacts.get(table, Impact.PATCH), finding.impact, key=lambda i: i.weight)
        if finding.change.column is not None:
            column = ColumnId(table, finding.change.column)
            columns[column] = max(columns.get(column, Impact.PATCH), finding.impact, key=lambda i: i.weight)
    shown = dict.fromkeys((*impacts, *(c.table for f in diff.findings for c in f.consumers)))
    above = [TableId(t.project, name) for t in shown if t in graph.tables for name in graph.tables[t].reads]
    shown |= dict.fromkeys(above)
    keys = {table: f"t{number}" for number, table in enumerate(shown)}
    return {
        "tables": [
            {
                "key": key,
                "name": table.name,
                "project": table.project,
                "owner": _owner(diff, table),
                "impact": impacts[table].value if table in impacts else None,
                "reads": [keys[up] for up in _reads(diff, table) if up in keys],
                "columns": [
                    {"name": c, "impact": columns[ColumnId(table, c)].value if ColumnId(table, c) in columns else None}
                    for c in _columns(diff, table)
                ],
            }
            for table, key in keys.items()
        ],
        "edges": [
            {
                "from": [keys[e.origin.table], e.origin.column],
                "to": [keys[table], e.to.column],
                "kind": e.transform.value,
            }
            for table in keys
            if table in graph.tables
            for column in graph.columns(table)
            for e in graph.origins.get(column, ())
            if e.origin.table in keys
        ],
    }


def _reads(diff: LineageDiff, table: TableId) -> list[TableId]:
    side = diff.before if table in diff.before.tables else diff.after
    return [TableId(table.project, name) for name in side.tables[table].reads] if table in side.tables else []


def _owner(diff: LineageDiff, table: TableId) -> str | None:
    known = diff.before.tables.get(table) or diff.after.tables.get(table)
    return known.owner if known else None


def _columns(diff: LineageDiff, table: TableId) -> tuple[str, ...]:
    """The columns before, and those that were added."""
    names = [side.tables[table].columns for side in (diff.before, diff.after) if table in side.tables]
    added = [f.change.column for f in diff.findings if f.table == table.name and f.change.rule.id == "column-added"]
    return tuple(dict.fromkeys((*(names[0] if names else ()), *(name for name in added if name))))
