"""How a command ends: every way out has a documented exit code and no traceback."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from .exits import FAILED, INTERRUPTED, UNREAD

OBJECTS_BETWEEN_SEARCHES = 500_000
"""What a command loads and makes lives to its end: to search it for garbage at every 700th object, as Python does,
takes longer than to load it. Half a million objects are some fifty megabytes."""


def end_with(answer: Callable[[], int], name: str, interrupted: str) -> NoReturn:
    """Exit with what `answer` gives, as the program `name`; `interrupted` is what Ctrl-C says."""
    code = _code(answer, name, interrupted)
    # What is left goes with the process: to search it for garbage first takes a quarter of a `check` of many models.
    gc.freeze()
    sys.exit(code)


def end_at_once(answer: Callable[[], int], name: str, interrupted: str) -> NoReturn:
    """As `end_with`, of an answer that leaves nothing open, no file, thread or engine: what was loaded is not taken
    apart, which takes a tenth of a small check. It is no use to search it for garbage before."""
    gc.disable()
    code = _code(answer, name, interrupted)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)


def _code(answer: Callable[[], int], name: str, interrupted: str) -> int:
    # Arrow loads numpy, whose linear algebra starts a thread a core that spins for work that never comes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(OBJECTS_BETWEEN_SEARCHES)
    for stream in ("stdout", "stderr"):
        if getattr(sys, stream) is None:  # closed by whoever called (`>&-`): what is said is lost, the exit code is not
            setattr(sys, stream, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    try:
        return answer()
    except KeyboardInterrupt:
        print(interrupted, file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        for kept in (sys.stdout, sys.stderr):  # what they still hold is said to nobody
            os.dup2(os.open(os.devnull, os.O_WRONLY), kept.fileno())
        return UNREAD
    except SystemExit:
        raise
    except BaseException as error:  # the last line of defence: a panic of a library in Rust is no `Exception`
        return _own_fault(name, error)


def _own_fault(name: str, error: BaseException) -> int:
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix=f"{name}-", suffix=".log", delete=False) as log:
        traceback.print_exception(error, file=log)
    print(f"{name} failed: {type(error).__name__}: {error}", file=sys.stderr)
    print(f"This is a fault of Strata, not of your project; the details are in {log.name}", file=sys.stderr)
    return FAILED
