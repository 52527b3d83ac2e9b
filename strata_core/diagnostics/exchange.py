"""Diagnostics in the formats of other programs: SARIF 2.1.0, JUnit's XML and annotations of GitHub Actions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from .codes import CODES
from .diagnostic import Diagnostic, Severity, Span
from .render import legible, printable

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def told(diagnostic: Diagnostic) -> str:
    """What a finding says, in lines: the message, its notes, and how to fix it."""
    lines = [diagnostic.message, *diagnostic.notes]
    return "\n".join(lines if diagnostic.fix is None else [*lines, f"Fix: {diagnostic.fix}"])


def _told_whole(diagnostic: Diagnostic) -> str:
    """The same with the other places that explain it, for a format that has one place for a finding."""
    return "\n".join([told(diagnostic), *(f"{r.span}: {r.message}" for r in diagnostic.related)])


def render_sarif(diagnostics: Iterable[Diagnostic], tool: str, version: str) -> str:
    """The findings as a SARIF 2.1.0 log of one run. Places are relative to `%SRCROOT%`, columns count code points."""
    found = list(diagnostics)
    codes = sorted({d.code for d in found})
    run = {
        "tool": {
            "driver": {
                "name": tool,
                "version": version,
                "rules": [{"id": code, "shortDescription": {"text": CODES.get(code, code)}} for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(d, codes.index(d.code)) for d in found],
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _result(diagnostic: Diagnostic, rule: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": told(diagnostic)},
        "locations": [{"physicalLocation": _place(diagnostic.span)}] if diagnostic.span else [],
        "properties": {"blocks": diagnostic.blocks},
    }
    if diagnostic.field_path is not None:
        result["locations"] = [
            {**place, "logicalLocations": [{"fullyQualifiedName": diagnostic.field_path}]}
            for place in result["locations"] or [{}]
        ]
    if diagnostic.related:
        result["relatedLocations"] = [
            {"id": i, "physicalLocation": _place(r.span), "message": {"text": r.message}}
            for i, r in enumerate(diagnostic.related)
        ]
    return result


def _place(span: Span) -> dict[str, Any]:
    return {
        "artifactLocation": {"uri": quote(span.file, errors="surrogatepass"), "uriBaseId": "%SRCROOT%"},
        "region": {
            "startLine": span.line,
            "startColumn": span.column,
            "endLine": span.end_line,
            "endColumn": span.end_column,
        },
    }


def render_junit(diagnostics: Iterable[Diagnostic], files: Sequence[str], tool: str) -> str:
    """The findings as JUnit's XML: one test case per file, which fails where something blocks. The rest of what was
    found in a file stands in its output."""
    by_file: dict[str, list[Diagnostic]] = {file: [] for file in files}
    for diagnostic in diagnostics:
        by_file.setdefault(diagnostic.span.file if diagnostic.span else tool, []).append(diagnostic)
    cases = [_case(file, found, tool) for file, found in sorted(by_file.items())]
    failures = sum(any(d.blocks for d in found) for found in by_file.values())
    head = f'<testsuite name={quoteattr(tool)} tests="{len(cases)}" failures="{failures}" errors="0" skipped="0">'
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<testsuites>", head, *cases, "</testsuite>", "</testsuites>"]
    return "\n".join(lines)


def _case(file: str, found: Sequence[Diagnostic], tool: str) -> str:
    blocking = [d for d in found if d.blocks]
    other = [d for d in found if not d.blocks]
    name = f"<testcase classname={quoteattr(tool)} name={quoteattr(printable(file))}"
    if not found:
        return f"{name}/>"
    inside = [
        f"<failure type={quoteattr(d.code)} message={quoteattr(printable(d.message))}>{escape(_listed(d))}</failure>"
        for d in blocking
    ]
    if other:
        inside.append(f"<system-out>{escape(chr(10).join(_listed(d) for d in other))}</system-out>")
    return f"{name}>{''.join(inside)}</testcase>"


def _listed(diagnostic: Diagnostic) -> str:
    place = f"{diagnostic.span}: " if diagnostic.span else ""
    lines = _told_whole(diagnostic).split("\n")
    text = "\n".join(printable(line) for line in lines)
    return f"{printable(place)}{diagnostic.severity.value}[{diagnostic.code}]: {text}"


def render_github(diagnostics: Iterable[Diagnostic]) -> str:
    """The findings as workflow commands, which GitHub shows beside the lines of a pull request."""
    return "\n".join(_command(d) for d in diagnostics)


def _command(diagnostic: Diagnostic) -> str:
    properties = {"title": f"{diagnostic.code} {CODES.get(diagnostic.code, '')}".strip()}
    if (span := diagnostic.span) is not None:
        properties = {"file": span.file, "line": str(span.line), "col": str(span.column), **properties}
        if span.end_line == span.line:
            properties["endColumn"] = str(span.end_column)
        properties["endLine"] = str(span.end_line)
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[diagnostic.severity]} {listed}::{_data(_told_whole(diagnostic))}"


def _data(text: str) -> str:
    # A log shows what steers a terminal; half of a surrogate pair is no text.
    return legible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
