"""The entry point. The plainest and most frequent command, `strata check [PATH]`, is understood here, since to load
what reads any other takes longer than to check a small project; it comes to the same (`tests/cli/test_plain_check.py`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from .ending import end_at_once

LEFT = "interrupted: what was not told as live above was not published"


def main() -> None:
    """Run the command."""
    arguments = sys.argv[1:]
    if is_plain_check(arguments):

        def answer() -> int:
            from pathlib import Path

            from .checking import check_at

            return check_at(Path(arguments[1]) if arguments[1:] else None)

        end_at_once(answer, "strata", LEFT)
    from .verbs import run, strata

    run(strata, "strata", LEFT)


def is_plain_check(arguments: Sequence[str]) -> bool:
    """Whether this is `check` without options, of a path that is there or of none."""
    if arguments[:1] != ["check"] or len(arguments) > 2 or "_STRATA_COMPLETE" in os.environ:
        return False
    return all(not path.startswith("-") and os.path.exists(path) for path in arguments[1:])
