"""Exit codes of `strata` and `contract-engine`: what each family of findings means for a script that called one."""

from __future__ import annotations

from collections.abc import Iterable

from ..diagnostics import Diagnostic

CLEAN, FINDINGS, USAGE, VIOLATED, FAILED = 0, 1, 2, 3, 4
INTERRUPTED, UNREAD = 130, 141  # as of a process that the signal for it ended
MEANINGS = {
    CLEAN: "clean or warnings alone",
    FINDINGS: "errors in models or contracts, or a blocking test fails on what is there",
    USAGE: "usage",
    VIOLATED: "rows were refused (nothing published)",
    FAILED: "the engine, a file or the store failed",
    INTERRUPTED: "interrupted",
    UNREAD: "the reader of the output left before its end",
}
"""What `--help` says of each; docs/cli.md says more."""

BY_PREFIX = {
    "E021": USAGE,  # as E027, of a column
    "E027": USAGE,  # a model that is not there was asked for (one that a text names is a finding there)
    "E034": USAGE,  # a revision that is not there
    "E035": USAGE,  # an environment into itself; what keeps another from being promoted is a finding of the verb
    "E036": USAGE,  # no contract, no rows or no name to keep a table under
    "E037": USAGE,  # a partition that is not there
    "E03": FAILED,
    "E073": USAGE,  # the project or its strata.toml
    "E08": VIOLATED,
    "E144": VIOLATED,
    "E095": USAGE,  # a version or a table that was never published was asked for
    "E096": USAGE,  # a read that the table cannot answer
    "E097": FINDINGS,  # rows that do not fit their table
    "E098": FINDINGS,  # a declaration of a table
    "E099": USAGE,  # a compiled manifest that is not this project's as it is now
    "E09": FAILED,
}
"""Longer prefixes first; every other error is a finding in the project's text."""


def exits_help() -> str:
    """The line below the overview of verbs."""
    return f"Exit codes: {', '.join(f'{code} {meaning}' for code, meaning in MEANINGS.items())}."


def exit_code(diagnostics: Iterable[Diagnostic]) -> int:
    """The exit code that `diagnostics` ask for: the highest of their families, 0 without errors."""
    return max((_code(d) for d in diagnostics if d.blocks), default=CLEAN)


def _code(diagnostic: Diagnostic) -> int:
    if diagnostic.span is not None:  # what a text asks for is no matter of how the command was called
        if diagnostic.code in ("E021", "E027"):
            return FINDINGS
        if diagnostic.code == "E096":
            return FAILED
    prefixes = (p for p in sorted(BY_PREFIX, key=len, reverse=True) if diagnostic.code.startswith(p))
    return BY_PREFIX[prefix] if (prefix := next(prefixes, None)) else FINDINGS
