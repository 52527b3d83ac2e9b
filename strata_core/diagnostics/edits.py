"""Changes of a source text, made."""

from __future__ import annotations

from collections.abc import Iterable

from .diagnostic import Edit


def applied(text: str, edits: Iterable[Edit]) -> str:
    """`text` with `edits`, which are all of its file and do not overlap; those at one place come in their order.

    >>> from strata_core.diagnostics import Span
    >>> applied("a\\nbc", [Edit(Span("f", 2, 1, 2, 2), "x"), Edit(Span("f", 2, 3, 2, 3), "!")])
    'a\\nxc!'
    """
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    placed = sorted(
        (starts[e.span.line - 1] + e.span.column - 1, starts[e.span.end_line - 1] + e.span.end_column - 1, number, e)
        for number, e in enumerate(edits)
    )
    parts: list[str] = []
    at = 0
    for start, end, _, edit in placed:
        if start < at:
            raise ValueError("edits overlap")
        parts += [text[at:start], edit.text]
        at = end
    return "".join((*parts, text[at:]))
