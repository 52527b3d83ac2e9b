"""The entry point. `contract-engine validate`, in whatever format, is what hooks and continuous integration run: it is
understood here, since to load what reads any other command line takes longer than to check a contract; it comes to the
same (`tests/contract_engine/test_plain_validate.py`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from ..ending import end_at_once
from ..formats import FORMATS

NAME = "contract-engine"
LEFT = "interrupted: nothing was published"


def main() -> None:
    """Run the command; every way out has a documented exit code and no traceback."""
    if format_ := plain_format(sys.argv[1:]):

        def answer() -> int:
            from .validating import validate_here

            return validate_here(format_)

        end_at_once(answer, NAME, LEFT)
    from ..verbs import run
    from .verbs import contract_engine

    run(contract_engine, NAME, LEFT)


def plain_format(arguments: Sequence[str]) -> str | None:
    """The format that findings are told in where this is `validate` without another option, else None."""
    if "_CONTRACT_ENGINE_COMPLETE" in os.environ:
        return None
    match arguments:
        case ["validate"]:
            return FORMATS[0]
        case ["validate", "--format", name] if name in FORMATS:
            return name
        case ["validate", option] if option.startswith("--format=") and option[9:] in FORMATS:
            return option[9:]
    return None
